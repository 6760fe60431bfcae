"""`floodway.lay_over` from a shell: ``floodway overlay MEASURED.flent.gz RESULTS``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from floodway._overlay import lay_over


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, draw the chart if that is asked for, and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        overlay = lay_over(
            *given.what,
            variants=given.variant or None,
            replication=given.replication,
            pings=given.pings,
            labels=given.label or None,
        )
        print(overlay)
        if given.plot:
            overlay.save(given.plot)
    except (OSError, ValueError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="floodway overlay",
        description="Puts latency under load that flent measured beside that of simulated runs.",
    )
    add = parser.add_argument
    add(
        "what",
        nargs="+",
        type=Path,
        metavar="FILE|RESULTS",
        help="data files of flent (.flent.gz), and results directories of floodway",
    )
    add(
        "--variant",
        action="append",
        default=[],
        metavar="NAME",
        help="of results only this variant; repeat it for several",
    )
    add("--replication", type=int, default=0, help="of results (default 0)")
    add(
        "--pings",
        default="",
        metavar="TEXT",
        help="only series of pings with this in their names, such as 'UDP BE'",
    )
    add(
        "--label",
        action="append",
        default=[],
        metavar="NAME",
        help="a name for each file and variant, in their order",
    )
    add("--plot", type=Path, metavar="FILE", help="draws the chart: a .png, .pdf or .svg file")
    return parser  # fmt: skip
