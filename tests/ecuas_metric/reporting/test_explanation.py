import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import ranking, results
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.metrics import Key
from ecuas_metric.reporting import cli, explanation
from ecuas_metric.reporting.report import prepare_submissions
from ecuas_metric.results import compute_results


def explained(submissions, **options):
    return explanation.explain(prepare_submissions(submissions, **options))


@pytest.fixture
def files(tmp_path, rng):
    """Two systems with ids, the second one in another order and more often right."""
    paths = []
    for name, accuracy in (("first", 0.6), ("second", 0.8)):
        correct = rng.random(120) < accuracy
        confidence = np.clip(0.3 + 0.4 * correct + 0.3 * rng.random(120), 0, 1).round(3)
        frame = pd.DataFrame({"id": range(120), "confidence": confidence, "correct": correct.astype(int)})
        paths.append(str(tmp_path / f"{name}.csv"))
        frame.sample(frac=1, random_state=len(paths)).to_csv(paths[-1], index=False)
    return paths


@pytest.fixture
def submissions(files):
    return [submission for path in files for submission in read_submissions(path)]


def test_the_best_is_named_for_small_and_large_n_with_the_commands_p_value(submissions):
    small, large, *_ = explained(submissions)
    systems = prepare_submissions(submissions, n=(0, 128), confidence_level=0.95)
    rows = compare_systems(systems)
    for sentence, key in ((small, "ecuas_0"), (large, "ecuas_128")):
        (row,) = [row for row in rows if str(row.key) == key]
        best = row.first if row.difference < 0 else row.second
        assert f"{best} is best" in sentence
        assert f"The lead of {abs(row.difference):.3f}" in sentence
        shown = "p < 0.001" if row.p_adjusted < 0.001 else f"p = {row.p_adjusted:.3f}"
        assert shown in sentence
        assert ("is significant" in sentence) == (row.p_adjusted < 0.05)
    assert "to whom a mistake is much worse than a rejection (n = 0)" in small
    assert "to whom a rejection is nearly as bad as a mistake (n = 128)" in large


def test_the_interval_of_a_lead_is_of_the_lead_whichever_system_comes_first(submissions):
    def lead(text):
        return [
            float(x) for x in re.search(r"lead of ([-\d.]+) \(95% interval ([-\d.]+) to ([-\d.]+)\)", text).groups()
        ]

    forward, backward = explained(submissions)[0], explained(submissions[::-1])[0]
    for value, low, high in (lead(forward), lead(backward)):
        assert low <= value <= high
    assert lead(forward)[0] == lead(backward)[0]


def test_a_system_beside_itself_is_no_discovery(submissions):
    twins = [submissions[0], submissions[0]._replace(name="twin")]
    assert "may be due to chance: p = 1.000" in explained(twins)[0]


def test_unpaired_systems_are_not_tested_and_the_reason_is_given(submissions):
    other = submissions[1]._replace(ids=pd.Index([f"other{i}" for i in range(120)]))
    lines = explained([submissions[0], other])
    assert not any("lead" in line for line in lines)
    assert "Whether this is significant was not tested." in lines[0]
    assert any("different samples" in line for line in lines)


def test_without_ids_the_pairing_by_rows_is_explained(submissions):
    bare = [submission._replace(ids=None) for submission in submissions]
    assert any("no column of ids" in line for line in explained(bare))


def test_many_samples_are_not_compared(submissions, monkeypatch):
    monkeypatch.setattr(explanation, "MAX_PAIRED_ROWS", 119)
    monkeypatch.setattr(explanation, "compare_systems", None)
    lines = explained(submissions)
    assert any("use `ecuas compare`" in line for line in lines)


def test_reject_costs_and_recalibration_of_one_system(submissions):
    useful, _, gain = explained(submissions[:1])
    assert re.match(r"Users of first to whom a rejection costs between [\d.]+ and [\d.]+ of a mistake", useful)
    before, after = map(float, re.search(r"from ([\d.]+) to ([\d.]+) at best", gain).groups())
    assert after < before


def test_a_recalibrated_system_gains_nothing(submissions):
    halves = np.r_[np.ones(60), np.zeros(20), np.ones(10), np.zeros(30)].astype(int)
    perfect = submissions[0]._replace(predictions=np.repeat([0.75, 0.25], [80, 40]), references=halves)
    assert explained([perfect])[-1] == "Recalibration alone would gain less than 1% of ECUAS_0."


def test_a_system_of_no_use_is_called_so(submissions):
    inverted = submissions[0]._replace(predictions=1 - submissions[0].references.astype(float))
    assert "do better by accepting all or rejecting all" in explained([inverted])[0]


def test_one_n_is_one_sentence(submissions):
    lines = explained(submissions, n=(1,))
    assert sum("is best" in line for line in lines) == 1
    assert "with reject costs of all sizes (n = 1)" in lines[0]


def test_weights_are_used(submissions):
    doubled = [submission._replace(per_sample={"sample_weight": [1.0] * 60 + [2.0] * 60}) for submission in submissions]
    repeated = [
        submission._replace(
            predictions=np.r_[submission.predictions, submission.predictions[60:]],
            references=np.r_[submission.references, submission.references[60:]],
            ids=pd.Index([*submission.ids, *(f"again {i}" for i in submission.ids[60:])]),
        )
        for submission in submissions
    ]
    for one, two in zip(doubled, repeated, strict=True):
        assert without_p(explained([one])) == without_p(explained([two]))


def without_p(lines):
    """Leave out p-values: there is more chance in weights than in copies."""
    return [re.sub(r"p [=<] [\d.]+", "p", line) for line in lines]


def test_calibration_is_told_with_the_p_value_of_the_metric(submissions):
    lines = [line for line in explained(submissions) if "iscalibrat" in line]
    systems = prepare_submissions(submissions, calibration=True)
    for name, system in systems.items():
        p = compute_results(system).estimates[Key("calibration_p")].value
        (line,) = [line for line in lines if f"{name} (p" in line]
        assert f"{name} ({'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}" in line
        assert line.startswith("No evidence") == (p > 0.05)


@pytest.mark.parametrize(
    ("limits", "words"),
    [((0.1, 0.9), "between 0.10 and 0.90"), ((0.991, 0.994), "between 0.991 and 0.994"), ((0.5, 0.5), "about 0.50")],
)
def test_the_limits_of_a_range_are_distinct(limits, words):
    assert explanation._between(*limits) == words


def test_the_level_of_intervals_is_the_systems(submissions):
    assert "(90% interval" in explained(submissions, confidence_level=0.9)[0]
    assert "(95% interval" in explained(submissions)[0]


@pytest.mark.parametrize(("level", "num_sorted"), [(0.95, 0), (None, 2)])
def test_systems_that_are_sorted_are_not_sorted_again(level, num_sorted, submissions, monkeypatch):
    systems = prepare_submissions(submissions, confidence_level=level)
    sorted_again = []

    def tie_groups(rank_by, candidate_cost, **options):
        sorted_again.append((rank_by[1:] < rank_by[:-1]).any())
        return ranking.tie_groups(rank_by, candidate_cost, **options)

    ranked = []
    monkeypatch.setattr(results, "tie_groups", tie_groups)
    monkeypatch.setattr(
        explanation, "ranked", lambda *given, **named: ranked.append(1) or results.ranked(*given, **named)
    )
    explanation.explain(systems)
    assert not any(sorted_again)
    assert len(ranked) == num_sorted


def test_the_command_prints_the_sentences_below_the_table(files, submissions, capsys):
    assert cli.main(["score", *files, "--interval", "0.95", "--explain"]) == 0
    table, _, below = capsys.readouterr().out.partition("\n\n- ")
    assert table.startswith("system")
    assert f"- {below}".splitlines() == [f"- {line}" for line in explained(submissions, confidence_level=0.95)]
