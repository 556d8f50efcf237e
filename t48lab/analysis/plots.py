"""Figures of tables: every `plot_*` draws a frame on axes and returns them.

They compute nothing and change no global setting: the quiet style below holds while they draw.
A family of agents (the first word of the label) keeps its colour over all figures, see `families`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from t48lab.analysis.stats import TILES
from t48lab.families import family_color
from t48lab.files import write_whole
from t48lab.plaintext import for_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[str, Any] = {
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#222222",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.6,
    "lines.markersize": 6,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "text.usetex": False,
    "svg.hashsalt": "t48lab",
    "svg.fonttype": "none",
}
Draw = TypeVar("Draw", bound=Callable[..., "Axes"])


@contextmanager
def _style() -> Iterator[None]:
    """A context with the style; only its own settings are put back, for a first figure also chooses the backend."""
    settings = cast(Any, mpl.rcParams)
    before = {name: settings[name] for name in STYLE}
    settings.update(STYLE)
    try:
        yield
    finally:
        settings.update(before)


def styled(draw: Draw) -> Draw:
    """The same function, drawing in the style and leaving matplotlib's settings as they were."""

    @wraps(draw)
    def wrapper(*args: Any, **kwargs: Any) -> Axes:
        with _style():
            return draw(*args, **kwargs)

    return cast(Draw, wrapper)


def save(figure: Figure, target: Any, kind: Literal["png", "svg"]) -> None:
    """Writes the figure to a path or an open file, the same bytes each time."""
    metadata = {"png": {"Software": None}, "svg": {"Date": None}}[kind]
    with _style():
        figure.savefig(target, format=kind, metadata=metadata)


def write_figure(axes: Axes, folder: Path, name: str) -> None:
    """Writes the figure of these axes to the folder as PNG and SVG, and closes it."""
    import matplotlib.pyplot as plt

    figure = axes.get_figure(root=True)
    assert figure is not None
    kinds: tuple[Literal["png", "svg"], ...] = ("png", "svg")
    for kind in kinds:
        sink = io.BytesIO()
        save(figure, sink, kind)
        write_whole(folder / f"{name}.{kind}", sink.getvalue())
    plt.close(figure)


def remark(axes: Axes, words: str) -> None:
    """Writes a line below the figure of these axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.supxlabel(words, fontsize=9, color="#555555")


@styled
def plot_scores(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with the scores of every game (a frame of games): a dot a game, a box an agent, points on a log axis."""
    names = _names(frame)
    rows = list(dict.fromkeys(names))
    ax = ax or new_axes(7.2, 1.3 + 0.42 * len(rows))
    scores = [frame.loc[names == name, "score"].to_numpy(float).clip(1) for name in rows]
    box: dict[str, Any] = {"showfliers": False, "widths": 0.5, "orientation": "horizontal", "patch_artist": True}
    lines = {"color": "#222222", "linewidth": 1.0}
    parts = ax.boxplot(
        scores, positions=range(len(rows)), medianprops=lines | {"linewidth": 2}, whiskerprops=lines,
        capprops=lines, boxprops=lines | {"facecolor": "none"}, zorder=3, **box,
    )  # fmt: skip
    for place, (name, values, patch) in enumerate(zip(rows, scores, parts["boxes"], strict=True)):
        spread = 0.32 * (2 * (np.arange(len(values)) * 0.618034 % 1) - 1)
        ax.scatter(values, place + spread, s=7, color=family_color(name), alpha=0.35, linewidths=0, rasterized=True)
        patch.set_facecolor((*mpl.colors.to_rgb(family_color(name)), 0.18))
    _rows_axis(ax, rows)
    log_points(ax, "x", np.concatenate(scores))
    ax.set_xlabel("score of a game [points, log scale]")
    ax.set_title(f"Scores: box = middle half, bar = median; {games_each(frame.groupby(names).size())}")
    return ax


@styled
def plot_rates(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with the share of games that reach each tile (a frame of `summary`), with 95% intervals."""
    rows = list(_names(frame))
    ax = ax or new_axes(7.2, 1.6 + 0.62 * len(rows))
    tiles = [tile for tile in TILES if (frame[f"rate_{tile}"] > 0).any()] or [TILES[0]]
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(tiles)))
    offsets = np.linspace(-0.34, 0.34, len(tiles)) if len(tiles) > 1 else [0.0]
    for tile, shade, offset in zip(tiles, shades, offsets, strict=True):
        places = np.arange(len(rows)) + offset
        low, rate, high = (frame[f"rate_{tile}{end}"].to_numpy(float) for end in ("_low", "", "_high"))
        ax.hlines(places, low, high, color=shade, linewidth=1.4)
        ax.plot(rate, places, "o", color=shade, markersize=4.5, label=f"{tile}")
    _rows_axis(ax, rows)
    for edge in np.arange(len(rows) - 1) + 0.5:
        ax.axhline(edge, color="#cccccc", linewidth=0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("share of games that reach the tile [%], 95% Wilson interval")
    ax.legend(title="tile", loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    ax.set_title(f"Tiles reached; {games_each(frame['games'])}")
    return ax


@styled
def plot_speed(frame: pd.DataFrame, *, front: pd.DataFrame | None = None, ax: Axes | None = None) -> Axes:
    """Axes with mean score against ms per move (a frame of `summary`), both log, with 95% intervals of the mean.

    `front` (a frame of `pareto_front`) is joined by a line: nothing measured is faster and better.
    """
    known = frame.dropna(subset=["ms_per_move"])
    ax = ax or new_axes(7.6, 5.4)
    names = list(_names(known))
    for name, (_, row) in zip(names, known.iterrows(), strict=True):
        color = family_color(name)
        ax.vlines(row["ms_per_move"], row["mean_low"], row["mean_high"], color=color, linewidth=1.6, zorder=2)
        ax.plot(row["ms_per_move"], row["mean_score"], "o", color=color, zorder=3)
    if front is not None and len(front) > 1:
        ax.plot(front["ms_per_move"], front["mean_score"], color="#888888", linestyle="--", linewidth=1, zorder=1)
    log_points(ax, "y", known[["mean_low", "mean_high", "mean_score"]].to_numpy(float).ravel())
    time_axis(ax)
    ax.margins(x=0.12)
    ax.set_ylabel("mean score [points, log scale], 95% interval")
    dashed = "dashed: none faster and better; " if front is not None else ""
    ax.set_title(f"What a move's time buys ({dashed}{games_each(known['games'])})")
    places = known[["ms_per_move", "mean_score"]].to_numpy(float)
    label_points(ax, names, [family_color(name) for name in names], places)
    return ax


@styled
def plot_differences(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with mean differences to the baseline on the same seeds (a frame of `pairs`), with 95% intervals."""
    rows = list(_names(frame))
    ax = ax or new_axes(7.2, 1.4 + 0.42 * len(rows))
    ax.axvline(0, color="#555555", linewidth=1)
    for place, (name, (_, row)) in enumerate(zip(rows, frame.iterrows(), strict=True)):
        color = family_color(name)
        ax.hlines(place, row["difference_low"], row["difference_high"], color=color, linewidth=2.2)
        ax.plot(row["mean_difference"], place, "o", color=color)
    _rows_axis(ax, rows)
    ax.xaxis.set_major_formatter(FuncFormatter(short_points))
    baseline = for_figure(frame["baseline"].iloc[0]) if len(frame) else ""
    ax.set_xlabel(f"mean score minus that of {baseline}\non the same seeds [points], 95% interval")
    ax.set_title(f"Paired differences; {games_each(frame['games'])}")
    return ax


@styled
def plot_correlations(
    frame: pd.DataFrame, *, method: Literal["spearman", "pearson"] = "spearman", ax: Axes | None = None
) -> Axes:
    """Axes with a heat map of how scores on the same seed correlate (a frame of `correlations`, one spawner).

    A dot marks the pairs whose 95% interval excludes 0.
    """
    labels = list(dict.fromkeys([*frame["agent"], *frame["other"]]))
    place = {label: i for i, label in enumerate(labels)}
    size, shown = len(labels), [for_figure(label) for label in labels]
    ax = ax or new_axes(2.6 + 0.42 * size, 2.2 + 0.42 * size)
    grid = np.full((size, size), np.nan)
    i, j = frame["agent"].map(place).to_numpy(int), frame["other"].map(place).to_numpy(int)
    grid[i, j] = grid[j, i] = frame[method]
    image = ax.imshow(grid, cmap="RdBu_r", vmin=-1, vmax=1)
    away = ((frame[f"{method}_low"] > 0) | (frame[f"{method}_high"] < 0)).to_numpy(bool)
    ax.plot(np.r_[j[away], i[away]], np.r_[i[away], j[away]], "o", color="black", markersize=3)
    ax.set_xticks(range(size), shown, rotation=90)
    ax.set_yticks(range(size), shown)
    ax.grid(visible=False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.set_label(f"{method.capitalize()} correlation of scores on the same seed")
    ax.set_title(f"Dot: 95% interval without 0\n{games_each(frame['games'])}")
    return ax


@styled
def plot_table_sizes(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Axes with speed and hit rate against the memory of the table (a frame of `table_sizes`), a line a depth.

    Speed is drawn as a share of each depth's best, the middle half of the games shaded; hit rates are dashed.
    """
    ax = ax or new_axes(7.2, 4.4)
    for (depth, rows), color in zip(frame.groupby("depth"), ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=False):
        best = rows["moves_per_s"].max()
        memory = rows["memory_mib"].to_numpy(float)
        ax.fill_between(
            memory, rows["moves_low"] / best, rows["moves_high"] / best, color=color, alpha=0.2, linewidth=0
        )
        label = f"depth {depth}: speed, 1 = {best:,.0f} moves/s"
        ax.plot(memory, rows["moves_per_s"] / best, "o-", color=color, label=label)
        ax.plot(memory, rows["hit_rate"], "s--", color=color, markersize=3.5, label=f"depth {depth}: hits a probe")
    ax.set_xscale("log", base=2)
    ax.set_ylim(0, 1.19)
    ax.xaxis.set_major_formatter(FuncFormatter(plain_number))
    ax.set_xlabel("memory of the transposition table [MiB, log scale]")
    ax.set_ylabel("share")
    ax.set_title(f"Small tables are faster; {games_each(frame['games'])}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)
    return ax


def new_axes(width: float, height: float) -> Axes:
    """The axes of a new figure of this size in inches."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height))[1]


def _names(frame: pd.DataFrame) -> pd.Series[str]:
    """Agents' labels as a figure shows them, with the spawner where there is more than one."""
    labels = frame["agent"].map(for_figure)
    if frame["spawner"].nunique() < 2:
        return labels
    return labels + " · " + frame["spawner"].str.partition(":")[0]


def games_each(counts: pd.Series[Any]) -> str:
    """How many games each agent of a frame has played, as titles say it."""
    if counts.empty:
        return "no games"
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,} games each" if low == high else f"{low:,} to {high:,} games each"


def time_axis(ax: Axes) -> None:
    """Makes the x axis processor time per move, logarithmic, with ticks in reach of what is drawn already."""
    ax.set_xscale("log")
    if ax.dataLim.x1 < 30 * ax.dataLim.minposx:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(plain_number))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("processor time per move [ms, log scale]")


def _rows_axis(ax: Axes, rows: list[str]) -> None:
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)


def short_points(value: float, _: object = None) -> str:
    """A number of points as ticks say it: 30k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}".replace("-", "\N{MINUS SIGN}")
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def plain_number(value: float, _: object = None) -> str:
    """A number as ticks say it, without powers of ten."""
    return f"{value:,.9f}".rstrip("0").rstrip(".")


def log_points(ax: Axes, axis: Literal["x", "y"], values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """Makes the axis logarithmic, with room for these values and ticks that can be read."""
    known = values[np.isfinite(values) & (values > 0)]
    low, high = (known.min(), known.max()) if len(known) else (1.0, 10.0)
    subs = (1, 2, 5) if high / low < 30 else (1, 3) if high / low < 3e4 and low > 1e-3 else (1,)
    getattr(ax, f"set_{axis}scale")("log")
    getattr(ax, f"set_{axis}lim")(low / 1.15, high * 1.15)
    lines = getattr(ax, f"{axis}axis")
    lines.set_major_locator(LogLocator(subs=subs))
    lines.set_major_formatter(FuncFormatter(short_points))
    lines.set_minor_formatter(NullFormatter())


_AROUND = [(8, 0, "left"), (-8, 0, "right")] + [
    (dx, dy, side)
    for dy in (11, -11, 22, -22, 33, -33, 50, -50, 70, -70)
    for dx, side in ((6, "left"), (-6, "right"), (0, "center"), (30, "left"), (-30, "right"))
]
"""Where a point's name may stand (points to the right, points up, alignment), the nearest first."""


def label_points(ax: Axes, names: list[str], colors: list[str], places: np.ndarray[Any, Any]) -> None:
    """Writes each name beside its point (float64[names, 2]), over no other, with a line to it if far away."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    points = ax.transData.transform(places) if len(names) else np.empty((0, 2))
    inside, taken = ax.get_window_extent(renderer), list[Any]()
    for i in np.argsort(-points[:, 1]):
        color, others = colors[i], np.delete(points, i, axis=0)
        for dx, dy, side in _AROUND:
            line = {"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkB": 3} if abs(dy) > 20 else None
            text = ax.annotate(
                names[i], (places[i, 0], places[i, 1]), (dx, dy), textcoords="offset points", ha=side, va="center",
                fontsize=9, color=color, zorder=4, arrowprops=cast(Any, line),
            )  # fmt: skip
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer).padded(2)  # without the line
            free = box.x0 > inside.x0 and box.x1 < inside.x1 and box.y0 > inside.y0 and box.y1 < inside.y1
            if free and not box.count_contains(others) and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()
