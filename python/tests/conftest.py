"""What several tests need."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import floodway

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root():
    """The folder that the package is built from."""
    return ROOT


@pytest.fixture
def scenarios():
    """The folder of the scenarios that the program is tested with."""
    return ROOT / "crates/cli/tests/scenarios"


def without_times(sweep):
    """What does not depend on the machine, the moment, the caller and the cache."""
    runs = [{**run, "wall_s": 0} for run in sweep["runs"]]
    same = {name: sweep["provenance"][name] for name in ("floodway", "runs", "hops", "fingerprint")}
    return {**sweep, "runs": runs, "provenance": same}


@contextmanager
def in_a_process(script):
    """A script in a process of its own, which is ended with the test whatever happens."""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def wait_for(happens, child):
    """Wait until something happens, as long as the process lives."""
    begun = time.monotonic()
    while not happens():
        assert child.poll() is None, "the process has ended"
        assert time.monotonic() - begun < 60, "it has not happened"
        time.sleep(0.01)


class Terminal:
    """A terminal that remembers."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def fields():
    """Two senders of ten full packets each to one receiver, over links of 100 Gb/s and 200 ns."""
    return {
        "name": "turns",
        "arrivals": "1us",
        "limit": "1ms",
        "placement": "consecutive",
        "topology": {"star": {"hosts": 3, "rate": "100Gbps", "delay": "200ns"}},
        "host": {"congestion": "line_rate"},
        "workload": [
            {
                "list": {
                    "flow": [
                        {"src": 0, "dst": 2, "start": "0ns", "bytes": "10240B"},
                        {"src": 1, "dst": 2, "start": "0ns", "bytes": "10240B"},
                    ]
                }
            }
        ],
    }


@pytest.fixture
def turns():
    return floodway.Scenario(fields())


@pytest.fixture(scope="session")
def long():
    """A scenario that takes minutes to simulate."""
    return floodway.Scenario(
        name="long",
        arrivals="1s",
        limit="10s",
        topology={"star": {"hosts": 3}},
        workload=[{"incast": {"senders": 2}}],
    )


@pytest.fixture(scope="session")
def program():
    """The program, which makes results directories: FLOODWAY says where it is."""
    found = os.environ.get("FLOODWAY") or shutil.which("floodway")
    if not found:
        pytest.skip("there is no program: set FLOODWAY to target/release/floodway")
    return found


def results(program, folder, text, *options):
    """Run a scenario with the program, and give the path of its results."""
    (folder / "scenario.toml").write_text(text)
    command = [program, "run", "scenario.toml", "--out", "results", "--quiet", *options]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "results"


SCENARIO = """\
name = "stored"
arrivals = "10us"
limit = "1ms"
replications = 2
[topology.star]
hosts = 4
[[workload]]
[workload.incast]
senders = 3
bytes = "20KB"
[variants.plain]
[variants.marks.switch.aqm.step]
"""


@pytest.fixture(scope="session")
def stored(program, tmp_path_factory):
    """The path of a results directory with two variants and two replications."""
    return results(program, tmp_path_factory.mktemp("stored"), SCENARIO)


# With FLOODWAY_BROWSER=1 a browser that is not there fails tests instead of skipping them.
REQUIRED = os.environ.get("FLOODWAY_BROWSER") == "1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def missing(what):
    """Skip, or fail where a browser is demanded."""
    if REQUIRED:
        pytest.fail(f"FLOODWAY_BROWSER=1, but {what}")
    pytest.skip(what)


@pytest.fixture(scope="session")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        missing("there is no browser: install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("there is no playwright: pip install '.[browser]'")
    with sync_playwright() as playwright:
        # As root, as in a container, Chromium starts only without its sandbox.
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
