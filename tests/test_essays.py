"""What a notebook says of the games that it rests on."""

from t48lab.experiments import make_experiment, manifest_sheet, run_experiment


def test_the_sheet_tells_live_games_from_stored_ones(tmp_path):
    agents = {"random": {"agent": "random", "games": 9}, "greedy": "greedy"}
    run_experiment(make_experiment({"games": 3, "seed": 7, "agents": agents}, "try"), tmp_path / "try")
    sheet = manifest_sheet(tmp_path / "try", base_seed=5, games=None)
    (_, live), (name, stored) = sheet.sections
    live, stored = dict(live), dict(stored)
    assert name.endswith("/try")
    assert (live["base seed"], live["games"]) == ("5", "unknown")
    assert (stored["experiment"], stored["agents"], stored["seeds"]) == ("try", "2", "7")
    assert stored["games each"] == "3 to 9"
    assert "numba" in live["versions"]
    assert "numba" in stored["versions"]


def test_without_a_folder_there_is_the_live_part_alone():
    assert [name for name, _ in manifest_sheet(seed=1).sections] == ["live, in this notebook"]
