"""The playground in a browser, opened as a file and offline: what it computes, how it is used."""

import base64
import json
import os
import re
import subprocess
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRESETS = ROOT / "crates/playground/presets"
NAMES = ("incast", "dualq", "deadlock", "trimming")

VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1300, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1300, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
    "narrow-dark": {"color_scheme": "dark", "viewport": {"width": 400, "height": 800}},
    "wide": {"color_scheme": "light", "viewport": {"width": 1920, "height": 1080}},
}

# What no page has time for: hundreds of millions of packets.
ENDLESS = """\
name = "endless"
arrivals = "100s"
limit = "200s"
[topology.star]
hosts = 8
[[workload]]
[workload.incast]
senders = 7
"""

TOO_LARGE = """\
name = "large"
arrivals = "1s"
limit = "2s"
[topology.clos]
leaves = 40
spines = 20
hosts_per_leaf = 40
[[workload]]
[workload.many_to_many]
sizes = "web_search"
clusters = 1
cluster_size = 1600
load = 0.9
"""


@pytest.fixture(scope="session")
def built(program):
    """The page. It takes minutes to build: it is tested where it is newer than the program."""
    page = Path(os.environ.get("FLOODWAY_PLAYGROUND") or ROOT / "target/playground/index.html")
    if not page.exists() or page.stat().st_mtime < Path(program).stat().st_mtime:
        pytest.skip("the playground has not been built from these sources: make playground")
    return page


class Playground:
    """The page in the browser, with what went wrong and what was asked for."""

    def __init__(self, browser, path, fragment="", **options):
        self.url = path.as_uri()
        self.wrong, self.asked = [], []
        options = {"reduced_motion": "reduce", **VIEWS["light"], **options}
        self.context = browser.new_context(offline=True, accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.url + fragment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def settled(self):
        """Wait for results of what the page has now."""
        self.page.locator("#results:not(.stale)").wait_for(timeout=60_000)
        return self

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def answer(self):
        return self.page.frame_locator("#results iframe").locator(".answer").inner_text()

    def write(self, text):
        self.page.locator("#open-text").click()
        self.page.locator("#editor textarea").fill(text)

    def slide(self, label, value):
        """Move a control, as a pointer or the keyboard would."""
        change = (
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }"
        )
        self.page.get_by_label(label, exact=True).evaluate(change, str(value))

    def check(self):
        """Nothing was logged, as violations of the policy are, nor asked of a network."""
        assert self.wrong == []
        for url in self.asked:
            assert url.split("#")[0] == self.url or url.startswith(("blob:", "about:")), url


@pytest.fixture
def opened(browser, built):
    """Open the page, and close it after the test."""
    all_opened = []

    def open_page(fragment="", **options):
        all_opened.append(Playground(browser, built, fragment, **options))
        return all_opened[-1]

    yield open_page
    for one in all_opened:
        one.__exit__()


def fingerprints(program, folder, scenario, *options):
    """What the program says of each run: by variant and replication."""
    command = [
        program,
        "run",
        scenario,
        "--out",
        folder / "results",
        "--force",
        "--quiet",
        "--threads",
        "1",
    ]
    subprocess.run([*command, *options], check=True)
    runs = json.loads((folder / "results/manifest.json").read_text(encoding="utf-8"))["runs"]
    return {(run["variant"], run["replication"]): run["fingerprint"] for run in runs}


def variants_of(text):
    """The names of the variants of a scenario, in their order."""
    return list(dict.fromkeys(re.findall(r"^\[variants\.([\w-]+)", text, re.M)))


def fragment_of(state):
    """A link, made as others would make it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def state_of(text, **more):
    sides = [{"variant": "", "set": {}}, {"variant": "", "set": {}}]
    return {"preset": "incast", "text": text, "shared": {}, "sides": sides, **more}


def runs_on(page, text, sides):
    """Runs of a scenario, by the page's own simulator."""
    ask = "([text, sides]) => simulator.ask({ do: 'run', text, sides }).done"
    reply = page.evaluate(ask, [text, sides])
    assert reply.get("results"), reply["problems"] or reply.get("refused")
    return reply["results"]["runs"]


@pytest.mark.parametrize("name", NAMES)
def test_runs_are_those_of_the_program_to_the_bit(opened, program, tmp_path, name):
    file = PRESETS / f"{name}.toml"
    variants = variants_of(file.read_text(encoding="utf-8"))
    expected = fingerprints(program, tmp_path, file, "--replications", "2")
    shown = opened()
    found = {}
    for variant in variants:
        sides = [{"variant": variant, "set": ["replications=2"]}]
        for run in runs_on(shown.page, file.read_text(encoding="utf-8"), sides):
            assert run["violations"] == []
            found[run["variant"], run["replication"]] = run["fingerprint"]
    assert found == expected
    shown.settled().check()


@pytest.mark.parametrize(
    "file", ["try", "toolbox/all-reduce", "toolbox/rpc", "dualq/modern", "toolbox/dcqcn-stability"]
)
def test_other_scenarios_have_the_same_fingerprints(opened, program, tmp_path, file):
    file = ROOT / f"scenarios/{file}.toml"
    text = file.read_text(encoding="utf-8")
    options = ["--replications", "1"]
    first = next(iter(variants_of(text)), "base")
    if first != "base":
        options += ["--variant", first]
    expected = fingerprints(program, tmp_path, file, *options)
    shown = opened().settled()
    found = runs_on(shown.page, text, [{"variant": first, "set": ["replications=1"]}])
    assert {(run["variant"], run["replication"]): run["fingerprint"] for run in found} == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_scenario_of_the_list_is_shown(opened, name):
    shown = opened().settled()
    shown.page.locator("#preset").select_option(name)
    shown.settled()
    assert shown.page.locator("#problems").is_hidden()
    frame = shown.page.frame_locator("#results iframe")
    frame.locator(".playback.live .panel").nth(1).wait_for()
    assert frame.locator(".playback.live .panel").count() == 2
    assert frame.locator("#queues").count() == 1
    assert " vs. " in shown.answer()
    assert "packet-hops in" in shown.text("#said")
    shown.check()


def test_the_command_gives_what_the_page_shows(opened, program, tmp_path):
    shown = opened().settled()
    shown.slide("XOFF, B", 100)
    shown.slide("Senders of the incast", 8)
    shown.settled()
    shown.page.locator(".same summary").click()
    commands = shown.text("#command").splitlines()
    table = shown.page.locator("#fingerprints tr").all_inner_texts()
    assert "--set switch.flow_control.pfc.xoff=100KB" in commands[1]
    for command, row in zip(commands, table, strict=True):
        options = command.split()[3:]
        found = fingerprints(program, tmp_path, PRESETS / "incast.toml", *options)
        assert row.split()[-1] == next(iter(found.values()))


def test_controls_change_one_side_or_both(opened):
    shown = opened().settled()
    before = shown.answer()
    # The baseline, and the other side with it.
    shown.page.get_by_label("Setting B").select_option("pfc")
    shown.settled()
    assert "to the bit" in shown.answer()
    shown.slide("XOFF, B", 100)
    shown.settled()
    assert shown.answer().startswith("pfc-B vs. pfc-A")
    # What is off has no parameters.
    off = shown.page.get_by_label("PFC, B", exact=True)
    off.uncheck()
    shown.settled()
    assert shown.page.get_by_label("XOFF, B", exact=True).is_disabled()
    assert shown.page.get_by_label("XOFF, A", exact=True).is_enabled()
    off.check()
    shown.settled()
    assert shown.page.get_by_label("XOFF, B", exact=True).input_value() == "100"
    shown.page.get_by_label("Congestion control, B").select_option("hpcc")
    shown.settled()
    shown.slide("Replications", 3)
    shown.settled()
    assert shown.text("#said").startswith("6 runs")
    assert "[" in shown.answer()
    shown.page.locator("#reset").click()
    shown.settled()
    assert shown.answer() == before
    shown.check()


def test_an_error_has_its_message_and_place_and_loses_nothing(opened):
    shown = opened().settled()
    before = shown.answer()
    text = (PRESETS / "incast.toml").read_text(encoding="utf-8").replace("kmax = ", "kmx = ")
    shown.write(text)
    shown.page.locator("#problems .error").wait_for()
    line = next(at for at, of in enumerate(text.splitlines(), 1) if of.startswith("kmx"))
    assert f"line {line}" in shown.text("#problems")
    assert "has no field `kmx`" in shown.text("#problems")
    assert shown.text("#editor .gutter .error") == str(line)
    assert shown.page.locator("#editor mark.error").inner_text() == "kmx"
    # The results of before are still there, and said to be.
    assert "results are those of before" in shown.text("#said")
    assert shown.answer() == before
    shown.page.get_by_role("button", name=f"line {line}").click()
    chosen = "(area) => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert shown.page.locator("#editor textarea").evaluate(chosen) == "kmx"
    shown.write(text.replace("kmx = ", "kmax = "))
    shown.settled()
    assert shown.page.locator("#problems").is_hidden()
    shown.check()


@pytest.mark.parametrize("text", ["", "name = ", "\0", "[[[", "name = 'ä\u2028'", "x" * 100_000])
def test_any_text_gets_a_message(opened, text):
    shown = opened().settled()
    shown.write(text)
    shown.page.locator("#problems .error").wait_for()
    assert "results are those of before" in shown.text("#said")
    shown.check()


def test_a_file_that_a_page_cannot_read_is_missing(opened):
    shown = opened().settled()
    text = re.sub(r"\[\[workload\]\].*", "", ENDLESS, flags=re.S)
    shown.write(text + '[[workload]]\n[workload.file]\npath = "flows.csv"\n')
    shown.page.locator("#problems .error").wait_for()
    assert "flows.csv" in shown.text("#problems")
    shown.check()


def test_what_is_too_large_is_refused_before_it_runs(opened):
    shown = opened().settled()
    shown.write(TOO_LARGE)
    shown.page.locator("#problems .error").wait_for(timeout=60_000)
    assert "of what a page in a browser may take" in shown.text("#problems")
    assert "floodway run" in shown.text("#problems")
    shown.check()


def test_a_long_run_reports_progress_and_can_be_stopped(opened):
    shown = opened().settled()
    before = shown.answer()
    shown.write(ENDLESS)
    stop = shown.page.get_by_role("button", name="Stop")
    stop.wait_for()
    shown.page.get_by_text(re.compile(r"Run 1 of 2: [\d.]+ (ms|µs) simulated")).wait_for()
    assert shown.page.locator("#bar").is_visible()
    stop.click()
    shown.page.get_by_text("Stopped.").wait_for()
    assert shown.answer() == before
    assert shown.page.locator("#editor textarea").input_value() == ENDLESS
    shown.page.get_by_role("button", name="Run again").click()
    stop.wait_for()
    # And it goes on.
    shown.page.locator("#preset").select_option("deadlock")
    shown.settled()
    frame = shown.page.frame_locator("#results iframe")
    assert "wait for each other in a cycle" in frame.locator(".alarm").inner_text()
    shown.check()


def test_a_change_ends_the_run_before_it(opened):
    shown = opened().settled()
    shown.write(ENDLESS)
    shown.page.get_by_role("button", name="Stop").wait_for()
    shown.write((PRESETS / "deadlock.toml").read_text(encoding="utf-8"))
    shown.settled()
    assert "2 runs" in shown.text("#said")


def test_a_link_holds_everything(browser, opened):
    shown = opened().settled()
    shown.page.locator("#preset").select_option("trimming")
    shown.settled()
    text = shown.page.locator("#editor textarea").input_value()
    shown.write("# Ä comment: 'ünïcode'.\n" + text)
    shown.settled()
    shown.page.locator("#open-controls").click()
    shown.slide("Queue, B", 60)
    shown.settled()
    answer = shown.answer()
    shown.page.get_by_role("button", name="Copy link").click()
    shown.page.locator("#linked").wait_for()
    link = shown.page.locator("#link").input_value()
    assert len(link) < 6_000
    other = opened("#" + link.split("#")[1]).settled()
    assert other.answer() == answer
    assert (
        other.page.locator("#editor textarea").input_value().startswith("# Ä comment: 'ünïcode'.\n")
    )
    assert other.page.get_by_label("Queue, B", exact=True).input_value() == "60"
    assert other.page.locator("#preset").input_value() == "trimming"
    other.check()


def test_a_reload_loses_nothing(opened):
    shown = opened().settled()
    shown.slide("Load of the other flows", 0.6)
    shown.settled()
    answer = shown.answer()
    shown.page.wait_for_function("location.hash.startsWith('#s=')")
    shown.page.reload()
    assert shown.settled().answer() == answer


@pytest.mark.parametrize(
    "fragment",
    ["#s=", "#s=AAAA", "#s=%%%", fragment_of({"preset": 1}), fragment_of(state_of("x"))[:-9]],
)
def test_a_broken_link_is_reported_and_leaves_the_text_alone(opened, fragment):
    shown = opened(fragment).settled()
    assert "does not hold a scenario" in shown.text("#notice")
    mine = (PRESETS / "deadlock.toml").read_text(encoding="utf-8")
    shown.write(mine)
    shown.settled()
    shown.page.evaluate("location.hash = '#s=other'")
    shown.page.locator("#notice").wait_for()
    assert shown.page.locator("#editor textarea").input_value() == mine
    shown.check()


def test_a_link_cannot_run_scripts(opened):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    text = (PRESETS / "deadlock.toml").read_text(encoding="utf-8")
    text = text.replace("When does PFC", evil).replace("drops what has", evil)
    shown = opened(fragment_of(state_of(text)))
    shown.page.on("dialog", lambda dialog: shown.wrong.append("a dialog"))
    shown.settled()
    assert evil in shown.text("#question")
    assert shown.page.frame_locator("#results iframe").locator("img").count() == 0
    shown.check()


def test_a_link_that_unpacks_to_too_much_is_broken(opened):
    shown = opened(fragment_of(state_of("x" * 50_000_000))).settled()
    assert "does not hold a scenario" in shown.text("#notice")


def test_completions_come_with_what_they_mean(opened):
    shown = opened().settled()
    shown.write("[switch.flow_control.pfc]\nxo")
    area, options = shown.page.locator("#editor textarea"), shown.page.locator("#completions li")
    shown.page.wait_for_timeout(500)
    area.press("Control+Space")
    assert sorted(options.locator("b").all_inner_texts()) == ["xoff", "xon", "xon_offset"]
    area.press("Tab")
    assert area.input_value().endswith("\nxoff")
    area.press_sequentially("_")
    area.press("Escape")
    area.fill("[switch]\nfl")
    area.press("Control+Space")
    area.press("Enter")
    assert area.input_value() == "[switch]\nflow_control"
    area.fill("[swi")
    area.press("Control+Space")
    assert options.locator("b").all_inner_texts() == ["switch"]
    area.fill("[switch.flow_control.pfc]\nmeasured_on = ")
    area.press("Control+Space")
    assert '"ingress"' in options.locator("b").all_inner_texts()
    area.fill("[variants.a.switch.aqm.ramp]\nk")
    area.press("Control+Space")
    assert sorted(options.locator("b").all_inner_texts()) == ["kmax", "kmin"]
    shown.check()


def test_the_keyboard_is_enough(opened):
    shown = opened().settled()
    page = shown.page
    focused = "document.activeElement.id || document.activeElement.getAttribute('aria-label')"

    def tab_to(name):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate(focused) == name:
                return
        raise AssertionError(f"Tab does not reach {name}")

    before = shown.answer()
    tab_to("preset")
    page.keyboard.press("ArrowDown")
    shown.settled()
    assert page.locator("#preset").input_value() == "dualq"
    page.keyboard.press("ArrowUp")
    shown.settled()
    tab_to("Senders of the incast")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(50)
    shown.settled()
    assert shown.answer() != before
    # The focus stays where it was.
    assert page.evaluate(focused) == "Senders of the incast"
    tab_to("Congestion Isolation, A")
    page.keyboard.press("Space")
    page.wait_for_timeout(50)
    shown.settled()
    assert page.get_by_label("Congestion Isolation, A").is_checked()
    for _ in range(80):
        page.keyboard.press("Shift+Tab")
        if page.evaluate(focused) == "open-controls":
            break
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "open-text"
    assert page.locator("#editor textarea").is_visible()
    tab_to("Scenario as TOML")
    page.keyboard.press("Control+Home")
    page.keyboard.type("# typed\n")
    assert page.locator("#editor textarea").input_value().startswith("# typed\n")
    # Tab leaves the editor.
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) != "Scenario as TOML"
    tab_to("share")
    page.keyboard.press("Enter")
    page.locator("#link").wait_for()
    shown.check()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["incast", "dualq"])
def test_nothing_overflows(opened, view, name):
    shown = opened(**VIEWS[view]).settled()
    shown.page.locator("#preset").select_option(name)
    shown.settled()
    widths = "(of) => [of.scrollWidth, of.clientWidth]"
    for tab in ("#open-controls", "#open-text"):
        shown.page.locator(tab).click()
        wide, room = shown.page.locator("html").evaluate(widths)
        assert wide <= room
    wide, room = shown.page.frame_locator("#results iframe").locator("html").evaluate(widths)
    assert wide <= room
    background = shown.page.locator("body").evaluate(
        "(body) => getComputedStyle(body).backgroundColor"
    )
    inside = shown.page.frame_locator("#results iframe").locator("body")
    assert inside.evaluate("(body) => getComputedStyle(body).backgroundColor") == background
    assert (background == "rgb(21, 24, 27)") == ("dark" in view)
    shown.check()


def test_without_webassembly_there_is_a_word(browser, built):
    context = browser.new_context(offline=True)
    context.add_init_script("delete window.WebAssembly")
    page = context.new_page()
    page.goto(built.as_uri())
    assert "lacks WebAssembly" in page.locator("#without").inner_text()
    assert "floodway run" in page.locator("#without").inner_text()
    context.close()


def test_without_scripts_there_is_a_word(browser, built):
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(built.as_uri())
    assert "needs JavaScript" in page.locator("body").inner_text()
    context.close()


def test_the_scenario_can_be_saved(opened):
    shown = opened().settled()
    with shown.page.expect_download() as waited:
        shown.page.get_by_role("button", name="Save scenario").click()
    assert waited.value.suggested_filename == "incast.toml"
    assert waited.value.path().read_text(encoding="utf-8") == (PRESETS / "incast.toml").read_text(
        encoding="utf-8"
    )


def test_the_page_is_a_few_megabytes(built):
    assert built.stat().st_size < 5_000_000
