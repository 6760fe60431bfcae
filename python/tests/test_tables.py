"""Tables: opened by others without a copy, and by nothing but Python."""

import copy
import math
import pickle

import pytest

import floodway
from floodway import _floodway

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture
def run(turns):
    return turns.run()


def addresses(array):
    """Where the buffers of an array of pyarrow are."""
    return [buffer.address for buffer in array.buffers() if buffer]


def test_no_buffer_is_copied(run):
    one, two = pyarrow.table(run.flows), pyarrow.table(run.flows)
    for name in run.flows.columns:
        (first,), (second,) = one[name].chunks, two[name].chunks
        assert addresses(first) == addresses(second) != []
    # Of one column, too.
    (alone,) = run.flows["fct_ns"].to_arrow().chunks
    assert addresses(alone) == addresses(one["fct_ns"].chunk(0))
    (numpy_address, _) = run.flows["fct_ns"].to_numpy().__array_interface__["data"]
    assert [numpy_address] == addresses(alone)


def test_buffers_outlive_the_run(turns):
    table = pyarrow.table(turns.run().flows)
    assert table["bytes"].to_pylist() == [10240, 10240]


def test_types_meanings_and_units(run):
    schema = pyarrow.schema(run.flows)
    assert schema.field("flow").type == pyarrow.uint64()
    assert schema.field("fct_ns").type == pyarrow.float64()
    assert pyarrow.schema(run.links).field("node").type == pyarrow.string()
    assert not any(field.nullable for field in schema)
    fct = schema.field("fct_ns").metadata
    assert fct[b"floodway.doc"].startswith(b"Flow completion time")
    assert fct[b"floodway.unit"] == b"ns"
    assert schema.metadata[b"floodway.doc"] == run.flows.doc.encode()
    assert b"floodway.unit" not in schema.field("src").metadata
    assert run.flows["fct_ns"].doc.encode() == fct[b"floodway.doc"]
    assert run.flows["fct_ns"].unit == "ns"
    assert run.flows["src"].unit is None


def test_pandas(run):
    pytest.importorskip("pandas")
    frame = run.flows.to_pandas()
    assert list(frame.columns) == run.flows.columns
    assert frame["bytes"].sum() == 20480


def test_polars(run):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(run.flows)
    assert frame.equals(run.flows.to_polars())
    assert frame["bytes"].sum() == 20480
    assert polars.from_arrow(pyarrow.table(run.flows)).equals(frame)
    assert polars.DataFrame(run.flows["bytes"])["bytes"].to_list() == [10240, 10240]


def test_duckdb(run):
    duckdb = pytest.importorskip("duckdb")
    arrow = run.flows.to_arrow()
    assert duckdb.from_arrow(arrow).aggregate("sum(bytes)").fetchall() == [(20480,)]


def test_what_did_not_happen_is_nan(turns):
    # 1.5 us is less than the 2.2 us that both flows take.
    run = turns.with_(limit="1.5us").run()
    assert run.stop == "time_limit"
    assert all(math.isnan(fct) for fct in run.flows["fct_ns"])
    assert run.flows.to_arrow()["fct_ns"].null_count == 0


def test_without_other_packages(run):
    flows = run.flows
    assert len(flows) == 2
    assert "fct_ns" in flows and "fct" not in flows
    assert flows["bytes"].to_list() == list(flows["bytes"]) == [10240, 10240]
    assert flows.to_dict()["src"] == [0, 1]
    assert flows[["src", "dst"]].to_dict() == {"src": [0, 1], "dst": [2, 2]}
    with pytest.raises(KeyError, match="table flows has no column fct; it has flow, workload"):
        _ = flows["fct"]


def test_values_by_their_places(run):
    numpy = pytest.importorskip("numpy")
    sources = run.flows["src"]
    assert (sources[0], sources[1], sources[-1], sources[numpy.int64(1)]) == (0, 1, 1, 1)
    assert (sources[:], sources[1:], sources[:-1], sources[5:], sources[1:0]) == (
        [0, 1],
        [1],
        [0],
        [],
        [],
    )
    assert (sources[::-1], sources[::2]) == ([1, 0], [0])
    assert len(sources) == 2 and list(sources) == [0, 1]
    with pytest.raises(IndexError, match=r"^column src has 2 values, and none at 2$"):
        sources[2]
    with pytest.raises(
        TypeError, match=r"^column src is indexed by whole numbers and slices, not "
    ):
        sources["0"]


def test_a_table_is_gone_through_by_its_columns(run):
    assert list(run.flows) == run.flows.columns
    for key in (0, slice(1), [0], ("src", "dst")):
        with pytest.raises(TypeError) as caught:
            run.flows[key]
        assert str(caught.value) == (
            f"{key!r} is no column of table flows, which is indexed by names: write ['flow'] for a "
            "column, ['flow'][0] for its first value, or `to_pandas()` for rows"
        )


def test_runs_and_tables_go_to_other_processes(turns):
    # Both flows are cut off, so that there are values that are not there; and there is no pause.
    run = turns.with_(limit="1.5us").run()
    again = pickle.loads(pickle.dumps(run))
    assert repr(again) == repr(run)
    assert list(again.tables) == list(run.tables)
    kinds = {field.type for table in run.tables.values() for field in pyarrow.schema(table)}
    assert kinds == {pyarrow.uint64(), pyarrow.float64(), pyarrow.string()}
    assert any(len(table) == 0 for table in run.tables.values())
    for name, table in run.tables.items():
        pickled = again.tables[name]
        assert pyarrow.schema(pickled).equals(pyarrow.schema(table), check_metadata=True)
        # As texts, because NaN is not equal to itself.
        assert str(pickled.to_dict()) == str(table.to_dict())
    column = pickle.loads(pickle.dumps(run.flows["src"]))
    assert (column.name, column.doc, list(column)) == ("src", run.flows["src"].doc, [0, 1])
    assert copy.deepcopy(run).flows["src"].to_list() == [0, 1]


def test_a_pickled_table_that_was_spoilt_is_refused():
    one = ("a", "", "u64", bytes(8))
    assert _floodway.Table("a", "", [one]).to_list("a", 0, 1) == [0]
    with pytest.raises(ValueError, match="columns are not as long as each other"):
        _floodway.Table("a", "", [one, ("b", "", "text", [])])
    with pytest.raises(ValueError, match="columns have no values of type `i8`"):
        _floodway.Table("a", "", [("a", "", "i8", b"")])


def test_numpy(run):
    numpy = pytest.importorskip("numpy")
    assert numpy.asarray(run.flows["bytes"]).tolist() == [10240, 10240]
    assert numpy.asarray(run.flows["bytes"], dtype=float).dtype == float
    assert numpy.asarray(run.links["node"]).tolist() == run.links["node"].to_list()


def test_every_table_of_a_run_opens(run):
    for name, table in run.tables.items():
        assert isinstance(table, floodway.Table)
        assert table.name == name
        assert pyarrow.table(table).num_rows == len(table)


def test_it_shows_itself(run):
    assert repr(run.flows).startswith("<Table flows: 2 rows, columns flow, workload, src")
    html = run.flows._repr_html_()
    assert html.count("<tr>") == 3
    assert "10,240" in html
    assert run.flows["bytes"].doc in repr(run.flows["bytes"])
