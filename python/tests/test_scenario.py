"""Scenarios: built, loaded, changed, refused."""

import copy
import pickle
import sys

import numpy
import pytest
from conftest import fields

import floodway
from floodway import _toml


def test_a_scenario_in_code_is_the_same_as_in_toml(turns):
    text = """
        name = "turns"
        arrivals = "1us"
        limit = "1ms"
        placement = "consecutive"
        topology.star = { hosts = 3, rate = "100Gbps", delay = "200ns" }
        host.congestion = "line_rate"
        [[workload]]
        [[workload.list.flow]]
        src = 0
        dst = 2
        start = "0ns"
        bytes = "10240B"
        [[workload.list.flow]]
        src = 1
        dst = 2
        start = "0ns"
        bytes = "10240B"
    """
    assert floodway.parse(text).settings() == turns.settings()
    assert floodway.Scenario(**fields()).settings() == turns.settings()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the standard library reads TOML since 3.11")
def test_what_is_written_as_toml_reads_back():
    import tomllib

    written = {
        "text": 'quotes " and \\ and \n and ü and \x7f',
        "numbers": [1, -2, 0.5, 1e300, 2**63 - 1],
        "truths": {"yes": True, "no": False},
        "empty": {},
        "mixed": [{"a": 1}, "b -- c"],
        "list": [{"x": {"y": 1}, "z": []}, {}, {"w": [[1], [2]]}],
        "variants": {"a.b": {"deep": {"er": "1"}}, "c": {}, "d": False},
    }
    assert tomllib.loads(_toml.document(written)) == written
    assert tomllib.loads("x = " + _toml.inline(written))["x"] == written


def test_numbers_and_truths_of_numpy_are_numbers_and_truths():
    values = [numpy.int64(3), numpy.float32(0.5), numpy.bool_(True), True, 1e300]
    assert _toml.inline(values) == "[3, 0.5, true, true, 1e+300]"


def test_every_shipped_scenario_loads(root):
    paths = sorted((root / "scenarios").glob("*/*.toml"))
    assert len(paths) > 20
    for path in paths:
        scenario = floodway.load(path)
        assert scenario.toml == path.read_text()
        assert scenario.settings(scenario.variants[0])["name"] == scenario.name


def test_quick_and_set(root):
    path = root / "scenarios/ci/lossless.toml"
    assert floodway.load(path).replications == 10
    quick = floodway.load(path, quick=True, set={"switch.queue.size": "2MB"})
    assert quick.replications == 6
    assert quick.variants == ("without-ci", "ci-local", "ci")
    assert quick.settings("ci")["switch"]["queue"]["size"] == "2MB"
    assert floodway.load(path).as_quick().replications == 6
    same = floodway.load(path, quick=True, set=["switch.queue.size=2MB"])
    assert same.settings("ci") == quick.settings("ci")
    with pytest.raises(TypeError, match="write a list of texts"):
        floodway.load(path, set="switch.queue.size=2MB")


def test_changes_are_laid_over_and_leave_the_first_alone(turns):
    changed = turns.with_(
        {
            "switch": {"queue.size": "2MB", "latency": "1us"},
            "workload": {0: {"list": {"flow": {1: {"bytes": "1B"}}}}},
        },
        seed=numpy.int64(7),
    )
    settings = changed.settings()
    assert settings["switch"]["queue"]["size"] == "2MB"
    assert settings["switch"]["latency"] == "1us"
    assert [flow["bytes"] for flow in settings["workload"][0]["list"]["flow"]] == ["10.24KB", "1B"]
    assert changed.seed == 7
    assert changed.changes == (
        'switch={queue = {size = "2MB"}, latency = "1us"}',
        'workload.0.list.flow.1.bytes="1B"',
        "seed=7",
    )
    assert turns.seed == 1 and turns.changes == ()


def test_another_member_of_a_family_replaces_the_first(turns):
    step = turns.with_({"switch.aqm.step.threshold": "50KB"})
    assert step.settings()["switch"]["aqm"] == {"step": {"threshold": "50KB"}}
    codel = step.with_({"switch.aqm": "drop_tail"})
    assert list(codel.settings()["switch"]["aqm"]) == ["drop_tail"]


def test_variants_are_added_changed_and_removed(turns):
    assert turns.variants == ("base",)
    more = turns.with_(variants={"base": {}, "deep": {"switch.queue.size": "2MB"}})
    assert more.variants == ("base", "deep")
    most = more.with_(
        variants={"deep": {"switch": {"queue.size": "3MB", "latency": "1us"}}, "last": {}}
    )
    assert most.variants == ("base", "deep", "last")
    assert most.variant("deep").settings["switch"]["queue"]["size"] == "3MB"
    assert most.variant("deep").settings["switch"]["latency"] == "1us"
    assert most.settings("base")["switch"]["latency"] == "0s"
    assert most.with_(variants={"deep": False}).variants == ("base", "last")


def test_what_cannot_be_written_is_told(turns):
    with pytest.raises(TypeError, match="None is no value in a scenario"):
        turns.with_({"switch.queue.size": None})
    with pytest.raises(TypeError, match="is no value in a scenario: write text such as '2MB'"):
        turns.with_({"switch.queue.size": object()})
    with pytest.raises(ValueError, match="'a=b' is no path in a scenario"):
        turns.with_({"a=b": 1})
    with pytest.raises(ValueError, match="has several variants; name one of a, b"):
        turns.with_(variants={"a": {}, "b": {}}).settings()


def test_mistakes_are_told_as_the_program_tells_them():
    wrong = fields()
    wrong["topology"]["star"]["dely"] = wrong["topology"]["star"].pop("delay")
    with pytest.raises(floodway.ScenarioError) as caught:
        floodway.Scenario(wrong)
    assert str(caught.value).startswith(
        """\
error: `topology.star` has no field `dely`
 --> <scenario>:9:1
  |
9 | dely = "200ns"
  | ^^^^
  = help: did you mean `delay`? The fields are: hosts, ports, rate, delay"""
    )
    problem = caught.value.problems[0]
    assert problem.message == "`topology.star` has no field `dely`"
    assert problem.help.startswith("did you mean `delay`?")
    assert (problem.file, problem.line, problem.column) == ("<scenario>", 9, 1)
    assert problem.severity == "error"
    assert str(problem) in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


def test_a_file_that_is_not_there_is_told(root):
    with pytest.raises(floodway.ScenarioError, match=r"did you mean `.*lossless\.toml`"):
        floodway.load(root / "scenarios/ci/losless.toml")
    with pytest.raises(floodway.ScenarioError, match="this is a directory"):
        floodway.load(root / "scenarios/ci")


def test_an_unknown_variant_is_told(root):
    scenario = floodway.load(root / "scenarios/ci/lossless.toml")
    for ask in (scenario.variant, scenario.settings, scenario.run):
        with pytest.raises(floodway.ScenarioError, match="did you mean `ci-local`"):
            ask("ci-locl")


def test_warnings_are_kept(turns):
    assert turns.warnings == ()
    scenario = turns.with_({"host.congestion": "dcqcn"})
    (warning,) = scenario.warnings
    assert warning.severity == "warning"
    assert warning.message == "`dcqcn` relies on ECN marks, but nothing marks packets"
    assert repr(scenario).endswith("1 warning>")
    assert warning.message in scenario._repr_html_()


def test_derived_numbers(turns):
    numbers = turns.check()["base"]
    assert (numbers["hosts"], numbers["switches"], numbers["links"]) == (3, 1, 3)
    assert numbers["expected_flows"] == 2
    assert turns.variant("base").check() == numbers


def test_a_scenario_goes_to_other_processes(turns):
    changed = turns.with_({"switch.latency": "1us"})
    again = pickle.loads(pickle.dumps(changed))
    assert again.settings() == changed.settings()
    assert again.changes == changed.changes


def test_it_shows_itself(turns):
    html = turns.with_(question="a < b?")._repr_html_()
    assert "a &lt; b?" in html and "<table>" in html
    assert repr(turns) == "<Scenario turns: variant base; 1 replication>"


def test_what_is_made_from_the_same_is_equal(turns):
    text, path = turns.toml, {"switch.latency": "1us"}
    assert floodway.parse(text) == floodway.parse(text) != floodway.parse(text, "other.toml")
    changed = turns.with_(path)
    assert changed == turns.with_(path) != turns
    small = floodway.parse(f'{text}\n[quick]\nlimit = "100us"\n')
    assert small.as_quick() != small
    # Not with what is no scenario.
    assert turns != turns.toml
    for again in (copy.copy(changed), copy.deepcopy(changed), pickle.loads(pickle.dumps(changed))):
        assert again == changed
        assert again.variant("base") == changed.variant("base")
        assert {again, changed, turns} == {turns, changed}
