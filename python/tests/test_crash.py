"""Processes that are killed or interrupted at any moment: in the end results are as without that.

FLOODWAY_CRASH_ROUNDS says how often it is tried, 1 if it is not given, and FLOODWAY_CRASH_SEED at
which moments. The program is tested in the same way by crates/cli/tests/crash.rs.
"""

import json
import os
import random
import signal
import time

import pytest
from conftest import in_a_process, wait_for

import floodway

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

ROUNDS = int(os.environ.get("FLOODWAY_CRASH_ROUNDS", "1"))
SEED = os.environ.get("FLOODWAY_CRASH_SEED", "1")
BLOWS = 4

OF_COMMANDS = {
    "command",
    "hops_per_second",
    "peak_rss_bytes",
    "provenance",
    "reused",
    "run_s",
    "started",
    "threads",
    "wall_s",
}
"""What says how long something took, when, on how many threads, for whom, and what a cache had."""


def without(value):
    """Leave out of JSON what another call would say otherwise."""
    if isinstance(value, dict):
        return {name: without(of) for name, of in value.items() if name not in OF_COMMANDS}
    return [without(of) for of in value] if isinstance(value, list) else value


def contents(folder):
    """Read all files below a folder but pages, which show times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".html":
            is_json = path.suffix == ".json"
            said = without(json.loads(path.read_text())) if is_json else path.read_bytes()
            found[os.fspath(path.relative_to(folder))] = said
    return found


def read(out):
    """Look at a results directory as a reader would: all runs that it lists are whole.

    Returns how many came to their end; one that was cut short is repeated by the next command.
    """
    if not (out / "manifest.json").exists():
        return 0
    results = floodway.open(out)
    for run in results.runs:
        for table in run.tables.values():
            assert len(table.columns) > 0
    return sum(run.stop != "interrupted" for run in results.runs)


def strike(script, dice, longest):
    """Run a script until it ends or is killed; whether it came to its end."""
    with in_a_process(script + '\nprint("done")') as child:
        assert child.stdout.readline() == "imported\n"
        time.sleep(longest * dice.random())
        child.send_signal(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
        said, _ = child.communicate(timeout=60)
        return said == "done\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


LOAD = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import floodway
scenario = floodway.load({scenario!r}).with_({{"replications": 8}})
print("imported", flush=True)
try:
    {call}
except KeyboardInterrupt:
    raise SystemExit(1) from None
"""


def test_an_experiment_survives_everything(scenarios, folder):
    file = os.fspath(scenarios / "tiny.toml")
    scenario = floodway.load(file).with_({"replications": 8})
    begun = time.monotonic()
    scenario.compare("calm", progress=False)
    longest = time.monotonic() - begun
    dice = random.Random(f"compare {SEED}")
    call = 'scenario.compare("out", existing="resume", threads=2, progress=False)'
    script = LOAD.format(scenario=file, call=call)
    for number in range(ROUNDS):
        out = folder / "out"
        last = 0
        for _ in range(BLOWS):
            ended = strike(script, dice, longest)
            there = read(out)
            assert there >= last
            last = there
            if ended:
                break
        scenario.compare(out, existing="resume", progress=False)
        assert contents(out) == contents(folder / "calm")
        out.rename(folder / f"out-{number}")


def test_a_sweep_survives_everything(scenarios, folder):
    file = os.fspath(scenarios / "swept.toml")
    scenario = floodway.load(file).with_({"replications": 8})
    begun = time.monotonic()
    scenario.sweep(out="calm", cache=None, progress=False)
    longest = time.monotonic() - begun
    dice = random.Random(f"sweep {SEED}")
    for number in range(ROUNDS):
        call = f'scenario.sweep(out="out-{number}", cache="cache-{number}", progress=False)'
        script = LOAD.format(scenario=file, call=call)
        for _ in range(BLOWS):
            if strike(script, dice, longest):
                break
        swept = scenario.sweep(out=f"out-{number}", cache=f"cache-{number}", progress=False)
        assert contents(swept.path) == contents(folder / "calm")


def test_a_sweep_on_dask_survives_its_client_and_a_worker(scenarios, folder):
    distributed = pytest.importorskip("distributed")
    file = os.fspath(scenarios / "swept.toml")
    scenario = floodway.load(file).with_({"replications": 8})
    scenario.sweep(out="calm", cache=None, progress=False)
    dice = random.Random(f"dask {SEED}")
    script = f"""
import floodway
from distributed import Client
def main():
    scenario = floodway.load({file!r}).with_({{"replications": 8}})
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        scenario.sweep(out="out", cache="cache", client=client, progress=False)
main()
"""
    for number in range(ROUNDS):
        # A client that is killed while its workers are at it, somewhere in its runs.
        with in_a_process(script) as child:
            wait_for(enough(folder / "cache", dice.randrange(1, 40)), child)
            child.kill()
        assert without_parts(folder / "cache")
        # And a worker of another one. The others remain: without any, Dask waits for ever.
        cluster = distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None, local_directory="dask"
        )
        with cluster, distributed.Client(cluster) as client:
            kill = Killer(client, dice)
            swept = scenario.sweep(out="out", cache="cache", client=client, progress=kill)
        assert kill.killed
        assert swept.reused > 0
        assert contents(swept.path) == contents(folder / "calm")
        (folder / "out").rename(folder / f"out-{number}")
        (folder / "cache").rename(folder / f"cache-{number}")


def enough(cache, runs):
    """Say whether a cache has so many runs."""
    return lambda: len(list(cache.glob("??/*/run.json"))) >= runs


class Killer:
    """Kills a worker of a client while it is at a sweep."""

    def __init__(self, client, dice):
        self.client, self.dice = client, dice
        self.at = dice.randrange(2, 80)
        self.killed = False

    def __call__(self, progress):
        if not self.killed and progress.runs_done >= self.at:
            self.killed = True
            pids = self.client.run(os.getpid)
            os.kill(self.dice.choice(sorted(pids.values())), signal.SIGKILL)


def without_parts(cache):
    """Give the runs of a cache, whose folders are whole as soon as they have their names."""
    runs = [path.parent for path in cache.glob("??/*/run.json")]
    for run in runs:
        kept = json.loads((run / "run.json").read_text())
        # A table without rows has no file and no checksum.
        with_file = [table["name"] for table in kept["tables"] if "checksum" in table]
        names = {f"{name}.parquet" for name in with_file} | {"run.json"}
        assert {path.name for path in run.iterdir()} == names
    return runs
