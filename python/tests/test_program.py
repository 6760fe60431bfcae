"""The command ``floodway`` of the package: the same as the program's."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCENARIO, wait_for

import floodway

#: As it was installed, and as a module.
COMMANDS = [[str(Path(sys.executable).parent / "floodway")], [sys.executable, "-m", "floodway"]]


@pytest.fixture(params=COMMANDS, ids=["command", "module"])
def command(request):
    return request.param


def said(command, *words, **options):
    return subprocess.run([*command, *words], capture_output=True, text=True, **options)


def test_it_says_what_the_program_says(command, program):
    for words in (["--version"], ["--help"], ["run", "--help"], ["list", "switch.aqm"]):
        ours, theirs = said(command, *words), said([program], *words)
        assert (ours.returncode, ours.stdout, ours.stderr) == (0, theirs.stdout, theirs.stderr)
    assert said(command, "--version").stdout == f"floodway {floodway.__version__}\n"


def test_what_is_wrong_has_the_exit_status_of_the_program(command):
    wrong = said(command, "run", "nowhere.toml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: ") and "nowhere.toml" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_results_are_those_of_the_program(command, program, tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    manifests = []
    for name, start in (("ours", command), ("theirs", [program])):
        words = ["run", "scenario.toml", "--quiet", "--out", name]
        assert said(start, *words, cwd=tmp_path).returncode == 0
        manifests.append(json.loads((tmp_path / name / "manifest.json").read_text()))
    ours, theirs = ([run["fingerprint"] for run in of["runs"]] for of in manifests)
    assert ours == theirs and len(ours) == 4
    # What was typed stands in the results, without where the interpreter is.
    assert manifests[0]["command"] == [
        "floodway",
        "run",
        "scenario.toml",
        "--quiet",
        "--out",
        "ours",
    ]


def test_it_starts_itself_again(command):
    """A measurement is a process of its own."""
    measured = said(command, "bench", "ci-128", "--brief", "--threads", "1")
    assert (measured.returncode, measured.stderr) == (0, "")
    assert "ci-128" in measured.stdout


def test_an_interrupt_is_handled_by_the_command_alone(command, scenarios, tmp_path):
    out = tmp_path / "results"
    words = [*command, "run", str(scenarios / "endless.toml"), "--quiet", "--out", str(out)]
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        # The first of its two runs has ended, the second never does.
        wait_for((out / "runs/short/0/flows.parquet").exists, child)
        child.send_signal(signal.SIGINT)
        _, error = child.communicate(timeout=60)
    finally:
        child.kill()
    assert (child.returncode, "Traceback" in error) == (130, False), error
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "interrupted"
