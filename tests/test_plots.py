"""Figures: axes with labels and units, no text on another, matplotlib left as it was."""

import itertools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from results_frames import AGENTS, made_up

import t48lab
from t48lab.analysis import budget_plots, correlations, curves, doublings, pairs, pareto_front, plots, summary
from t48lab.families import OTHER, family_color

pytestmark = pytest.mark.compiled

MANY = {f"{family} {i}": (900 * 2**i, 0.01 * 3**i) for family in ("expectimax", "minimax", "mcts") for i in range(6)}
DRAWINGS = {
    "scores": lambda frame, **kw: plots.plot_scores(frame, **kw),
    "rates": lambda frame, **kw: plots.plot_rates(summary(frame), **kw),
    "speed": lambda frame, **kw: plots.plot_speed(
        summary(frame), front=pareto_front(summary(frame), "ms_per_move", "mean_score"), **kw
    ),
    "differences": lambda frame, **kw: plots.plot_differences(pairs(frame, frame["agent"].iloc[0]), **kw),
    "correlations": lambda frame, **kw: plots.plot_correlations(correlations(frame), **kw),
    "curves": lambda frame, **kw: budget_plots.plot_curves(curves(frame, families(frame)), **kw),
    "doublings": lambda frame, **kw: budget_plots.plot_doublings(doublings(frame, families(frame)), **kw),
}


def families(frame):
    """Each agent's group: its first word, and whether it is exact."""
    return {name: f"{name.split()[0]}, {'cut' if name.endswith('cut') else 'exact'}" for name in frame["agent"]}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(params=DRAWINGS)
def draw(request):
    return DRAWINGS[request.param]


def texts(ax):
    """Every visible text of the axes with its box in pixels, tick labels included."""
    figure = ax.figure
    figure.canvas.draw()
    found = [ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        found += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    if ax.get_legend():
        found += [*ax.get_legend().get_texts(), ax.get_legend().get_title()]
    shown = [text for text in found if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), mpl.text.Text.get_window_extent(text, figure.canvas.get_renderer())) for text in shown]


@pytest.mark.parametrize("agents", [AGENTS, MANY], ids=["few", "many"])
def test_texts_overlap_nowhere_and_stay_inside(draw, agents):
    ax = draw(made_up(30, agents))
    boxes = texts(ax)
    page = ax.figure.bbox
    for name, box in boxes:
        assert page.x0 <= box.x0 + 1, name
        assert box.x1 <= page.x1 + 1, name
        assert page.y0 <= box.y0 + 1, name
        assert box.y1 <= page.y1 + 1, name
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.padded(-1).overlaps(b.padded(-1)), (one, other)


def test_every_point_has_its_name():
    ax = DRAWINGS["speed"](made_up(30, MANY))
    assert {text.get_text() for text in ax.texts} == set(MANY)


def test_axes_have_units_and_counts(draw):
    ax = draw(made_up(30))
    labels = ax.get_xlabel() + ax.get_ylabel()
    assert any(unit in labels for unit in ("[points", "[%]", "[ms")) or len(ax.figure.axes) == 2
    assert "30 games each" in ax._left_title.get_text()


def test_numbers_of_games_that_differ_are_said():
    frame = made_up(30)
    fewer = frame[(frame["agent"] != "random") | (frame["game"] < 10)]
    assert "10 to 30 games each" in plots.plot_scores(fewer)._left_title.get_text()


def test_given_axes_are_used_and_returned(draw):
    _, ax = plt.subplots()
    assert draw(made_up(5), ax=ax) is ax
    assert len(plt.get_fignums()) == 1


def test_settings_stay_as_they_were(draw):
    before = dict(mpl.rcParams)
    draw(made_up(5))
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("games", [1, 2, 3])
def test_few_games_and_one_agent(draw, games):
    draw(made_up(games)).figure.canvas.draw()
    draw(made_up(games, {"random": (1000, 0.1), "greedy": (1000, 0.1)})).figure.canvas.draw()


def test_one_agent_alone():
    for name in ("scores", "rates", "speed"):
        DRAWINGS[name](made_up(5, {"random": (1000, 0.1)})).figure.canvas.draw()


def test_two_spawners_are_told_apart():
    ax = plots.plot_rates(summary(made_up(5, spawners=("random", "adversarial:depth=1"))))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert {"greedy · random", "greedy · adversarial"} <= set(names)
    assert len(names) == 2 * len(AGENTS)


def test_games_without_a_score_are_drawn():
    plots.plot_scores(made_up(5).assign(score=0)).figure.canvas.draw()


def test_intervals_are_drawn_where_they_are():
    table = summary(made_up(30))
    ax = plots.plot_speed(table)
    ends = {tuple(segment[:, 1]) for lines in ax.collections for segment in lines.get_segments()}
    assert ends == set(zip(table["mean_low"], table["mean_high"], strict=True))


def test_groups_share_colours_and_lines():
    found = budget_plots.looks(["a, exact", "a, cut", "b, exact", "b, cut", "c"])
    assert found["a, exact"]["color"] == found["a, cut"]["color"] != found["b, cut"]["color"]
    assert found["a, cut"]["marker"] == found["b, cut"]["marker"] != found["c"]["marker"]


def test_a_family_keeps_its_colour():
    assert family_color("expectimax 3") == family_color("expectimax:depth=9") == "#0072B2"
    assert family_color("my own agent") == family_color("") == OTHER


def test_families_differ_for_colour_blind_readers():
    """No two family colours come closer than 0.1 in RGB when the red or the green cones are missing.

    Source of the matrices: Vienot, Brettel, Mollon (1999), "Digital video colourmaps for checking the legibility
    of displays by dichromats", Color Research & Application.
    """
    kinds = [kind for kind in t48lab.AGENTS.values() if kind.__module__.startswith("t48lab.")]
    colors = {kind.color for kind in kinds}
    assert len(colors) == len(kinds)
    for missing in (DEUTERANOPIA, PROTANOPIA):
        seen = [missing @ mpl.colors.to_rgb(color) for color in colors]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.1


PROTANOPIA = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_saved_figures_are_the_same_each_time(tmp_path, kind):
    frame = made_up(10)
    for name in ("a", "b"):
        plots.save(plots.plot_scores(frame).figure, tmp_path / name, kind)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
