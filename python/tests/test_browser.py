"""The pages in a browser: nothing fails, nothing is asked for, and every figure can be saved."""

import csv
import io
import itertools
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

# Two leaves and two spines, because a map of links needs a fabric; what waits is sampled often.
RUN = """\
name = "seen"
question = "What is seen?"
arrivals = "200us"
limit = "5ms"
replications = 2
[topology.clos]
leaves = 2
spines = 2
hosts_per_leaf = 4
[switch.flow_control.pfc]
xoff = "100KB"
[[workload]]
[workload.many_to_many]
sizes = "web_search"
max_size = "200KB"
clusters = 1
cluster_size = 8
load = 0.6
[variants.plain]
[variants.marks.switch.aqm.step]
"""

# Of two values each: lines, and a map for each variant.
SWEEP = """\
[[sweep.vary]]
path = "workload.0.many_to_many.load"
values = [0.4, 0.6]
[[sweep.vary]]
path = "switch.flow_control.pfc.xoff"
values = ["80KB", "100KB"]
"""

# Its charts are of all kinds that a page of a study has. Runs as short as these judge no claim.
STUDY = ["study", "dualq", "--quick", "--set", "replications=1"]
STUDY += ["--set", "warmup=1s", "--set", "arrivals=2s", "--set", "limit=3s"]

VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1100, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1100, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}

# Browsers pass over downloads of a page beyond ten in a second.
BURST = 10


@pytest.fixture(scope="session")
def pages(browser, program, tmp_path_factory):
    """The paths of a page of a run, of a sweep and of a study."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "seen.toml").write_text(RUN)
    (folder / "swept.toml").write_text(RUN + SWEEP)
    for command in (
        ["run", "seen.toml", "--out", "run"],
        ["sweep", "swept.toml", "--out", "sweep"],
        [*STUDY, "--out", "study"],
    ):
        subprocess.run([program, *command, "--quiet"], cwd=folder, check=True)
    return {name: folder / name / "report.html" for name in ("run", "sweep", "study")}


class View:
    """A page in the browser, with what went wrong and what was asked for."""

    def __init__(self, browser, path, **options):
        self.url = path.as_uri()
        self.wrong, self.asked = [], []
        self.context = browser.new_context(offline=True, accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def check(self):
        """Nothing was logged, which violations of the policy are too, nor asked for but pages."""
        assert self.wrong == []
        assert set(self.asked) == {self.url}
        wide, room = self.page.evaluate(
            "[document.body.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= room


def unfold(page):
    """Show what is folded."""
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")


def settle(figure):
    """Bring a figure into view; its charts are drawn again then."""
    figure.scroll_into_view_if_needed()
    if figure.get_attribute("data-live"):
        figure.locator("canvas:visible").first.wait_for()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["run", "sweep", "study"])
def test_a_page_is_whole(browser, pages, name, view):
    with View(browser, pages[name], **VIEWS[view]) as shown:
        page = shown.page
        assert page.locator("h1").is_visible()
        unfold(page)
        figures = page.locator("figure[data-name]")
        assert figures.count() > 3
        for figure in figures.all():
            # Of a wide and a narrow rendition one is there, or the chart is drawn again.
            settle(figure)
            if not figure.get_attribute("data-live"):
                assert figure.locator(".drawn svg:visible").count() > 0
            assert figure.locator(".save button").count() == 2
        shown.check()


@pytest.mark.parametrize("name", ["run", "sweep", "study"])
def test_a_page_can_be_printed(browser, pages, name):
    with View(browser, pages[name], **VIEWS["dark"]) as shown:
        shown.page.emulate_media(media="print")
        buttons = shown.page.locator(":is(.save, .live-tools, .variants) button").all()
        assert buttons and not any(button.is_visible() for button in buttons)
        assert shown.page.locator("figure[data-live] .drawn svg:visible").count() > 0
        assert shown.page.locator(".redrawn:visible").count() == 0
        assert shown.page.pdf(format="A4").startswith(b"%PDF")
        paper = shown.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(255, 255, 255)"
        shown.check()


def test_without_scripts_a_page_is_whole_and_has_no_buttons(browser, pages):
    with View(browser, pages["run"], java_script_enabled=False) as shown:
        assert shown.page.locator("figure[data-name] svg").count() > 10
        assert shown.page.locator("button").count() == 0


def saved(shown, kind):
    """What the buttons of a kind save: names of files, their figures, and what is in them."""
    for at in range(shown.page.locator("figure[data-name]").count()):
        if at % BURST == 0:
            shown.page.close()
            shown.page = shown.context.new_page()
            shown.page.goto(shown.url)
            unfold(shown.page)
        figure = shown.page.locator("figure[data-name]").nth(at)
        settle(figure)
        with shown.page.expect_download() as waited:
            figure.get_by_role("button", name=kind).click()
        text = waited.value.path().read_text(encoding="utf-8")
        yield waited.value.suggested_filename, figure, text


@pytest.mark.parametrize("name", ["run", "sweep", "study"])
def test_every_figure_can_be_saved_as_a_picture(browser, pages, name, tmp_path):
    with View(browser, pages[name], **VIEWS["dark"]) as shown:
        again = shown.context.new_page()
        again.on("console", lambda said: shown.wrong.append(said.text))
        for file, figure, text in saved(shown, "SVG"):
            assert file.endswith(".svg")
            root = ElementTree.fromstring(text)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(" not in text and "upright" not in text
            caption = figure.locator("figcaption").inner_text()
            words = " ".join("".join(of.itertext()) for of in root.iter() if of.get("class"))
            assert caption.split()[0] in words
            (tmp_path / file).write_text(text, encoding="utf-8")
            again.goto((tmp_path / file).as_uri())
            # It is a picture to the browser, and a dark one for a dark view.
            card = again.evaluate("getComputedStyle(document.querySelector('.card')).fill")
            assert card == "rgb(21, 24, 27)"
            charts = "document.documentElement.querySelectorAll(':scope > svg').length"
            assert again.evaluate(charts) > 0
        assert shown.wrong == []


@pytest.mark.parametrize("name", ["run", "sweep", "study"])
def test_every_figure_can_be_saved_as_a_table(browser, pages, name):
    with View(browser, pages[name], **VIEWS["light"]) as shown:
        files = {}
        for file, figure, text in saved(shown, "CSV"):
            assert file.endswith(".csv") and file not in files
            head, *rows = csv.reader(io.StringIO(text))
            assert rows and all(len(row) == len(head) for row in rows)
            # There are as many as are drawn.
            drawn = figure.locator(":is(.wide, .grid > div, .sideways) > svg")
            if head[0] == "group" and "claimed" not in head:
                values = drawn.locator(":is(.marker, .bar)").count()
                assert values == len([row for row in rows if row[2]])
            if drawn.locator(".tile").count():
                assert drawn.locator(".tile rect").count() == len(rows)
            # In a sweep every point of a line has its marker.
            if name == "sweep" and head[:2] == ["chart", "series"]:
                assert drawn.locator(".marker").count() == len(rows)
            files[file] = (head, rows)
        assert shown.wrong == []
    if name == "run":
        the_run_is_in_its_tables(files, pages["run"].parent)


def the_run_is_in_its_tables(files, results):
    """What the page saves is what the tables say."""
    head, rows = files["seen-links-busy.csv"]
    assert head == ["chart", "switch", "direction", "port", "busy [share]"]
    # Both directions of 8 links to hosts and of 4 between switches, in two variants.
    assert len(rows) == 2 * 2 * (8 + 4)
    assert {row[0] for row in rows} == {"plain", "marks"}
    head, rows = files["seen-fct-cdf.csv"]
    assert head[:4] == ["chart", "series", "FCT [ns]", "flows finished [share]"]
    assert {row[1] for row in rows} == {"plain", "marks"}
    ends = [row[3] for row, after in itertools.pairwise(rows) if row[:2] != after[:2]]
    assert len(ends) > 2 and set(ends) == {"1"}
