// The board of t48lab.viewer: replays a game, or lets a person play one. No build step, no network.
// Python decides everything in a game that is played; here the rules serve to move tiles over the screen.

const NAMES = ["up", "right", "down", "left"];
const ARROWS = { up: "↑", right: "→", down: "↓", left: "←" };
const DIGITS = "0123456789abcdefghijklmnopqrstuv";
const CELL = 62, GAP = 7;

// ---- positions: an array of ranks, row by row ------------------------------------------------------------------

function ranksOf(hex) {
  return [...hex.slice(hex.indexOf(":") + 1)].map((digit) => DIGITS.indexOf(digit));
}

function hexOf(ranks) {
  return ranks.map((rank) => DIGITS[rank]).join("");
}

// The cells of each line, the ones toward which the tiles slide first.
function linesOf(direction, rows, cols) {
  const across = direction === "left" || direction === "right";
  const lines = [];
  for (let i = 0; i < (across ? rows : cols); i++) {
    const line = [];
    for (let j = 0; j < (across ? cols : rows); j++) line.push(across ? i * cols + j : j * cols + i);
    lines.push(direction === "right" || direction === "down" ? line.reverse() : line);
  }
  return lines;
}

// {after, paths, points}: the afterstate, for each tile [from, to], the merged cells and the points.
function slide(before, direction, rows, cols) {
  const after = before.map(() => 0), paths = [], merged = [];
  let points = 0;
  for (const line of linesOf(direction, rows, cols)) {
    let target = 0, open = false;
    for (const cell of line) {
      const rank = before[cell];
      if (!rank) continue;
      const last = line[target - 1];
      if (open && after[last] === rank) {
        after[last] = rank + 1;
        points += 2 ** (rank + 1);
        merged.push(last);
        paths.push([cell, last]);
        open = false;
      } else {
        after[line[target]] = rank;
        paths.push([cell, line[target]]);
        target += 1;
        open = true;
      }
    }
  }
  return { after, paths, merged, points };
}

// Every position of a game: {ranks, score, action, spawn}; the log has a letter, a cell and a tile for each move.
function positionsOf(first, log, rows, cols) {
  let ranks = ranksOf(first), score = 0, spawn = null;
  const found = [];
  for (let i = 0; i < log.length; i += 3) {
    const action = NAMES.find((name) => name[0] === log[i]);
    found.push({ ranks, score, action, spawn });
    const { after, points } = slide(ranks, action, rows, cols);
    spawn = parseInt(log[i + 1], 16);
    after[spawn] = log[i + 2] === "4" ? 2 : 1;
    ranks = after;
    score += points;
  }
  found.push({ ranks, score, action: null, spawn });
  return found;
}

// ---- what is drawn ---------------------------------------------------------------------------------------------

function make(tag, name, parent, words) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (words !== undefined) node.textContent = words;
  if (parent) parent.append(node);
  return node;
}

function number(value) {
  if (value === null || value === undefined) return "-";
  const digits = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  return value.toLocaleString("en", digits).replace("-", "−");
}

class Board {
  constructor(parent, look, rows, cols) {
    this.look = look;
    this.rows = rows;
    this.cols = cols;
    this.node = make("div", "t48-board", parent);
    this.node.setAttribute("role", "img");
    this.node.style.width = `${cols * (CELL + GAP) + GAP}px`;
    this.node.style.height = `${rows * (CELL + GAP) + GAP}px`;
    this.node.style.background = look.frame;
    for (let cell = 0; cell < rows * cols; cell++) this.put(make("div", "t48-cell", this.node), cell, 0);
    this.turn = 0;
  }

  put(node, cell, rank) {
    node.style.left = `${GAP + (cell % this.cols) * (CELL + GAP)}px`;
    node.style.top = `${GAP + Math.floor(cell / this.cols) * (CELL + GAP)}px`;
    node.style.width = node.style.height = `${CELL}px`;
    node.style.background = this.look.fills[Math.min(rank, this.look.fills.length - 1)];
    node.style.color = this.look.pale.includes(rank) ? this.look.dark : this.look.light;
    const words = rank ? String(2 ** rank) : "";
    node.style.fontSize = `${Math.min(26, Math.floor((1.25 * CELL) / (words.length + 0.6)))}px`;
    node.textContent = words;
  }

  tiles(ranks, fresh = null, merged = []) {
    for (const node of this.node.querySelectorAll(".t48-tile")) node.remove();
    const nodes = {};
    ranks.forEach((rank, cell) => {
      if (!rank) return;
      const name = cell === fresh ? " t48-new" : merged.includes(cell) ? " t48-merged" : "";
      this.put((nodes[cell] = make("div", `t48-tile${name}`, this.node)), cell, rank);
    });
    return nodes;
  }

  // What the board now is, for screen readers and tests; the picture may still be on its way there.
  say(ranks) {
    this.node.dataset.board = hexOf(ranks);
    const rows = [];
    for (let r = 0; r < this.rows; r++) {
      rows.push(ranks.slice(r * this.cols, (r + 1) * this.cols).map((rank) => (rank ? 2 ** rank : "empty")).join(" "));
    }
    this.node.setAttribute("aria-label", rows.join("; "));
  }

  show(ranks, fresh = null) {
    this.turn += 1;
    this.say(ranks);
    this.tiles(ranks, fresh);
  }

  // Slides the tiles, then shows the position after the spawn; a newer picture ends an older one.
  animate(before, action, ranks, fresh, milliseconds) {
    const turn = (this.turn += 1);
    const { paths, merged } = slide(before, action, this.rows, this.cols);
    this.say(ranks);
    const nodes = this.tiles(before);
    this.node.style.setProperty("--slide", `${milliseconds}ms`);
    this.node.getBoundingClientRect();
    for (const [from, to] of paths) {
      nodes[from].style.left = `${GAP + (to % this.cols) * (CELL + GAP)}px`;
      nodes[from].style.top = `${GAP + Math.floor(to / this.cols) * (CELL + GAP)}px`;
    }
    setTimeout(() => { if (turn === this.turn) this.tiles(ranks, fresh, merged); }, milliseconds);
  }
}

class Advice {
  constructor(parent) {
    this.table = make("table", "t48-values", parent);
    this.notes = make("div", "t48-notes", parent);
  }

  show(advice, current) {
    this.table.replaceChildren();
    const known = advice && advice.values ? advice : null;
    this.table.classList.toggle("t48-stale", Boolean(known) && !current);
    this.notes.textContent = advice ? (advice.notes || []).join("\n") : "";
    this.notes.style.whiteSpace = "pre-line";
    if (!known) return;
    const head = make("tr", "", make("thead", "", this.table)), body = make("tbody", "", this.table);
    for (const words of ["move", "value", "below best", ...(known.visits ? ["visits"] : [])]) make("th", "", head, words);
    const largest = Math.max(...NAMES.map((name) => known.costs[name] || 0));
    for (const name of NAMES) {
      const cost = known.costs[name];
      const row = make("tr", name === known.best ? "t48-best" : cost === null ? "t48-none" : "", body);
      const first = make("td", "", row, `${ARROWS[name]} ${name}`);
      make("td", "", row, number(known.values[name]));
      make("td", "", row, number(cost));
      if (known.visits) make("td", "", row, number(known.visits[name]));
      const bar = make("div", "t48-bar", first);
      bar.style.width = `${largest && cost ? (100 * cost) / largest : 0}%`;
    }
  }
}

function frame(el, model, help) {
  const root = make("div", "t48", el);
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own keys would move between cells
  const main = make("div", "t48-main", root);
  const board = new Board(main, model.get("look"), model.get("rows"), model.get("cols"));
  const side = make("div", "t48-side", main);
  const facts = make("div", "t48-facts", side);
  const fact = (name) => make("b", "", make("span", "", facts, name), "");
  const advice = new Advice(side);
  const bottom = make("div", "t48-bottom", root);
  const button = (words, title, act) => {
    const node = make("button", "", bottom, words);
    node.title = title;
    node.setAttribute("aria-label", title);
    node.addEventListener("click", () => { act(); root.focus({ preventScroll: true }); });
    return node;
  };
  const keys = (table) =>
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const typing = event.target.tagName === "INPUT" && event.target.type === "number";
      const pressing = event.target.tagName === "BUTTON" && (key === " " || key === "Enter");
      if (typing || pressing || !table[key]) return;
      event.preventDefault();
      event.stopPropagation();
      table[key](event);
    });
  return { root, board, fact, advice, bottom, button, keys, help: () => make("div", "t48-help", bottom, help) };
}

// ---- a stored game ---------------------------------------------------------------------------------------------

function replay({ model, el }) {
  const help = "← → step, with shift ten moves · Page ↑ ↓ hundred · Home, End · space plays · + − speed";
  const { root, board, fact, advice, bottom, button, keys, help: addHelp } = frame(el, model, help);
  const positions = positionsOf(model.get("first"), model.get("log"), model.get("rows"), model.get("cols"));
  const last = positions.length - 1;
  const score = fact("score"), move = fact("move"), largest = fact("largest tile");
  let place = model.get("place"), timer = null, waiting = false;

  const inside = (i) => Math.max(0, Math.min(last, Math.round(i) || 0));
  const speed = () => model.get("speed");

  function draw(animated) {
    const now = positions[place], before = positions[place - 1];
    if (animated && before) board.animate(before.ranks, before.action, now.ranks, now.spawn, Math.min(110, 500 / speed()));
    else board.show(now.ranks, now.spawn);
    score.textContent = number(now.score);
    move.textContent = `${number(place)} of ${number(last)}`;
    largest.textContent = number(2 ** Math.max(...now.ranks));
    slider.value = jump.value = place;
    root.dataset.place = place;
    advise();
  }

  function advise() {
    const found = model.get("advice"), current = found && found.place === place;
    advice.show(found, current);
    root.dataset.advised = current ? place : "";
  }

  // One question at a time: while Python thinks about a position, those that pass by are not asked about.
  function ask() {
    if (waiting || model.get("place") === place) return;
    waiting = true;
    model.set("place", place);
    model.save_changes();
  }

  function go(i, animated = false) {
    const next = inside(i);
    const step = animated && next === place + 1;
    place = next;
    draw(step);
    ask();
    if (place === last) pause();
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    playing.textContent = "▶";
  }

  function tick() {
    go(place + 1, true);
    if (place < last) timer = setTimeout(tick, 1000 / speed());
  }

  function toggle() {
    if (timer !== null) return pause();
    if (place === last) place = 0;
    playing.textContent = "❚❚";
    timer = setTimeout(tick, 1000 / speed());
  }

  function faster(factor) {
    model.set("speed", Math.max(0.5, Math.min(200, speed() * factor)));
    model.save_changes();
  }

  button("first", "first position", () => go(0));
  button("−1", "one move back", () => go(place - 1));
  const playing = button("▶", "play or pause", toggle);
  button("+1", "one move on", () => go(place + 1, true));
  button("last", "last position", () => go(last));
  const slider = make("input", "", bottom);
  Object.assign(slider, { type: "range", min: 0, max: last, title: "position" });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const jump = make("input", "", bottom);
  Object.assign(jump, { type: "number", min: 0, max: last, title: "jump to a move" });
  jump.addEventListener("change", () => go(Number(jump.value)));
  jump.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    go(Number(jump.value));
    root.focus({ preventScroll: true });
  });
  button("−", "slower", () => faster(1 / 1.5));
  const pace = make("span", "", bottom);
  button("+", "faster", () => faster(1.5));
  addHelp();

  const step = (sign) => (event) => go(place + sign * (event.shiftKey ? 10 : 1), sign > 0);
  keys({
    ArrowRight: step(1), ArrowUp: step(1), ArrowLeft: step(-1), ArrowDown: step(-1),
    PageDown: () => go(place + 100), PageUp: () => go(place - 100), Home: () => go(0), End: () => go(last),
    " ": toggle, "+": () => faster(1.5), "=": () => faster(1.5), "-": () => faster(1 / 1.5),
  });

  const onAdvice = () => { waiting = false; advise(); ask(); };
  const onPlace = () => { if (!waiting && model.get("place") !== place) { place = inside(model.get("place")); draw(false); } };
  const onSpeed = () => { pace.textContent = `${number(Math.round(10 * speed()) / 10)} moves/s`; };
  model.on("change:advice", onAdvice);
  model.on("change:place", onPlace);
  model.on("change:speed", onSpeed);
  onSpeed();
  draw(false);
  return () => {
    pause();
    model.off("change:advice", onAdvice);
    model.off("change:place", onPlace);
    model.off("change:speed", onSpeed);
  };
}

// ---- a game that a person plays --------------------------------------------------------------------------------

function play({ model, el }) {
  const help = "arrows or w a s d move · Enter plays the advice · u takes back · h hides the advice · n deals anew";
  const { root, board, fact, advice, button, keys, help: addHelp } = frame(el, model, help);
  const score = fact("score"), moves = fact("moves"), largest = fact("largest tile");
  const send = (message) => () => model.send(message);
  const move = (direction) => send({ kind: "move", direction });
  let shown = null;

  function draw() {
    const state = model.get("state"), ranks = ranksOf(state.board), step = state.last;
    const next = step && shown !== null && state.moves === shown + 1;
    if (next) board.animate(ranksOf(step.before), step.action, ranks, step.cell, 110);
    else if (state.moves !== shown || board.node.dataset.board !== hexOf(ranks)) board.show(ranks, step ? step.cell : null);
    shown = state.moves;
    score.textContent = number(state.score);
    moves.textContent = number(state.moves);
    largest.textContent = number(2 ** Math.max(...ranks));
    back.disabled = state.moves === 0;
    root.dataset.place = state.moves;
  }

  function advise() {
    const found = model.get("advice");
    advice.show(found, true);
    follow.disabled = !found || !found.best;
    hide.textContent = model.get("advised") ? "hide advice" : "show advice";
  }

  for (const name of NAMES) button(ARROWS[name], name, move(name));
  const back = button("undo", "take the last move back", send({ kind: "undo" }));
  const follow = button("follow", "play the advice", send({ kind: "follow" }));
  const hide = button("hide advice", "show or hide the advice", send({ kind: "advised" }));
  button("new game", "deal anew", send({ kind: "new" }));
  addHelp();
  const [up, right, down, left] = NAMES.map(move);
  keys({
    ArrowUp: up, ArrowRight: right, ArrowDown: down, ArrowLeft: left, w: up, d: right, s: down, a: left,
    Enter: send({ kind: "follow" }), u: send({ kind: "undo" }), Backspace: send({ kind: "undo" }),
    h: send({ kind: "advised" }), n: send({ kind: "new" }),
  });
  model.on("change:state", draw);
  model.on("change:advice", advise);
  draw();
  advise();
  return () => {
    model.off("change:state", draw);
    model.off("change:advice", advise);
  };
}

function render(context) {
  return (context.model.get("mode") === "play" ? play : replay)(context);
}

export default { render };
