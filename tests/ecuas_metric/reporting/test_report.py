from dataclasses import astuple, replace

import numpy as np
import pytest

from ecuas_metric import confidence_system, posterior_system, score_confidences
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.comparison.unlabelled import unlabelled_bounds
from ecuas_metric.errors import InputError
from ecuas_metric.files.submissions import Unlabelled
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.messages import ADVICE
from ecuas_metric.metric import METRICS, Key
from ecuas_metric.metrics import column_order
from ecuas_metric.options import checked_options
from ecuas_metric.plotting import figures
from ecuas_metric.reporting.report import (
    draw_figures,
    main_keys,
    make_report,
    prepare_open,
    report_grid,
    report_records,
    title,
)
from tests.ecuas_metric.files.submitted import submission
from tests.ecuas_metric.systems import counted_sorts


@pytest.fixture
def submissions(rng):
    return [submission(name, rng) for name in ("one", "two", "=three")]


def test_every_system_has_its_numbers_with_intervals_behind_them(submissions):
    report = make_report(prepare_submissions(submissions, n=2, confidence_level=0.9))
    rows = report_grid(report, keys=[Key("ecuas", 2.0)], digits=2).rows
    for row, one in zip(rows, submissions, strict=True):
        values = report.results[one.name].flat()
        value, low, high = (values[f"ecuas_2{end}"] for end in ("", "_low", "_high"))
        shown = [one.name, "60", f"{value:.2f} [{low:.2f}, {high:.2f}]"]
        assert [cell.text for cell in row] == shown


@pytest.mark.parametrize("have_same_answers", [False, True])
def test_columns_are_ordered_and_the_best_is_marked_unless_the_answers_differ(
    have_same_answers, submissions, rng
):
    if have_same_answers:
        submissions = [submission(name, rng, correct=submissions[0].references) for name in "abc"]
    report = make_report(prepare_submissions(submissions, reject_costs=0.2, decompose=True))
    assert report.keys == sorted(report.keys, key=column_order)
    directed = [key for key in report.keys if key.entry.higher_is_better is not None]
    of_confidences = {key for key in directed if key.assesses == "confidences"}
    not_ranked = set() if have_same_answers else of_confidences
    assert set(report.not_comparable) == not_ranked
    grid = report_grid(report)
    assert any("Do not rank" in note for note in grid.notes) != have_same_answers
    for column, key in enumerate(report.keys, start=2):
        better = METRICS[key.metric].higher_is_better
        values = [results.estimates[key].value for results in report.results.values()]
        best = None if better is None or key in not_ranked else (max if better else min)(values)
        marks = [row[column].is_best for row in grid.rows]
        assert marks == [value == best for value in values], key
        assert ("†" in grid.header[column]) == (key in not_ranked)


def opened(name, rng, rule):
    """Return a submission whose first six answers nobody judged."""
    rows = np.arange(60) < 6
    unlabelled = Unlabelled(rule, rows, 0.1)
    correct = np.where(rows, 0, rng.integers(0, 2, 60))
    made = submission(name, rng, correct=correct, notes=(unlabelled.note(rows),))
    return replace(made, unlabelled=unlabelled)


def test_answers_left_out_are_noted_once_for_all_systems(rng):
    made = [replace(opened(name, rng, "drop"), unlabelled=None) for name in ("one", "two")]
    grid = report_grid(make_report(prepare_submissions(made)), keys=[])
    listed = [f"{one.name}: 6 of 60 answers (10.0%) are unlabelled." for one in made]
    assert grid.notes == [*listed, ADVICE["unlabelled_dropped"]]


def bounds_of(one):
    correct = np.where(one.unlabelled.rows, np.nan, one.references)
    return unlabelled_bounds(one.predictions, correct, checked_options())


def test_open_answers_bound_every_number_and_no_estimate_is_shown(rng):
    open_, judged = opened("open", rng, "bounds"), submission("judged", rng)
    with pytest.raises(InputError, match=r"^open\.csv: has no label for some answers\. Label them"):
        prepare_submissions([open_, judged])
    expected = bounds_of(open_)
    low, high = astuple(expected[Key("error_rate")])
    # sorted or not
    for options in ({}, {"confidence_level": 0.9, "n_resamples": 9, "normalize": True}):
        systems, unlabelled = prepare_open([open_, judged], **options)
        assert list(unlabelled) == ["open"]
        report = make_report(systems, unlabelled=unlabelled)
        assert report.bounds == {"open": expected}
        assert np.isnan(list(report.results["open"].flat().values())).all()
        alone = make_report({"judged": systems["judged"]})
        assert report.results["judged"].flat() == alone.results["judged"].flat()
        grid = report_grid(report, keys=[Key("error_rate")])
        assert grid.header == ["system", "N", "unlabelled", "ER ↓"]
        shown = [cell.text for cell in grid.rows[0]]
        assert shown == ["open", "60", "0.100", f"{low:.3f} to {high:.3f}"]
        assert grid.rows[1][2].text == "0.000"
        assert not report_grid(report).marks_best
        first, second = report_records(report)
        assert (first["unlabelled"], second["unlabelled"]) == (0.1, 0.0)
        of_open, of_judged = report.signature.split(" ; ")
        assert of_open.replace("|unlabelled:bounds", "") == of_judged
        assert (first["auroc_min"], first["auroc_max"]) == astuple(expected[Key("auroc")])
        assert "auroc_min" not in second
    kinds = {note.id for note in report.results["open"].notes}
    assert {"variants_without_bounds", "bounds_only"} <= kinds


def test_a_table_shows_the_main_metrics_and_names_the_others(submissions):
    report = make_report(prepare_submissions(submissions))
    text = str(report)
    detail = {key for key in report.keys if key.entry.only_in_full}
    assert {title(key) for key in report.keys if title(key) in text} == {
        title(key) for key in {*report.keys} - detail
    }
    left_out = "not shown: CE conf, BS conf, AUGRC (ecuas score --full)"
    assert report_grid(report, keys=main_keys(report.keys)).hints[-1] == left_out
    assert left_out not in report_grid(report).hints
    assert all(str(key) in record for key in report.keys for record in report_records(report))


@pytest.mark.parametrize("num_classes", [None, 2, 4])
def test_a_few_systems_are_compared_with_their_answers_at_one_confidence(num_classes, rng):
    correct = (rng.random(80) < 0.7).astype(float)
    options = {"n": (0, 1), "num_classes": num_classes, "sample_weight": rng.random(80)}
    least = 1 / (num_classes or np.inf)  # confidences below it say no more
    share = max(np.average(correct, weights=options["sample_weight"]), least)
    constant = score_confidences(correct, np.full(80, share), **options)
    system = confidence_system(correct, rng.random(80), **options)
    perfect = confidence_system(correct, correct, **options)
    base, hint = report_grid(make_report([system])).hints
    assert base.startswith(f"reject costs of ECUAS_n: 0 to {1 - least:g}, ")
    assert ("num_classes=K" in base) == (num_classes is None)
    for key, value in score_confidences(correct, system.decisions.confidence, **options).items():
        if key.startswith("ecuas"):
            lost = f" (not beaten by {value:.3f})" if value >= constant[key] else ""
            assert f"{key.upper()} {constant[key]:.3f}{lost}" in hint
    *_, only = report_grid(make_report([system, perfect, perfect, perfect])).hints
    assert only.startswith("not below the number to beat")
    assert report_grid(make_report([perfect] * 4)).hints == [base]
    for change in (0, 1e-9, -1e-9):
        of_one = confidence_system(correct, np.full(80, share + change), **options)
        assert "not beaten" not in report_grid(make_report([of_one])).hints[1]


def test_a_metric_has_a_title_with_its_arrow():
    assert title(Key("ecuas", np.inf, "normalized")) == "N-ECUAS_∞ ↓"
    assert title(Key("ecuas", 0.0, "calibration_loss")) == "ECUAS_0 cal. loss ↓"
    assert [title(Key("coverage", 0.25)), title(Key("auroc"))] == ["Cov_0.25", "AUROC ↑"]


@pytest.mark.long
@pytest.mark.parametrize("level", [None, 0.9])
def test_each_system_is_sorted_once_and_for_comparisons_its_places_once(level, rng, monkeypatch):
    monkeypatch.setattr(np, "lexsort", None)  # it would not be counted
    monkeypatch.setattr(figures, "drawn", lambda *_, **__: b"")
    options = {"normalize": True, "decompose": True, "reject_costs": 0.2}
    options |= {"n_resamples": 10, "confidence_level": level}
    correct = rng.integers(0, 2, 211)
    with counted_sorts(211) as sorts:
        systems = {
            name: confidence_system(correct, rng.random(211).round(2), **options)
            for name in ("one", "two")
        }
        make_report(systems)
        if level is not None:
            compare_systems(systems, by_position=True)
        drawn = list(draw_figures(dict([*systems.items()][:1]), [""]))
    # Older versions of NumPy sort the places of both systems together to find the distinct ones.
    # a comparison has one more, which rejects everything, and sorts the places of the samples of the two
    expected = 2 if level is None else 5
    assert [size for size in sorts if size == (211,)] == [(211,)] * expected
    assert drawn == ["risk_coverage", "reject_cost", "ecuas_against_n", "reliability"]
    # which has no confidences
    by_log_cost = posterior_system([0, 1], [[0.6, 0.4], [0.3, 0.7]], cost="log")
    assert list(draw_figures({"one": by_log_cost}, [""])) == drawn[:-1]
