"""Who is cheapest: against arithmetic, and how often the page names a winner by chance."""

import json
import re
from dataclasses import astuple, replace
from html import unescape
from itertools import pairwise

import numpy as np
import pytest

from ecuas_metric import confidence_system, fixed_reject_cost
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.metric import Key
from ecuas_metric.options import OPTIONS, Options
from ecuas_metric.reporting.report import prepare_submissions
from space import scoring
from space.markup import LABELS, slots
from tests.conftest import ROOT
from tests.ecuas_metric.systems import counted_sorts

AT = 0.3  # the reject cost that is looked at


@pytest.fixture(scope="module")
def examples():
    paths = [ROOT / "space" / "examples" / f"{name}_model.csv" for name in ("calibrated", "overconfident", "verbal")]
    return prepare_submissions([one for path in paths for one in read_submissions(path)], confidence_level=0.95)


@pytest.fixture(scope="module")
def decision(examples):
    return scoring.decide(examples)


def at(decision, cost):
    return decision.verdicts[int(np.abs(decision.reject_costs - cost).argmin())]


def test_the_example_has_a_clear_choice_that_changes_with_the_reject_cost(decision):
    assert at(decision, scoring.SHOWN_FIRST).winner == "calibrated_model"
    assert at(decision, 0.3).winner is None
    assert at(decision, 0.3).best[:2] == ("overconfident_model", "calibrated_model")
    assert at(decision, 0.6).winner == "overconfident_model"
    (crossing,) = decision.crossings
    assert (crossing.first, crossing.second) == ("calibrated_model", "overconfident_model")
    assert 0.1 < crossing.low < crossing.at < crossing.high < 0.6


@pytest.mark.parametrize("num_classes", [None, 3])
def test_costs_are_the_metrics_at_every_reject_cost(num_classes, rng):
    correct, confidence = rng.integers(0, 2, 40), rng.random(40).round(1)
    system = confidence_system(correct, confidence, num_classes=num_classes)
    found = scoring.decide({"a": system})
    u_max = system.decisions.max_uncertainty
    assert found.reject_costs[-1] == pytest.approx(u_max, abs=0.01)
    for cost, ours, nothing in zip(found.reject_costs, found.costs["a"], found.costs[scoring.NOTHING], strict=True):
        given = {"candidate_cost": 1 - correct, "uncertainty": 1 - confidence, "max_uncertainty": u_max}
        assert ours == pytest.approx(fixed_reject_cost(**given, reject_cost=cost).mean())
        assert nothing == pytest.approx(cost)


def test_numbers_are_those_of_the_comparison(examples, decision):
    """At one reject cost the same call, for that cost alone, gives difference, interval and adjusted p."""
    options = examples["verbal_model"].options.replace(reject_costs=(0.6,))
    systems = {name: replace(system, options=options) for name, system in examples.items()}
    systems[scoring.NOTHING] = scoring.rejecting_system(systems["verbal_model"])
    rows = {(row.first, row.second): row for row in compare_systems(systems, only=[Key("expected_cost", 0.6)])}
    row, found = rows["calibrated_model", "overconfident_model"], at(decision, 0.6)
    assert found.best == ("overconfident_model",)
    assert (found.rival.first, found.rival.second) == ("calibrated_model", "overconfident_model")
    assert astuple(found.rival)[3:7] == pytest.approx(astuple(row)[3:7])
    assert (found.rival.p_adjusted, found.rival.second_value) == pytest.approx((row.p_adjusted, row.second_value))


def test_identical_systems_cost_the_same_and_answering_nothing_is_a_choice_too():
    found = scoring.decide({"a": confidence_system([0] * 30, [0.9] * 30, confidence_level=0.95)})
    assert scoring.headline(at(found, 0.5), "Here", found) == "Here, answering nothing is clearly cheaper than a."
    assert (at(found, 0.5).winner, found.orders[1.0].winner) == (scoring.NOTHING, scoring.NOTHING)
    system = confidence_system([1, 0, 1] * 20, [0.9, 0.2, 0.8] * 20, confidence_level=0.95)
    found = scoring.decide({f"s{i}": system for i in range(19)})
    for one in (*found.verdicts, *found.orders.values()):
        assert one.winner in (None, scoring.NOTHING)
        assert one.winner is None or one.rival.difference > 0
    assert not found.crossings or scoring.NOTHING in found.crossings[0][:2]
    found = scoring.decide({"<u>": system, "b": system})
    html = scoring.as_html(found, slots(["<u>", "b"]))
    assert scoring.headline(at(found, 0.5), "Here", found) == "Here, <u> and b cost the same."
    assert scoring.detail(at(found, 0.5)).endswith("each.")
    assert "<u>" not in html
    assert "<b><bdi>&lt;u&gt;</bdi></b>" in json.loads(unescape(re.search(r'data-all="([^"]*)"', html)[1]))["said"][49]


def test_the_needed_number_of_samples_settles_it(rng):
    """A difference at the edge of what 400 samples show needs more for a power of 80 %."""
    one = at(scoring.decide(simulated_pair(rng, 400, 0.07)), AT)
    row = one.rival
    if one.winner is None and row.difference:
        z = (row.difference - row.low) / row.difference  # half the interval, in units of the difference
        assert one.needed == pytest.approx(400 * (z * (1.96 + 0.8416) / 1.96) ** 2, rel=0.01)


def test_too_much_to_test_is_said(rng):
    many = {f"s{i}": confidence_system([1, 0], [0.9, 0.2]) for i in range(40)}
    assert scoring.decide(many).remark == scoring.TOO_MANY
    assert "too many" in scoring.as_html(scoring.decide(many), {})
    assert scoring.decide({"a": confidence_system([1, 0] * 200_000, [0.5] * 400_000)}).remark == scoring.TOO_MANY


def test_the_strip_covers_the_slider_and_greys_what_is_open(decision, examples):
    parts = scoring.segments(decision)
    assert (parts[0][1], parts[-1][2]) == (0, 1)
    assert all(one[2] == other[1] for one, other in pairwise(parts))
    html = scoring.as_html(decision, slots(examples))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", html)]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert html.count('<i class="open"') == sum(winner is None for winner, *_ in parts)


def simulated_pair(rng, size, gain=0.0):
    """Two systems of one design, the second of which is wrong less often by `gain`; half their errors are shared."""
    hard = rng.random(size)
    systems = {}
    for name, extra in (("first", 0.0), ("second", gain)):
        own = np.where(rng.random(size) < 0.5, hard, rng.random(size))
        correct = own < 0.85 + extra
        confidence = np.clip(0.75 + 0.1 * rng.normal(size=size), 0.71, 0.999)  # all are used at a cost of 0.3
        systems[name] = confidence_system(correct.astype(int), confidence, confidence_level=0.95)
    return systems


@pytest.mark.slow
def test_a_winner_is_named_in_5_percent_of_equal_pairs_and_75_of_those_with_a_power_of_80(rng):
    """Of 200 pairs, up to 16 are no sign against 5 % (binomial); planning from a large sample gives the other size."""
    row, gain = at(scoring.decide(simulated_pair(rng, 60_000, 0.1)), AT).rival, 0.1
    size = round(60_000 * ((row.high - row.low) / 2 / 1.96 * (1.96 + 0.8416) / gain) ** 2)
    equal = [at(scoring.decide(simulated_pair(rng, 300)), AT).winner for _ in range(200)]
    better = [at(scoring.decide(simulated_pair(rng, size, gain)), AT).winner for _ in range(200)]
    assert equal.count(None) >= 184
    assert better.count("second") >= 150


def test_numbers_are_separated_as_people_do_and_what_is_none_is_an_error():
    given = {"": [], " 0, 1 ;-2 ∞": [0, 1, -2, np.inf], None: [], (0, 1.5): [0, 1.5]}
    assert {text: scoring.numbers(text, "n") for text in given} == given
    assert [scoring.number(text, "K") for text in ("", " ", "∞", "4")] == [None, None, np.inf, 4]
    for call, text, message in (
        (scoring.numbers, "0," * 21, r"^n must be at most 20 numbers; got 21\.$"),
        (scoring.numbers, "low", r"^n must be numbers, separated by commas; got 'low'\.$"),
        (scoring.number, "1, 2", r"^n must be one number; got '1, 2'\.$"),
    ):
        with pytest.raises(InputError, match=message):
            call(text, "n")


def test_empty_controls_ask_for_the_defaults_and_say_what_the_options_mean():
    empty = {name: "" if control.kind is not bool else False for name, control in scoring.CONTROLS.items()}
    assert vars(scoring.options_of(empty)) == vars(scoring.options_of({"intervals": False})) == vars(Options())
    given = {name: control.default for name, control in scoring.CONTROLS.items()}
    assert vars(scoring.options_of(given)) == vars(Options(confidence_level=scoring.LEVEL))
    for name in LABELS.keys() - {"confidence_level"}:  # a number there, yes or no here
        assert scoring.CONTROLS[name].help.startswith(OPTIONS[name].help)


def test_words_and_verdict_are_in_the_same_piece_as_the_table_and_each_system_is_sorted_once(files):
    scored = scoring.score_files(files, {})
    html = scored.html(title="<T>", remarks=["Graded."])
    marks = {"<h2><bdi>&lt;T&gt;": 1, 'class="decision"': 1, "<table": 2, "Graded.": 1}
    assert {mark: html.count(mark) for mark in marks} == marks
    assert scoring.headline(scored.decision.orders[1.0], "By ECUAS_1", scored.decision) in " ".join(scored.sentences())
    with counted_sorts(120) as sorts:
        scored = scoring.score_files(files, {"decompose": True})
        scored.html(title="")
        scored.plots()
    assert sorts.count((120,)) == 3  # each system and the one that answers nothing, once for table, tests and plots


def test_a_system_without_confidence_level_is_compared_too(rng):
    correct, confidence = rng.integers(0, 2, 50), rng.random(50)
    systems = [confidence_system(correct, confidence, confidence_level=level) for level in (None, 0.95)]
    plain, levelled = (scoring.decide({"a": one}).verdicts for one in systems)
    assert plain == levelled
