"""The playback of a record in a browser: it shows what the tables say, when it is told to."""

import re

import pyarrow.parquet as parquet
import pytest
from conftest import results
from test_browser import VIEWS, View

# Six hosts of two leaves send to one of the first, faster than its link: pauses pass the spines.
RUN = """\
name = "played"
arrivals = "200us"
limit = "5ms"
sample_interval = "10us"
record = 16
placement = "consecutive"
[topology.clos]
leaves = 2
spines = 2
hosts_per_leaf = 4
[switch.flow_control.pfc]
xoff = "50KB"
xon = "40KB"
[host.congestion.line_rate]
[[workload]]
[workload.incast]
sets = 1
senders = 6
bytes = "500KB"
[variants.plain]
[variants.marks.switch.aqm.step]
[variants.unseen]
record = 0
"""

STAGE = "#playback .stage"


@pytest.fixture(scope="module")
def played(program, tmp_path_factory):
    return results(program, tmp_path_factory.mktemp("played"), RUN)


@pytest.fixture
def shown(browser, played):
    with View(browser, played / "report.html", **VIEWS["light"]) as shown:
        shown.page.wait_for_selector(STAGE)
        yield shown


def time(page):
    return page.locator(f"{STAGE} .time").inner_text()


def canvas(page, panel=0):
    return page.locator(f"{STAGE} .panel canvas").nth(panel)


def column(table, name):
    return table.column(name).to_pylist()


def test_it_plays_when_it_is_told_to(shown):
    page = shown.page
    begin = time(page)
    page.wait_for_timeout(300)
    assert time(page) == begin
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play").click()
    # The first time from the beginning, and to the end.
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    end = time(page)
    canvas(page).press("Home")
    first = time(page)
    assert first != end
    canvas(page).press("End")
    assert time(page) == end
    page.get_by_role("button", name="Worst sample").click()
    assert time(page) == begin
    shown.check()


def test_keys_and_the_slider_go_through_the_samples(shown, played):
    page = shown.page
    record = parquet.read_table(played / "runs/plain/0/record.parquet")
    samples = column(record, "recorded_samples")[0]
    page.get_by_label("Variant below").select_option("-1")
    assert page.locator(f"{STAGE} .panel").count() == 1
    slider = page.get_by_label("Simulated time")
    slider.press("Home")
    seen = {time(page)}
    for _ in range(samples - 1):
        canvas(page).press("ArrowRight")
        seen.add(time(page))
    assert len(seen) == samples
    last = time(page)
    canvas(page).press("ArrowRight")
    assert time(page) == last
    slider.press("ArrowLeft")
    assert time(page) != last
    # The space bar plays and stops wherever it is pressed.
    canvas(page).press("Home")
    slider.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    canvas(page).press("Space")
    page.get_by_role("button", name="Play").wait_for()
    shown.check()


def test_variants_that_were_recorded_can_be_chosen(shown):
    page = shown.page
    options = page.get_by_label("Variant above").locator("option").all_inner_texts()
    assert options == ["plain", "marks"]
    names = page.locator(f"{STAGE} .head strong")
    assert names.all_inner_texts() == ["plain", "marks"]
    page.get_by_label("Variant above").select_option(label="marks")
    assert names.all_inner_texts() == ["marks", "marks"]
    shown.check()


@pytest.mark.parametrize(
    ("view", "heights"),
    [("as a network", (24, 40, 150, 190, 215, 250)), ("as a matrix", (27, 48))],
)
def test_a_port_is_told_as_the_tables_have_it(shown, played, view, heights):
    page = shown.page
    page.get_by_label("View").select_option(label=view)
    run = played / "runs/plain/0"
    record = parquet.read_table(run / "record.parquet")
    interval = column(record, "interval_ns")[0]
    page.get_by_label("Variant below").select_option("-1")
    canvas(page).press("Home")
    for _ in range(3):
        canvas(page).press("ArrowRight")
    sample = column(record, "first_ns")[0] + 3 * interval
    table = parquet.read_table(run / "samples.parquet", filters=[("time_ns", "=", sample)])
    ports = {(row["node"], row["port"]): row for row in table.to_pylist()}
    canvas(page).scroll_into_view_if_needed()
    box = canvas(page).bounding_box()
    told = set()
    for x in range(4, int(box["width"]), 14):
        for y in heights:
            if y >= box["height"]:
                continue
            page.mouse.move(box["x"] + x, box["y"] + y)
            text = page.locator(f"{STAGE} .told").inner_text().replace("\u00a0", " ")
            found = re.match(r"(.+?)(?:, port (\d+),)? to [^:]+: (\d+) % busy, (.+)\.$", text)
            if not found or text in told:
                continue
            told.add(text)
            node, port, busy, rest = found.groups()
            row = ports.get((node, int(port or 0)))
            if row is None:
                assert (busy, rest) == ("0", "nothing waiting")
                continue
            assert abs(int(busy) - 100 * row["busy_ns"] / interval) <= 1
            assert ("nothing waiting" in rest) == (row["backlog_bytes"] == 0)
            waits = re.search(r"about ([\d.]+) (B|KB|MB) waiting", rest)
            if waits:
                shown_bytes = float(waits[1]) * {"B": 1, "KB": 1e3, "MB": 1e6}[waits[2]]
                assert abs(shown_bytes / row["backlog_bytes"] - 1) < 0.06
            assert ("paused for" in rest) == (row["paused_ns"] > 0)
    # All but a few of the 24 ports lie where they were looked for.
    assert len(told) > 15
    assert any("pauses spread from here" in text for text in told)
    assert any("paused for" in text for text in told)
    shown.check()


def test_roots_are_named_and_can_be_kept(shown):
    page = shown.page
    page.get_by_label("Variant below").select_option("-1")
    buttons = page.locator(f"{STAGE} .roots button")
    head = page.locator(f"{STAGE} .head").inner_text()
    assert buttons.count() == int(re.search(r"(\d+) roots? of pauses", head)[1]) > 0
    name = buttons.first.inner_text()
    buttons.first.click()
    assert buttons.first.get_attribute("aria-pressed") == "true"
    told = page.locator(f"{STAGE} .told").inner_text()
    node, peer = re.match(r"(.+) to (.+), ", name).groups()
    assert told.startswith(f"{node}, port ") and f" to {peer}: " in told
    assert told.endswith("pauses spread from here.")
    # In the matrix the same port is kept.
    page.get_by_label("View").select_option("1")
    buttons.first.press("Enter")
    assert page.locator(f"{STAGE} .told").inner_text() == told
    buttons.first.press("Enter")
    assert page.locator(f"{STAGE} .told").inner_text() == ""
    shown.check()


def test_it_fits_on_a_phone_and_in_the_dark(browser, played):
    for view in ("narrow", "dark"):
        with View(browser, played / "report.html", **VIEWS[view]) as shown:
            shown.page.wait_for_selector(STAGE)
            assert canvas(shown.page).is_visible()
            shown.check()


def test_paper_and_pages_without_scripts_have_a_picture(browser, played):
    with View(browser, played / "report.html") as shown:
        shown.page.wait_for_selector(STAGE)
        still = shown.page.locator("#playback .still svg")
        assert not still.is_visible()
        shown.page.emulate_media(media="print")
        assert still.is_visible() and not shown.page.locator(STAGE).is_visible()
    with View(browser, played / "report.html", java_script_enabled=False) as shown:
        assert shown.page.locator("#playback .still svg").is_visible()
        assert shown.page.locator(STAGE).count() == 0
