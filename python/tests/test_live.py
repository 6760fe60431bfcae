"""The page of `floodway live` in a browser: flows come and go, queue management is switched."""

import json
import os
import subprocess
import time
import urllib.request

import pytest

VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1300, "height": 1000}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1300, "height": 1000}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 400, "height": 800}},
}


class Running:
    """A run that goes on at twenty times real time, and the address of its page."""

    def __init__(self, program, scenario, folder, speed="20"):
        words = [program, "live", scenario, "--port", "0", "--quiet"]
        words += ["--speed", speed, "--until", "3600s", "--out", folder / "out"]
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.folder = folder / "out"
        self.url = self.child.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A signal that lets it end its kernels.
        self.child.terminate()
        self.child.wait(timeout=60)
        self.child.stdout.close()

    def state(self):
        """What the program says, without the page."""
        with urllib.request.urlopen(self.url + "state", timeout=20) as answer:
            return json.load(answer)


@pytest.fixture
def running(program, scenarios, tmp_path):
    with Running(program, scenarios / "live.toml", tmp_path) as found:
        yield found


@pytest.fixture
def of_kernels(program, scenarios, tmp_path):
    """A run whose hosts are Linux kernels, as fast as they are."""
    probe = [program, "live", scenarios / "live-linux.toml", "--until", "100ms", "--speed", "max"]
    probe += ["--port", "0", "--out", tmp_path / "probe"]
    said = subprocess.run(probe, capture_output=True, text=True, timeout=120).stderr
    if "there is no Linux kernel" in said:
        insist = os.environ.get("FLOODWAY_INSIST") == "kernel"
        (pytest.fail if insist else pytest.skip)("there is no kernel (oracle/build --endpoint)")
    with Running(program, scenarios / "live-linux.toml", tmp_path, speed="max") as found:
        yield found


class View:
    """The page, with what went wrong and what was asked for."""

    def __init__(self, browser, running, **options):
        self.wrong, self.asked = [], set()
        self.running = running
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.add(request.url))
        self.page.goto(running.url)
        self.page.locator("#kinds .kind").nth(1).wait_for()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def numbers(self):
        """The numbers that the page shows at one moment, without their units.

        They are read at once, because the run goes on: two that are read one after the other may
        be of different seconds.
        """
        texts = self.page.evaluate(
            """Object.fromEntries([...document.querySelectorAll('[data-number]')].map(
                (box) => [box.dataset.number, box.querySelector('dd').textContent]))"""
        )
        return {name: float(text.split()[0]) for name, text in texts.items() if text[0].isdigit()}

    def wait_until(self, expression):
        """Wait until something is so on the page, whose policy allows no predicates of others."""
        begun = time.monotonic()
        while not self.page.evaluate(expression):
            assert time.monotonic() - begun < 600, f"it has not happened: {expression}"
            self.page.wait_for_timeout(50)

    def advance(self, seconds):
        """Wait until so much simulated time has passed."""
        clock = "parseFloat(document.querySelector('#clock').textContent)"
        now = self.page.evaluate(clock)
        self.wait_until(f"{clock} > {now + seconds}")


def test_flows_and_queue_management_are_steered(browser, running):
    with View(browser, running, **VIEWS["light"]) as view:
        page = view.page
        assert page.locator("h1").text_content() == "steered"
        # Cubic alone has the link, 1430 of 1500 bytes of 40 Mb/s, and waits behind drop-tail. Rates
        # are means over a second of what is delivered in order: what arrives while a lost packet
        # is sent again, for a round trip of up to 88 ms, may count in the next second.
        view.advance(3)
        alone = view.numbers()
        assert alone["rate-0"] == pytest.approx(40 * 1430 / 1500, rel=0.1)
        assert alone["use"] == pytest.approx(100, abs=1)
        assert alone["delay-0"] > 20
        # Two flows of DCTCP beside it, by the number and then by the slider.
        page.locator("#count-1").fill("1")
        page.locator("#count-1").press("Enter")
        view.wait_until(
            "document.querySelector('#actions').textContent.includes('scalable: 1 flows')"
        )
        page.locator("#range-1").focus()
        page.locator("#range-1").press("ArrowRight")
        view.wait_until(
            "document.querySelector('#actions').textContent.includes('scalable: 2 flows')"
        )
        assert running.state()["now"]["flows"] == [1, 2]
        # Two queues: packets in the first one wait less than a millisecond and a half.
        page.locator("#management-1").check()
        view.wait_until(
            "document.querySelector('#actions').textContent.includes('queue management: dualq')"
        )
        view.advance(6)
        shared = view.numbers()
        assert shared["delay-0"] < 1.5 < shared["delay-1"]
        assert shared["rate-0"] + 2 * shared["rate-1"] == pytest.approx(38.1, rel=0.1)
        # Each of the three is shown with three digits, so each is right to one in two hundred.
        assert shared["ratio"] == pytest.approx(shared["rate-0"] / shared["rate-1"], rel=0.015)
        # The charts have a line for each kind and each queue that is used.
        assert page.locator("#rates .u-legend .u-series").count() == 3
        assert page.locator("#delays .u-legend .u-series").count() == 5
        # What cannot be chosen says why.
        assert page.locator("#management-2").is_disabled()
        assert "its hosts differ" in page.locator("#managements").text_content()
        # No flows are left.
        for place in ("0", "1"):
            page.locator(f"#count-{place}").fill("0")
            page.locator(f"#count-{place}").press("Enter")
        view.wait_until(
            "document.querySelector('[data-number=\"rate-1\"] dd').textContent === 'no flows'"
        )
        view.advance(3)
        assert view.numbers()["use"] == 0
        assert view.wrong == []
        assert all(url.startswith((running.url, "data:")) for url in view.asked)


def test_flows_of_linux_kernels_are_steered(browser, of_kernels):
    with View(browser, of_kernels, **VIEWS["light"]) as view:
        page = view.page
        assert page.locator("h1").text_content() == "steered-linux"
        assert "dctcp, Linux" in page.locator("#kinds").text_content()
        # Cubic of Linux alone has the link, as that of the simulator has.
        view.advance(3)
        alone = view.numbers()
        assert alone["rate-0"] == pytest.approx(40 * 1430 / 1500, rel=0.1)
        assert alone["delay-0"] > 20
        page.locator("#count-1").fill("2")
        page.locator("#count-1").press("Enter")
        view.wait_until(
            "document.querySelector('#actions').textContent.includes('scalable: 2 flows')"
        )
        page.locator("#management-1").check()
        view.wait_until(
            "document.querySelector('#actions').textContent.includes('queue management: dualq')"
        )
        view.advance(6)
        shared = view.numbers()
        assert shared["delay-0"] < 1.5 < shared["delay-1"]
        assert shared["rate-0"] + 2 * shared["rate-1"] == pytest.approx(38.1, rel=0.1)
        assert "its Linux kernels differ" in page.locator("#managements").text_content()
        page.locator("#count-0").fill("0")
        page.locator("#count-0").press("Enter")
        view.wait_until(
            "document.querySelector('[data-number=\"rate-0\"] dd').textContent === 'no flows'"
        )
        assert view.wrong == []
        picture = os.environ.get("FLOODWAY_PICTURES")
        if picture:
            page.screenshot(path=f"{picture}/live-linux.png", full_page=True)


def test_a_refusal_is_shown_and_two_pages_agree(browser, running):
    with View(browser, running, **VIEWS["dark"]) as one, View(browser, running) as other:
        one.page.locator("#count-0").fill("500")
        one.page.locator("#count-0").press("Enter")
        one.wait_until("document.querySelector('#notice').textContent.includes('too many')")
        one.page.locator("#count-0").fill("1.5")
        one.page.locator("#count-0").press("Enter")
        one.wait_until("document.querySelector('#notice').textContent.includes('whole number')")
        one.page.locator("#count-0").fill("3")
        one.page.locator("#count-0").press("Enter")
        other.wait_until("document.querySelector('#count-0').value === '3'")
        # One is closed; the run goes on.
        one.context.close()
        other.advance(1)
        other.page.locator("#pause").click()
        other.wait_until("document.querySelector('#clock').textContent.includes('paused')")
        paused = running.state()["now"]["time_s"]
        assert running.state()["now"]["time_s"] == paused
        other.page.locator("#pause").click()
        other.advance(1)
        # Bodies that are refused are logged by the browser as failed requests, and nothing else.
        assert other.wrong == []
        other.page.locator("#end").click()
        other.wait_until(
            "document.querySelector('#notice').textContent.includes('The run has ended')"
        )
        assert other.page.locator("#pause").is_disabled()
        assert running.child.wait(timeout=60) == 0
    lines = [
        json.loads(line) for line in (running.folder / "actions.jsonl").read_text().splitlines()
    ]
    assert [line.get("action") for line in lines[1:]] == [
        {"flows": {"kind": "cubic", "count": 3}},
        None,
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_is_whole(browser, running, view, tmp_path):
    with View(browser, running, **VIEWS[view]) as shown:
        shown.page.locator("#count-1").fill("2")
        shown.page.locator("#count-1").press("Enter")
        shown.advance(4)
        shown.page.locator("#management-1").check()
        shown.advance(6)
        wide, room = shown.page.evaluate(
            "[document.body.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= room
        assert shown.wrong == []
        picture = os.environ.get("FLOODWAY_PICTURES")
        if picture:
            shown.page.screenshot(path=f"{picture}/live-{view}.png", full_page=True)
