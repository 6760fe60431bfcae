"""Results directories."""

import csv
import io
import json
import pickle
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

import floodway


def test_what_is_there(stored):
    results = floodway.open(stored)
    assert results.name == "stored"
    assert results.status == "complete"
    assert results.variants == ("plain", "marks")
    manifest = json.loads((stored / "manifest.json").read_text())
    assert results.manifest == manifest
    assert results.summary == json.loads((stored / "summary.json").read_text())
    runs = [(run.variant, run.replication) for run in results.runs]
    assert runs == [("plain", 0), ("plain", 1), ("marks", 0), ("marks", 1)]


def test_a_run_is_the_same_in_results_and_in_memory(stored):
    scenario = floodway.load(stored.parent / "scenario.toml")
    for kept in floodway.open(stored).runs:
        run = scenario.run(kept.variant, kept.replication)
        assert (kept.fingerprint, kept.seed, kept.hops) == (run.fingerprint, run.seed, run.hops)
        assert list(kept.tables) == list(run.tables)
        for name, table in run.tables.items():
            # As text, in which NaN is like NaN.
            assert repr(kept.tables[name].to_dict()) == repr(table.to_dict())
            assert kept.tables[name].doc == table.doc


def test_a_table_without_rows_has_no_file(stored):
    run = floodway.open(stored).run("plain")
    folder = stored / "runs" / "plain" / "0"
    for name, table in run.tables.items():
        assert (folder / f"{name}.parquet").is_file() == (len(table) > 0), name
    assert len(run.drops) == 0 and "packets" in run.drops.columns
    assert len(floodway.open(stored).drops) == 0


def test_charts_are_those_of_the_page(stored, tmp_path):
    results = floodway.open(stored)
    charts = results.charts
    page = (stored / "report.html").read_text(encoding="utf-8")
    assert charts and all(f'<figure data-name="{name}"' in page for name in charts)
    chart = charts["mean-fct"]
    assert chart.caption == "Mean FCT by flow size"
    # Of each variant the mean of the summary.
    rows = list(csv.DictReader(io.StringIO(chart.csv)))
    for variant in results.variants:
        mean = results.summary["variants"][variant]["fct"]["all"]["mean_ns"]["mean"]
        (row,) = [row for row in rows if (row["group"], row["series"]) == ("all flows", variant)]
        assert float(row["mean FCT [ns]"]) == mean
    values = {row["value"] for row in chart.vega["data"]["values"]}
    assert values == {float(row["mean FCT [ns]"]) for row in rows}
    paper = ElementTree.fromstring(chart.paper(180, font="Times, serif"))
    assert paper.get("width") == "180.00mm"
    with pytest.raises(ValueError, match="give 20 to 1000 mm and 4 to 40 points"):
        chart.paper(5)
    cdf = charts["fct-cdf"]
    assert "all flows" in cdf.parts and cdf.only("all flows").parts == ()
    with pytest.raises(KeyError, match="fct-cdf has no part 'mice'; it has "):
        cdf.only("mice")
    again = pickle.loads(pickle.dumps(cdf))
    assert again == cdf and again.parts == cdf.parts
    with pytest.raises(RuntimeError, match="was pickled, so it cannot be drawn otherwise"):
        again.paper()
    cdf.save(tmp_path / "cdf.json")
    assert json.loads((tmp_path / "cdf.json").read_text()) == cdf.vega
    cdf.save(tmp_path / "cdf.csv")
    assert (tmp_path / "cdf.csv").read_text(encoding="utf-8") == cdf.csv


def test_charts_need_what_was_written(stored, tmp_path):
    copy = shutil.copytree(stored, tmp_path / "copy")
    flows = next(copy.glob("runs/plain/0/flows.parquet"))
    flows.write_bytes(flows.read_bytes() + b"x")
    with pytest.raises(floodway.ResultsError, match="is not as it was written: the checksum"):
        _ = floodway.open(copy).charts


def test_all_runs_in_one_table(stored):
    results = floodway.open(stored)
    flows = results.flows
    assert flows.columns[:3] == ["variant", "replication", "flow"]
    # Three senders in each of two variants and two replications.
    assert flows["variant"].to_list() == ["plain"] * 6 + ["marks"] * 6
    assert flows["replication"].to_list() == ([0] * 3 + [1] * 3) * 2
    one_by_one = [fct for run in results.runs for fct in run.flows["fct_ns"]]
    assert flows["fct_ns"].to_list() == one_by_one
    assert "variant" in flows._repr_html_()


def test_it_is_what_others_read_from_the_files(stored):
    polars = pytest.importorskip("polars")
    flows = polars.DataFrame(floodway.open(stored).flows)
    files = sorted(stored.glob("runs/*/*/flows.parquet"))
    read = polars.concat(polars.read_parquet(path) for path in files)
    order = ["variant", "replication", "flow"]
    assert read.sort(order).equals(flows.sort(order))


def test_numbers_of_many_runs_as_numpy(stored):
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("pyarrow")
    flows = floodway.open(stored).flows
    assert numpy.asarray(flows["bytes"]).tolist() == [20_000] * 12


def test_results_go_to_other_processes_by_their_path(stored, monkeypatch):
    monkeypatch.chdir(stored.parent)
    results = floodway.open(stored.name)
    run = results.run("marks", 1)
    # One that was read already is read again.
    flows, all_flows = run.flows.to_dict(), results.flows.to_dict()
    texts = [pickle.dumps(thing) for thing in (results, run)]
    monkeypatch.chdir("/")
    again, its_run = map(pickle.loads, texts)
    assert again.path == stored
    # As texts, because NaN is not equal to itself.
    assert str(again.flows.to_dict()) == str(all_flows)
    assert (its_run.seed, str(its_run.flows.to_dict())) == (run.seed, str(flows))
    # The tables of several runs are in several pieces, and arrive in one.
    table = pickle.loads(pickle.dumps(results.flows))
    assert str(table.to_dict()) == str(all_flows)
    assert table["variant"].doc == results.flows["variant"].doc


def test_one_run(stored):
    results = floodway.open(stored)
    assert results.run("marks", 1) is results.runs[3]
    with pytest.raises(KeyError, match="there is no run marks 2; there are plain 0, plain 1"):
        results.run("marks", 2)
    with pytest.raises(AttributeError, match="no table 'flow'; tables: flows"):
        _ = results.flow


def test_a_table_that_is_not_as_it_was_written_is_refused(stored, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(stored, copy)
    path = copy / "runs/marks/1/flows.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    results = floodway.open(copy)
    assert len(results.run("marks", 0).flows) == 3
    with pytest.raises(floodway.ResultsError, match="the checksum of table `flows` is another"):
        _ = results.run("marks", 1).flows
    with pytest.raises(floodway.ResultsError, match="the checksum of table `flows` is another"):
        _ = results.flows


def test_a_table_that_is_not_there_is_told(stored):
    with pytest.raises(floodway.ResultsError, match="plain/0` has no table `flow` as `parquet`"):
        floodway.open(stored)._stored.table(0, "flow")


def test_a_directory_without_results_is_told(tmp_path):
    with pytest.raises(floodway.ResultsError, match="holds no results"):
        floodway.open(tmp_path)


def test_it_shows_itself(stored):
    results = floodway.open(stored)
    assert repr(results) == f"<Results stored: complete, 4 runs in {stored}>"
    assert results._repr_html_().count("<tr>") == 5


def test_control_characters_of_a_manifest_are_written_out(stored, tmp_path):
    shutil.copytree(stored, tmp_path / "forged")
    manifest = json.loads((tmp_path / "forged/manifest.json").read_text())
    hostile = "a\x1b]0;T\x07\x9b2J\u202e\u2066\x7f\rb\nc"
    manifest["scenario"]["name"] = hostile
    for run in manifest["runs"]:
        run["stop"] = hostile
        run["fingerprint"] = hostile
    (tmp_path / "forged/manifest.json").write_text(json.dumps(manifest))
    results = floodway.open(tmp_path / "forged")
    shown = r"a\u{1b}]0;T\u{7}\u{9b}2J\u{202e}\u{2066}\u{7f}\u{d}b\nc"
    assert repr(results).startswith(f"<Results {shown}: complete, 4 runs in ")
    assert shown in repr(results.runs[0])
    for thing in [results, results.runs[0]]:
        for text in [repr(thing), thing._repr_html_()]:
            assert not any(char in text for char in "\x1b\x07\x9b\u202e\u2066\x7f\r")


def test_directories_are_compared(stored, tmp_path):
    scenario = floodway.load(stored.parent / "scenario.toml")
    more = scenario.with_({"variants.marks.switch.aqm.step.threshold": "10KB"})
    other = more.compare(tmp_path / "other", progress=False)
    found = floodway.compare(stored, other)
    names = ["results: plain", "results: marks", "other: plain", "other: marks"]
    assert list(found.variants) == names
    change = found.summary["variants"]["other: plain"]["fct"]["all"]["mean_ns"]["change"]
    assert change["percent"] == 0, "seeds and flows are the same, so it is paired"
    assert not found.caveats
    rows = list(csv.DictReader(io.StringIO(found.charts["mean-fct"].csv)))
    assert [row["series"] for row in rows if row["group"] == "all flows"] == names
    assert "results: plain" in found.page and repr(found).startswith("<Comparison of results: ")

    with pytest.raises(ValueError, match="one results directory is compared with nothing"):
        floodway.compare(stored)
    with pytest.raises(ValueError, match="is there twice: name different results directories"):
        floodway.compare(stored, stored)
