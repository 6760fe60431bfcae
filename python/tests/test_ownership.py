"""One process at a time writes to a results directory, and files of others in it stay."""

import json
import os

import pytest
from conftest import in_a_process, wait_for

import floodway

fcntl = pytest.importorskip("fcntl")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Held:
    """The lock of a directory, as another process would hold it."""

    def __init__(self, folder):
        self.path = folder / ".floodway.lock"
        who = {"process": 41, "command": "python sweep.py", "started": "2026-03-14T09:26:53Z"}
        self.path.write_text(json.dumps(who))

    def __enter__(self):
        self.file = self.path.open("r+")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def refused(folder, call):
    """Call something that is refused, and changes nothing."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(floodway.ResultsError) as caught:
        call()
    assert str(caught.value) == (
        f"`{folder}` is in use by another floodway command: process 41, `python sweep.py`, since "
        "2026-03-14T09:26:53Z; wait until it has ended, or choose another directory: `out=`"
    )
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert after == before


def test_a_directory_that_is_locked_is_refused(scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    compared, out = folder / "compared", folder / "swept"
    first = swept.compare(compared, progress=False)
    swept.sweep(out=out, progress=False)
    studied = folder / "studied"
    studied.mkdir()
    (studied / "study.json").write_text('{"study": "ci"}')
    with Held(compared):
        for existing in ("replace", "resume", "refuse"):
            refused(compared, lambda word=existing: swept.compare(compared, existing=word))
        # Readers need no lock.
        again = floodway.open(compared)
        assert again.summary == first.summary
        assert str(again.runs[0].flows.to_dict()) == str(first.runs[0].flows.to_dict())
    with Held(out):
        refused(out, lambda: swept.sweep(out=out))
    with Held(studied):
        refused(studied, lambda: floodway.study("ci", "quick", out=studied))
    # A file that somebody has left is no lock.
    assert swept.sweep(out=out, progress=False).reused == 24
    assert not (out / ".floodway.lock").exists()


def test_a_sweep_on_dask_is_refused_before_anything_is_sent(scenarios, folder):
    distributed = pytest.importorskip("distributed")
    swept = floodway.load(scenarios / "swept.toml")
    out = folder / "out"
    swept.sweep(out=out, cache=None, progress=False)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        with Held(out):
            refused(out, lambda: swept.sweep(out=out, cache="cache", client=client))
        assert not (folder / "cache").exists()
        assert len(swept.sweep(out=out, cache="cache", client=client).runs) == 24


def test_the_holder_is_named(scenarios, folder):
    script = f"""
import floodway
floodway.load({os.fspath(scenarios / "endless.toml")!r}).compare("out", progress=False)
"""
    endless = floodway.load(scenarios / "endless.toml")
    with in_a_process(script) as child:
        wait_for((folder / "out/runs/short/0/flows.parquet").exists, child)
        with pytest.raises(floodway.ResultsError) as caught:
            endless.compare("out", ["short"], existing="resume")
        assert f": process {child.pid}, `" in str(caught.value)
    results = endless.compare("out", ["short"], existing="resume", progress=False)
    assert results.status == "complete"


def test_files_of_others_are_mentioned(scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    swept.compare("out", progress=False)
    own = folder / "out/runs/deep/0/joined.parquet"
    own.write_text("mine")
    with pytest.warns(UserWarning) as caught:
        swept.compare("out", existing="replace", progress=False)
    assert [str(warning.message) for warning in caught] == [
        "`out/runs/deep/0/joined.parquet` was not written by floodway and stays where it is"
    ]
    assert caught[0].filename == __file__
    assert own.read_text() == "mine"


def test_files_of_others_are_not_replaced(scenarios, folder):
    swept = floodway.load(scenarios / "swept.toml")
    swept.sweep(out="out", progress=False)
    before = (folder / "out/sweep.json").read_bytes()
    # One that took the place of floodway's is known by its kind only.
    page = folder / "out/report.html"
    page.unlink()
    page.symlink_to(folder / "elsewhere.html")
    with pytest.raises(floodway.ResultsError) as caught:
        swept.sweep(out="out")
    assert str(caught.value) == (
        "`out/report.html` is in the way: floodway did not write it and does not replace it; move "
        "it elsewhere, or choose another directory: `out=`"
    )
    assert (folder / "out/sweep.json").read_bytes() == before
    assert not (folder / "elsewhere.html").exists()
