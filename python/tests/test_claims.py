"""What a scenario claims of its results, and studies in folders."""

import json
import subprocess

import pytest

import floodway

STUDY = """
title = "Small"
question = "Does isolation change what is sent?"

[level.quick]
replications = 1

[experiment.main]
scenario = "judged.toml"

[[claim]]
id = "S1"
quotation = "Isolation does not change what is sent."
source = "common random numbers"
[[claim.number]]
metric = "flows, with isolation"
claimed = "as many as without"
rule = { exactly = 0 }
[claim.number.measure]
sql = "SELECT count(*) FROM flows"
from = "main/without-ci"
to = "main/ci"
as = "difference"

[[section]]
name = "flows"
heading = "Completion times"
[[section.chart]]
name = "flows"
caption = "Mean completion times"
kind = "numbers"
x = { label = "mean completion time", unit = "ns" }
series = [{ label = "with isolation", measure = { fct = "mean", of = "main/ci" } }]
"""


def test_claims_are_judged(scenarios, program, tmp_path):
    scenario = floodway.load(scenarios / "judged.toml")
    results = scenario.compare(out=tmp_path / "results", progress=False)
    assert [claim["verdict"] for claim in results.claims] == ["holds", "holds", "does not hold"]
    (number,) = results.claims[2]["parts"]
    assert (number["claimed"], number["verdict"]) == ("at most 1 KB", "not reproduced")
    assert number["measured"] == max(results.flows.to_dict()["bytes"])
    # They are those of the program.
    command = [program, "run", scenarios / "judged.toml", "--out", tmp_path / "program", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["claims"] == results.claims
    # A variant alone leaves open what is claimed of the other.
    alone = scenario.compare(tmp_path / "alone", ["without-ci"], progress=False)
    assert alone.claims[0]["parts"][0]["remark"] == "not judged: variant `ci` was not run"


def test_a_scenario_that_claims_nothing_has_no_claims(stored):
    assert floodway.open(stored).claims == []


def test_wrong_claims_are_refused_when_they_are_read(scenarios, tmp_path):
    text = (scenarios / "judged.toml").read_text().replace("max(bytes)", "max(byte)")
    text = text.replace("tiny.toml", str(scenarios / "tiny.toml"))
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(floodway.ScenarioError, match="no such column: byte"):
        floodway.load(tmp_path / "wrong.toml")


def test_a_study_may_be_a_folder(scenarios, tmp_path, monkeypatch):
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    for name in ("judged.toml", "tiny.toml"):
        (folder / name).write_text((scenarios / name).read_text())
    monkeypatch.chdir(tmp_path)
    study = floodway.study(folder, "quick", progress=False)
    assert (study.name, study.claims[0]["verdict"]) == ("small", "holds")
    assert study.claims[0]["parts"][0]["measured"] == 0.0
    assert list(study.charts) == ["flows"]
    assert study.page == type(study.page)("results/study-small-quick/report.html")
    # The claims of the scenario are not those of the study.
    assert floodway.open("results/study-small-quick/main").claims == []
    with pytest.raises(floodway.ScenarioError, match=r"study\.toml cannot be read"):
        floodway.study(tmp_path / "nowhere", "quick")
