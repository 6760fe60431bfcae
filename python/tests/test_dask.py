"""Sweeps on the workers of Dask: other processes, which may die."""

import json
import os
import signal

import pytest
from conftest import in_a_process, without_times

import floodway
from floodway import _floodway, _sweep

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A client of three worker processes, with one thread each."""
    cluster = distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=tmp_path_factory.mktemp("dask"),
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_what_comes_out_here(client, scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    here = swept.sweep(out="here", cache="cache-here", progress=False)
    told = []
    there = swept.sweep(out="there", cache="cache-there", client=client, progress=told.append)
    assert without_times(there.json) == without_times(here.json)
    assert there.fingerprint == here.fingerprint
    assert (there.reused, there.json["provenance"]["threads"]) == (0, 3)
    assert [progress.words for progress in told] == [f"{n} of 24 runs" for n in range(1, 25)]
    assert told[-1].hops == sum(run["hops"] for run in here.json["runs"])
    # The directory is as one that was made here.
    files = [sorted(path.name for path in sweep.path.iterdir()) for sweep in (here, there)]
    assert files[0] == files[1]
    assert (here.path / "points.csv").read_text() == (there.path / "points.csv").read_text()
    kept = json.loads((there.path / "sweep.json").read_text())
    assert sorted([*kept.pop("files")["."], "sweep.json"]) == files[1]
    assert kept == there.json
    # The workers have filled the cache, and take from it.
    assert swept.sweep(cache="cache-there", progress=False).reused == 24
    assert swept.sweep(cache="cache-here", client=client, progress=False).reused == 24


def test_it_goes_on_until_as_much_is_known(client, scenarios, folder):
    tiny = floodway.load(scenarios / "tiny.toml")
    vary = {"workload.0.many_to_many.load": [0.3, 0.6]}
    sweeps = [
        tiny.sweep(vary, until="fct_mean_ns=0.2", at_most=5, out=out, cache=None, **how)
        for out, how in (("here", {"progress": False}), ("there", {"client": client}))
    ]
    here, there = (without_times(sweep.json) for sweep in sweeps)
    assert there == here
    assert max(sweeps[1].points["replications"]) > 2


def test_a_search_is_what_it_is_here(client, folder):
    pytest.importorskip("optuna")
    pytest.importorskip("sklearn")
    scenario = floodway.Scenario(
        name="searched",
        arrivals="50us",
        limit="10ms",
        topology={"star": {"hosts": 5}},
        switch={"aqm": {"ramp": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}}},
        workload=[{"incast": {"senders": 4, "bytes": "200KB"}}],
    )
    here, there = (
        floodway.tune(
            scenario,
            "slowdown_mean",
            {"switch.aqm.ramp.kmin": "5KB..80KB/5log"},
            trials=3,
            replications=2,
            held_out_replications=2,
            uncertain={"switch.latency": ["0ns", "1us"]},
            out=out,
            client=of,
        )
        for out, of in (("here", None), ("there", client))
    )
    assert there.json == here.json
    # The workers have filled the cache.
    again = floodway.worth(scenario, "hpcc", replications=2, cache="there/runs", client=client)
    assert again.measured == floodway.worth(scenario, "hpcc", replications=2).measured


def test_nothing_is_lost_with_a_worker(client, folder):
    # Runs of some tens of milliseconds, so that all workers are at one when it happens.
    scenario = floodway.Scenario(
        name="mortal",
        arrivals="1us",
        limit="1s",
        replications=2,
        topology={"star": {"hosts": 9}},
        workload=[{"incast": {"senders": 8, "bytes": "1MB"}}],
        variants={"late": {}, "early": {"switch.aqm.step.threshold": "20KB"}},
    )
    vary = {"workload.0.incast.bytes": ["20MB", "30MB", "40MB"], "seed": [1, 2]}
    here = scenario.sweep(vary, out="here", cache=None, progress=False)
    before = client.run(os.getpid)
    killed = []

    def kill(progress):
        # Once, one that is at a run.
        if progress.runs_done >= 2 and not killed:
            busy = [address for address, keys in client.processing().items() if keys]
            assert busy, "there was too little to do"
            killed.append(busy[0])
            os.kill(before[busy[0]], signal.SIGKILL)

    there = scenario.sweep(vary, out="there", cache=None, client=client, progress=kill)
    assert without_times(there.json) == without_times(here.json)
    assert len(there.json["runs"]) == 24
    assert killed[0] not in client.run(os.getpid)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_keeps_what_is_finished(scenarios, folder):
    # At each of two points one variant is done at once, and the other takes hours: the workers that
    # are at it end with their cluster.
    script = f"""
import os, signal, floodway
from dask.distributed import Client
def interrupt(progress):
    if progress.runs_done == 2:
        os.kill(os.getpid(), signal.SIGINT)
scenario = floodway.load({os.fspath(scenarios / "endless.toml")!r})
with Client(n_workers=3, threads_per_worker=1, dashboard_address=None) as client:
    try:
        scenario.sweep(
            {{"workload.0.incast.senders": [2, 3]}}, client=client, progress=interrupt
        )
    except KeyboardInterrupt:
        print("interrupted")
"""
    with in_a_process(script) as child:
        said, _ = child.communicate(timeout=120)
    assert said == "interrupted\n"
    endless = floodway.load(scenarios / "endless.toml")
    vary = {"workload.0.incast.senders": [2, 3]}
    sweep = endless.sweep(vary, variants=["short"], progress=False)
    assert (len(sweep.runs), sweep.reused) == (2, 2)


def test_what_a_run_raises_ends_the_sweep(client, scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    (folder / "cache").write_text("a file where the cache is to be")
    with pytest.raises(floodway.ResultsError, match="cannot make a folder of the cache"):
        swept.sweep(cache="cache", client=client)
    with pytest.raises(ValueError, match="did you mean `fct_p99_ns`"):
        swept.sweep(metrics=["fct_p99"], cache=None, client=client)
    # The workers are as good as before.
    assert swept.sweep(cache=None, client=client).reused == 0


def test_what_is_wrong_is_told_before_anything_is_sent(scenarios, folder):
    class Nobody(distributed.Client):
        """Nobody to send anything to."""

        asynchronous = False
        status = "running"

        def __init__(self):
            pass

        def __del__(self):
            pass

    swept = floodway.load(scenarios / "swept.toml")
    with pytest.raises(floodway.ScenarioError, match="has no field `bites`"):
        swept.sweep({"workload.0.incast.bites": ["1KB"]}, client=Nobody())
    (folder / "thesis.tex").write_text("")
    with pytest.raises(floodway.ResultsError, match="does not hold a sweep of `swept`"):
        swept.sweep(out=folder, client=Nobody())


def test_what_is_no_client_is_told(scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    with pytest.raises(TypeError) as caught:
        swept.sweep(client=3)
    assert str(caught.value) == (
        "`client` is 3: a sweep needs a distributed.Client, or None to run here"
    )
    assert list(folder.iterdir()) == []


def test_a_client_that_is_closed_is_told_and_what_is_finished_is_kept(scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")

    def close(progress):
        if progress.runs_done == 2:
            client.close()

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        client = distributed.Client(cluster)
        with pytest.raises(RuntimeError) as caught:
            swept.sweep(cache="cache", client=client, progress=close)
    assert str(caught.value) == (
        "the client was closed before the sweep had ended; what is finished is in cache: keep the "
        "client open, and run the sweep again"
    )
    assert client.status == "closed"
    with pytest.raises(RuntimeError) as caught:
        swept.sweep(cache="other", client=client)
    assert str(caught.value) == "the client is closed: keep it open until the sweep has ended"
    assert not (folder / "other").exists()
    assert swept.sweep(cache="cache", progress=False).reused >= 2


def test_a_worker_with_another_package_is_refused():
    recipe = ("", "", False, (), (), None, None, ())
    with pytest.raises(RuntimeError, match="install the same package on all workers"):
        _sweep._make(recipe, "0" * 32, None, (0, 0, 0))
    assert len(_floodway.sources) == 32
