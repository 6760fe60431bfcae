"""What the comparisons share: processes and their costs, floodway, errors, tables."""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCENARIOS = ROOT / "scenarios" / "peers"


def fail(message):
    """Ends the program with what is wrong and what to do about it."""
    sys.exit(f"error: {message}")


def words(command):
    """A command as one would type it."""
    return " ".join(map(str, command))


def call(command, **how):
    """Runs a command that has to succeed; what it said on standard output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, **how)
    if done.returncode != 0:
        fail(f"`{words(command)}` ended with status {done.returncode}; what it said stands above")
    return done.stdout


def needs(tool, remedy):
    """Looks for a program."""
    if shutil.which(tool) is None:
        fail(f"there is no `{tool}` here: {remedy}")


def last_lines(file, count=12):
    """The end of what a process printed, which may be much."""
    with file.open("rb") as text:
        text.seek(max(0, file.stat().st_size - 4000))
        lines = text.read().decode(errors="replace").splitlines()[-count:]
    return "".join(f"\n    {line}" for line in lines)


def measure(command, folder, env=None, hint=""):
    """Runs a process to its end and says what all of it cost: CPU seconds of user and system, seconds
    of the clock, the most memory that it held. Its output goes to the file `output.txt` of `folder`."""
    output = folder / "output.txt"
    begin = time.monotonic()
    try:
        with output.open("wb") as file:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=folder, env=env, stdout=file,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )
            try:
                _, status, usage = os.wait4(process.pid, 0)
            except BaseException:
                process.kill()
                process.wait()
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
    except OSError as problem:
        fail(f"`{words(command)}` cannot be run: {problem.strerror}")
    if process.returncode != 0:
        fail(
            f"`{words(command)}` ended with status {process.returncode}.{hint} "
            f"The end of its output:{last_lines(output)}"
        )
    unit = 1 if sys.platform == "darwin" else 1024
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.monotonic() - begin,
        "memory_bytes": usage.ru_maxrss * unit,
    }


def build_floodway(binary):
    """Builds floodway, unless it is there; its path."""
    if binary is not None:
        if not Path(binary).is_file():
            fail(f"there is no floodway at {binary}: build it with `make build`")
        return Path(binary).resolve()
    needs("cargo", "install Rust as https://rustup.rs says")
    call(["cargo", "build", "--release", "--locked", "--package", "floodway-cli"], cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "floodway"


def run_floodway(floodway, scenario, folder=None):
    """One run of floodway on one thread. The whole process is measured: set-up, run, tables, report.
    The results stay in the folder `results` of `folder`, if there is one."""
    with tempfile.TemporaryDirectory() as own:
        place = Path(folder or own)
        out = place / "results"
        cost = measure(
            [floodway, "run", scenario, "--threads", "1", "--quiet", "--out", out], place
        )
        manifest = json.loads((out / "manifest.json").read_text())
        summary = json.loads((out / "summary.json").read_text())
    (run,) = manifest["runs"]
    (variant,) = summary["variants"].values()
    flows = variant["fct"]["all"]
    return cost | {
        "hops": run["hops"],
        "simulation_wall_s": run["wall_s"],
        "flows": flows["finished"] + flows["unfinished"],
        "flows_done": flows["finished"],
        "delivered_bytes": round(variant["counters"]["data_bytes_delivered"]["mean"]),
        "drops": round(variant["counters"]["dropped_packets"]["mean"]),
    }


def completions(floodway, results, folder):
    """Completion times of a run at the sender, in microseconds, in order."""
    file = folder / "floodway-fct.txt"
    call(
        [str(floodway), "export", "hpcc", str(results), "--out", str(file), "--force"],
        stderr=subprocess.DEVNULL,
    )
    return sorted(int(line.split()[6]) / 1000 for line in file.read_text().splitlines())


def commit(checkout):
    """The commit of a checkout, if Git knows it."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"],
        capture_output=True, text=True, check=False,
    ) if shutil.which("git") else None
    return done.stdout.strip() if done and done.returncode == 0 else "unknown commit"


def spread(values):
    """The median and the range."""
    values = list(values)
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def in_words(ratio):
    """A ratio with its range."""
    return f"{ratio['median']:.1f} ({ratio['low']:.1f} to {ratio['high']:.1f})"


def count(value):
    """A number of packet-hops."""
    return f"{value:,}"


def per_second(value):
    """A rate in words."""
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value / 1e3:.0f} k"


def table(header, rows, markdown):
    """Lines of a table."""
    if markdown:
        lines = [f"| {' | '.join(header)} |", f"| {' | '.join('---' for _ in header)} |"]
        return lines + [f"| {' | '.join(row)} |" for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    return ["  ".join(w.rjust(n) for w, n in zip(row, widths)) for row in [header, *rows]]


def machine():
    """The processor's name and how many of it, from the system."""
    name = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} cores"


def where(report):
    """The machine and how busy it was, as the first line of a report."""
    busy = " (a busy machine: look at the ratios only)" if report["load"] > (os.cpu_count() or 1) / 2 else ""
    return f"{report['machine']}; load average at the start {report['load']:.1f}{busy}."
