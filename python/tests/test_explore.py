"""What readers do with a report: find, link, hover, zoom, choose and hide."""

import pytest
from test_browser import VIEWS, View, pages, settle  # noqa: F401 (a fixture)

WIDE = {"color_scheme": "light", "viewport": {"width": 1400, "height": 900}}


@pytest.fixture
def shown(browser, pages):  # noqa: F811
    with View(browser, pages["run"], **WIDE) as shown:
        yield shown
        shown.check()


def live(page, name):
    """A figure once its charts are drawn again."""
    figure = page.locator(f'figure[data-name="{name}"]')
    settle(figure)
    return figure


def hover(figure, x=0.6, y=0.5):
    """Rest the pointer on the first visible chart, and give what is said of it."""
    over = figure.locator(".u-over:visible").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    figure.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
    tip = figure.locator(".tip:visible").first
    tip.wait_for()
    return tip.inner_text()


def ticks(figure):
    """The range of the horizontal axis, by what is under the pointer near both ends."""
    return [hover(figure, x).split("\n")[0] for x in (0.02, 0.98)]


def test_contents_stay_in_view_and_lead_to_sections(shown):
    page = shown.page
    contents = page.get_by_role("navigation", name="Contents")
    link = contents.get_by_role("link", name="Queue depth")
    link.click()
    assert page.url.endswith("#queues")
    heading = page.get_by_role("heading", name="Queue depth")
    assert 0 <= heading.bounding_box()["y"] < 200
    assert link.is_visible(), "beside the page"
    page.wait_for_function(
        "document.querySelector('nav.contents [aria-current]')?.hash === '#queues'"
    )


def test_contents_are_folded_on_a_narrow_screen(browser, pages):  # noqa: F811
    with View(browser, pages["run"], **VIEWS["narrow"]) as shown:
        contents = shown.page.get_by_role("navigation", name="Contents")
        assert not contents.get_by_role("link").first.is_visible()
        contents.get_by_text("Contents").click()
        assert contents.get_by_role("link").first.is_visible()


def test_a_table_that_scrolls_has_a_shadow_where_it_goes_on(browser, pages):  # noqa: F811
    with View(browser, pages["run"], **VIEWS["narrow"]) as shown:
        drawn = shown.page.evaluate(
            "[...document.querySelectorAll('.scroll')]"
            ".filter((of) => of.scrollWidth > of.clientWidth)"
            ".map((of) => getComputedStyle(of).backgroundImage.split('gradient').length - 1)"
        )
        assert drawn, "no table of this page is too wide"
        assert set(drawn) == {4}, "two shadows, and what covers them at the ends"


def test_every_figure_and_section_has_a_link(shown):
    page = shown.page
    targets = page.evaluate("[...document.querySelectorAll('a.anchor')].map((link) => link.hash)")
    assert len(targets) == len(set(targets)) > 10
    for target in targets:
        assert page.locator(f"[id='{target[1:]}']").count() == 1, target


def test_a_link_to_what_is_folded_opens_it(shown):
    page = shown.page
    assert not page.get_by_text("from seed").is_visible()
    page.goto(shown.url + "#provenance")
    assert page.get_by_text("from seed").is_visible()
    shown.asked = [shown.url]


def test_the_pointer_reads_values(shown):
    figure = live(shown.page, "fct-cdf")
    said = hover(figure)
    first, *series = said.split("\n")
    assert first.endswith(("ns", "µs", "ms"))
    assert [line.strip().split(":")[0] for line in series] == ["plain", "marks"]
    assert all(line.endswith("%") for line in series)


@pytest.mark.parametrize("name", ["sweep", "study"])
def test_charts_of_sweeps_and_studies_have_their_values(browser, pages, name):  # noqa: F811
    with View(browser, pages[name], **WIDE) as shown:
        figures = shown.page.locator("figure[data-live]").all()
        assert len(figures) > 1
        for figure in figures:
            settle(figure)
            said = [hover(figure, x) for x in (0.05, 0.5, 0.95)]
            assert any(": " in text for text in said), figure.get_attribute("data-name")


def test_a_drag_zooms_and_a_double_click_zooms_out(shown):
    page = shown.page
    figure = live(page, "fct-cdf")
    before = ticks(figure)
    over = figure.locator(".u-over:visible").first
    box = over.bounding_box()
    across = lambda share: box["x"] + share * box["width"]  # noqa: E731
    y = box["y"] + box["height"] / 2
    page.mouse.move(across(0.4), y)
    page.mouse.down()
    page.mouse.move(across(0.7), y, steps=5)
    page.mouse.up()
    zoomed = ticks(figure)
    assert zoomed != before
    over.dblclick()
    assert ticks(figure) == before
    page.mouse.move(across(0.4), y)
    page.mouse.down()
    page.mouse.move(across(0.7), y, steps=5)
    page.mouse.up()
    assert ticks(figure) == zoomed
    figure.get_by_role("button", name="Reset zoom").click()
    assert ticks(figure) == before


def test_a_name_in_a_legend_hides_its_series_in_its_figure(shown):
    figure = live(shown.page, "fct-cdf")
    button = figure.locator(".legend").get_by_role("button", name="marks")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert "marks:" not in hover(figure) and "plain:" in hover(figure)
    other = live(shown.page, "fct-ccdf")
    assert "marks:" in hover(other)
    figure.scroll_into_view_if_needed()
    button.click()
    assert "marks:" in hover(figure)


def test_a_variant_is_hidden_on_the_whole_page(shown):
    page = shown.page
    figure = live(page, "fct-cdf")
    page.get_by_role("group", name="Variants to show").get_by_role("button", name="marks").click()
    assert "marks:" not in hover(figure)
    # Charts that are drawn later are without it too.
    assert "marks:" not in hover(live(page, "queue-depths"))
    row = page.locator("table.headlines tr", has_text="marks")
    faded = "(row) => Number(getComputedStyle(row).opacity)"
    assert row.evaluate(faded) < 0.5
    page.get_by_role("group", name="Variants to show").get_by_role("button", name="marks").click()
    assert row.evaluate(faded) == 1
    assert "marks:" in hover(live(page, "fct-cdf"))


def test_figures_of_one_choice_show_the_same_part(shown):
    page = shown.page
    figure = live(page, "fct-cdf")
    parts = figure.get_by_role("group", name="flow size").get_by_role("button")
    assert parts.count() > 1
    assert figure.locator("canvas:visible").count() == 1
    before = hover(figure)
    parts.last.click()
    assert parts.last.get_attribute("aria-pressed") == "true"
    assert parts.first.get_attribute("aria-pressed") == "false"
    assert figure.locator("canvas:visible").count() == 1
    assert hover(figure) != before


def test_axes_change_between_logarithmic_and_linear(shown):
    figure = live(shown.page, "fct-cdf")
    button = figure.get_by_role("button", name="x axis is logarithmic, change it")
    before = hover(figure, 0.5)
    button.click()
    assert hover(figure, 0.5) != before
    figure.get_by_role("button", name="x axis is linear, change it").click()
    assert hover(figure, 0.5) == before


def test_a_view_that_turns_dark_redraws_its_charts(shown):
    page = shown.page
    figure = live(page, "fct-cdf")
    picture = "(canvas) => canvas.toDataURL()"
    canvas = figure.locator("canvas:visible").first
    light = canvas.evaluate(picture)
    page.emulate_media(color_scheme="dark")
    figure.locator("canvas:visible").first.wait_for()
    assert figure.locator("canvas:visible").first.evaluate(picture) != light
