import math
import re

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.files.values import from_values
from ecuas_metric.metric import Key
from ecuas_metric.plotting.curves import RejectCostCurve
from ecuas_metric.plotting.names import percent
from ecuas_metric.reporting import cli, text
from ecuas_metric.reporting.report import prepare_submissions
from ecuas_metric.reporting.text import how_to_read, summary, winner
from ecuas_metric.results import compute_results
from tests.ecuas_metric.reporting.compared import ALPHA, AUROC, COVERAGE, ER, row, rows_of


def said(values, key=ER, p=0.001, **options):
    return summary(rows_of(values, key, p, **options), alpha=ALPHA)


@pytest.mark.parametrize(
    ("key", "difference", "p", "comparable", "expected"),
    [
        (ER, -0.1, 0.01, True, "a"),
        (ER, 0.1, 0.01, True, "b"),
        (AUROC, 0.1, 0.05, True, "a"),
        (AUROC, 0.1, 0.06, True, None),
        (AUROC, 0.1, 0.01, False, None),
        (AUROC, math.nan, math.nan, True, None),
        (ER, 0.0, 0.01, True, None),
        (COVERAGE, 0.1, 0.01, True, None),
    ],
)
def test_a_winner_is_better_significantly_and_comparable(key, difference, p, comparable, expected):
    assert winner(row("a", "b", key, difference, p, comparable=comparable), ALPHA) == expected


def test_two_systems_have_one_sentence_a_metric():
    assert said({"a": 0.1, "b": 0.3}) == ["ER ↓  a is better: 0.100 against 0.300, significant (adjusted p = 0.001)."]
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, 0.4)
    end = "b has the better value, 0.300 against 0.100, which may be due to chance (adjusted p = 0.400)."
    assert line.endswith(end)
    assert said({"a": 0.1, "b": 0.1}, p=1.0) == ["ER ↓  no difference: 0.100 each."]
    assert said({"a": 0.1, "b": math.nan}, AUROC, math.nan) == ["AUROC ↑  undefined for b."]
    assert said({"a": 0.1, "b": 0.3}, COVERAGE) == ["Cov_0.2: neither high nor low is better."]
    (line,) = said({"a": 0.1, "b": 0.3}, AUROC, comparable=False)
    assert line.startswith("AUROC ↑†: no winner, since the systems' answers differ")


@pytest.mark.parametrize(
    ("significant", "end"),
    [
        (lambda pair: True, "b is best (0.100), significantly better than all 3 others."),
        (lambda pair: False, "b has the best value (0.100), but no two systems differ significantly."),
        (lambda pair: pair == {"c", "d"}, "(0.100), but is not significantly better than any other."),
        (lambda pair: pair != {"b", "c"}, "significantly better than all others except c."),
        (lambda pair: pair == {"b", "d"}, "significantly better than 1 of 3 others, not than c, a."),
    ],
)
def test_of_many_systems_the_best_is_named_and_whom_it_does_not_beat(significant, end):
    values = {"a": 0.3, "b": 0.1, "c": 0.2, "d": 0.4}
    (line,) = said(values, p=lambda *pair: 0.01 if significant(set(pair)) else 0.2)
    assert line.startswith("ER ↓  b ")
    assert line.endswith(end)


def system(size=40, **options):
    return confidence_system(np.arange(size) % 2, np.arange(size) / size, **{"confidence_level": 0.95} | options)


def test_the_explanation_has_the_numbers_of_this_call():
    text = " ".join(how_to_read(system(confidence_level=0.9).options, tests=12, by_row=False))
    assert all(part in text for part in ("paired by id", "90% interval", "all 12 tests", "p <= 0.1 "))
    assert "paired by their rows" in how_to_read(system().options, tests=1, by_row=True)[0]


def explained(submissions, **options):
    return text.explain(prepare_submissions(submissions, **options))


@pytest.fixture
def submissions(files):
    return [submission for path in files for submission in read_submissions(path)]


def test_the_best_is_named_for_small_and_large_n_with_the_commands_p_value(submissions):
    small, large, *_ = explained(submissions)
    rows = compare_systems(prepare_submissions(submissions, confidence_level=0.95))
    for sentence, key in ((small, "ecuas_0"), (large, "ecuas_128")):
        (row,) = [row for row in rows if str(row.key) == key]
        best = row.first if row.difference < 0 else row.second
        assert f"{best} is best" in sentence
        assert f"a lead of {abs(row.difference):.3f}" in sentence
        shown = "p < 0.001" if row.p_adjusted < 0.001 else f"p = {row.p_adjusted:.3f}"
        assert shown in sentence
        assert ("due to chance" in sentence) == (row.p_adjusted > 0.05)
    assert "to whom a mistake is much worse than a rejection (n = 0)" in small
    assert "to whom a rejection is nearly as bad as a mistake (n = 128)" in large


def test_the_interval_of_a_lead_is_of_the_lead_whichever_system_comes_first(submissions):
    pattern = re.compile(r"lead of ([-\d.]+) \(95% interval \[([-\d.]+), ([-\d.]+)\]")
    leads = [pattern.search(explained(given)[0]) for given in (submissions, submissions[::-1])]
    for lead in leads:
        value, low, high = map(float, lead.groups())
        assert low <= value <= high
    assert leads[0][1] == leads[1][1]


HALVES = np.r_[np.ones(60), np.zeros(20), np.ones(10), np.zeros(30)].astype(int)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (lambda one, two: [one, one._replace(name="twin")], "cost the same: ECUAS_0"),
        (lambda one, two: [one._replace(ids=None), two._replace(ids=None)], "There is no column of ids"),
        (
            lambda one, two: [one._replace(predictions=np.repeat([0.75, 0.25], [80, 40]), references=HALVES)],
            "Recalibration alone would gain less than 1% of ECUAS_0.",
        ),
        (
            lambda one, two: [one._replace(predictions=1 - one.references.astype(float))],
            "users of first do better by accepting all or rejecting all.",
        ),
    ],
)
def test_what_is_special_is_said(changed, expected, submissions):
    assert expected in " ".join(explained(changed(*submissions)))


def test_systems_that_are_not_compared_have_no_lead_and_the_reason_is_given(submissions, monkeypatch):
    other = submissions[1]._replace(ids=from_values([f"other{i}" for i in range(120)]))
    assert explained([submissions[0], other])[0] == "Not ranked, since they differ: questions."
    monkeypatch.setattr(text, "MAX_PAIRED_ROWS", 119)
    monkeypatch.setattr(text, "compare_systems", None)
    lines = explained(submissions)
    assert not any("lead" in line for line in lines)
    assert "Whether this is significant was not tested." in lines[0]
    assert any("use `ecuas compare`" in line for line in lines)


def test_reject_costs_and_recalibration_of_one_system(submissions):
    useful, _, gain = explained(submissions[:1])
    assert re.match(r"Users of first to whom a rejection costs between [\d.]+ and [\d.]+ of a mistake", useful)
    before, after = map(float, re.search(r"from ([\d.]+) to ([\d.]+) at best", gain).groups())
    assert after < before


def test_one_n_is_one_sentence_and_the_level_is_the_systems(submissions):
    lines = explained(submissions, n=(1,), confidence_level=0.9)
    assert sum("For users" in line for line in lines) == 1
    assert "with reject costs of all sizes (n = 1)" in lines[0]
    assert "(90% interval [" in lines[0]


def test_calibration_is_told_with_the_p_value_of_the_metric(submissions):
    lines = [line for line in explained(submissions) if "iscalibrat" in line]
    systems = prepare_submissions(submissions, calibration=True)
    for name, system in systems.items():
        p = compute_results(system).estimates[Key("calibration_p")].value
        (line,) = [line for line in lines if f"{name} (p" in line]
        assert f"{name} ({'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}" in line
        assert line.startswith("No evidence") == (p > 0.05)


def test_the_limits_of_a_range_are_distinct():
    ranges = [text._between(*limits) for limits in ((0.1, 0.9), (0.991, 0.994), (0.5, 0.5))]
    assert ranges == ["between 0.10 and 0.90", "between 0.991 and 0.994", "about 0.50"]


def test_the_command_prints_the_sentences_below_the_table(files, submissions, capsys):
    assert cli.main(["score", *map(str, files), "--interval", "0.95", "--explain"]) == 0
    table, _, below = capsys.readouterr().out.partition("\n\n- ")
    assert table.startswith("read ")
    assert f"- {below}".splitlines() == [f"- {line}" for line in explained(submissions, confidence_level=0.95)]


def test_the_best_system_is_named_for_each_range_of_reject_costs():
    def best(**costs):
        grid, none = np.linspace(0, 0.5, 6), np.zeros(6)
        curves = {name: RejectCostCurve(grid, np.array(cost, float), none, none, none) for name, cost in costs.items()}
        return text._best_by_reject_cost(curves)

    begin = "On these samples, chance not considered,"
    (found,) = best(a=[0, 1, 1, 3, 3, 3], b=[0, 2, 2, 1, 1, 3], c=[0, 3, 3, 3, 3, 1])
    steps = "a up to a reject cost of 0.20, then b up to a reject cost of 0.40, then c."
    assert found == f"{begin} the system that costs least is {steps}"
    (found,) = best(a=[0, 1, 1, 1, 1, 1], b=[0, 2, 2, 2, 2, 2])
    assert found == f"{begin} a has the lowest cost whatever a rejection costs."
    (found,) = best(a=[0, 1, 2, 1, 2, 1], b=[0, 2, 1, 2, 1, 2])
    assert "changes often with the reject cost" in found


def test_no_system_is_named_the_cheapest_where_all_cost_the_same(submissions):
    twice = [submissions[0], submissions[0]._replace(name="again")]
    assert "On these samples, all cost the same whatever a rejection costs." in explained(twice)


def test_a_useful_range_with_a_hole_says_so():
    confidence = np.repeat([0.9, 0.5, 0.4, 0.2], [10, 20, 50, 20])
    correct = np.repeat([1, 0, 1, 0], [10, 20, 50, 20])
    lines = text.explain({"a": confidence_system(correct, confidence)})
    assert any("of a mistake, though not everywhere between, do better" in line for line in lines)


@pytest.mark.parametrize(("level", "shown"), [(0.95, "95%"), (0.999, "99.9%"), (1 - 0.05, "95%")])
def test_levels_are_written_out(level, shown):
    assert percent(level) == shown
