"""The compiled half of the package: scenarios in, tables out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, final, type_check_only

from floodway._errors import Problem
from floodway._messages import Messages

__all__ = [
    "Checked",
    "Explained",
    "Grid",
    "Held",
    "Imported",
    "Outcome",
    "Picture",
    "Session",
    "Stored",
    "Swept",
    "Table",
    "__version__",
    "better",
    "change",
    "chart_of_changes",
    "chart_of_points",
    "execute_over",
    "headroom",
    "headroom_risk",
    "headroom_search",
    "headroom_table",
    "import_sonic",
    "is_configuration",
    "levels",
    "lint_scenario",
    "load",
    "octets",
    "open",
    "parse",
    "picoseconds",
    "printable",
    "profile",
    "profiles",
    "program",
    "remedy",
    "simulate_over",
    "sources",
    "study",
    "together",
]

__version__: str
sources: str
"""A hash of what decides outcomes: packages with the same one simulate the same."""

@final
class Imported:
    """Configurations of switches that were read."""

    @property
    def toml(self) -> str: ...
    @property
    def fields(self) -> int: ...
    @property
    def account(self) -> list[tuple[str, str, str, str]]: ...
    @property
    def warnings(self) -> list[Problem]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def findings(self) -> list[tuple[str, str, Problem]]: ...

def import_sonic(paths: list[str], name: str, rate: str, profile: str | None) -> Imported: ...
def is_configuration(path: str) -> bool: ...
def lint_scenario(
    text: str, file: str, quick: bool, set: Sequence[str], variants: list[str]
) -> list[tuple[str, str, Problem]]: ...
def profiles() -> str: ...
def profile(name: str) -> str: ...

@final
class Checked:
    """A valid scenario."""

    @property
    def name(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def replications(self) -> int: ...
    @property
    def variants(self) -> list[str]: ...
    @property
    def warnings(self) -> list[Problem]: ...
    def settings(self, variant: str) -> str: ...
    def derived(self, variants: list[str]) -> str: ...
    def patches(
        self, variant: str, paths: list[str], rate: str
    ) -> tuple[list[tuple[str, str]], list[str]]: ...
    def replication_seed(self, replication: int) -> int: ...
    def simulate(
        self,
        variant: str,
        replication: int,
        threads: int | None,
        audit: bool,
        watch: Callable[[float, float, int, int, int], object] | None,
    ) -> Outcome: ...
    def charts(
        self, variant: str, replication: int, simulated_ns: float, tables: list[Table]
    ) -> list[Picture]: ...
    def execute(
        self,
        variants: list[str],
        place: tuple[str, str],
        kept: tuple[str | None, list[str]],
        threads: int | None,
        watch: Callable[[str | None, float, int, int, float, int], object] | None,
    ) -> list[str]: ...

@final
class Session:
    """A run that Python drives. Times are picoseconds."""

    def __new__(
        cls,
        scenario: Checked,
        run: tuple[str | None, int | None, str | None],
        how: tuple[int | None, int | None, bool],
    ) -> Session: ...
    @property
    def variant(self) -> str: ...
    @property
    def replication(self) -> int: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def latency(self) -> int: ...
    @property
    def window(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def now(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def inject(self, source: int, destination: int, bytes: int, at: int | None) -> int: ...
    def advance(self, until: int) -> list[tuple[int, int, int]]: ...
    def next(self, until: int | None) -> tuple[int, int, int] | None: ...
    def close(self) -> Outcome: ...

def picoseconds(text: str) -> int: ...
def octets(text: str) -> int: ...

@final
class Outcome:
    """What came out of a run."""

    @property
    def tables(self) -> list[Table]: ...
    @property
    def stop(self) -> str: ...
    @property
    def simulated_ns(self) -> float: ...
    @property
    def hops(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def violations(self) -> list[str]: ...

@final
class Table:
    """A table as Arrow."""

    def __new__(
        cls, name: str, doc: str, columns: list[tuple[str, str, str, bytes | list[str]]]
    ) -> Table: ...
    def __getnewargs__(
        self,
    ) -> tuple[str, str, list[tuple[str, str, str, bytes | list[str]]]]: ...
    @property
    def name(self) -> str: ...
    @property
    def doc(self) -> str | None: ...
    @property
    def columns(self) -> list[str]: ...
    def column_doc(self, column: str) -> str | None: ...
    def column_unit(self, column: str) -> str | None: ...
    def select(self, columns: list[str]) -> Table: ...
    def to_list(self, column: str, start: int, end: int) -> list[int | float | str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Held:
    """A results directory that nobody else writes to."""

    def release(self) -> None: ...

@final
class Grid:
    """A sweep that is valid at every point."""

    def __new__(
        cls,
        scenario: tuple[str, str, bool, list[str]],
        vary: list[str],
        reference: list[str],
        until: str | None,
        at_most: int | None,
        variants: list[str],
    ) -> Grid: ...
    @property
    def points(self) -> list[list[str]]: ...
    @property
    def variants(self) -> list[str]: ...
    def due(self, rows: list[str], metrics: list[str]) -> list[tuple[int, int, int]]: ...
    def make(
        self, task: tuple[int, int, int], cache: str | None, threads: int | None
    ) -> tuple[str, str, bool, float, int]: ...
    def begin(self, path: str) -> tuple[str, Held]: ...
    def possible(self, metrics: str, shown: list[str]) -> None: ...
    def look_for(self, metrics: list[str], shown: list[str]) -> None: ...
    def finish(
        self,
        rows: list[str],
        metrics: list[str],
        made: tuple[int, str, int],
        path: str,
        shown: list[str],
    ) -> Swept: ...
    def run(
        self,
        path: str,
        cache: str | None,
        shown: list[str],
        threads: int | None,
        watch: Callable[[str | None, float, int, int, float, int], object] | None,
    ) -> Swept: ...

@final
class Picture:
    """A chart with its numbers."""

    @property
    def name(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def parts(self) -> list[str]: ...
    @property
    def svg(self) -> str: ...
    @property
    def csv(self) -> str: ...
    @property
    def vega(self) -> str | None: ...
    def paper(self, width_mm: float, points: float, font: str) -> str: ...
    def only(self, heading: str) -> Picture: ...

@final
class Swept:
    """What came out of a sweep."""

    @property
    def page(self) -> str: ...
    @property
    def json(self) -> str: ...
    @property
    def answer(self) -> list[str]: ...
    @property
    def charts(self) -> list[Picture]: ...
    @property
    def tables(self) -> tuple[Table, Table, Table]: ...

@final
class Stored:
    """A results directory as it was found."""

    @property
    def manifest(self) -> str: ...
    @property
    def summary(self) -> str | None: ...
    def charts(self) -> list[Picture]: ...
    def charts_of_run(self, run: int) -> list[Picture]: ...
    def table(self, run: int, name: str) -> Table: ...
    def table_of_runs(self, runs: list[int], name: str) -> Table: ...
    def flent(self, run: int) -> str: ...
    def why(
        self,
        run: int,
        scenario: str | None,
        asked: Asked,
        watch: Callable[[float, float, int, int, int], object] | None,
    ) -> Explained: ...

@type_check_only
class Asked(TypedDict):
    """What is asked about a run."""

    flows: list[int]
    slowest: int
    sample: int
    root: str | None
    without: list[str]
    against: str | None
    is_path: bool
    path: int | None
    packets: bool

@final
class Explained:
    """What explains a run."""

    @property
    def text(self) -> str: ...
    @property
    def json(self) -> str: ...
    @property
    def tables(self) -> list[Table]: ...

def better(metric: str) -> str | None: ...
def change(pairs: list[tuple[float, float]], resolution: float, unit: str = "") -> str: ...
def chart_of_changes(
    name: str,
    caption: str,
    label: str,
    groups: list[tuple[str, list[tuple[str, float | None, tuple[float, float] | None, str]]]],
) -> Picture: ...
def chart_of_points(
    name: str,
    caption: str,
    axes: tuple[str, str],
    series: list[tuple[str, list[tuple[float, float]], bool]],
) -> Picture: ...
def headroom(rate: str, cable: str, settings: dict[str, Any]) -> str: ...
def headroom_table(path: Path, settings: dict[str, Any]) -> str: ...
def headroom_search(rate: str, cable: str, settings: dict[str, Any]) -> tuple[int, int, str]: ...
def headroom_risk(
    checked: Checked,
    variant: str,
    count: int,
    pools: list[str],
    oversubscription: list[float],
    threads: int | None,
) -> str: ...
def levels(argument: str) -> list[str]: ...
def remedy(word: str, noun: str, known: list[str]) -> str: ...
def program(start: list[str], arguments: list[str]) -> int: ...
def load(path: str, quick: bool, set: list[str]) -> Checked: ...
def parse(text: str, file: str, quick: bool, set: list[str]) -> Checked: ...
def together(all: list[Stored]) -> tuple[str, list[Picture], str]: ...
def open(path: str) -> Stored: ...
def printable(text: str) -> str: ...
def simulate_over(
    scenario: Checked,
    variant: str,
    replication: int,
    threads: int,
    messages: Messages,
    watch: Callable[[float, float, int, int, int], object] | None,
) -> Outcome | None: ...
def execute_over(
    scenario: Checked,
    variants: list[str],
    place: tuple[str, str, str | None],
    threads: int,
    messages: Messages,
    watch: Callable[[str | None, float, int, int, float, int], object] | None,
) -> list[str]: ...
def study(
    name: str,
    level: str,
    set: list[str],
    place: tuple[str, bool],
    threads: int | None,
    watch: Callable[[str | None, float, int, int, float, int], object] | None,
) -> tuple[str, str, list[Picture], list[str]]: ...
