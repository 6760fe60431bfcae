"""`floodway.tune` from a shell: ``floodway tune SCENARIO OBJECTIVE --vary PATH=RANGE``."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import floodway
from floodway import _floodway
from floodway._search import SAMPLERS
from floodway._space import typed


def main(arguments: Sequence[str] | None = None) -> int:
    """Search as the arguments say, print the answer, and return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        scenario = floodway.load(given.scenario, quick=given.quick, set=given.set)
        answer = floodway.tune(
            scenario,
            given.objective,
            dict(_split("--vary", text, "=") for text in given.vary),
            subject_to=given.subject_to,
            better=given.better,
            variant=given.variant,
            traffic=_overlays("--traffic", given.traffic) or None,
            held_out=_overlays("--held-out", given.held_out) or None,
            others=given.others,
            rules=_overlays("--rule", given.rule),
            uncertain=_ends(given.uncertain),
            trials=given.trials,
            replications=given.replications,
            held_out_replications=given.held_out_replications,
            seed=given.seed,
            held_out_seed=given.held_out_seed,
            search=given.search,
            out=given.out,
            threads=given.threads,
            progress=lambda text: print(_floodway.printable(text), file=sys.stderr),
        )
    except (ValueError, TypeError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: the same command continues the search", file=sys.stderr)
        return 130
    page = answer.page(answer.path / "tune.html")
    for sentence in answer.answer:
        print(sentence)
    if answer.toml:
        print(f"\n{answer.toml}", end="")
    if given.sonic and answer.values is not None:
        try:
            with warnings.catch_warnings(record=True) as unsaid:
                warnings.simplefilter("always")
                patches = answer.patch(given.sonic, answer.path / "patches")
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        for warning in unsaid:
            print(f"warning: {_floodway.printable(str(warning.message))}", file=sys.stderr)
        for name, operations in patches.items():
            print(f"{_floodway.printable(name)}: {len(operations)} change(s) of its configuration")
        if any(patches.values()):
            print(f"The patches are in {answer.path / 'patches'}: `config apply-patch`.")
    print(f"\nThe page is {page}; the values are in {answer.path / 'tune.toml'}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="floodway tune",
        description="Searches for values of settings with the best objective under constraints.",
    )
    add = parser.add_argument
    add("scenario", type=Path, help="a scenario file; its own values are the baseline")
    add("objective", help="a metric of a run, such as slowdown_p99")
    add(
        "--vary",
        action="append",
        default=[],
        metavar="PATH=RANGE",
        required=True,
        help="a range like switch.aqm.ramp.kmin=10KB..400KB/9log, or choices like PATH=1,2,3",
    )
    add(
        "--subject-to",
        action="append",
        default=[],
        metavar="CONSTRAINT",
        help="like 'dropped_packets == 0' or 'persistent_goodput_gbps >= 0.98 * baseline'",
    )
    add("--better", choices=["less", "more"], help="where the metric does not decide it")
    add("--variant", help="the variant that is tuned")
    add(
        "--traffic",
        action="append",
        default=[],
        metavar="NAME:PATH=VALUE[;PATH=VALUE]",
        help="a workload or load of the search; repeat it for several",
    )
    add(
        "--held-out",
        action="append",
        default=[],
        metavar="NAME:PATH=VALUE[;PATH=VALUE]",
        help="traffic for the held-out test alone",
    )
    add(
        "--rule",
        action="append",
        default=[],
        metavar="NAME:PATH=VALUE[;PATH=VALUE]",
        help="values to compare with in the held-out test, such as those of a handbook",
    )
    add(
        "--uncertain",
        action="append",
        default=[],
        metavar="PATH=VALUE,VALUE",
        help="an uncertain value with its ends; default what device profiles assume",
    )
    add(
        "--sonic",
        action="append",
        default=[],
        metavar="DIR",
        type=Path,
        help="configurations of SONiC that the scenario was imported from: writes patches of them",
    )
    add(
        "--others", action="append", default=[], metavar="METRIC", help="shown beside the objective"
    )
    add("--trials", type=int, default=40, help="candidates that are asked for (default 40)")
    add("--replications", type=int, default=6, help="runs of a candidate (default 6)")
    add("--held-out-replications", type=int, default=10, help="in the held-out test (default 10)")
    add("--seed", type=int, help="of the search (default: the scenario's)")
    add("--held-out-seed", type=int, help="of the held-out test")
    add("--search", choices=SAMPLERS, default="tpe")
    add("--set", action="append", default=[], metavar="PATH=VALUE", help="changes the scenario")
    add("--quick", action="store_true", help="applies the scenario's overlay [quick]")
    add("--out", type=Path, help="results directory; a search that is there is continued")
    add("--threads", type=int, help="default one for each core")
    return parser  # fmt: skip


def _split(option: str, text: str, sign: str) -> tuple[str, str]:
    name, found, rest = text.partition(sign)
    if not found or not name.strip() or not rest.strip():
        raise ValueError(f"`{option} {text}` has no name before, or nothing behind, `{sign}`")
    return name.strip(), rest.strip()


def _ends(texts: Sequence[str]) -> dict[str, list[object]] | None:
    if not texts:
        return None
    pairs = [_split("--uncertain", text, "=") for text in texts]
    return {path: [typed(value.strip()) for value in values.split(",")] for path, values in pairs}


def _overlays(option: str, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    overlays: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, rest = _split(option, text, ":")
        pairs = [_split(option, part, "=") for part in rest.split(";")]
        overlays[name] = {path: typed(value) for path, value in pairs}
    return overlays
