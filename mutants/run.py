#!/usr/bin/env python3
"""How many errors in mechanisms the integration tests of floodway-sim find: docs/mutants.md.

Makes a copy of the sources that has every error at once, each behind a switch, builds it once, and
runs tests with one error on at a time. Needs Python 3.11 and cargo.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "mutants"
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
STATE = WORK / "state.json"
COPIED = ["Cargo.toml", "Cargo.lock", "crates"]
PACKAGES = ["floodway-sim", "floodway-model"]
LONGEST = 10
"""Seconds. Tests that take longer are not asked: they check invariants of random networks."""
BUDGET = 30
"""Seconds of tests that a mutant is given, as long as they take without it."""
REFUSED = 99
"""Exit status of a test whose mutated parameter cannot be read back."""


class Wrong(Exception):
    """What a user can mend."""


@dataclass(frozen=True)
class Mutant:
    """One error: `switch` is what the environment variable MUTANT says to have it."""

    name: str
    switch: str
    what: str
    equivalent: str = ""
    text: str = ""

    @property
    def is_bug(self):
        return self.switch.startswith("bug:")


@dataclass(eq=False)
class Test:
    """One test function of one program, and what it does without a mutant."""

    program: str
    binary: str
    name: str
    is_unit: bool
    seconds: float = 0.0
    took: float = 0.0
    key: str = ""
    reached: set = field(default_factory=set)

    @property
    def label(self):
        return f"{self.program}::{self.name}" if self.is_unit else self.name

    def run(self, environment, limit):
        """`passed`, `failed`, `refused`, or `late` if it takes more time of a processor than the
        limit, which does not depend on what else the machine does."""
        command = ["sh", "-c", f'ulimit -t {int(limit)}; exec "$@"', "sh"]
        process = subprocess.Popen(
            [*command, self.binary, "--exact", self.name, "--test-threads", "1"],
            env={**os.environ, "RUST_BACKTRACE": "0", **environment},
            cwd=TREE / "crates" / "sim",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # One that waits for ever takes no time of a processor.
        timer = threading.Timer(60 + 20 * limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.took = usage.ru_utime + usage.ru_stime
        if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "late"
        return {0: "passed", REFUSED: "refused"}.get(process.returncode, "failed")


# The mutated tree.


def read_bugs():
    """The bugs by file, and the mutants that they are."""
    rows = tomllib.loads((HERE / "bugs.toml").read_text())["bug"]
    mutants = []
    for number, row in enumerate(rows):
        missing = {"name", "mechanism", "file", "original", "mutated", "wrong"} - row.keys()
        if missing:
            raise Wrong(f"mutants/bugs.toml: bug {number + 1} has no {', '.join(sorted(missing))}")
        name = f"{row['mechanism']}: {row['name']}"
        text = row["original"] + row["mutated"] + row.get("within", "")
        equivalent = row.get("equivalent", "")
        mutants.append(Mutant(name, f"bug:{number}", row["wrong"], equivalent, text))
    if len({mutant.name for mutant in mutants}) < len(mutants):
        raise Wrong("mutants/bugs.toml: two bugs have the same mechanism and name")
    return rows, mutants


def place(row, text):
    """Where the original expression is in a file; it must be there exactly once, or exactly once
    within the text `within`."""
    within = row.get("within", row["original"])
    if text.count(within) != 1 or within.count(row["original"]) != 1:
        raise Wrong(
            f"mutants/bugs.toml: {row['mechanism']}: {row['name']}: the original must be in "
            f"{row['file']} exactly once, and is there {text.count(within)} times: correct it, or "
            "name a larger unique text around it with `within`"
        )
    return text.index(within) + within.index(row["original"])


def mutated(file, text, rows):
    """The text of a file with all its bugs behind switches."""
    mine = [(place(row, text), number, row) for number, row in rows if row["file"] == file]
    end = len(text)
    for start, number, row in sorted(mine, key=lambda bug: bug[0], reverse=True):
        original = row["original"]
        if start + len(original) > end:
            raise Wrong(f"mutants/bugs.toml: two bugs overlap in {file}: {row['name']}")
        on = "crate" if file.startswith("crates/model/") else "floodway_model"
        switched = f"if {on}::mutant::on({number}) {{ {row['mutated']} }} else {{ {original} }}"
        if original.rstrip()[-1] not in ";}":
            switched = f"({switched})"
        text = text[:start] + switched + text[start + len(original) :]
        end = start
    return text


def edited(text, old, new):
    """A text with the one place changed at which the copy is joined to the mutants."""
    if text.count(old) != 1:
        raise Wrong(f"mutants/run.py no longer fits the sources: `{old.strip()}` is not there once")
    return text.replace(old, new)


def sources(rows):
    """Every file of the mutated tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout.decode()
    files = {}
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            files[name] = (ROOT / name).read_bytes()
    numbered = list(enumerate(rows))
    for name in {row["file"] for row in rows}:
        if name not in files:
            raise Wrong(f"mutants/bugs.toml: there is no file {name}")
        files[name] = mutated(name, files[name].decode(), numbered).encode()

    def edit(name, old, new):
        files[name] = edited(files[name].decode(), old, new).encode()

    edit("crates/model/src/lib.rs", "pub mod packet;\n", "pub mod packet;\npub mod mutant;\n")
    edit("crates/sim/src/lib.rs", "pub mod metric;\n", "pub mod metric;\npub mod mutant;\n")
    for name in [f"crates/{name}/src/lib.rs" for name in ("model", "engine", "sim")]:
        files[name] = b"#![allow(warnings)]\n" + files[name]
    new = "pub fn new(spec: Spec) -> Self {\n"
    changed = new + "        let spec = crate::mutant::changed(spec);\n"
    edit("crates/sim/src/simulation.rs", new, changed)
    target = '[[test]]\nname = "networks"\n'
    lister = '[[test]]\nname = "mutant_list"\npath = "tests/mutant_list.rs"\n\n'
    edit("crates/sim/Cargo.toml", target, lister + target)
    for name, source in [
        ("crates/model/src/mutant.rs", "mutant.rs"),
        ("crates/sim/src/mutant.rs", "parameters.rs"),
        ("crates/sim/tests/mutant_list.rs", "list.rs"),
    ]:
        files[name] = (HERE / source).read_bytes()
    return files


def write_tree(files):
    """Writes what differs, so that only that is compiled again."""
    for name, content in files.items():
        path = TREE / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in files:
            path.unlink()


def build():
    """The test programs, by name."""
    packages = [word for package in PACKAGES for word in ("--package", package)]
    command = ["cargo", "test", "--locked", "--no-run", "--lib", "--tests", *packages]
    command += ["--message-format", "json-render-diagnostics"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "build")}
    done = subprocess.run(command, cwd=TREE, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Wrong("the mutated tree does not compile: correct mutants/bugs.toml")
    programs = {}
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            target = message["target"]
            unit = "lib" in target["kind"]
            programs[target["name"]] = (message["executable"], unit)
    return programs


# What the tests do.


def listed(program, binary, is_unit):
    done = subprocess.run([binary, "--list"], capture_output=True, text=True, check=True)
    names = re.findall(r"^(.+): test$", done.stdout, re.MULTILINE)
    ignored = subprocess.run([binary, "--list", "--ignored"], capture_output=True, text=True)
    ignored = set(re.findall(r"^(.+): test$", ignored.stdout, re.MULTILINE))
    return [Test(program, binary, name, is_unit) for name in names if name not in ignored]


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def explore(tests, state, jobs):
    """Runs every test once without a mutant: it must pass; which mutants it reaches is kept."""
    known = state.setdefault("tests", {})
    digests = {test.binary: "" for test in tests}
    for binary in digests:
        digests[binary] = digest(binary)

    def one(numbered):
        number, test = numbered
        key = f"{digests[test.binary]} {test.name}"
        if key not in known:
            file = WORK / f"reached-{number}"
            file.unlink(missing_ok=True)
            result = test.run({"MUTANT": "reach", "MUTANT_REACH": str(file)}, LONGEST)
            if result == "late":
                file.unlink(missing_ok=True)
            elif result != "passed":
                raise Wrong(f"{test.label} {result} with no mutant on: that comes first")
            reached = file.read_text().splitlines() if file.exists() else []
            file.unlink(missing_ok=True)
            known[key] = [test.took, reached]
        test.seconds, reached = known[key]
        test.reached = set(reached) if test.seconds <= LONGEST else set()
        return key

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        kept = set(pool.map(one, enumerate(tests)))
    state["tests"] = {key: known[key] for key in kept}


def parameters(binary):
    done = subprocess.run([binary, "--nocapture"], capture_output=True, text=True, check=True)
    # The name of the test comes before the first one, on its line.
    paths = re.findall(r"parameter (\S+)", done.stdout)
    return [Mutant(path, path, "doubled where it is used; a fraction halved") for path in paths]


def combined(texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def name_by_sources(tests):
    """Gives tests their keys: hashes of the sources without mutants that they are made from."""
    shared = [*ROOT.glob("crates/sim/src/**/*.rs"), *ROOT.glob("crates/model/src/**/*.rs")]
    shared += ROOT.glob("crates/sim/tests/common/*.rs")
    core = combined(digest(path) for path in sorted(shared))
    for test in tests:
        module, _, _ = test.name.partition("::")
        own = ROOT / "crates" / "sim" / "tests" / f"{module}.rs"
        test.key = combined([core, "" if test.is_unit else digest(own), test.label])[:16]


# The score.


def judge(mutant, tests, last, passed):
    """Runs the tests that reach a mutant until one fails or the budget is spent; the integration
    tests first. Those in `passed` are known to pass with it."""
    candidates = [test for test in tests if mutant.switch in test.reached]
    order = sorted(candidates, key=lambda test: (test.is_unit, test.label != last, test.seconds))
    spent = 0.0
    for test in order:
        if test.key in passed or spent + test.seconds > BUDGET:
            continue
        spent += test.seconds
        result = test.run({"MUTANT": mutant.switch}, 20 + 10 * test.seconds)
        if result == "refused":
            return {"result": "refused", "by": test.label}
        if result in ("failed", "late"):
            caught = "unit" if test.is_unit else "caught"
            return {"result": caught, "by": test.label, "passed": sorted(passed)}
        passed.add(test.key)
    result = "survived" if order else "unreached"
    return {"result": result, "by": "", "passed": sorted(passed)}


def score(mutants, tests, state, arguments):
    """Judges all mutants that are asked for and not known from an earlier run of the same tests."""
    results = state.setdefault("mutants", {})
    name_by_sources(tests)
    known = {test.key: test for test in tests}
    lock = threading.Lock()

    def one(mutant):
        before = results.get(mutant.name, {})
        if arguments.again or before.get("text") != mutant.text:
            before = {}
        if before.get("result") == "caught" and before.get("key") in known:
            return
        passed = {key for key in before.get("passed", []) if key in known}
        reaching = {test.key for test in tests if mutant.switch in test.reached}
        survived = before.get("result") in ("survived", "unreached")
        if survived and reaching <= passed | set(before.get("left", [])):
            return
        result = judge(mutant, tests, before.get("by", ""), passed)
        keys = [test.key for test in tests if test.label == result["by"]]
        with lock:
            left = sorted(reaching - set(result.get("passed", [])))
            row = {**result, "text": mutant.text, "key": "".join(keys), "left": left}
            results[mutant.name] = row
            save(state)
            print(f"{result['result']:9} {mutant.name} {result['by']}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, mutants))


def save(state):
    """Written apart and renamed, so that it is whole when the program is stopped."""
    new = STATE.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.replace(STATE)


WORDS = {
    "caught": "caught",
    "unit": "seen by unit tests only",
    "survived": "**survived**",
    "unreached": "**survived**: no test has it",
    "refused": "cannot be tried: neither its double nor its half is in the range of its type",
}


def page(mutants, results):
    """The score as a page."""
    lines = ["# Mutation score", ""]
    lines += ["Made by `make mutants`; [docs/mutants.md](../docs/mutants.md) explains it.", ""]
    lines += ["| kind | mutants | caught | survived | of these seen by unit tests | equivalent |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for kind, is_bug in [("parameters", False), ("bugs by hand", True)]:
        mine = [mutant for mutant in mutants if mutant.is_bug == is_bug]
        counted = [mutant for mutant in mine if not mutant.equivalent]
        found = [results[mutant.name]["result"] for mutant in counted if mutant.name in results]
        caught, unit = found.count("caught"), found.count("unit")
        survived = len(found) - caught
        row = [kind, len(found), caught, survived, unit, len(mine) - len(counted)]
        lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
    for title, is_bug in [("Parameters", False), ("Bugs by hand", True)]:
        lines += ["", f"## {title}", "", "| mutant | result | test |", "| --- | --- | --- |"]
        for mutant in mutants:
            if mutant.is_bug == is_bug and mutant.name in results:
                result = results[mutant.name]
                words = WORDS[result["result"]]
                if mutant.equivalent:
                    words = f"equivalent: {mutant.equivalent}"
                name = f"{mutant.name}: {mutant.what}" if is_bug else f"`{mutant.name}`"
                by = f"`{result['by']}`" if result["by"] else ""
                lines.append(f"| {name} | {words} | {by} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--jobs", type=int, default=2, help="tests at once; default 2")
    parser.add_argument("--again", action="store_true", help="judge those that are known again")
    parser.add_argument("--check", action="store_true", help="fail if a mutant survives")
    parser.add_argument("--places", action="store_true", help="only find the places of all bugs")
    arguments = parser.parse_args()
    rows, bugs = read_bugs()
    files = sources(rows)
    if arguments.places:
        print(f"{len(bugs)} bugs have their places in the sources")
        return 0
    write_tree(files)
    programs = build()
    lister, _ = programs.pop("mutant_list")
    equivalent = tomllib.loads((HERE / "bugs.toml").read_text()).get("equivalent", {})
    known = [
        Mutant(mutant.name, mutant.switch, mutant.what, equivalent.pop(mutant.name, ""))
        for mutant in parameters(lister)
    ]
    if equivalent:
        raise Wrong(f"mutants/bugs.toml: there is no parameter {next(iter(equivalent))}")
    mutants = known + bugs
    tests = [
        test
        for program, (binary, is_unit) in sorted(programs.items())
        for test in listed(program, binary, is_unit)
    ]
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    explore(tests, state, arguments.jobs)
    save(state)
    chosen = [mutant for mutant in mutants if arguments.only.lower() in mutant.name.lower()]
    if not chosen:
        raise Wrong(f"no mutant has {arguments.only} in its name")
    score(chosen, tests, state, arguments)
    results = state["mutants"]
    if not arguments.only:
        (HERE / "score.md").write_text(page(mutants, results))
    open_ = [
        mutant
        for mutant in chosen
        if results[mutant.name]["result"] != "caught" and not mutant.equivalent
    ]
    print(f"{len(chosen)} mutants, {len(open_)} not caught")
    for mutant in open_:
        print(f"  {mutant.name}: {results[mutant.name]['result']}")
    return 1 if arguments.check and open_ else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        sys.exit(f"mutants: {wrong}")
