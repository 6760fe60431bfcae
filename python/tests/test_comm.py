"""Runs over the processes of a communicator of mpi4py, with the MPI of the package ``mpich``."""

import json
import sys

import pytest
from test_mpi import LAUNCHER, RANKS, SCENARIO, files, pytestmark, said

import floodway

__all__ = ["pytestmark"]

pytest.importorskip("mpi4py", reason="there is no mpi4py in this environment")

#: What every script begins with.
BEGIN = """\
import json, sys
from pathlib import Path
from mpi4py import MPI
import floodway

comm = MPI.COMM_WORLD
scenario = floodway.load("scenario.toml")
ranks = floodway.Ranks(comm)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a scenario, in which the test is."""
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def over(ranks, script):
    """Run a script on so many processes."""
    return said([LAUNCHER, "-n", ranks, sys.executable, "-c", BEGIN + script])


def every(done, ranks, text):
    """So many ranks have printed this and nothing else. The launcher mixes their lines."""
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.count(text) == ranks, done.stdout
    assert done.stdout.replace(text, "").strip() == "", done.stdout


@pytest.mark.parametrize(("ranks", "threads"), RANKS)
def test_a_run_is_that_of_one_process(ranks, threads, here):
    done = over(
        ranks,
        f"""
run = ranks.run(scenario, "hpcc", 1, threads={threads})
assert (run is None) == (comm.rank > 0)
if run:
    print(run.fingerprint, run.hops, len(run.flows))
""",
    )
    alone = floodway.load("scenario.toml").run("hpcc", 1, threads=1)
    every(done, 1, f"{alone.fingerprint} {alone.hops} {len(alone.flows)}")


def test_an_experiment_is_that_of_one_process(program, here):
    script = """
results = ranks.compare(scenario, "many")
assert (results is None) == (comm.rank > 0)
if results:
    print(len(results.runs))
again = ranks.compare(scenario, "many", existing="resume")
"""
    every(over(2, script), 1, "4")
    assert said([program, "run", "scenario.toml", "--threads", 1, "--out", "alone"]).returncode == 0
    assert files(here / "many") == files(here / "alone")
    manifest = json.loads((here / "many" / "manifest.json").read_text())
    assert manifest["threads"] == 2


def test_a_part_of_the_processes_can_make_a_run(here):
    # Two make one run while a third makes another one alone. Messages of the program are not taken
    # for those of the run.
    script = """
half = comm.Split(color=comm.rank // 2)
token, there = bytearray(b"token"), bytearray(5)
requests = [comm.Isend([token, MPI.BYTE], (comm.rank + 1) % 3, tag) for tag in (1, 2)]
run = floodway.Ranks(half).run(scenario, "plain", comm.rank // 2)
for tag in (1, 2):
    comm.Recv([there, MPI.BYTE], (comm.rank - 1) % 3, tag)
    assert there == token
MPI.Request.Waitall(requests)
found = comm.gather(run and run.fingerprint)
if comm.rank == 0:
    print(*found)
"""
    scenario = floodway.load("scenario.toml")
    first, second = (scenario.run("plain", replication, threads=1) for replication in (0, 1))
    every(over(3, script), 1, f"{first.fingerprint} None {second.fingerprint}")


#: What is said if ranks have different things to run.
DIFFERS = (
    "rank 1 has another scenario, other options or another build of floodway than rank 0, and all "
    "must have the same: give all ranks one command line, and the same files and program on every "
    "machine"
)

#: What is tried, and what every rank says of it.
REFUSED = {
    'ranks.run(scenario.with_(explained_flows=3), "plain")': (
        "variant `plain` explains delays (`explained_flows`), which one process has to see from "
        "end to end: set `explained_flows=0`, or run it in one process"
    ),
    'ranks.run(scenario, "plain", comm.rank)': DIFFERS,
    'ranks.compare(scenario.with_(seed=comm.rank), "out")': DIFFERS,
    'floodway.Ranks(comm.rank).run(scenario, "plain")': (
        "`comm` has to be a communicator of mpi4py such as MPI.COMM_WORLD, not int"
    ),
    'floodway.Ranks(MPI.COMM_NULL).run(scenario, "plain")': (
        "`comm` is MPI.COMM_NULL: this process belongs to no communicator, so it must not call this"
    ),
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_is_refused_on_every_rank(call, here):
    script = f"""
try:
    {call}
except (TypeError, ValueError) as error:
    print(error, flush=True)
"""
    every(over(2, script), 2, REFUSED[call])
    assert not (here / "out").exists()


def test_there_are_no_more_ranks_than_switches(here):
    script = """
try:
    ranks.compare(scenario, "out")
except ValueError as error:
    print("start at most" in str(error), flush=True)
"""
    every(over(8, script), 8, "True")


def test_a_rank_that_fails_before_the_run_is_named(here):
    script = """
try:
    ranks.run(scenario, "plain" if comm.rank == 0 else "nothing")
except RuntimeError as error:
    print("rank 1 cannot run this" in str(error), flush=True)
except floodway.ScenarioError as error:
    print("nothing" in str(error), flush=True)
"""
    every(over(2, script), 2, "True")


def test_results_that_are_there_stay(here):
    script = """
ranks.compare(scenario, "out", variants=["plain"])
try:
    ranks.compare(scenario, "out", variants=["plain"])
except floodway.ResultsError as error:
    print('existing="resume"' in str(error), flush=True)
"""
    # The others are told that there is nothing to run, and go on.
    every(over(2, script), 1, "True")


def test_who_watches_can_stop_all(here):
    script = """
def watch(progress):
    raise KeyboardInterrupt

try:
    longer = scenario.with_({"limit": "2s", "arrivals": "1s"})
    run = ranks.run(longer, "plain", progress=watch)
    print(run)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    done = over(2, script)
    assert (done.returncode, sorted(done.stdout.split())) == (0, ["None", "stopped"]), done.stderr


def test_an_interrupt_of_another_rank_stops_all(here):
    script = """
import _thread, threading

scenario = scenario.with_({"limit": "2s", "arrivals": "1s"})
if comm.rank == 1:
    threading.Timer(0.5, _thread.interrupt_main).start()
try:
    ranks.run(scenario, "plain")
except KeyboardInterrupt:
    print("interrupted", flush=True)
except RuntimeError as error:
    print(str(error).split(":")[0], flush=True)
"""
    done = over(2, script)
    assert (done.returncode, done.stderr) == (0, "")
    assert "interrupted" in done.stdout and "another rank stopped the run" in done.stdout
