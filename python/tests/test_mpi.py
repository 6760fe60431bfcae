"""One run over many processes, with the MPI of the package ``mpich`` and its launcher.

``FLOODWAY_MPI=all`` (``make check-mpi``) adds every scenario of the repository, by its quick
version where it has one.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import wait_for

BIN = Path(sys.prefix) / "bin"
LAUNCHER = BIN / "mpiexec"
LIBRARY = Path(sys.prefix) / "lib" / "libmpi_abi.so.1"
ALL = os.environ.get("FLOODWAY_MPI") == "all"

pytestmark = pytest.mark.skipif(
    not (LAUNCHER.exists() and LIBRARY.exists()), reason="there is no mpich in this environment"
)

#: Six switches: at most six ranks.
SCENARIO = """\
name = "over-ranks"
arrivals = "50us"
limit = "1ms"
replications = 2
share_hosts = true
[topology.clos]
leaves = 4
spines = 2
hosts_per_leaf = 2
[switch.flow_control.pfc]
[[workload]]
[workload.incast]
senders = 6
bytes = "20KB"
[[workload]]
[workload.many_to_many]
sizes = "web_search"
max_size = "100KB"
clusters = 1
cluster_size = 8
load = 0.3
[variants.plain]
[variants.hpcc.host.congestion.hpcc]
"""

#: Where the launcher is, the library is found.
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
ENVIRONMENT.pop("FLOODWAY_MPI_LIBRARY", None)

#: Threads alone, then ranks and threads of each.
THREADS = (1, 3)
RANKS = ((2, 1), (4, 1), (2, 2))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a scenario, in which the test is."""
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(words, *, seconds=300, **environment):
    environment = {**ENVIRONMENT, **environment}
    return subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=seconds,
    )


def over(program, ranks, *words, **options):
    return said([LAUNCHER, "-n", ranks, program, "run", *words, "--mpi"], **options)


def files(folder):
    """What a run has left, without times: fingerprints, and tables octet by octet."""
    manifest = json.loads((folder / "manifest.json").read_text())
    runs = [(run["variant"], run["replication"], run["fingerprint"]) for run in manifest["runs"]]
    tables = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}
    return runs, tables


def compare(program, folder, scenario, *words):
    """Runs a scenario in all ways; all leave the same. Returns the number of runs of each."""
    words = [scenario, "--quiet", "--replications", 1, *words]
    expected = None
    for threads in THREADS:
        out = folder / f"threads-{threads}"
        done = said([program, "run", *words, "--threads", threads, "--out", out])
        assert done.returncode == 0, done.stderr
        expected = expected or files(out)
        assert files(out) == expected
    for ranks, threads in RANKS:
        out = folder / f"ranks-{ranks}-{threads}"
        done = over(program, ranks, *words, "--threads", threads, "--out", out)
        if "cannot go over" in done.stderr:
            # Fewer switches than ranks, which is known before anything is run.
            assert (done.returncode, out.exists()) == (2, False), done.stderr
            continue
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (ranks, threads)
        assert files(out) == expected, (ranks, threads)
    return len(expected[0])


def test_results_are_those_of_one_process(program, here):
    assert compare(program, here / "out", "scenario.toml") >= 2


#: 2,048 hosts are run in blocks, on threads and on ranks. The end is when all flows have ended.
LARGE = """\
name = "large"
arrivals = "2us"
warmup = "0ns"
limit = "10ms"
replications = 1
share_hosts = true
[topology.clos]
leaves = 64
spines = 32
hosts_per_leaf = 32
[switch.aqm.ramp]
[switch.flow_control.pfc]
[[workload]]
[workload.incast]
senders = 32
bytes = "20KB"
[[workload]]
[workload.permutation]
bytes = "4KB"
"""


def test_a_large_network_ends_with_its_flows_in_the_same_window(program, here):
    (here / "large.toml").write_text(LARGE)
    assert compare(program, here / "out", "large.toml") == 1
    manifest = json.loads((here / "out" / "ranks-2-1" / "manifest.json").read_text())
    assert [run["stop"] for run in manifest["runs"]] == ["flows_done"]


#: Pauses and selective repeat; deadlocks; dependencies between flows.
FEW = {
    "try.toml": ["--set", "limit=400us", "--set", "arrivals=100us"],
    "toolbox/deadlock.toml": ["--set", "limit=1200us", "--set", "arrivals=1020us"],
    "toolbox/rpc.toml": ["--set", "limit=500us", "--set", "arrivals=250us"],
}


@pytest.mark.parametrize("name", FEW)
def test_shipped_scenarios(name, program, root, here):
    compare(program, here / "out", root / "scenarios" / name, *FEW[name])


def every():
    root = Path(__file__).parents[2] / "scenarios"
    return sorted(path.relative_to(root) for path in root.rglob("*.toml"))


@pytest.mark.skipif(not ALL, reason="FLOODWAY_MPI=all is not set")
@pytest.mark.parametrize("name", every(), ids=str)
def test_every_scenario(name, program, root, here):
    path = root / "scenarios" / name
    quick = ["--quick"] if "\n[quick]" in path.read_text() else []
    first = json.loads(said([program, "check", path, *quick, "--json"]).stdout)["variants"][0]
    compare(program, here / "out", path, *quick, "--variant", first["name"])


def test_rank_0_alone_speaks_and_writes(program, here):
    alone = said([program, "run", "scenario.toml", "--threads", 1, "--out", "alone"])
    many = over(program, 2, "scenario.toml", "--out", "many")
    assert (alone.returncode, many.returncode) == (0, 0)
    # Costs differ, and where results are.
    table = many.stdout.splitlines()[:5]
    assert table == alone.stdout.splitlines()[:5]
    assert many.stdout.count("results in many") == 1
    manifest = json.loads((here / "many" / "manifest.json").read_text())
    assert manifest["threads"] == 2 and "--mpi" in manifest["command"]


def test_it_goes_on_with_what_is_there(program, here):
    words = ["scenario.toml", "--quiet", "--out", "out"]
    assert over(program, 2, *words, "--replications", 1).returncode == 0
    again = over(program, 2, *words, "--replications", 2, "--resume")
    assert (again.returncode, again.stderr) == (0, "")
    # What ranks have made is what one process would have made, so it may go on from there.
    alone = said([program, "run", *words, "--replications", 2, "--resume", "--json"])
    assert alone.returncode == 0


def refusal(done, *texts):
    """It ended with status 2 and one error; these texts were said, and nothing was written."""
    assert done.returncode == 2, done.stderr
    assert [line[:7] for line in done.stderr.splitlines()].count("error: ") == 1, done.stderr
    for text in texts:
        assert text in done.stderr, done.stderr
    assert done.stdout == "" and not Path("results").exists()


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (["--why"], "an explanation follows packets from end to end"),
        (["--pcap", "all"], "a capture is one file of one process"),
        (["--audit"], "the auditor compares both ends of every link at every event"),
    ],
)
def test_what_cannot_go_over_ranks_is_refused(option, reason, program, here):
    done = over(program, 2, "scenario.toml", *option)
    refusal(
        done, f"`{option[0]}` does not work with `--mpi`, because {reason}: leave out one of them"
    )


def test_explained_flows_are_refused(program, here):
    done = over(program, 2, "scenario.toml", "--set", "explained_flows=5")
    refusal(done, "explains delays (`explained_flows`)", "add `--set explained_flows=0`")


def test_errors_of_the_scenario_are_said_once(program, here):
    refusal(over(program, 3, "nowhere.toml"), "nowhere.toml")


def test_there_are_no_more_ranks_than_switches(program, here):
    done = over(program, 12, "scenario.toml")
    refusal(done, "cannot go over 12 processes: each needs a switch", "start at most")


def test_ranks_that_disagree_are_refused(program, here):
    program, launch = str(program), [LAUNCHER]
    for ranks, seed in ((1, 1), (2, 2)):
        launch += [":"] if seed == 2 else []
        launch += ["-n", ranks, program, "run", "scenario.toml", "--mpi", "--seed", seed]
    done = said(launch)
    refusal(done, "rank 1 has another scenario, other options or another build", "one command line")
    assert "note: rank 1" not in done.stderr


def test_a_rank_without_the_file_says_so(program, here):
    shutil.copy("scenario.toml", "only-of-rank-0.toml")
    words = [program, "run", "--mpi"]
    launch = [LAUNCHER, "-n", 1, *words, "only-of-rank-0.toml", ":", "-n", 1, *words, "gone.toml"]
    done = said(launch)
    refusal(done, "gone.toml")
    assert "note: rank 1 of 2:" in done.stderr


def test_one_process_alone_is_refused(program, here):
    done = said([program, "run", "scenario.toml", "--mpi"])
    refusal(done, "needs several processes, and there is one", "mpirun -n 2 floodway run --mpi")


def test_a_missing_library_is_refused(program, here):
    done = said([program, "run", "scenario.toml", "--mpi", "--mpi-library", "none.so"])
    refusal(done, "`none.so`", "`pip install mpich` has one", "FLOODWAY_MPI_LIBRARY")
    done = said([program, "run", "scenario.toml", "--mpi"], FLOODWAY_MPI_LIBRARY="other.so")
    refusal(done, "`other.so`")


def test_a_library_of_another_abi_is_refused(program, here):
    own = LIBRARY.with_name("libmpi.so.12")
    done = said([program, "run", "scenario.toml", "--mpi", "--mpi-library", own])
    refusal(done, f"`{own}`", "libmpi_abi")


def test_a_library_that_is_not_mpi_is_refused(program, here):
    from ctypes.util import find_library

    done = said([program, "run", "scenario.toml", "--mpi", "--mpi-library", find_library("m")])
    refusal(done, "is no library of MPI 5: it has no function MPI_Abi_get_version")


def test_the_library_is_named_only_with_mpi(program, here):
    done = said([program, "run", "scenario.toml", "--mpi-library", LIBRARY])
    assert done.returncode == 2 and "--mpi" in done.stderr


def ranks_of(out):
    """The processes of the program with this word on their command lines, by rank."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ranks = [int(word[9:]) for word in environment if word.startswith(b"PMI_RANK=")]
        if ranks and words[1:2] == [b"run"] and os.fsencode(out) in words:
            found.append((ranks[0], int(folder.name)))
    return [pid for _, pid in sorted(found)]


@pytest.fixture
def running(program, here):
    """A long run over two ranks that has begun, their processes, and where its results are."""
    out = here / "out"
    long = ["--set", "arrivals=1s", "--set", "limit=2s", "--replications", "1"]
    words = [LAUNCHER, "-n", "2", program, "run", "scenario.toml", "--mpi", *long, "--out", out]
    text = [str(word) for word in words]
    child = subprocess.Popen(text, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(ranks_of(out)) == 2 and (out / ".floodway.lock").exists(), child)
        yield child, ranks_of(out), out
    finally:
        child.kill()
        child.wait()


def status(out):
    manifest = out / "manifest.json"
    return json.loads(manifest.read_text())["status"] if manifest.exists() else None


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="ranks are found in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_rank_that_is_asked_to_stop_stops_all(number, running):
    child, ranks, out = running
    os.kill(ranks[1], number)
    _, stderr = child.communicate(timeout=120)
    assert child.returncode != 0
    assert "interrupted: 0 of 2 runs ended by themselves" in stderr, stderr
    assert status(out) == "interrupted" and not ranks_of(out)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="ranks are found in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_dies_ends_all(rank, program, running):
    child, ranks, out = running
    os.kill(ranks[rank], signal.SIGKILL)
    child.communicate(timeout=120)
    assert child.returncode != 0
    wait_for_end = time.monotonic() + 60
    while ranks_of(out) and time.monotonic() < wait_for_end:
        time.sleep(0.1)
    assert not ranks_of(out)
    assert status(out) != "complete"
