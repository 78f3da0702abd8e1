import math
import re

import numpy as np
import pytest

from ecuas_metric import confidence_system, read_submissions
from ecuas_metric.metric import Key
from ecuas_metric.plotting.curves import reject_cost_curve
from ecuas_metric.reporting import text
from ecuas_metric.reporting.differences import summary
from ecuas_metric.reporting.report import p_text, prepare_submissions, texts_apart
from ecuas_metric.results import compute_results
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, rows_of


def said(values, key=ER, p=0.001, **options):
    return summary(rows_of(values, key, p, **options), alpha=ALPHA)


def test_two_systems_have_one_sentence_a_metric():
    assert said({"a": 0.1, "b": 0.3}) == [
        "ER ↓  a is best, significantly: 0.100 against 0.300 (adjusted p = 0.001)."
    ]
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, 0.4)
    end = "b has the best value, which may be due to chance: 0.300 against 0.100 (adjusted p = 0.400)."
    assert line.endswith(end)
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, ALPHA)
    assert line.startswith("AUROC ↑  b is best, significantly")
    assert said({"a": 0.1, "b": 0.1}, p=1.0) == ["ER ↓  all are equal: 0.100 each."]
    assert said({"a": 0.1, "b": math.nan}, AUROC, math.nan) == ["AUROC ↑  it is undefined for b."]
    assert said({"a": 0.1, "b": 0.3}, Key("ece"), math.nan, untested="biased") == [
        "ECE ↓  a has the best value: 0.100 against 0.300; no valid test of it is known, since the metric is biased."
    ]
    assert said({"a": 0.1, "b": 0.3}, COVERAGE) == [
        "Cov_0.2: neither high nor low is better by itself."
    ]
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, comparable=False)
    assert line.startswith("AUROC ↑†: no winner, since the systems' answers differ")


@pytest.mark.parametrize(
    ("significant", "said_of_it"),
    [
        (
            lambda pair: True,
            "is best, significantly: 0.100 against 0.200 for c (adjusted p = 0.010).",
        ),
        (
            lambda pair: False,
            "has the best value, which may be due to chance: 0.100 against 0.200 for c (adjusted p =",
        ),
        (lambda pair: pair == {"c", "d"}, "has the best value, which may be due to chance: "),
        (lambda pair: pair != {"b", "c"}, "is best, significantly better than all but c: "),
        (
            lambda pair: pair == {"b", "d"},
            "has the best value, but is significantly better only than d: ",
        ),
    ],
)
def test_of_many_systems_the_best_is_named_and_whom_it_does_not_beat(significant, said_of_it):
    values = {"a": 0.3, "b": 0.1, "c": 0.2, "d": 0.4}
    (line,) = said(values, p=lambda *pair: 0.01 if significant(set(pair)) else 0.2)
    assert line.startswith(f"ER ↓  b {said_of_it}")


def explained(submissions, **options):
    return text.explain(prepare_submissions(submissions, **options))


@pytest.fixture
def submissions(files):
    return [submission for path in files for submission in read_submissions(path)]


def test_what_is_special_is_said():
    correct = np.repeat([1, 0, 1, 0], [60, 20, 10, 30])
    sorted_well = confidence_system(correct, np.repeat([0.75, 0.25], [80, 40]))
    lines = text.explain({"a": sorted_well, "b": confidence_system(correct, 1.0 - correct)})
    assert "Recalibration alone would gain less than 1% of ECUAS_0 of a." in lines
    assert any("users of b do better by accepting all or rejecting all" in line for line in lines)


def test_reject_costs_and_recalibration_of_each_system(submissions):
    for name in ("first", "second"):
        useful, gain = (line for line in explained(submissions) if f" of {name} " in line)
        assert re.match(
            rf"Users of {name} to whom a rejection costs between [\d.]+ and [\d.]+ of a mistake",
            useful,
        )
        before, after = map(float, re.search(r"from ([\d.]+) to ([\d.]+) at best", gain).groups())
        assert after < before


def test_calibration_is_told_with_the_p_value_of_the_metric(submissions):
    lines = [line for line in explained(submissions) if "iscalibrat" in line]
    systems = prepare_submissions(submissions, calibration=True)
    for line, (name, system) in zip(lines, systems.items(), strict=True):
        p = compute_results(system).estimates[Key("calibration_p")].value
        assert line.startswith(name)
        assert ("p < 0.001" if p < 0.001 else f"p = {p:.3f}") in line
        assert ("no evidence" in line) == (p > 0.05)


@pytest.mark.parametrize(("confidence", "side"), [(0.9, "0.40 too high"), (0.2, "0.30 too low")])
def test_confidences_that_are_too_high_or_too_low_are_called_so(confidence, side):
    system = confidence_system(np.arange(400) % 2, np.full(400, confidence))
    assert any(f": {side} on average (p < 0.001)" in line for line in text.explain({"a": system}))


def test_numbers_have_as_many_digits_as_tell_them_apart():
    assert texts_apart((0.1, 0.9), 2) == ["0.10", "0.90"]
    assert texts_apart((0.991, 0.994), 2) == ["0.991", "0.994"]
    assert texts_apart((0.5, 0.5 + 1e-15), 2) == ["0.500000000000"] * 2


def test_the_command_prints_the_sentences_below_the_table(files, submissions, ran):
    out = ran(f"score {' '.join(map(str, files))} --interval 0.95 --explain").out
    assert re.findall("^- (.*)", out, re.MULTILINE) == explained(submissions, confidence_level=0.95)


def test_a_useful_range_with_a_hole_says_so():
    confidence = np.repeat([0.9, 0.5, 0.4, 0.2], [10, 20, 50, 20])
    correct = np.repeat([1, 0, 1, 0], [10, 20, 50, 20])
    system = confidence_system(correct, confidence)
    curve = reject_cost_curve(system)
    useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
    first, *_, last = np.flatnonzero(useful)
    share = np.mean(~useful[first : last + 1])
    assert share > 0
    said = f"of a mistake (but for {share:.1%} of the costs in between) do better"
    assert any(said in line for line in text.explain({"a": system}))


def test_the_best_of_equal_values_are_named_together_and_others_by_digits_that_differ():
    three = {"a": 0.1, "b": 0.3, "c": 0.1}
    shared = "ER ↓  a, c have the best value"
    assert said(three) == [f"{shared}, significantly better than all others: 0.100 each."]
    assert said(three, p=lambda a, b: 0.4 if "a" in (a, b) else 0.001) == [f"{shared}: 0.100 each."]
    assert said({"a": 0.1, "b": 0.1, "c": 0.1}) == ["ER ↓  all are equal: 0.100 each."]
    (line,) = said({"a": 0.1, "b": 0.10004})
    assert "0.10000 against 0.10004" in line


@pytest.mark.parametrize("p", [0.0496, 0.0504, 0.05, 0.00004, 0.9, 0.04999996])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.0005])
def test_a_printed_p_value_is_on_the_side_of_alpha_on_which_it_is(p, alpha):
    relation, number = p_text(p, alpha).removeprefix("p ").split()
    assert (float(number) <= alpha) == (p <= alpha)
    assert relation == "=" or p < float(number)
    assert p_text(p) == p_text(p, 0.05)


def mean_cost(correct, confidence, reject_cost):
    is_accepted = 1 - confidence <= reject_cost
    return np.where(is_accepted, ~correct, reject_cost).mean()


@pytest.mark.parametrize("seed", range(5))
def test_who_costs_least_where_is_who_has_the_least_expected_cost_there(seed, monkeypatch):
    monkeypatch.setattr(text, "MOST_STRETCHES", 1000)
    rng = np.random.default_rng(seed)
    size = 400
    confidence = rng.beta(2, 1, size)
    correct = rng.random(size) < confidence
    better = correct | (rng.random(size) < 0.3)
    # right more often, and the confidences say nothing
    answers = {"sure": (correct, confidence), "blind": (better, np.full(size, better.mean()))}
    answers["also_sure"] = answers["sure"]
    systems = {name: confidence_system(*both) for name, both in answers.items()}
    stretches = text.least_costs(systems).partition(": ")[2].split("; ")
    said = [re.fullmatch(r"(.+) between (\S+) and (\S+)", one).groups() for one in stretches]
    limits = [said[0][1], *(high for _, _, high in said)]
    assert [low for _, low, _ in said] == limits[:-1]
    assert (float(limits[0]), float(limits[-1])) == (0, 1)
    for names, low, high in said:
        # a limit is known to a step
        inside = float(low) + 1.5 / text.NUM_COSTS, float(high) - 1.5 / text.NUM_COSTS
        for cost in np.linspace(*inside, 5) if inside[0] < inside[1] else []:
            paid = {one: mean_cost(*both, cost) for one, both in answers.items()}
            least = min(paid.values())
            equal = " = ".join(one for one in paid if paid[one] == pytest.approx(least))
            assert names == ("rejecting everything" if least >= cost - 1e-12 else equal)


def test_rejecting_everything_costs_least_where_no_system_costs_less():
    wrong = confidence_system([0, 0, 0], [0.9, 0.8, 0.7])
    said = text.least_costs({"a": wrong, "b": wrong})
    assert said.partition(": ")[2].startswith("rejecting everything between 0.0")
