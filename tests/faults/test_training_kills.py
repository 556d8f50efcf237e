"""kill -9 during a training: it goes on from its last checkpoint, and ends with the net of an undisturbed one."""

import random
import shutil
import time

from faulty import KILLS, SEED, kill, leftovers, run, start, wait, write

from t48lab.learning import open_net

TRAINING = """
network = ["0134", "0345", "345"]
method = "backward_tc"
restart = 50
games = 12_000
seed = 3
rules = { rows = 3, cols = 3 }
"""


def train(begin, file, folder):
    """What `begin` makes of a training with a checkpoint after every thousand games."""
    return begin("train", file, "--minutes", "0", "--out", folder)


def finished(folder):
    """(games, hash, curve) of the checkpoint of a folder, whose numbers are sound; zero games when it has none."""
    path = folder / "checkpoint.net"
    if not path.exists():
        return 0, None, None
    net = open_net(path)
    net.verify()
    return net.games, net.digest, net.facts["curve"]


def test_a_training_that_is_killed_again_and_again_ends_with_the_same_net(tmp_path, record_property):
    file, draw = write(tmp_path, TRAINING, "training.toml"), random.Random(SEED)
    train(run, file, tmp_path / "warm")
    begin = time.monotonic()
    train(run, file, tmp_path / "whole")
    seconds, whole = time.monotonic() - begin, finished(tmp_path / "whole")
    kills, folder, kept, found = 0, tmp_path / "0", 0, []
    while kills < KILLS:
        process = train(start, file, folder)
        wait(process, draw, seconds, lambda: finished(folder)[0], whole[0])  # noqa: B023
        if not kill(process):
            end(file, folder, whole)
            folder, kept = tmp_path / str(kills + 1), 0
            continue
        kills += 1
        games = finished(folder)[0]
        assert games >= kept, "finished games were lost"
        kept = games
        found.append(games)
    end(file, folder, whole)
    record_property("kills", kills)
    print(f"\ntrain: {kills} kills (seed {SEED}) at {found} games kept: always the undisturbed net")


def end(file, folder, whole):
    """Nothing; the training of a folder, gone on with to its end, leaves the undisturbed net and no drafts."""
    train(run, file, folder)
    assert finished(folder) == whole
    assert leftovers(folder) == []
    shutil.rmtree(folder)
