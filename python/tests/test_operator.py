"""Configurations of switches, lint and device profiles from Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import floodway

ROOT = Path(__file__).parents[2]
FABRIC = ROOT / "scenarios/operator/fabric"
TROUBLE = ROOT / "scenarios/lint/headroom-below-need.toml"


def run(program: str, *words: object) -> str:
    """Run the program; give what it prints."""
    words = tuple(map(str, words))
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def test_an_import_is_that_of_the_program(tmp_path: Path, program: str) -> None:
    """The scenario has the same text, and the account as many fields."""
    run(program, "import", "sonic", FABRIC, "--out", tmp_path / "fabric")
    found = floodway.import_sonic(FABRIC)
    assert found.toml == (tmp_path / "fabric/scenario.toml").read_text()
    assert {row.fate for row in found.account} == {
        "taken over", "differs", "no counterpart or no effect",
    }  # fmt: skip
    assert found.scenario.name == "fabric"
    assert list(found.to_pandas().columns) == ["fate", "key", "value", "meaning"]


def test_findings_are_those_of_the_program(program: str) -> None:
    """Lint says the same of configurations and of a scenario, in the same order."""
    for path in (FABRIC, TROUBLE):
        said = json.loads(run(program, "check", path, "--json"))["findings"]
        found = floodway.lint(path)
        assert [(one.name, one.problem.message) for one in found] == [
            (one["name"], one["message"]) for one in said
        ]
        assert found
        assert str(found[0]).startswith(f"[{found[0].name}] ")


def test_lint_takes_scenarios_with_changes() -> None:
    """Only one variant has the trouble, and it goes with the change that the remedy names."""
    scenario = floodway.load(TROUBLE)

    def names(of: floodway.Scenario, *variants: str) -> set[str]:
        return {finding.name for finding in floodway.lint(of, variants)}

    assert "headroom-below-need" in names(scenario)
    assert "headroom-below-need" in names(scenario, "wrong")
    assert "headroom-below-need" not in names(scenario, "right")
    # 65 KB are left, and the link needs 62 KB.
    pfc = "switch.flow_control.pfc"
    mended = scenario.with_({f"{pfc}.xoff": "40KB", f"{pfc}.xon": "30KB"})
    assert "headroom-below-need" not in names(mended)


def test_a_scenario_without_variants_has_one_name() -> None:
    """Its only variant is called base."""
    scenario = floodway.import_sonic(FABRIC).scenario
    assert floodway.lint(scenario, ["base"]) == floodway.lint(scenario)
    assert floodway.lint(scenario)


def test_an_export_is_that_of_the_program(tmp_path: Path, program: str) -> None:
    """The files have the same bytes, and what cannot be written is a warning."""
    found = floodway.import_sonic(FABRIC)
    changed = found.scenario.with_({"switch.buffer.shared.headroom": "116688B"})
    file = tmp_path / "changed.toml"
    file.write_text(found.toml.replace('headroom = "40000B"', 'headroom = "116688B"'))
    run(program, "export", "sonic", file, FABRIC, "--out", tmp_path / "theirs")
    patches = changed.patch(FABRIC, tmp_path / "ours")
    for name, operations in patches.items():
        assert operations
        ours, theirs = (tmp_path / of / f"{name}.patch.json" for of in ("ours", "theirs"))
        assert ours.read_bytes() == theirs.read_bytes()
    unsaid = changed.with_({"switch.path": "spray"})
    with pytest.warns(UserWarning, match=r"the patch does not have what is changed in `switch\."):
        unsaid.patch(FABRIC)


def test_profiles_are_those_of_the_program(tmp_path: Path, program: str) -> None:
    """The same names and values, and a copy of one is read from its file."""
    said = json.loads(run(program, "profile", "--json"))
    found = floodway.profiles()
    assert [one.name for one in found] == [one["name"] for one in said]
    for one, theirs in zip(found, said, strict=True):
        assert [(value.path, value.value, value.evidence) for value in one.values] == [
            (value["path"], value["value"], value["evidence"]) for value in theirs["values"]
        ]
        assert [fact.name for fact in one.facts] == [fact["name"] for fact in theirs["facts"]]
    mine = tmp_path / "mine.toml"
    run(program, "profile", "arista-7260cx3", "--save", mine)
    assert floodway.profile(mine).values == floodway.profile("arista-7260cx3").values
    assert len(floodway.profile(mine).to_pandas()) == len(floodway.profile(mine).values)


def test_errors_say_place_cause_and_remedy(tmp_path: Path) -> None:
    """What cannot be read is an error, and nothing else."""
    with pytest.raises(ValueError, match="name at least one directory or file"):
        floodway.import_sonic()
    with pytest.raises(ValueError, match="there is no profile of a switch `arista`"):
        floodway.import_sonic(FABRIC, profile="arista")
    with pytest.raises(ValueError, match="`rate`: "):
        floodway.import_sonic(FABRIC, rate="fast")
    with pytest.raises(ValueError, match="there is no variant 'more'; the variants are "):
        floodway.lint(TROUBLE, variants=["more"])
    with pytest.raises(ValueError, match="leave `variants` out"):
        floodway.lint(FABRIC, variants=["base"])
    with pytest.raises(floodway.ScenarioError, match="there is no profile"):
        floodway.profile("arista-7260")
    shutil.copytree(FABRIC, tmp_path / "cut")
    config = next((tmp_path / "cut").rglob("config_db.json"))
    config.write_text(config.read_text()[:100])
    with pytest.raises(floodway.ScenarioError) as cut:
        floodway.import_sonic(tmp_path / "cut")
    assert cut.value.problems[0].file == str(config)
    assert cut.value.problems[0].line is not None
