"""Headrooms from Python: their sums are computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import floodway

POOL = {
    "name": "pool",
    "arrivals": "200us",
    "limit": "3ms",
    "topology": {"star": {"hosts": 8}},
    "switch": {
        "buffer": {
            "shared": {
                "headroom": "auto",
                "headroom_pool": "2 * headroom",
                "ingress": {"pool": "200KB", "guaranteed": "4KB", "alpha": 0.125},
            }
        },
        "flow_control": {"pfc": {"measured_on": "ingress_pool"}},
    },
    "host": {"congestion": "line_rate"},
    "workload": [
        {
            "many_to_many": {
                "sizes": "30KB", "clusters": 1, "cluster_size": 8, "load": 0.7,
            }
        }
    ],
}  # fmt: skip
"""A star in which the pauses of seven senders need more than a sixteenth of the headroom."""


def test_a_headroom_is_the_sum_of_its_parts() -> None:
    """A headroom has the cells that its parts fill.

    100 Gb/s, 40 m: 9236 ahead of the pause frame of 84, 2 * 2500 on the cable and 25,216 of
    response are 39,536 bytes, in which 470 frames of 84 end; the longest frame takes 22 cells,
    twice.
    """
    found = floodway.headroom(cell=420, classes=1)
    assert found.total == (470 + 44) * 420
    assert sum(part.on_wire for part in found.parts) == 39_536
    response = next(part for part in found.parts if part.part == "the neighbor's response")
    assert (response.time_ns, response.on_wire, response.evidence) == (2017.28, 25_216, None)
    assert found.worst_total is None


def test_mac_and_phy_of_this_end_come_on_top() -> None:
    """905 quanta of 64 bytes at 400 Gb/s: 57,920 bytes more, of 375,160, or 4,466 frames."""
    found = floodway.headroom("400Gbps", "500m", cell=420, classes=1, phy="standard")
    assert found.total == (4_466 + 44) * 420
    mine = [part for part in found.parts if part.evidence]
    assert sum(part.on_wire for part in mine) == 905 * 64
    assert {part.evidence for part in mine} == {"assumed"}
    given = floodway.headroom("400Gbps", "500m", cell=420, classes=1, phy="1158.4ns")
    assert given.total == found.total


def test_a_measured_delay_takes_the_place_of_what_it_contains() -> None:
    """6.1 us are 305,000 bytes; with 9,236 and 84 they are 314,320, or 3,741 frames."""
    found = floodway.headroom("400Gbps", "500m", cell=420, classes=1, measured_delay="6.1us")
    assert found.total == (3_741 + 44) * 420
    assert found.worst_total == (4_466 + 44) * 420
    # The cable does not matter any more, except for what the measurement is compared with.
    short = floodway.headroom("400Gbps", "5m", cell=420, classes=1, measured_delay="6.1us")
    assert short.total == found.total
    assert short.worst_total is not None and short.worst_total < short.total


def test_a_grid_by_rate_and_cable() -> None:
    """A grid has every rate with every cable."""
    grid = floodway.headrooms(["100Gbps", "400Gbps"], ["40m", "500m"], cell=420)
    assert [one.total for one in grid] == [grid[number].total for number in range(len(grid))]
    assert grid["400Gbps", "500m"].total == 1_604_820
    pandas = pytest.importorskip("pandas")
    frame = grid.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["400Gbps", "500m"] == 1_604_820
    assert list(frame.columns) == ["40m", "500m"]
    assert grid[0].to_pandas().loc[0, "part"] == "the frame that crosses XOFF"


def test_a_table_is_explained(tmp_path: Path) -> None:
    """The cells of a table are found, and its rest is taken apart.

    Cells of 200 bytes; 84 m hold 125 frames at 100 Gb/s and 500 at 400 Gb/s; 100 and 300 cells are
    the rest.
    """
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text(
        "# speed cable size xon xoff threshold xon_offset\n"
        "100000 42m 600 0 32600 0 400\n100000 84m 600 0 45000 0 400\n"
        "100000 168m 600 0 70000 0 400\n400000 84m 600 0 160000 0 400\n"
        "400000 168m 600 0 260000 0 400\n400000 2000m 600 0 900000 0 400\n"
    )
    found = floodway.headroom_table(file)
    assert (found.explained, len(found.lines), found.cell) == (5, 6, 200)
    assert found.reading is not None and found.reading["cells"]["cell"] == 200
    fast = found.rests[1]
    assert (fast.rate, fast.bytes) == ("400Gbps", 60_000)
    assert fast.phy is not None and fast.remains == fast.bytes - fast.computed - fast.phy
    assert found.lines[-1].too_small and not found.lines[0].too_small
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)
    with pytest.raises(floodway.ScenarioError, match="there is no such file"):
        floodway.headroom_table(tmp_path / "nothing.ini")


def test_the_worst_case_is_a_scenario_that_runs() -> None:
    """The worst case is within a frame of the sum, and its scenario repeats it."""
    found = floodway.headroom("100Gbps", "5m", cell=208, largest_frame=1518, classes=1)
    worst = found.search()
    assert found.total - 1_664 < worst.bytes <= found.total
    run = worst.scenario.run()
    assert len(run.drops) == 0
    xoff = worst.scenario.settings()["switch"]["flow_control"]["pfc"]["xoff"]
    assert xoff.endswith("KB")
    backlog = max(run.queues["max_backlog_bytes"].to_list())
    assert backlog - round(float(xoff.removesuffix("KB")) * 1e3) == worst.bytes
    with pytest.raises(ValueError, match="a search is for one class"):
        floodway.headroom().search()


def test_a_smaller_pool_is_more_likely_to_overflow() -> None:
    """Sizes are those of ``floodway headroom --scenario``."""
    scenario = floodway.Scenario(POOL)
    found = floodway.headroom_risk(scenario, replications=8, oversubscription=[1, 4, 64])
    own, one, four, many = found.risks
    assert (own.pool, own.oversubscription, four.oversubscription) == ("scenario", None, 4)
    assert (one.overflows, many.overflows, one.replications) == (0, 8, 8)
    # 1:4 of eight headrooms is two of them, as in the scenario.
    assert (own.smallest_bytes, own.overflows) == (four.smallest_bytes, four.overflows)
    # 1 - 0.05^(1/8)
    assert abs(one.probability_high - 0.312_344) < 1e-6
    assert found.pauses > 0 and found.max_bytes >= found.median_bytes > 0
    alone = floodway.headroom_risk(scenario, replications=8, oversubscription=[1, 4, 64], threads=1)
    assert alone == found
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": "fast"}, "`rate` is"),
        ({"cable": "40"}, "expected the length of a cable, up to 100km, like 40m or 2km"),
        ({"cell": 0}, "a cell is 0: write 1 to 4096"),
        ({"smallest_frame": 9300}, "is longer than the longest"),
        ({"phy": "slow"}, "expected `none`, `standard` or a time such as 300ns"),
        ({"rate": "30Gbps", "phy": "standard"}, "give the time instead of `standard`"),
        ({"measured_delay": "1us", "phy": "standard"}, "give one or the other"),
        ({"measured_delay": "1us", "response": "1us"}, "leave `response` out"),
    ],
)
def test_what_cannot_be_computed_is_refused(arguments: dict[str, str], message: str) -> None:
    """Errors name the argument and the remedy."""
    with pytest.raises(ValueError, match=message):
        floodway.headroom(**arguments)  # type: ignore[arg-type]


def test_risks_that_cannot_be_estimated_are_refused() -> None:
    """Errors name the argument and the remedy."""
    scenario = floodway.Scenario(POOL)
    with pytest.raises(ValueError, match=r"oversubscribed 1:0\.5: write N from 1"):
        floodway.headroom_risk(scenario, oversubscription=[0.5])
    with pytest.raises(ValueError, match="a pool of 0B has no room for a frame"):
        floodway.headroom_risk(scenario, pools=["0B"])
    with pytest.raises(TypeError, match="`pools` is a list"):
        floodway.headroom_risk(scenario, pools="200KB")
    with pytest.raises(TypeError, match="`rates` and `cables` are lists"):
        floodway.headrooms("100Gbps", ["5m"])
    bare = floodway.Scenario(
        name="bare", arrivals="1us", limit="1ms", topology={"star": {"hosts": 3}},
        workload=[{"incast": {"senders": 2, "bytes": "10KB"}}],
    )  # fmt: skip
    with pytest.raises(ValueError, match="have no headroom that ports could share"):
        floodway.headroom_risk(bare, replications=1)
