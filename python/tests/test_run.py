"""Runs: results, threads, interrupts, progress."""

import os
import subprocess
import sys
import threading

import pytest
from conftest import Terminal

import floodway
from floodway import _progress


def test_two_flows_into_one_port_take_turns(turns):
    # A full packet is (1024 + 62 + 20) bytes at 100 Gb/s: 88.48 ns. The switch sends 20 of them
    # back to back, from when the first has arrived, and the flows end with the last two.
    run = turns.run()
    first_arrives = 88.48 + 200
    expected = [first_arrives + packets * 88.48 + 200 for packets in (19, 20)]
    assert sorted(run.flows["fct_ns"]) == pytest.approx(expected, abs=1e-6)
    assert run.stop == "flows_done"
    assert run.violations == []
    assert run.simulated_ns >= expected[-1]
    assert run.hops == sum(run.links["frames"])
    assert (run.variant, run.replication) == ("base", 0)


def test_results_are_the_same_for_any_number_of_threads(root):
    scenario = floodway.load(root / "scenarios/ci/lossless.toml").with_(
        arrivals="20us", warmup="0ns", limit="100us"
    )
    runs = [scenario.run("ci", threads=threads) for threads in (1, 2, 3)]
    assert len({run.fingerprint for run in runs}) == 1
    assert scenario.run("ci", replication=1).fingerprint != runs[0].fingerprint
    assert scenario.run("ci", replication=1).seed == scenario.run("ci-local", 1).seed
    for threads in (0, -1):
        with pytest.raises(ValueError, match="at least 1 thread"):
            scenario.run("ci", threads=threads)


def test_other_threads_go_on(long):
    done = threading.Event()
    beats = []

    def beat():
        while not done.wait(0.01):
            beats.append(None)

    def watch(progress):
        if len(beats) > 20:
            raise StopIteration

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        with pytest.raises(StopIteration):
            long.run(progress=watch, threads=1)
    finally:
        done.set()
        thread.join()


def test_progress_is_told_and_what_it_raises_stops_the_run(long):
    told = []

    def watch(progress):
        told.append(progress)
        if len(told) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        long.run(progress=watch)
    assert [progress.now_ns for progress in told] == sorted(progress.now_ns for progress in told)
    assert all(progress.end_ns == 10e9 and progress.hops > 0 for progress in told)
    assert 0 < told[0].fraction < told[2].fraction < 0.1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_stops_it():
    # In a process of its own, which gets the signal as from a terminal while the run goes on. It
    # would take minutes if nothing stopped it.
    script = """
import os, signal, threading, floodway
scenario = floodway.Scenario(name="long", arrivals="1s", limit="10s",
    topology={"star": {"hosts": 3}}, workload=[{"incast": {"senders": 2}}])
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    scenario.run(progress=False)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "interrupted\n"


def test_tables_are_attributes_and_named(turns):
    run = turns.run()
    assert list(run.tables)[:2] == ["flows", "queues"]
    assert run.flows is run.tables["flows"]
    assert "flows" in dir(run)
    # No table hides behind something else of the same name.
    assert not set(run.tables) & (set(dir(type(run))) | set(vars(run)))
    with pytest.raises(AttributeError, match="no table 'flow'; its tables: flows, queues"):
        _ = run.flow
    assert run.fingerprint in repr(run)
    assert "<table>" in run._repr_html_()


def test_an_audit_finds_nothing_and_changes_nothing(turns):
    audited, plain = turns.run(audit=True), turns.run(audit=False)
    assert audited.violations == []
    assert audited.fingerprint == plain.fingerprint


def test_violations_warn(turns, monkeypatch):
    class Broken:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def simulate(self, *arguments):
            return Broken(self.inner.simulate(*arguments))

        @property
        def violations(self):
            return ["a frame was lost"]

    monkeypatch.setattr(turns, "_checked", Broken(turns._checked))
    with pytest.warns(RuntimeWarning, match="no result: a frame was lost"):
        assert turns.run().violations == ["a frame was lost"]


def test_a_bar_of_text():
    terminal = Terminal()
    line = _progress.Line("ci 0", terminal)
    line(floodway.Progress(5e6, 10e6, 100, 1, 4))
    assert "ci 0 ━━━━━─────  50%" in terminal.text
    assert terminal.text.endswith("5.00 ms simulated")
    line.close()
    assert terminal.text.endswith("\r\x1b[2K")


def test_a_bar_is_shown_in_a_terminal_only(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert _progress.shown(False, "x") is None
    bar = _progress.shown(True, "x")
    bar(floodway.Progress(5e6, 10e6, 100, 1, 4))
    bar(floodway.Progress(6e6, 10e6, 200, 2, 4))
    bar.close()
    assert "x:  50%" in sys.stderr.text
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert isinstance(_progress.shown(True, "x"), _progress.Line)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert _progress.shown(True, "x") is None


def test_the_part_that_is_done():
    assert floodway.Progress(1.0, 10.0, 0, 0, 0).fraction == 0.1
    assert floodway.Progress(1.0, 10.0, 0, 3, 4).fraction == 0.75
    assert floodway.Progress(0.0, 0.0, 0, 0, 0).fraction == 0.0
