"""Samples without an answer: the laws of their costs, in every path that numbers take."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ecuas_metric import (
    InputError,
    confidence_system,
    read_submissions,
    score_confidences,
)
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.metric import METRICS
from ecuas_metric.plotting.curves import reject_cost_curve, reliability
from ecuas_metric.reporting.recalibrating import add_recalibrated
from ecuas_metric.results import compute_results
from ecuas_metric.summary import compute_summary_results, summarize_system
from tests.ecuas_metric.systems import confidence_systems

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
OPTIONS = {"n": (0, 0.5, 1, 128), "reject_costs": (0, 0.1, 0.35), "normalize": True}


@st.composite
def abstaining(draw):
    """Return confidences, correctness, abstentions and weights (N,)."""
    confidence, correct = draw(confidence_systems(min_size=2))
    size = len(confidence)
    abstained = draw(arrays(np.bool_, size))
    weight = draw(arrays(np.float64, size, elements=st.sampled_from([0.5, 1.0, 2.0])))
    return confidence, correct, abstained, weight


def make_numbers(confidence, correct, abstained=None, **options):
    system = confidence_system(correct, confidence, abstained=abstained, **options)
    return compute_results(system).flat()


@given(abstaining(), st.floats(0, 1))
def test_nothing_depends_on_what_stands_where_a_system_abstains(data, other):
    confidence, correct, abstained, _ = data
    blank = np.where(abstained, np.nan, confidence)
    unknown = np.where(abstained, np.nan, correct)
    options = OPTIONS | {"confidence_level": 0.9, "calibration": True}
    found = make_numbers(blank, unknown, abstained, **options)
    expected = make_numbers(np.where(abstained, other, confidence), correct, abstained, **options)
    assert found == pytest.approx(expected, nan_ok=True, rel=0, abs=0)


@given(abstaining())
def test_each_number_is_that_of_its_definition(data):
    confidence, correct, abstained, weight = data
    share = np.average(abstained, weights=weight)
    found = make_numbers(confidence, correct, abstained, sample_weight=weight, **OPTIONS)
    right = np.where(abstained, 0, correct)
    assert found["error_rate"] == pytest.approx(1 - np.average(right, weights=weight), abs=1e-12)
    for cost in OPTIONS["reject_costs"]:
        accepts = (1 - confidence <= cost + 1e-13) & ~abstained
        paid = np.where(accepts, 1 - correct, cost)
        expected = np.average(paid, weights=weight)
        assert found[f"expected_cost_{cost:g}"] == pytest.approx(expected, abs=1e-12)
        covered = np.average(accepts, weights=weight)
        assert found[f"coverage_{cost:g}"] == pytest.approx(covered, abs=1e-12)
    if abstained.all():
        assert [found[f"ecuas_{n:g}"] for n in OPTIONS["n"]] == pytest.approx([1] * 4)
        return
    answered = ~abstained
    alone = make_numbers(
        confidence[answered], correct[answered], sample_weight=weight[answered], **OPTIONS
    )
    for n in OPTIONS["n"]:
        expected = 1 - (1 - share) * (1 - alone[f"ecuas_{n:g}"])
        assert found[f"ecuas_{n:g}"] == pytest.approx(expected, rel=1e-11)
    of_answers = [name for name, metric in METRICS.items() if metric.skips_abstentions]
    for name in itertools.chain(of_answers, [f"normalized_{name}" for name in of_answers]):
        if name in alone:
            assert found[name] == pytest.approx(alone[name], nan_ok=True, rel=1e-9, abs=1e-12), name


@given(abstaining())
def test_states_have_the_numbers_of_memory(data):
    confidence, correct, abstained, weight = data
    system = confidence_system(
        correct, confidence, abstained=abstained, sample_weight=weight, **OPTIONS
    )
    options = {"normalize": True, "confidence_level": 0.9}
    found = compute_summary_results(summarize_system(system), **options).flat()
    expected = make_numbers(
        confidence, correct, abstained, sample_weight=weight, confidence_level=0.9, **OPTIONS
    )
    assert found.keys() >= expected.keys()
    for key, value in expected.items():
        if not key.endswith(("_low", "_high")):  # of weights the sums tell less
            assert found[key] == pytest.approx(value, nan_ok=True, rel=1e-9, abs=1e-12), key


@pytest.fixture
def table(rng):
    confidence = rng.random(400).round(2)
    correct = (rng.random(400) < confidence).astype(int)
    abstained = rng.random(400) < 0.2
    words = np.where(correct == 1, "CORRECT", "INCORRECT")
    return pd.DataFrame(
        {
            "id": np.arange(400) + 7,
            "confidence": np.where(abstained, np.nan, confidence),
            "correct": np.where(abstained, np.nan, correct),
            "abstained": abstained.astype(int),
            "grade": np.where(abstained, "NOT_ATTEMPTED", words),
            "label": np.where(np.arange(400) % 2, "a", "b"),
            "predicted": np.where((np.arange(400) + correct) % 2, "b", "a"),
        }
    )


def of_table(table, **options):
    silent = table["abstained"].to_numpy() == 1
    return score_confidences(table["correct"], table["confidence"], abstained=silent, **options)


def test_files_of_every_form_say_who_gives_no_answer(table, tmp_path):
    by_column = table[["id", "confidence", "correct", "abstained"]]
    by_word = table[["id", "confidence", "grade"]].rename(columns={"grade": "correct"})
    classes = table[["id", "confidence", "label", "predicted"]].copy()
    classes["predicted"] = classes["predicted"].where(table["abstained"] == 0)
    graded = by_word.assign(correct=by_word["correct"].where(table["abstained"] == 0, "-1"))
    cases = [
        (by_column, {}),
        (by_word, {"abstained": "NOT_ATTEMPTED"}),
        (by_word, {"abstained": "NOT_ATTEMPTED", "right": "CORRECT/INCORRECT"}),
        (classes, {"abstained": ""}),
        (graded, {"abstained": "-1"}),
    ]
    for number, (rows, how) in enumerate(cases):
        path = tmp_path / f"{number}.csv"
        rows.to_csv(path, index=False)
        submissions = read_submissions(path, **how)
        (system,) = prepare_submissions(submissions, reject_costs=(0.2,)).values()
        results = compute_results(system)
        num_classes = 2 if rows is classes else None
        expected = of_table(table, reject_costs=(0.2,), num_classes=num_classes)
        assert results.flat() == pytest.approx(expected), how
        assert [note.id for note in results.notes].count("abstentions") == 1
        assert "abstentions:rejections" in str(results.basis)
        again = read_submissions(path, recipe=submissions[0].recipe)
        assert again[0].per_sample == submissions[0].per_sample


@pytest.mark.parametrize("nothing", ["", "-", "n/a"])
@pytest.mark.parametrize("silent", [[0, 1], [0, 1, 2], [2, 3]])
@pytest.mark.parametrize("right", ["", "yes/no"])
def test_what_is_not_answered_leaves_what_is_as_it_stands(nothing, silent, right, tmp_path):
    yes, no = right.split("/") if right else ("1", "0")
    cells = {
        "confidence": [nothing, "0.9", "0.3", "0.8", "0.6", nothing],
        "correct": [yes, nothing, no, nothing, nothing, nothing],
    }
    rows = pd.DataFrame(cells).assign(abstained=np.isin(np.arange(6), silent).astype(int))
    paths = [tmp_path / "all.csv", tmp_path / "answered.csv"]
    for path, table in zip(paths, (rows, rows[rows["abstained"] == 0]), strict=True):
        table.to_csv(path, index=False)
    how = {"unlabelled": "bounds", "right": right or None}
    if rows.loc[rows["abstained"] == 0, "correct"].eq(nothing).all():
        with pytest.raises(InputError, match="no value"):
            read_submissions(paths[1], **how | {"right": None})
        paths = paths[:1]
    submissions = [read_submissions(path, **how)[0] for path in paths]
    answered = ~np.isin(np.arange(6), silent)
    assert not submissions[0].unlabelled.rows[~answered].any()
    assert (
        submissions[0].unlabelled.rows[answered] == (rows["correct"][answered] == nothing)
    ).all()
    expected = pd.to_numeric(rows["confidence"][answered], errors="coerce")
    for one in submissions:
        found = one.predictions if len(one.predictions) < 6 else one.predictions[answered]
        np.testing.assert_array_equal(found, expected)


def test_a_class_without_an_answer_needs_no_true_one(table, tmp_path):
    classes = table[["confidence", "label", "predicted", "abstained"]]
    bare = classes.assign(label=classes["label"].where(table["abstained"] == 0))
    found = []
    for rows in (classes, bare):
        rows.to_csv(tmp_path / "a.csv", index=False)
        (system,) = prepare_submissions(read_submissions(tmp_path / "a.csv")).values()
        found.append(compute_results(system).flat())
    assert found[0] == found[1]


def test_a_file_in_which_nothing_is_answered_costs_1(table, tmp_path):
    path = tmp_path / "silent.csv"
    table.assign(correct="NOT_ATTEMPTED")[["confidence", "correct"]].to_csv(path, index=False)
    (system,) = prepare_submissions(read_submissions(path, abstained="NOT_ATTEMPTED")).values()
    values = compute_results(system).flat()
    assert [values["ecuas_0"], values["ecuas_1"], values["error_rate"]] == [1, 1, 1]
    assert np.isnan(values["ece"])


def test_words_that_are_no_verdicts_are_asked_about(table, tmp_path):
    path = tmp_path / "graded.csv"
    table[["confidence", "grade"]].to_csv(path, index=False)
    with pytest.raises(InputError, match="abstained='not_attempted'"):
        read_submissions(path, columns={"correct": "grade"})
    table[["confidence", "label", "predicted"]].assign(predicted="").to_csv(path, index=False)
    with pytest.raises(InputError, match="abstained=''"):
        read_submissions(path)


def test_curves_and_recalibration_leave_them_out(table, tmp_path):
    silent = table["abstained"].to_numpy() == 1
    system = confidence_system(table["correct"], table["confidence"], abstained=silent, n=1)
    curve = reject_cost_curve(system, reject_cost=[0.2, 1.0])
    assert curve.coverage[1] == pytest.approx(1 - silent.mean())
    assert curve.expected_cost[0] == pytest.approx(
        of_table(table, reject_costs=0.2)["expected_cost_0.2"]
    )
    assert reliability(system).counts.sum() == np.count_nonzero(~silent)
    pytest.importorskip("sklearn")
    path = tmp_path / "a.csv"
    table[["id", "confidence", "correct", "abstained"]].to_csv(path, index=False)
    submissions = read_submissions(path)
    systems, _ = add_recalibrated(prepare_submissions(submissions), submissions, method="affine")
    _, after = systems.values()
    assert after.decisions.abstained.tolist() == silent.tolist()


def test_what_is_no_mark_is_refused():
    with pytest.raises(InputError, match="abstained must be 0 or 1"):
        score_confidences([1, 0], [0.5, 0.5], abstained=[0, 0.5])
    with pytest.raises(InputError, match="abstained"):
        score_confidences([1, 0], [0.5, 0.5], abstained=[0, 0, 1])
