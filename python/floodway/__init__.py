"""What does this congestion-management mechanism do to my traffic, and why?

floodway simulates switches, links, network cards and transports packet by packet. This package
loads scenarios or builds them in code, runs them, and hands the results over as Arrow tables,
which pandas, Polars, DuckDB and pyarrow open without a copy.

>>> import floodway
>>> scenario = floodway.Scenario(
...     name="two-senders",
...     arrivals="1us",
...     limit="10ms",
...     topology={"star": {"hosts": 3}},
...     workload=[{"incast": {"senders": 2, "bytes": "100KB"}}],
... )
>>> run = scenario.run()
>>> run.flows["bytes"].to_list()
[100000, 100000]
"""

from floodway._answer import Answer
from floodway._chart import Chart
from floodway._errors import FlentError, Problem, ResultsError, ScenarioError
from floodway._flent import FlentFile, read_flent
from floodway._floodway import __version__
from floodway._headroom import (
    Headroom,
    HeadroomRisk,
    Headrooms,
    HeadroomTable,
    WorstCase,
    headroom,
    headroom_risk,
    headroom_table,
    headrooms,
)
from floodway._operator import (
    DeviceProfile,
    Finding,
    SonicImport,
    import_sonic,
    lint,
    profile,
    profiles,
)
from floodway._overlay import Overlay, lay_over
from floodway._progress import Advance, Progress
from floodway._ranks import Ranks
from floodway._results import Comparison, Results, compare, open
from floodway._run import Run
from floodway._scenario import Scenario, Variant, load, parse
from floodway._session import Completion, Session
from floodway._study import Study, study
from floodway._sweep import Sweep
from floodway._table import Column, Table
from floodway._tune import tune
from floodway._why import Explanation
from floodway._worth import Worth, worth

__all__ = [
    "Advance",
    "Answer",
    "Chart",
    "Column",
    "Comparison",
    "Completion",
    "DeviceProfile",
    "Explanation",
    "Finding",
    "FlentError",
    "FlentFile",
    "Headroom",
    "HeadroomRisk",
    "HeadroomTable",
    "Headrooms",
    "Overlay",
    "Problem",
    "Progress",
    "Ranks",
    "Results",
    "ResultsError",
    "Run",
    "Scenario",
    "ScenarioError",
    "Session",
    "SonicImport",
    "Study",
    "Sweep",
    "Table",
    "Variant",
    "WorstCase",
    "Worth",
    "__version__",
    "compare",
    "headroom",
    "headroom_risk",
    "headroom_table",
    "headrooms",
    "import_sonic",
    "lay_over",
    "lint",
    "load",
    "open",
    "parse",
    "profile",
    "profiles",
    "read_flent",
    "study",
    "tune",
    "worth",
]
