"""Evaluators: every preset against its slow twin, the oracle, the record and its TOML, and the tables."""

import csv
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference_evaluators as twin

from t48lab import PRESETS, Board, Evaluator, Greedy, Rules, T48Error, Term, get_evaluator
from t48lab.commands.bench import POSITIONS
from t48lab.evaluators import TERMS
from t48lab.evaluators.presets import MINUS_INFINITY
from t48lab.evaluators.presets import PRESETS as PRESET_DATA
from t48lab.evaluators.tables import TOLERANCE
from t48lab.kernels.layout import BLOCK, CLASS, EXTRA, RULES, TABLE

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
COUNT = 10_000 if COMPILED else 300
ORACLE = Path(__file__).parent / "data" / "oracle_classic.csv"

TWINS = {
    "classic": twin.classic,
    "a": twin.system_a,
    "seed": twin.system_a,
    "a_no_corner": lambda b: twin.system_a(b, 1.0, 1.0, 0.1, 0.0),
    "a_half_corner": lambda b: twin.system_a(b, 4.0, 1.0, 0.3, 1.0),
    "a_constant": lambda b: twin.system_a(b, corner=0.0, constant=100.0),
    "a_reversed": lambda b: twin.system_a(b, mono=-1.0),
    "c": twin.system_c,
    "c_rough": lambda b: twin.system_c(b, smooth=0.1),
    "c_low_risk": lambda b: twin.system_c(b, 45.0, -0.1, 275.0, 700.0),
    "c_aggressive": lambda b: twin.system_c(b, 30.0, -0.3, 150.0, 1000.0),
    "d_basic": twin.system_d1,
    "d_normal": twin.system_d2,
    "d_normal_best": lambda b: twin.system_d2(b, w2=2.2),
    "d_phase": twin.system_d3,
    "d_final": twin.system_d4,
    "d_bent": lambda b: twin.system_d4(b, twin.bent),
    "e": twin.system_e,
}
TERM_TWINS = {
    "empty": twin.empty,
    "monotonicity": lambda b: -twin.min_of_falls_and_rises(b, 4.0),
    "smoothness": twin.smooth_logs,
    "corner": lambda b: twin.line_end_maximum(b, 2.0),
    "merges": twin.merges,
    "line_bonus": lambda b: len(b) + len(b[0]),
    "roughness": twin.roughness,
    "mono_count": twin.mono_count,
    "violations": twin.mono_violations,
    "largest": twin.largest,
    "corner_bonus": lambda b: float(0 < twin.largest(b) in twin.corners(b)),
    "empty_bent": lambda b: twin.bent(twin.empty(b)),
    "snake": twin.snake,
}


def shaped_twin(name):
    return lambda b: twin.shaped_terms(b, PRESETS[name].weights)


def random_ranks(count, seed, rows=4, cols=4):
    """Boards of every fullness and every largest rank to 15, int64[count, rows, cols]."""
    rng = np.random.default_rng(seed)
    top = rng.integers(1, 16, (count, 1, 1))
    ranks = rng.integers(1, top + 1, (count, rows, cols))
    return np.where(rng.random((count, rows, cols)) < rng.random((count, 1, 1)), 0, ranks)


def tiles(ranks):
    return np.where(ranks > 0, 1 << ranks, 0).tolist()


def packed(ranks):
    return np.uint64(sum(int(r) << (60 - 4 * (4 * i + j)) for (i, j), r in np.ndenumerate(ranks)))


def compiled_values(evaluator, boards, rows=4, cols=4):
    """(values, step of the fixed point) by the compiled evaluator."""
    from t48lab.kernels.lines import evaluate

    rules = Rules(rows=rows, cols=cols)
    lines, extra = evaluator.compile(rules)
    mask, step = rules.arrays()[1][RULES.MASK], 2.0 ** -int(extra[EXTRA.SHIFT])
    return np.array([evaluate(packed(ranks), lines, extra, mask) for ranks in boards]) * step, step


def test_every_preset_has_a_twin_and_a_meaning():
    assert set(TWINS) | {"tuned", "tuned_deep", "four_terms"} == set(PRESETS) == set(PRESET_DATA)
    assert all(meaning.endswith(".") for meaning, _ in PRESET_DATA.values())
    assert PRESETS["seed"] == PRESETS["a"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_equals_its_twin(name):
    boards = random_ranks(COUNT, seed=1)
    found, step = compiled_values(PRESETS[name], boards)
    wanted = np.array([(TWINS.get(name) or shaped_twin(name))(tiles(ranks)) for ranks in boards])
    assert abs(found - wanted).max() <= 6 * step  # half a step for each of 8 lines and 3 other numbers
    assert 6 * step <= 1e-6 * abs(wanted).max()


@pytest.mark.parametrize("name", ["tuned", "a", "c", "d_basic", "d_phase", "d_bent", "e"])
def test_contributions_add_up_to_the_twin(name):
    for ranks in random_ranks(30, seed=2):
        board = tiles(ranks)
        parts = PRESETS[name].explain(Board.from_array(board))
        assert sum(parts.values()) == pytest.approx((TWINS.get(name) or shaped_twin(name))(board), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("size", [(4, 4), (3, 3), (2, 4), (4, 3), (2, 2)])
@pytest.mark.parametrize("name", TERM_TWINS)
def test_a_term_equals_its_twin_on_every_board_size(name, size):
    rows, cols = size
    evaluator = Evaluator(terms={name: 1.0})
    boards = random_ranks(60, 3, rows, cols)
    found, step = compiled_values(evaluator, boards, rows, cols)
    wanted = np.array([TERM_TWINS[name](tiles(ranks)) for ranks in boards])
    assert abs(found - wanted).max() <= 6 * step
    assert evaluator.explain(Board.from_array(tiles(boards[0])))[name] == pytest.approx(wanted[0])


@pytest.mark.parametrize("size", [(3, 3), (2, 4), (4, 3)])
@pytest.mark.parametrize("name", ["classic", "a", "d_phase", "d_final", "e"])
def test_presets_on_smaller_boards(name, size):
    boards = random_ranks(60, 4, *size)
    found, step = compiled_values(PRESETS[name], boards, *size)
    wanted = np.array([TWINS[name](tiles(ranks)) for ranks in boards])
    assert abs(found - wanted).max() <= 6 * step


def test_classic_agrees_with_the_oracle():
    with ORACLE.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 400
    for row in rows:
        assert get_evaluator("classic").value(row["board"]) == pytest.approx(float(row["static"]), rel=1e-5)


@pytest.mark.parametrize("weight", [0.0, -1e6, 1e6])
def test_values_are_finite_at_any_weight(weight):
    corners = {"corner_largest", "corner_bonus", "top_left_largest"}
    evaluator = Evaluator(terms=dict.fromkeys(set(TERMS) - corners, weight), lost=weight)
    boards = ["2 0 0 0 4 0 0 0 2 0 0 0 4 0 0 0", "0" * 16, "f" * 16, "1212212112122121"]
    values = [evaluator.value(board) for board in boards]
    assert np.isfinite(values).all()
    assert weight or values == [0.0] * 4


def test_a_full_board_is_minus_a_billion_in_the_final_system_d():
    assert PRESETS["d_final"].value("1212212112122121") == MINUS_INFINITY == -1e9
    assert PRESETS["d_final"].explain("1212212112122121") == {"full": -1e9}
    assert PRESETS["d_final"].value("1212212112122120") > -100


@pytest.mark.parametrize("name", TERMS)
def test_a_zero_weight_contributes_exactly_nothing(name):
    alone = Evaluator(terms={name: 0.0})
    lines, extra = alone.compile()
    assert not lines.any()
    assert not extra[EXTRA.BLOCKS + BLOCK.PEAK_OUT :].any()
    assert extra[EXTRA.CLASS] == CLASS.LINES
    assert alone.explain("123" + "0" * 13) == {name: 0.0}
    weights = {"empty": 3.7, "smoothness": 0.3}
    with_zero = Evaluator(terms={name: 0.0} | weights).compile()
    assert all(np.array_equal(a, b) for a, b in zip(with_zero, Evaluator(terms=weights).compile(), strict=True))


@pytest.mark.parametrize("name", TERMS)
def test_terms_say_rightly_whether_they_are_symmetric(name):
    evaluator = Evaluator(terms={name: 1.0})
    agree = []
    for ranks in random_ranks(40, seed=5):
        turned = [f(np.rot90(ranks, k)) for k in range(4) for f in (np.asarray, np.fliplr)]
        found, _ = compiled_values(evaluator, turned)
        agree.append(np.ptp(found) <= 1e-9 * abs(found).max())
    assert all(agree) == TERMS[name].symmetric


def test_columns_of_violations_close_their_gaps():
    board = "4 0 0 0 / 0 0 0 0 / 2 0 0 0 / 0 0 0 0"
    assert Evaluator(terms={"violations": 1}).value(board) == 1
    assert Evaluator(terms={"violations": 1}).value("4 0 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0") == 0


def test_corner_terms_when_the_largest_tile_stands_twice():
    tie = Board.parse("0 8 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 8")
    assert Evaluator(terms={"corner_largest": 1}).value(tie) == 8
    assert Evaluator(terms={"corner_log": 1}).value(tie) == 0
    assert Evaluator(terms={"top_left_largest": 1}).value(tie) == 2


def test_the_quickest_kind_of_tables_is_chosen():
    kinds = {name: evaluator.compile().extra[EXTRA.CLASS] for name, evaluator in PRESETS.items()}
    assert kinds["tuned"] == kinds["classic"] == kinds["a_no_corner"] == CLASS.LINES
    assert kinds["a"] == kinds["c"] == kinds["d_basic"] == CLASS.LINES_AND_PEAK
    assert kinds["d_normal"] == kinds["d_phase"] == kinds["d_final"] == kinds["e"] == CLASS.WHOLE_BOARD
    assert len(PRESETS["classic"].compile().lines) == TABLE  # rows and columns share one table


@pytest.mark.parametrize("name", PRESETS)
def test_eight_line_entries_fit_in_32_bits(name):
    lines, extra = PRESETS[name].compile()
    if extra[EXTRA.CLASS] != CLASS.WHOLE_BOARD:
        assert 8 * int(abs(lines.astype(np.int64)).max()) < 2**31
    assert abs(extra[EXTRA.BLOCKS :]).max() <= 2**62


def test_compiling_twice_gives_the_same_arrays():
    first = Evaluator(terms={"empty": 2.5}).compile()
    assert first is Evaluator(terms={"empty": 2.5}).compile()
    assert first is not Evaluator(terms={"empty": 2.5}).compile(Rules(rows=3))


def test_lost_positions():
    from t48lab.kernels.lines import lost_value

    stuck, mask = packed(np.array([[1, 2, 1, 2], [2, 1, 2, 1]] * 2)), Rules().arrays()[1][RULES.MASK]
    for lost in (-7.5, "evaluation"):
        evaluator = Evaluator(terms={"line_bonus": 2.0}, lost=lost)
        lines, extra = evaluator.compile()
        fixed = int(lost_value(stuck, lines, extra, mask))
        assert fixed * 2.0 ** -int(extra[EXTRA.SHIFT]) == (16.0 if lost == "evaluation" else -7.5)


def test_tiles_past_32768_have_values():
    board = Board.parse("hgfe dcba 9876 5432".replace(" ", ""))
    assert np.isfinite(PRESETS["tuned"].value(board))
    assert PRESETS["a"].explain(board)["corner_largest"] == 2 * 131072


@pytest.mark.parametrize("name", PRESETS)
def test_a_record_survives_toml_pickle_and_plain_data(name, tmp_path):
    evaluator, path = PRESETS[name], tmp_path / "weights.toml"
    path.write_text(evaluator.to_toml())
    for copy in (
        Evaluator.from_toml(path),
        get_evaluator(path),
        get_evaluator(str(path)),
        pickle.loads(pickle.dumps(evaluator)),
        Evaluator(**evaluator.model_dump(mode="json")),
        Evaluator(**evaluator.model_dump(mode="json", exclude_defaults=True)),
    ):
        assert copy == evaluator
        assert hash(copy) == hash(evaluator)


def test_the_order_of_terms_does_not_matter():
    one = Evaluator(terms={"empty": 1, "corner": Term(2, exponent=3)})
    other = Evaluator(terms={"corner": {"weight": 2, "exponent": 3}, "empty": 1.0})
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_toml() == other.to_toml()


def test_exponents_are_filled_in():
    assert Evaluator(terms={"corner": 1}).terms["corner"] == Term(1, exponent=TERMS["corner"].exponent)
    assert Evaluator(terms={"merges": 1}).terms["merges"] == Term(1)


WRONG = {
    "no term 'emty', did you mean 'empty'": {"terms": {"emty": 1}},
    "term 'empty': weight must be a number, got 'many'": {"terms": {"empty": "many"}},
    "term 'empty': weight must be .* got nan": {"terms": {"empty": float("nan")}},
    "term 'merges' has no exponent, leave 2.0 out": {"terms": {"merges": {"weight": 1, "exponent": 2}}},
    "term 'corner': a term has no parameter 'exponnt', did you mean 'exponent'": {
        "terms": {"corner": {"weight": 1, "exponnt": 2}}
    },
    "term 'corner': exponent must be more than 0": {"terms": {"corner": {"weight": 1, "exponent": -1}}},
    "terms must be weights by name": {"terms": [1, 2]},
    "no parameter 'losst', did you mean 'lost'": {"terms": {}, "losst": 0},
    "no parameter 'trems', did you mean 'terms'": {"trems": {"empty": 1}},
    "lost must be a number or 'evaluation'.*got 'zero'": {"terms": {}, "lost": "zero"},
    "lost must be .* got -inf": {"terms": {}, "lost": float("-inf")},
    "full must be a number": {"terms": {}, "full": "evaluation"},
    "floor=True needs a number as lost": {"terms": {}, "floor": True},
    "'descent' has no usual range": {"terms": {"descent": 1}, "normalised": True},
    "ask for the corner in different ways": {"terms": {"corner_log": 1, "corner_largest": 1}},
    "a phase needs largest_below or empty_above": {"terms": {}, "phases": [{"terms": {}}]},
    "a phase has no parameter 'largest', did you mean 'largest_below'": {
        "terms": {},
        "phases": [{"terms": {}, "largest": 4}],
    },
    "phases must be a list": {"terms": {}, "phases": 3},
}


@pytest.mark.parametrize("message", WRONG)
def test_errors_are_one_line_with_a_remedy(message):
    with pytest.raises(T48Error, match=message) as caught:
        Evaluator(**WRONG[message])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[terms]\nemptyy = 1", "weights.toml: no term 'emptyy', did you mean 'empty'"),
        ("lots = 0\n[terms]\nempty = 1", "weights.toml: an evaluator has no parameter 'lots', did you mean 'lost'"),
        ("[terms", "weights.toml is not valid TOML"),
        ("\0", "weights.toml is not valid TOML"),
    ],
)
def test_errors_in_a_file_name_the_file(tmp_path, text, message):
    path = tmp_path / "weights.toml"
    path.write_text(text)
    with pytest.raises(T48Error, match=message):
        get_evaluator(path)


def test_unknown_evaluators_name_the_nearest():
    with pytest.raises(T48Error, match="no evaluator 'tunde', did you mean 'tuned'"):
        get_evaluator("tunde")
    with pytest.raises(T48Error, match=r"cannot read nowhere/x.toml .no such file or directory., give the path"):
        get_evaluator("nowhere/x.toml")
    with pytest.raises(T48Error, match="no evaluator 3"):
        get_evaluator(3)
    assert get_evaluator("Tuned") is PRESETS["tuned"]


@pytest.mark.parametrize("name", TERMS)
def test_terms_are_written_down(name):
    term = TERMS[name]
    assert term.name == name
    assert len(term.meaning) > 1
    assert term.source
    assert term.weight.low < term.weight.high
    assert term.weight.low > 0 or not term.weight.log
    assert (term.exponent is None) == (term.exponents is None)
    if term.exponents:
        assert 0 < term.exponents.low <= term.exponent <= term.exponents.high


def test_records_need_no_compiler():
    code = "import sys, t48lab; t48lab.PRESETS['d_phase'].compile(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def scaled(evaluator, factor):
    """The evaluator with every weight and fixed value times a factor."""
    data = evaluator.model_dump()
    stages = [data, *data["phases"]]
    for stage in stages:
        stage["terms"] = {name: {**term, "weight": term["weight"] * factor} for name, term in stage["terms"].items()}
    data["lost"] = data["lost"] if data["lost"] == "evaluation" else data["lost"] * factor
    data["full"] = None if data["full"] is None else data["full"] * factor
    return Evaluator(**data)


@pytest.mark.parametrize("power", [-60, -20, -3, 1])
@pytest.mark.parametrize("name", PRESETS)
def test_a_power_of_two_scales_values_and_nothing_else(name, power):
    """The fixed point is chosen by an evaluator's own numbers: the tables are the same, so every search is."""
    plain, times = PRESETS[name].compile(), scaled(PRESETS[name], 2.0**power).compile()
    assert np.array_equal(plain.lines, times.lines)
    places = np.arange(len(plain.extra)) != EXTRA.SHIFT
    assert np.array_equal(plain.extra[places], times.extra[places])
    assert plain.extra[EXTRA.SHIFT] - times.extra[EXTRA.SHIFT] == power


@pytest.mark.parametrize("factor", [1e-6, 1e-12, 1e-50, 3.0])
@pytest.mark.parametrize("name", ["tuned", "classic", "c", "d_normal"])
def test_any_factor_changes_no_move_beyond_rounding(name, factor):
    evaluator = PRESETS[name]
    small = scaled(evaluator, factor)
    rounding = 12 * 2.0 ** -evaluator.compile().extra[EXTRA.SHIFT]
    for board in POSITIONS:
        for value, times in zip(
            *(Greedy(evaluator=e).search(board).values.values() for e in (evaluator, small)), strict=True
        ):
            assert (value is None) == (times is None)
            assert value is None or times / factor == pytest.approx(value, rel=1e-12, abs=rounding)
        assert small.value(board) != 0


MIXED = [
    {"terms": {"empty": 0.001, "smoothness": 0.0004}, "lost": -1e6},
    {"terms": {"empty": 0.001, "smoothness": 0.0004}, "full": -1e6},
    {"terms": {"empty": 1e-9, "largest": 1e-3}, "lost": 0.0},
    {"terms": {"empty": 1e-12, "merges": 1e-12, "corner_largest": 1e-13}},
    {"terms": {"empty": 1e12, "rank_sum": -1e-3}, "lost": -1e12},
    {"terms": {"empty_bent": 0.002, "heat": 0.5, "largest_log": 1e-4}, "lost": -1000},
]


@pytest.mark.parametrize("data", [*MIXED, *(preset.model_dump() for preset in PRESETS.values())])
def test_values_agree_with_explanations(data):
    """Within TOLERANCE of the largest number that the terms make, whatever `lost` and `full` are."""
    evaluator = Evaluator(**data)
    lines, extra = evaluator.compile()
    block = extra[EXTRA.BLOCKS :]
    numbers = np.concatenate([abs(lines), abs(block)])
    largest = np.ldexp(float(numbers.max()), -int(extra[EXTRA.SHIFT]))
    for board in POSITIONS:
        assert abs(evaluator.value(board) - sum(evaluator.explain(board).values())) <= TOLERANCE * largest


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"terms": {"empty": 0.001, "smoothness": 0.0004}, "lost": -1e12}, "lost=-1e\\+12 is so large beside terms of"),
        ({"terms": {"empty": 0.001, "smoothness": 0.0004}, "full": 1e12}, "full=1e\\+12 is so large beside terms of"),
        ({"terms": {"largest_log": 1e-6}, "lost": 1e9, "full": -2.0}, "lost=1e\\+09 is so large"),
        ({"terms": {"empty": 1e-30}, "lost": 1.0}, "keep it from -1.69e-21 to 1.69e-21"),
    ],
)
def test_a_fixed_value_that_drowns_the_terms_is_refused(data, words):
    with pytest.raises(T48Error, match=words):
        Evaluator(**data).value("1200" + "0" * 12)
    with pytest.raises(T48Error, match=words):
        Greedy(evaluator=data).key()


def test_weights_have_a_smallest_number():
    for weight in (1e-101, -1e-300, 5e-324):
        with pytest.raises(T48Error, match=f"weight must be 0 or at least 1e-100 from 0, got {weight:g}"):
            Evaluator(terms={"empty": weight})
    assert Evaluator(terms={"empty": 1e-100}).value("1200" + "0" * 12) == pytest.approx(14e-100)


def test_keys_change_where_tables_do():
    """Small weights have finer tables than once; games of theirs are not mixed with games of before."""
    assert PRESETS["tuned"].revision(Rules()) == PRESETS["d_normal"].revision(Rules()) == "1"
    small = Evaluator(terms={"empty": 0.001})
    assert small.revision(Rules()) == "2"
    assert "evaluator_revision" not in Greedy(evaluator=small).resolved()
