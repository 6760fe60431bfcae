"""docs/session.md: its commands run, and print what the page shows."""

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

PAGE = "docs/session.md"


def test_the_session_ends_without_findings(root, tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    said, verdict, worth, printed, runs = "", "", "", 0, 0
    for language, text in re.findall(r"```(\w+)\n(.*?)```", (root / PAGE).read_text(), re.DOTALL):
        if language == "toml":
            (tmp_path / "mine.toml").write_text(text)
        elif language == "sh":
            commands = text.replace("\\\n", "").splitlines()
            said = "".join(run(root, line) for line in commands)
            runs += len(commands)
            verdict = said if "floodway tune" in text else verdict
        elif language == "text":
            compare(text, said)
            printed += 1
        elif language == "python":
            done = subprocess.run(
                [sys.executable, "-c", text], capture_output=True, text=True, check=True
            )
            assert "10 paired replications" in done.stdout
            worth = done.stdout
    assert (runs, printed) == (14, 6)
    # The numbers that the page has in sentences; \u2212 is a minus sign.
    assert "\u22127.3 % (95 % CI \u221213 to \u22121.3)" in verdict
    assert "10 paired replications" in verdict and "8 other candidate(s)" in verdict
    assert "`slowdown_p99` \u221217 % (95 % CI \u221227 to \u22126.7)" in worth, worth
    assert "`slowdown_mean` +5.0 % (95 % CI +1.5 to +8.6)" in worth
    # What the search recommends is in the new import.
    imported = (tmp_path / "imported/scenario.toml").read_text()
    tuned = json.loads((tmp_path / "results/tuned/tune.json").read_text())
    values = tuned["values"]
    assert values == {"switch.aqm.ramp.kmin": "20000B", "switch.aqm.ramp.kmax": "800000B"}
    for name in ("kmin", "kmax"):
        assert f'{name} = "{values[f"switch.aqm.ramp.{name}"]}"' in imported
    assert 'headroom = "116688B"' in imported and "lossless = false" not in imported


def run(root, line):
    """Run a command of the page, and give what it prints."""
    word, *arguments = shlex.split(line)
    if word == "cp":
        _, source, target = arguments
        shutil.copytree(root / source if source.startswith("scenarios/") else source, target)
        return ""
    if word == "jsonpatch":
        _, document, patch = arguments
        apply(document, patch)
        return ""
    assert word == "floodway"
    done = subprocess.run(
        [sys.executable, "-m", "floodway", *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


def compare(shown, said):
    """Whether the lines that the page shows are printed, in this order."""
    lines = iter([" ".join(line.split()) for line in said.splitlines()])
    for line in shown.splitlines():
        wanted = " ".join(line.split())
        assert wanted == "…" or wanted in lines, f"{wanted!r} is not in {said}"


def apply(document, patch):
    """Apply a JSON patch (RFC 6902) to a file, as ``jsonpatch -i`` does."""
    with open(document) as file:
        whole = json.load(file)
    with open(patch) as file:
        operations = json.load(file)
    for operation in operations:
        *parents, last = (
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        )
        at = whole
        for part in parents:
            at = at[part]
        assert operation["op"] in ("add", "replace")
        assert operation["op"] == "add" or last in at
        at[last] = operation["value"]
    with open(document, "w") as file:
        json.dump(whole, file)
