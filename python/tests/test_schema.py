"""The schema of scenario files, by a validator that knows nothing of floodway.

What is valid passes, and what is wrong in its structure does not.
"""

import json
import subprocess
import sys

import jsonschema
import pytest

import floodway

if sys.version_info < (3, 11):
    pytest.skip("the standard library reads TOML since 3.11", allow_module_level=True)

import tomllib


@pytest.fixture(scope="module")
def validator(program):
    said = subprocess.run([program, "schema"], capture_output=True, text=True, check=True)
    schema = json.loads(said.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def faults(validator, value):
    return [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(value)]


def test_what_is_valid_passes(validator, root):
    crates = root / "crates"
    folders = [root / "scenarios", crates / "scenario/tests/warned"]
    folders += [crates / "cli/tests/scenarios", crates / "cli/src/new"]
    files = [file for folder in folders for file in sorted(folder.rglob("*.toml"))]
    assert len(files) > 80
    for file in files:
        found = faults(validator, tomllib.loads(file.read_text()))
        # An editor marks old names, which the program accepts with a warning.
        has_old_names = file.name == "renamed.toml" and file.parent.name == "warned"
        assert bool(found) == has_old_names, (file, found)


#: How messages about structure begin or go on: what a schema can say too.
OF_STRUCTURE = [
    " has no field `",
    " has no member `",
    " needs the field `",
    " names none of its members",
    " takes one member",
    " not a whole number from ",
]
#: How messages about the kind of a value end.
OF_KIND = (" not a number", " not true or false", " not a table", " not text in quotes")


def is_of_structure(problem, file):
    words = problem.message
    about = any(part in words for part in OF_STRUCTURE) or words.endswith(OF_KIND)
    return about and problem.file == str(file)


def test_what_is_wrong_in_its_structure_does_not_pass(validator, root):
    count, passes = 0, []
    for file in sorted((root / "crates/scenario/tests/bad").rglob("*.toml")):
        try:
            text = file.read_text(encoding="utf-8")
            value = tomllib.loads(text)
        except ValueError:
            continue
        # What is wrong in a setting of the command line is not in the file.
        if text.startswith("# floodway check FILE"):
            continue
        with pytest.raises(floodway.ScenarioError) as wrong:
            floodway.load(file)
        if any(is_of_structure(problem, file) for problem in wrong.value.problems):
            count += 1
            if validator.is_valid(value):
                passes.append(f"{file}\n{wrong.value}")
    assert not passes
    assert count > 50


BASE = """\
name = "s"
arrivals = "1ms"
limit = "2ms"
[topology.clos]
leaves = 4
[[workload]]
[workload.incast]
senders = 3
"""


@pytest.mark.parametrize(
    ("valid", "more"),
    [
        (True, ""),
        (True, "[variants.a]"),
        (True, "[variants.a.topology.clos]\nspines = 2"),
        (False, "[variants.a.topology.clos]\nspine = 2"),
        (False, '[variants.a.topology.clos]\nspines = "2"'),
        (False, "[variants.a]\nseed = 2"),
        (False, "[variants]\na = false"),
        (False, '[variants."a b"]'),
        (True, '[variants.a.workload.0.incast]\nbytes = "1KB"'),
        (False, '[variants.a.workload.0.incast]\nbyte = "1KB"'),
        (True, '[variants.a.workload.0]\ncongestion = "dcqcn"'),
        (False, '[variants.a.workload.0]\ncongestion = "dcqn"'),
        # A schema cannot know which names workloads have.
        (True, '[variants.a.workload.x.incast]\nbytes = "1KB"'),
        (False, '[variants.a.workload.x.incast]\nbyte = "1KB"'),
        (True, '[quick]\nworkload.x.incast.bytes = "1KB"'),
        (True, '[variants.a.failure.0]\nat = "1us"'),
        (False, '[variants.a.failure.x]\nat = "1us"'),
        # A list replaces the one below and so is whole.
        (False, '[[variants.a.workload]]\n[variants.a.workload.incast]\nbytes = "1KB"'),
        (True, "[variants.a.switch.flow_control]\npfc = true"),
        (True, '[variants.a.switch]\naqm = "red"\nflow_control.pfc = false'),
        (False, "[variants.a.switch]\naqm = false"),
        (True, '[quick]\nseed = 3\nlimit = "1ms"\n[quick.variants]\na = false'),
        (False, '[quick]\nname = "q"'),
        (True, "[switch.flow_control]\npfc = true"),
        (True, "[host]\nbuffer = false"),
        (False, "[host]\nbuffer = true"),
        (False, "[host]\ncongestion = true"),
        (True, '[switch.queue]\nsize = "2 MB"'),
        (True, '[switch.queue]\nsize = ".5MiB"'),
        (True, '[switch.queue]\nsize = "2_000KB"'),
        (False, '[switch.queue]\nsize = "2mb"'),
        (False, '[switch.queue]\nsize = "2MB/s"'),
        (False, "[switch.queue]\nsize = 2"),
        (False, "[switch.queue]\ncount = 300"),
    ],
)
def test_overlays_need_not_be_whole(validator, valid, more):
    found = faults(validator, tomllib.loads(BASE + more))
    assert bool(found) != valid, found


@pytest.mark.parametrize(
    ("valid", "text"),
    [
        (True, 'extends = "a.toml"\nname = "b"'),
        (True, 'extends = "a.toml"\nname = "b"\n[topology.clos]\nspines = 2'),
        (True, 'extends = "a.toml"\nname = "b"\n[variants]\nold = false'),
        (False, 'extends = "a.toml"'),
        (False, 'extends = 3\nname = "b"'),
        (False, 'extends = "a.toml"\nname = "b"\n[topology.clos]\nspine = 2'),
        (False, 'name = "b"\n[topology.clos]\nspines = 2'),
    ],
)
def test_an_extension_is_an_overlay_with_a_name(validator, valid, text):
    found = faults(validator, tomllib.loads(text))
    assert bool(found) != valid, found
