"""Several processes at once, clocks that jump, and impatient people."""

import random
import shutil
import signal
import subprocess
import time

import pandas as pd
import pytest
from faulty import KILLS, SEED, assert_part_of, ended, run, start, stored, wait_for, write
from study_files import SMALL

from t48lab.experiments import Store

SHIM = r"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The time of day jumps by up to three years, forwards or backwards, at each look. */
static long jump(void) {
    static unsigned long state = 88172645463325252ul;
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (long)(state % 7) * 31557600l - 3l * 31557600l;
}
int clock_gettime(clockid_t id, struct timespec *t) {
    int r = (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += jump();
    return r;
}
int gettimeofday(struct timeval *t, void *zone) {
    struct timespec s;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &s);
    t->tv_sec = s.tv_sec; t->tv_usec = s.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *t) {
    struct timespec s;
    clock_gettime(CLOCK_REALTIME, &s);
    if (t) *t = s.tv_sec;
    return s.tv_sec;
}
"""


@pytest.fixture(scope="module")
def jumping(tmp_path_factory):
    """A library that makes the time of day jump when it is preloaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("needs a C compiler for a clock that jumps")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "jump.c").write_text(SHIM)
    library = folder / "jump.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "jump.c")], check=True)
    return str(library)


def test_a_clock_that_jumps_changes_no_game(jumping, tmp_path, whole):
    file, out = write(tmp_path), tmp_path / "out"
    code = "import time; times = [time.time() for _ in range(9)]; raise SystemExit(times == sorted(times))"
    process = subprocess.run(["python3", "-c", code], env={"LD_PRELOAD": jumping, "PATH": "/usr/bin:/bin"}, check=False)
    assert process.returncode == 0, "the clock does not jump"
    run("run", file, "--out", out, LD_PRELOAD=jumping)
    pd.testing.assert_frame_equal(stored(out), whole[0])
    frame = Store(out).frame()
    assert (frame["seconds"] >= 0).all()
    assert frame["seconds"].max() < 60
    run("verify", out, LD_PRELOAD=jumping)


def test_a_clock_that_jumps_leaves_a_search_its_time(jumping, tmp_path):
    out = tmp_path / "out"
    agents = '[agents]\n"a" = "mcts:seconds=0.001"\n"b" = "expectimax:seconds=0.001,evaluator=classic"\n'
    run("run", write(tmp_path, "games = 4\nstop_tile = 256\n" + agents), "--out", out, LD_PRELOAD=jumping)
    sums = Store(out).frame().groupby("agent")[["seconds", "moves"]].sum()
    assert len(sums) == 2
    assert (sums["seconds"] / sums["moves"]).between(0.0005, 0.0015).all()


def test_a_clock_that_jumps_takes_no_trial_from_its_worker(jumping, tmp_path):
    file, out = write(tmp_path, SMALL, "small.toml"), tmp_path / "out"
    both = [start("tune", file, "--out", out, LD_PRELOAD=jumping) for _ in range(2)]
    for process in both:
        ended(process)
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    storage = JournalStorage(JournalFileBackend(str(out / "journal.log")))
    states = [t.state.name for t in optuna.load_study(study_name="small", storage=storage).get_trials()]
    assert states.count("COMPLETE") == 8
    assert "RUNNING" not in states
    assert (out / "best.toml").exists()


@pytest.mark.slow
def test_six_processes_open_one_new_database(tmp_path):
    import optuna

    file, out, url = write(tmp_path, SMALL, "small.toml"), tmp_path / "out", f"sqlite:///{tmp_path / 'studies.db'}"
    for process in [start("tune", file, "--storage", url, "--out", out) for _ in range(6)]:
        ended(process)
    states = [t.state.name for t in optuna.load_study(study_name="small", storage=url).get_trials()]
    assert states.count("COMPLETE") == 8
    assert set(states) <= {"COMPLETE", "FAIL"}
    assert (out / "best.toml").exists()


def test_of_several_runs_at_once_one_plays_and_the_others_say_so(tmp_path, whole):
    file, out = write(tmp_path), tmp_path / "out"
    processes = [start("run", file, "--out", out) for _ in range(4)]
    ends = [(process.communicate(timeout=600), process.returncode) for process in processes]
    assert {code for _, code in ends} <= {0, 2}
    assert 0 in [code for _, code in ends]
    for (_, err), code in ends:
        assert "Traceback" not in err
        if code:
            assert f"{out} is in use by another run, wait for its end or choose another --out" in err
    pd.testing.assert_frame_equal(stored(out), whole[0])


@pytest.mark.slow
def test_of_two_duels_at_once_each_deal_is_stored_once(tmp_path):
    contest = ["duel", "random:seed=1", "random:seed=2", "--games", "200", "--out", tmp_path / "out"]
    ends = [(process.communicate(timeout=600), process.returncode) for process in [start(*contest) for _ in range(2)]]
    said = {out for (out, _), code in ends if code == 0}
    assert len(said) == 1
    for (_, err), code in ends:
        assert "Traceback" not in err
        assert code == 0 or "is in use by another run, wait for its end or choose another --out" in err
    stored(tmp_path / "out")
    assert run(*contest)[0] in said


def test_two_experiments_do_not_get_into_one_folder(tmp_path):
    out = tmp_path / "out"
    one = write(tmp_path, '[agents]\n"a" = "mcts:simulations=30"', "one.toml")
    other = write(tmp_path, '[agents]\n"b" = "mcts:simulations=31"', "other.toml")
    processes = [start("run", file, "--games", "30", "--out", out) for file in (one, other)]
    codes = sorted(process.wait(timeout=600) for process in processes)
    for process in processes:
        assert "Traceback" not in process.communicate()[1]
    assert codes == [0, 2]
    assert stored(out)["agent"].nunique() == 1
    assert len(stored(out)) == 30


@pytest.mark.parametrize("number", range(max(1, KILLS // 5)))
def test_ctrl_c_twice_ends_at_once_and_keeps_what_is_finished(tmp_path, whole, number):
    file, out, draw = write(tmp_path), tmp_path / "out", random.Random(SEED + number)
    process = start("run", file, "--out", out)
    wait_for(lambda: list((out / "games").glob("*.parquet")), process)
    time.sleep(draw.uniform(0.0, 0.8 * whole[1]))
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(draw.choice([0.0, 0.02, 0.3]))
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
    if process.returncode == 130:
        assert err.strip().splitlines()[-1].startswith(f"t48lab: interrupted: finished games are kept in {out}")
    assert_part_of(stored(out), whole[0])
    run("run", file, "--out", out)
    pd.testing.assert_frame_equal(stored(out), whole[0])


@pytest.mark.parametrize("number", range(max(1, KILLS // 5)))
def test_ctrl_c_twice_ends_a_study_and_keeps_its_trials(tmp_path, number):
    file, out, draw = write(tmp_path, SMALL, "small.toml"), tmp_path / "out", random.Random(SEED + number)
    process = start("tune", file, "--out", out)
    wait_for(lambda: (out / "journal.log").exists(), process)
    time.sleep(draw.uniform(0.0, 2.0))
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(draw.choice([0.0, 0.02, 0.3]))
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
    run("tune", file, "--out", out)
    assert (out / "best.toml").exists()


def test_ctrl_c_before_anything_is_loaded(tmp_path):
    for wait in (0.05, 0.2, 0.5, 1.0):
        process = start("run", write(tmp_path), "--out", tmp_path / "out")
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode in (130, 0, 1, -signal.SIGINT)
