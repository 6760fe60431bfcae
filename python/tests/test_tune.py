"""The search for values of settings, and whether a mechanism is worth it."""

import doctest
import json
import random
import subprocess
import sys

import pytest

import floodway
from floodway._paired import Candidate, Constraint, blend, change_of, words
from floodway._search import Goal, Search, loses, stages
from floodway._space import Space
from floodway._worth import MECHANISMS

pytest.importorskip("optuna")
pytest.importorskip("sklearn")

GOAL = Goal("y", less=True)


@pytest.fixture
def incast():
    """Eight senders to one, over switches that mark: a run takes milliseconds."""
    return floodway.Scenario(
        name="incast",
        arrivals="100us",
        limit="10ms",
        topology={"star": {"hosts": 9}},
        switch={
            "queue": {"size": "1MB"},
            "aqm": {"ramp": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}},
            "flow_control": {"pfc": {"xoff": "500KB", "measured_on": "egress_queue"}},
        },
        host={"congestion": "dcqcn"},
        share_hosts=True,
        workload=[
            {"incast": {"senders": 8, "bytes": "200KB"}},
            {
                "many_to_many": {
                    "sizes": "web_search",
                    "max_size": "500KB",
                    "clusters": 1,
                    "cluster_size": 9,
                    "load": 0.3,
                }
            },
        ],
    )


KMIN = {"switch.aqm.ramp.kmin": "5KB..200KB/5log"}


def rows(values):
    """Runs of one traffic with these values of the objective."""
    return {
        ("", at): {"numbers": {"y": value}, "bounds": [], "violations": []}
        for at, value in enumerate(values)
    }


class Noisy:
    """Runs without a simulator: the objective is a known function with noise that is paired.

    A replication has the same factor in all candidates, as traffic has, and each run its own.
    """

    def __init__(self, of, spread, own):
        self.of, self.spread, self.own, self.made = of, spread, own, 0

    def add(self, candidates, seed, first, end):
        for candidate in candidates:
            for at in range(first, end):
                common = random.Random(f"{seed} {at}").gauss(0, self.spread)
                key = f"{seed} {at} {candidate.values}"
                alone = random.Random(key).gauss(0, self.own)
                value = self.of(candidate.values) * 2.718281828 ** (common + alone)
                candidate.rows["", at] = rows([value])["", 0]
                self.made += 1


def searched(scenario, tmp_path, noisy, seed=1, sampler="tpe", trials=40):
    """Search the bowl whose bottom is at kmin 17.8 KB and kmax 400 KB."""
    space = Space(
        scenario,
        {
            "switch.aqm.ramp.kmin": "1KB..100KB/9log",
            "switch.aqm.ramp.kmax": ["200KB", "400KB", "800KB"],
        },
    )
    base = Candidate({}, scenario)
    noisy.add([base], seed, 0, 6)
    search = Search(space, noisy, GOAL, [], base, "base", seed, 6)
    search.run(trials, sampler, tmp_path / f"{sampler}{seed}.journal", "key", None)
    return search


LEVELS = ["1KB", "1.778KB", "3.162KB", "5.623KB", "10KB", "17.78KB", "31.62KB", "56.23KB", "100KB"]


def bowl(values):
    if not values:
        return 10.0
    at = LEVELS.index(values["switch.aqm.ramp.kmin"])
    return 2 + (at - 5) ** 2 / 4 + (values["switch.aqm.ramp.kmax"] != "400KB")


@pytest.mark.parametrize("sampler", ["tpe", "sobol", "random"])
def test_the_optimum_of_a_known_function_is_found(incast, tmp_path, sampler):
    noisy = Noisy(bowl, spread=0.3, own=0.01)
    search = searched(incast, tmp_path, noisy, sampler=sampler)
    # 27 candidates. By chance the level beside the best, 12 % worse, may be all that was asked for.
    assert bowl(search.best.values) <= 2.25
    if sampler == "tpe":
        assert search.best.values == {
            "switch.aqm.ramp.kmin": "17.78KB",
            "switch.aqm.ramp.kmax": "400KB",
        }
    # Poor candidates got three replications of six.
    raced = [of for of in search.candidates.values() if of.status == "raced"]
    assert raced and all(
        of.replications == 3 and "after 3 replications" in of.reason for of in raced
    )
    importance = search.importance()
    assert importance["switch.aqm.ramp.kmin"] > importance["switch.aqm.ramp.kmax"] > 0
    assert sum(importance.values()) == pytest.approx(1)


def test_a_race_loses_the_best_at_most_as_often_as_it_says():
    """Equal candidates are the hardest case: of 4000 races at most 2.5 % are lost.

    With looks at 3, 6 and 12 replications and Bonferroni's 0.05 / 3 each, at most 100 are expected;
    the standard deviation of that is 10.
    """
    chance, lost = random.Random(7), 0
    assert stages(12) == [3, 6, 12]
    for _ in range(4000):
        best = [2.718281828 ** chance.gauss(0, 0.2) for _ in range(12)]
        other = [value * 2.718281828 ** chance.gauss(0, 0.1) for value in best]
        lost += any(loses(GOAL, rows(best[:n]), rows(other[:n]), 3) for n in (3, 6, 12))
    assert 20 < lost <= 130


def test_a_race_ends_early_for_what_is_clearly_worse():
    best, worse = rows([1.0, 2.0, 3.0]), rows([1.5, 3.1, 4.4])
    assert loses(GOAL, best, worse, 2)
    assert not loses(GOAL, worse, best, 2)
    # More is better: the other one loses.
    assert loses(Goal("y", less=False), worse, best, 2)


def test_scores_are_searched_in_points():
    score = Goal("y", less=False, unit="MOS")
    # A point more each, which is 50 and 25 %.
    base, best = rows([2.0, 4.0]), rows([3.0, 5.0])
    assert score.worth(base, best) == pytest.approx(-1)
    assert Goal("y", less=True, unit="MOS").worth(base, best) == pytest.approx(1)
    assert score.words(-0.25) == "0.25 points better"
    assert GOAL.words(GOAL.worth(rows([2.0]), rows([3.0]))) == "50.0 % worse"
    # Two traffics with scores of 1 and 4 are 2.5, not 2, which is the geometric mean.
    of = {"a": 1, "b": 4}
    two = {(traffic, 0): {"numbers": {"y": y}, "bounds": []} for traffic, y in of.items()}
    assert blend(two, two, "y", "MOS") == [(2.5, 2.5)]
    assert blend(two, two, "y") == [(pytest.approx(2), pytest.approx(2))]
    # Differences of a point each time are as clear as can be; ratios vary by a factor of four.
    best = rows([2.0, 3.01, 4.0, 4.49, 2.5, 4.2])
    worse = rows([1.0, 2.0, 3.01, 3.5, 1.5, 3.2])
    assert loses(score, best, worse, 3) and not loses(score, worse, best, 3)


def test_pairs_and_their_change_are_those_of_reports():
    # ln(0.4), ln(0.5) and ln(0.625): half, and Student's t with 2 degrees of freedom.
    found = change_of([(1.0, 0.4), (1.0, 0.5), (1.0, 0.625)])
    assert found["percent"] == pytest.approx(-50)
    half = 4.302_65 * 0.223_143_55 / 3**0.5
    assert found["high"] == pytest.approx((0.5 * 2.718281828**half - 1) * 100, abs=1e-3)
    assert words(found).startswith("\N{MINUS SIGN}50 % (95 % CI \N{MINUS SIGN}71 to ")
    # Scores: -0.3, -0.4 and -0.5, and Student's t with 2 degrees of freedom.
    found = change_of([(4.3, 4.0), (4.3, 3.9), (4.3, 3.8)], unit="MOS")
    assert found["percent"] is None
    assert found["points"]["value"] == pytest.approx(-0.4)
    assert words(found) == "-0.40 points (95 % CI -0.65 to -0.15)".replace("-", "\N{MINUS SIGN}")
    # Two traffics: geometric means by replication, √(2 · 8) = 4 and √(1 · 4) = 2.
    ones = {("a", 0): 2.0, ("b", 0): 8.0}
    others = {("a", 0): 1.0, ("b", 0): 4.0}
    sides = [{key: {"numbers": {"y": of[key]}} for key in of} for of in (ones, others)]
    assert blend(*sides, "y") == [(pytest.approx(4), pytest.approx(2))]


def test_a_constraint_is_of_means():
    low = Constraint.parse("y <= 2")
    assert low.excess(rows([1, 3]), {}) == 0
    assert low.excess(rows([2, 4]), {}) == pytest.approx(0.5)
    near = Constraint.parse("y >= 0.98 * baseline")
    assert near.excess(rows([99.0]), rows([100.0])) < 0
    assert near.excess(rows([97.0]), rows([100.0])) == pytest.approx(1 / 98)
    # Five losses cannot become none, and 5 / 4 is more than 1.
    assert Constraint.parse("y == 0").is_lost(rows([0, 5]), 4)
    assert Constraint.parse("y <= 1").is_lost(rows([0, 5]), 4)
    assert not Constraint.parse("y <= 1").is_lost(rows([0, 4]), 4)


def test_an_interrupted_search_comes_to_the_same_answer(incast, tmp_path):
    class Stops(Noisy):
        def add(self, candidates, seed, first, end):
            if self.made > 60:
                raise KeyboardInterrupt
            super().add(candidates, seed, first, end)

    whole = searched(incast, tmp_path / "whole", Noisy(bowl, 0.3, 0.05))
    with pytest.raises(KeyboardInterrupt):
        searched(incast, tmp_path / "cut", Stops(bowl, 0.3, 0.05))
    again = searched(incast, tmp_path / "cut", Noisy(bowl, 0.3, 0.05))
    assert list(again.candidates) == list(whole.candidates)
    assert again.best.values == whole.best.values
    assert [of.status for of in again.candidates.values()] == [
        of.status for of in whole.candidates.values()
    ]


def test_an_answer_has_evidence(incast, tmp_path):
    def tuned(threads):
        return floodway.tune(
            incast,
            "slowdown_mean",
            {**KMIN, "isolation": {"off": {}, "bigger queue": {"switch.queue.size": "2MB"}}},
            subject_to=["dropped_packets == 0"],
            traffic={"light": {"workload.1.many_to_many.load": 0.2}, "as written": {}},
            held_out={"heavy": {"workload.1.many_to_many.load": 0.5}},
            rules={"textbook": {"switch.aqm.ramp.kmin": "20KB"}},
            trials=6,
            replications=4,
            held_out_replications=4,
            out=tmp_path / "tune",
            threads=threads,
        )

    answer = tuned(1)
    assert "slowdown_mean` \N{MINUS SIGN}" in answer.answer[0] and "held-out" in answer.answer[0]
    assert {row["traffic"] for row in answer.held_out} == {"light", "as written", "heavy", "all"}
    assert answer.tested()["n"] == 4 and answer.rival("textbook")["n"] == 4
    # The recommended values are in the scenario and in the overlay.
    kmin = answer.values["switch.aqm.ramp.kmin"]
    assert answer.scenario().settings()["switch"]["aqm"]["ramp"]["kmin"] == kmin
    assert f'kmin = "{kmin}"' in answer.toml
    ends = {"5KB", "200KB"}
    assert answer.edges == (("switch.aqm.ramp.kmin",) if kmin in ends else ())
    assert any("an end of the range" in of for of in answer.answer) == bool(answer.edges)
    # No run of the test has a seed of the search.
    both = [{row["seed"] for of in some for row in of.rows.values()}
            for some in (answer.candidates, answer._tested.values())]  # fmt: skip
    assert len(both[0]) == len(both[1]) == 4 and not both[0] & both[1]
    page = answer.page(tmp_path / "tune.html").read_text()
    for text in ("Held-out test", "<svg", "Recommended values", kmin):
        assert text in page
    assert {"held-out", "one-at-a-time", "front-dropped-packets"} & answer.charts.keys()
    stored = json.loads((tmp_path / "tune/tune.json").read_text())
    assert stored["values"] == answer.values
    # Everything is there already, and comes out the same with other threads.
    again = tuned(2)
    assert again.reused == again.runs and again.json == answer.json
    with pytest.raises(floodway.ResultsError, match="another search"):
        floodway.tune(incast, "slowdown_mean", KMIN, trials=1, out=tmp_path / "tune")


def test_a_verdict_is_tested_at_the_ends_of_what_is_uncertain(incast, tmp_path):
    # Eight senders at once overload the port whatever the latency of the switch is, and with a
    # queue of 1 MB or more nothing is lost, so that the verdict stands at both.
    latency = {"switch.latency": ["0ns", "1us"], "switch.queue.size": ["1MB", "2MB"]}
    answer = floodway.tune(
        incast,
        "slowdown_mean",
        KMIN,
        subject_to=["dropped_packets == 0"],
        trials=4,
        replications=3,
        held_out_replications=4,
        uncertain={**latency, "host.transport.rocev2.mtu": ["1024B", "100KB"]},
        out=tmp_path / "tune",
    )
    ends = {(row["path"], row["value"]): row for row in answer.leans}
    assert len(ends) == 6
    # At the scenario's own value it is the held-out test itself.
    assert ends["switch.latency", "0ns"]["change"] == answer.tested()
    assert ends["switch.latency", "1us"]["change"] != answer.tested()
    for path in latency:
        assert all(row["stands"] for (of, _), row in ends.items() if of == path)
    # No frame is that long.
    assert ends["host.transport.rocev2.mtu", "100KB"]["stands"] is None
    assert "mtu" in ends["host.transport.rocev2.mtu", "100KB"]["reason"]
    said = " ".join(answer.answer)
    assert "The verdict stands at the ends of every uncertain value" in said
    assert answer.json["leans"] == answer.leans
    assert "Uncertain values" in answer.page(tmp_path / "tune.html").read_text()


def test_a_verdict_that_falls_is_named(incast, tmp_path):
    # All messages of the incast have room in 5 MB; in a queue of 60 KB, which nothing protects,
    # frames are lost.
    lossy = incast.with_({"switch.flow_control.pfc": False, "switch.queue.size": "5MB"})
    answer = floodway.tune(
        lossy,
        "slowdown_mean",
        {"switch.aqm.ramp.kmin": ["100KB", "200KB"]},
        subject_to=["dropped_packets == 0"],
        trials=2,
        replications=2,
        held_out_replications=3,
        uncertain={"switch.queue.size": ["60KB"]},
        out=tmp_path / "tune",
    )
    (row,) = answer.leans
    assert row["stands"] is False and row["broken"] == ["dropped_packets == 0"]
    said = " ".join(answer.answer)
    assert "This verdict depends on values that are uncertain: it changes with" in said
    assert "switch.queue.size = 60KB" in said and "dropped_packets == 0 breaks" in said


def test_assumed_values_of_profiles_are_uncertain(incast, tmp_path):
    scenario = floodway.Scenario(
        name="profiled",
        profile=["arista-7260cx3", "connectx-6-dx"],
        arrivals="50us",
        limit="50ms",
        topology={"star": {"hosts": 5}},
        workload=[{"incast": {"senders": 4, "bytes": "50KB"}}],
    )
    basis = scenario.check()["base"]["basis"]
    assert {of["profile"] for of in basis["values"]} == {"arista-7260cx3", "connectx-6-dx"}
    answer = floodway.tune(
        scenario,
        "slowdown_mean",
        {"host.congestion.dcqcn.variant": ["periodic", "paper"]},
        trials=2,
        replications=2,
        held_out_replications=2,
        out=tmp_path / "tune",
    )
    # The variant is searched, so that it is no longer uncertain.
    assert {row["path"] for row in answer.leans} == {
        "switch.latency",
        "host.congestion.dcqcn.byte_counter",
    }
    assert "6 of the 39 values from device profiles" in " ".join(answer.answer)
    page = answer.page(tmp_path / "tune.html").read_text()
    assert "Device profiles" in page and "from general knowledge, unverified" in page


def error(scenario, objective="slowdown_mean", vary=KMIN, **more):
    with pytest.raises(ValueError) as raised:
        floodway.tune(scenario, objective, vary, replications=2, trials=1, **more)
    return str(raised.value)


def test_errors_have_a_remedy(incast, tmp_path):
    place = {"out": tmp_path / "out"}
    said = error(incast, vary={"switch.aqm.ramp.kmni": "5KB..200KB/5log"}, **place)
    assert "kmni" in said and "did you mean `kmin`" in said
    said = error(incast, vary={"switch.aqm.ramp.kmin": "5KB..5KB/2"}, **place)
    assert "same value twice" in said or "has the value 5KB twice" in said
    said = error(incast, vary={"switch.aqm.ramp.kmin": ["5KB"]}, **place)
    assert "there is nothing to search: give two at least" in said
    assert "name at least one setting" in error(incast, vary={}, **place)
    said = error(incast, "slowdown_maen", **place)
    assert "no metric `slowdown_maen` (objective); did you mean `slowdown_mean`?" in said
    said = error(incast, subject_to=["droped_packets == 0"], **place)
    assert "did you mean `dropped_packets`?" in said
    said = error(incast, subject_to=["dropped_packets < few"], **place)
    assert "is no constraint: write a metric, <=, >= or ==" in said
    said = error(incast, subject_to=["slowdown_mean <= 1"], **place)
    assert "the baseline breaks `slowdown_mean <= 1`: its mean is " in said and "Relax" in said
    assert "say better='less'" in error(incast, "marked_packets", **place)
    assert "did you mean `tpe`" in error(incast, search="tpee", **place)
    assert "seed of the search" in error(incast, seed=3, held_out_seed=3, **place)
    said = error(incast, uncertain={"switch.latncy": ["1us"]}, **place)
    assert "did you mean `latency`" in said
    said = error(incast, uncertain={"switch.aqm.ramp.kmin": ["1KB"]}, **place)
    assert "is searched, so it cannot be uncertain too" in said
    twice = {"a": {"workload.1.many_to_many.load": 0.2}}
    assert "is no test" in error(incast, traffic=twice, held_out=twice, **place)
    said = error(incast, "fct_p999_ns", **place)
    assert "needs 1000 flows in every run" in said and "lengthen `arrivals`" in said


def test_the_shell_has_it_too(incast, tmp_path):
    (tmp_path / "incast.toml").write_text(incast.toml)
    command = [sys.executable, "-m", "floodway", "tune", "incast.toml", "slowdown_mean"]
    options = ["--trials=2", "--replications=2", "--held-out-replications=2", "--out=out"]
    vary = "--vary=switch.aqm.ramp.kmin=5KB..200KB/5log"
    done = subprocess.run(
        [*command, vary, *options], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "[switch.aqm.ramp]" in done.stdout and "vs. the scenario's own values" in done.stdout
    assert (tmp_path / "out/tune.html").exists() and "Warning" not in done.stderr
    done = subprocess.run(
        [*command, "--vary=switch.aqm.ramp.kmni=1KB,2KB", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "kmin" in done.stderr


@pytest.fixture
def fabric(root, tmp_path):
    """A fabric of SONiC, and the scenario that it is imported as."""
    configs = root / "crates/scenario/tests/sonic/fabric"
    program("import", "sonic", configs, "--out", tmp_path / "imported")
    return configs, tmp_path / "imported/scenario.toml"


def program(*words):
    done = subprocess.run(
        [sys.executable, "-m", "floodway", *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_answer_is_a_patch(fabric, tmp_path):
    configs, path = fabric
    # The fabric's own kmin is 100 KB.
    answer = floodway.tune(
        floodway.load(path),
        "slowdown_mean",
        {"switch.aqm.ramp.kmin": ["30000B", "50000B"]},
        trials=2,
        replications=2,
        held_out_replications=2,
        out=tmp_path / "tune",
    )
    patches = answer.patch(configs, tmp_path / "patches")
    kmin = answer.values["switch.aqm.ramp.kmin"].removesuffix("B")
    changes = [
        of["value"] for of in patches["leaf-1"] if of["path"].endswith("green_min_threshold")
    ]
    assert changes == [kmin]
    # The program writes the same, to the byte.
    changed = tmp_path / "changed.toml"
    text = path.read_text().replace('kmin = "100000B"', f'kmin = "{kmin}B"')
    assert text != path.read_text()
    changed.write_text(text)
    program("export", "sonic", changed, configs, "--out", tmp_path / "theirs")
    files = [sorted(of.iterdir()) for of in (tmp_path / "patches", tmp_path / "theirs")]
    assert files[0] and [of.name for of in files[0]] == [of.name for of in files[1]]
    for ours, theirs in zip(*files, strict=True):
        assert ours.read_text() == theirs.read_text()
    with pytest.raises(floodway.ScenarioError):
        answer.patch(tmp_path / "nowhere")


def test_the_shell_writes_patches(fabric, tmp_path):
    configs, path = fabric
    said = program(
        "tune", path, "slowdown_mean", "--vary=switch.aqm.ramp.kmin=30000B,50000B", "--trials=2",
        "--replications=2", "--held-out-replications=2", f"--out={tmp_path / 'out'}",
        "--uncertain=switch.latency=0ns,1us", f"--sonic={configs}",
    )  # fmt: skip
    assert "leaf-1: 1 change(s)" in said and (tmp_path / "out/patches/leaf-1.patch.json").exists()
    assert "uncertain" in said


def test_worth_compares_with_and_without(incast):
    marks = {"switch.aqm": "drop_tail", "host.congestion": "line_rate"}
    worth = floodway.worth(incast, marks, replications=4, metrics=["slowdown_mean", "paused_ns"])
    of = worth.measured[0]
    ones = [incast.run(replication=at, progress=False) for at in range(4)]
    mean = sum(sum(run.flows["slowdown"].to_list()) / len(run.flows) for run in ones) / 4
    assert of["metric"] == "slowdown_mean" and of["change"]["from"] == pytest.approx(mean)
    assert "4 paired replications" in worth.answer[0]
    assert "worth" in worth.charts
    same = floodway.worth(incast, {"switch.queue.size": "2MB"}, replications=2)
    assert same.is_idle and "has no effect here" in same.answer[0]
    with pytest.raises(ValueError, match="did you mean `congestion isolation`"):
        floodway.worth(incast, "congestion isolaton")
    with pytest.raises(floodway.ScenarioError, match="kmni"):
        floodway.worth(incast, {"switch.aqm.ramp.kmni": "1KB"})


def test_worth_is_tested_at_the_ends_of_what_is_uncertain(incast):
    # At the scenario's own values the comparison is the same.
    marks = {"switch.aqm.ramp": {"kmin": "5KB", "kmax": "20KB", "pmax": 1.0}}
    worth = floodway.worth(
        incast,
        marks,
        metrics=["slowdown_mean"],
        replications=8,
        uncertain={"switch.latency": ["0ns"], "host.congestion": ["dcqcn", "line_rate"]},
    )
    own, same, deaf = worth.leans
    assert own["measured"] == same["measured"] == worth.measured and own["stands"]
    # Without a congestion control nobody hears marks, so that there is no difference.
    assert worth.measured[0]["verdict"] == "better"
    assert deaf["stands"] is False and deaf["changed"] == ["slowdown_mean"]
    assert "host.congestion = line_rate (slowdown_mean)" in worth.answer[-1]


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_have_short_names(incast, name):
    worth = floodway.worth(incast, name, replications=2)
    # The scenario has PFC already, and DCQCN as it is by default.
    assert worth.is_idle == (name in ("pfc", "dcqcn"))
    if name == "congestion isolation":
        assert worth.changes["switch.queue.count"] == 2
        assert "switch.queue.count = 2." in worth.answer[-1]
    if name == "trimming":
        assert worth.changes["switch.flow_control.pfc"] is False


def test_the_examples_of_the_page_work(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = str(root / "docs/tune.md")
    done = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert done.attempted > 6 and not done.failed
    assert (tmp_path / "tune.html").exists() and (tmp_path / "worth.html").exists()
