"""Studies: what `floodway study` does, at a size that says nothing about networks."""

import json
import os
import subprocess

import pytest

import floodway

TINY = {
    "topology.clos.leaves": 8,
    "topology.clos.spines": 4,
    "topology.clos.hosts_per_leaf": 4,
    "workload.0.many_to_many.clusters": 2,
    "workload.0.many_to_many.cluster_size": 10,
    "workload.1.incast.sets": 1,
    "workload.1.incast.senders": 4,
    "arrivals": "300us",
    "warmup": "100us",
    "limit": "1ms",
    "replications": 2,
}
"""Networks of 32 hosts, for a third of a millisecond."""


def test_it_is_what_the_program_does(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    study = floodway.study("ci", "quick", set=TINY, progress=told.append)
    # As arguments, they are the settings that Python has written.
    words = [word for text in study.json["settings"] for word in ("--set", text)]
    command = [program, "study", "ci", "--quick", *words, "--out", "program", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    there = json.loads(done.stdout)
    names = {row["id"].rstrip("abc") for row in [*study.claims, *study.checks]}
    assert len(names) == 28
    assert study.claims == there["claims"] and study.checks == there["checks"]
    assert study.answer == tuple(there["answer"])
    assert study.json["provenance"]["fingerprint"] == there["provenance"]["fingerprint"]
    assert (study.name, study.violations) == ("ci", ())
    assert os.fspath(study.page) == "results/study-ci-quick/report.html"
    assert study.page.is_file()
    # The charts are those that the study keeps as files.
    kept = sorted(path.read_text() for path in tmp_path.glob("results/*/text/*.svg"))
    assert sorted(chart.svg for chart in study.charts.values()) == kept
    assert len(kept) > 8
    # Progress says of which experiment it is.
    names = {progress.name for progress in told}
    folders = {path.parent.name for path in study.page.parent.glob("*/manifest.json")}
    assert names <= folders and len(names) > 1
    assert all(progress.words.startswith(f"{progress.name}: ") for progress in told)

    again = floodway.study("ci", "quick", set=words[1::2], progress=False)
    provenance = again.json["provenance"]
    assert provenance["reused"] == provenance["runs"]
    assert again.claims == study.claims

    with pytest.raises(floodway.ResultsError) as caught:
        floodway.study("ci", "quick", set={**TINY, "seed": 2}, progress=False)
    assert str(caught.value).endswith(
        "another directory with `out=`, or replace it with `replace=True`"
    )
    replaced = floodway.study("ci", "quick", set={**TINY, "seed": 2}, replace=True, progress=False)
    assert replaced.json["provenance"]["reused"] == 0

    assert repr(study).startswith("<Study ci (quick): ")
    assert study._repr_html_().count("<tr>") == 1 + len(study.claims)


def test_what_is_wrong_is_told_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="there is no study `cii`; did you mean `ci`"):
        floodway.study("cii")
    with pytest.raises(ValueError, match="there is no level `quik`; did you mean `quick`"):
        floodway.study("ci", "quik")
    with pytest.raises(floodway.ScenarioError, match="has no field `sed`"):
        floodway.study("ci", set={"sed": 2})
    with pytest.raises(TypeError, match="`set` is one text: write a list of texts"):
        floodway.study("ci", set="seed=2")
    with pytest.raises(ValueError, match="`out` is empty: name a directory"):
        floodway.study("ci", out="")
    with pytest.raises(ValueError, match="at least 1 thread, and `threads` is -1"):
        floodway.study("ci", threads=-1)
    assert list(tmp_path.iterdir()) == []


def test_what_is_raised_stops_it(tmp_path):
    def stop(progress):
        raise RuntimeError(progress.words)

    with pytest.raises(RuntimeError, match="two-queues: 0 of"):
        floodway.study("ci", "quick", out=tmp_path, progress=stop)
