"""Whole experiments: what `floodway run` does."""

import json
import os
import signal
import subprocess

import pytest
from conftest import in_a_process, wait_for

import floodway


@pytest.fixture
def swept(scenarios):
    return floodway.load(scenarios / "swept.toml")


def test_it_is_what_the_program_does(swept, scenarios, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [program, "run", scenarios / "swept.toml", "--out", "program", "--quiet"]
    subprocess.run(command, check=True)
    here, there = swept.compare(progress=False), floodway.open("program")
    assert os.fspath(here.path) == "results/swept"
    assert (here.status, here.variants) == ("complete", ("shallow", "deep"))
    # Two variants in two replications, with the same keys, so that one can go on with the other's.
    same = ["variant", "replication", "seed", "key", "fingerprint", "hops", "simulated_ns", "stop"]
    runs = [[[run[name] for name in same] for run in r.manifest["runs"]] for r in (here, there)]
    assert len(runs[0]) == 4
    assert runs[0] == runs[1]
    assert here.summary["variants"] == there.summary["variants"]
    assert (here.path / "report.html").is_file()
    assert (here.path / "runs/deep/1/flows.parquet").is_file()


def test_results_that_are_there(swept, tmp_path):
    out = tmp_path / "out"
    first = swept.compare(out, progress=False)
    with pytest.raises(floodway.ResultsError) as caught:
        swept.compare(out)
    # The remedies are those of Python.
    assert str(caught.value).startswith(f"`{out}` already holds results of scenario `swept` from ")
    assert str(caught.value).endswith(
        'replace them with `existing="replace"`, go on with them with `existing="resume"`, or keep '
        "them and choose another directory: `out=`"
    )
    with pytest.raises(
        ValueError,
        match="cannot be `resum`; did you mean `resume`\\? The ways are: refuse, replace",
    ):
        swept.compare(out, existing="resum")

    # Of what is there, what would come out the same is kept, with the seconds that it took.
    changed = swept.with_(variants={"deep": {"switch.queue.size": "3MB"}})
    again = changed.compare(out, existing="resume", progress=False)
    taken = [[run.wall_s for run in results.runs] for results in (first, again)]
    assert taken[0][:2] == taken[1][:2]
    assert taken[0][2:] != taken[1][2:]
    replaced = swept.compare(out, existing="replace", progress=False)
    assert [run.wall_s for run in replaced.runs][:2] != taken[0][:2]

    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("")
    with pytest.raises(floodway.ResultsError, match="not a results directory"):
        swept.compare(foreign, existing="replace")


def test_some_variants_in_another_order(swept, tmp_path):
    results = swept.compare(tmp_path / "out", variants=["deep", "shallow"], progress=False)
    assert results.variants == ("deep", "shallow")
    assert results.summary["order"] == ["deep", "shallow"]
    with pytest.raises(floodway.ScenarioError, match="did you mean `deep`"):
        swept.compare(tmp_path / "other", variants=["deeper"])
    with pytest.raises(ValueError, match="name at least one variant, or None for all"):
        swept.compare(tmp_path / "other", variants=[])
    with pytest.raises(TypeError, match="`variants` is one text"):
        swept.compare(tmp_path / "other", variants="deep")
    with pytest.raises(ValueError, match="at least 1 thread, and `threads` is -1"):
        swept.compare(tmp_path / "other", threads=-1)
    with pytest.raises(ValueError, match="`out` is empty: name a directory"):
        swept.compare("")
    assert not (tmp_path / "other").exists()


def test_progress_is_told_and_what_it_raises_stops_the_runs(scenarios, tmp_path):
    endless = floodway.load(scenarios / "endless.toml")
    told = []

    def watch(progress):
        told.append(progress)
        if progress.runs_done == 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        endless.compare(tmp_path / "out", progress=watch, threads=2)
    last = told[-1]
    assert (last.name, last.runs_done, last.runs) == (None, 1, 2)
    assert 0 < last.fraction < 1 and last.hops > 0 and last.simulated_ns > 0
    assert last.words == "1 of 2 runs"
    assert floodway.open(tmp_path / "out").status == "interrupted"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_keeps_what_is_finished(scenarios, tmp_path):
    out = tmp_path / "out"
    script = f"""
import floodway
scenario = floodway.load({os.fspath(scenarios / "endless.toml")!r})
try:
    scenario.compare({os.fspath(out)!r}, threads=2)
except KeyboardInterrupt:
    print("interrupted")
"""
    with in_a_process(script) as child:
        # One run takes milliseconds, the other hours.
        wait_for(lambda: _runs(out) == ["short"], child)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=60)
    assert said == "interrupted\n"
    results = floodway.open(out)
    assert results.status == "interrupted"
    (short,) = [run for run in results.runs if run.stop != "interrupted"]
    scenario = floodway.load(scenarios / "endless.toml")
    again = scenario.compare(out, variants=["short"], existing="resume", progress=False)
    assert (again.status, again.runs[0].wall_s) == ("complete", short.wall_s)


def _runs(out):
    try:
        return [run["variant"] for run in json.loads((out / "manifest.json").read_text())["runs"]]
    except (OSError, ValueError, KeyError):
        return []


def test_violations_warn(scenarios, tmp_path):
    lossy = floodway.load(scenarios / "lossy.toml")
    with pytest.warns(RuntimeWarning, match="this comparison is no result: .*lossless") as caught:
        results = lossy.compare(tmp_path / "out", progress=False)
    assert caught[0].filename == __file__
    assert results.runs[0].violations
