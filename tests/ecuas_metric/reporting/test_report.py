import numpy as np
import pytest

from ecuas_metric.metrics import METRICS, metric_of
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.report import (
    compare_systems,
    make_report,
    prepare_submissions,
    report_grid,
    title,
    write_figures,
)
from ecuas_metric.reporting.submissions import Place, Table
from tests.ecuas_metric.systems import compute


def table(name, rng, *, form="confidences", correct=None, size=60, ids=None, **columns):
    predictions = rng.random(size) if form == "confidences" else rng.dirichlet(np.ones(3), size)
    references = rng.integers(0, 2 if form == "confidences" else 3, size) if correct is None else correct
    rest = {"weight": None, "group": None, "stratum": None, "unjudged": 0} | columns
    named = {"predictions": "confidence", "references": "correct"}
    where = Place(f"{name}.csv", named, np.arange(2, size + 2))
    return Table(name, form, predictions, references, ids, **rest, where=where)


@pytest.fixture
def tables(rng):
    return [table(name, rng) for name in ("one", "two", "=three")]


def test_every_system_has_the_numbers_of_the_metric(tables):
    report = make_report(prepare_submissions(tables, n=(0, 2), confidence_level=0.9, n_resamples=20), tables)
    options = checked_options(n=(0, 2), confidence_level=0.9, n_resamples=20)
    for one in tables:
        assert report.values[one.name] == pytest.approx(
            compute("confidences", one.predictions, one.references, options)
        )
    assert list(report.values) == ["one", "two", "=three"]


def test_columns_stand_in_the_papers_order(tables):
    report = make_report(prepare_submissions(tables, reject_costs=0.2, decompose=True), tables)
    order = [
        "error_rate",
        "ece",
        "auroc",
        "confidence_brier_score",
        "aurc",
        "ecuas_0",
        "ecuas_128",
        "expected_cost_0.2",
    ]
    assert [report.keys.index(key) for key in order] == sorted(report.keys.index(key) for key in order)


def test_confidence_metrics_bear_a_dagger_and_no_best_where_answers_differ(tables, rng):
    report = make_report(prepare_submissions(tables), tables)
    assert set(report.unfair) == {key for key in report.keys if metric_of(key).judges == "confidences"}
    grid = report_grid(report)
    for column, head in enumerate(grid.head):
        best = [row[column].is_best for row in grid.rows]
        assert any(best) == (column > 0 and "†" not in head), head
    assert any("Do not rank" in note for note in grid.notes)
    alike = [table("one", rng, correct=tables[0].references), tables[0]._replace(name="two")]
    assert not make_report(prepare_submissions(alike), alike).unfair


def test_the_best_is_the_best(tables):
    report = make_report(prepare_submissions(tables), tables)
    grid = report_grid(report, keys=["error_rate", "ecuas_0"])
    for column, key in enumerate(("error_rate", "ecuas_0"), start=1):
        marked = [name for name, row in zip(report.values, grid.rows, strict=True) if row[column].is_best]
        lowest = min(values[key] for values in report.values.values())
        assert marked == [name for name, values in report.values.items() if values[key] == lowest]


def test_intervals_are_shown_behind_their_numbers(tables):
    report = make_report(prepare_submissions(tables, confidence_level=0.9, n_resamples=20), tables)
    text = report_grid(report, keys=["ecuas_1"], digits=2).rows[0][1].text
    values = report.values["one"]
    assert text == f"{values['ecuas_1']:.2f} [{values['ecuas_1_low']:.2f}, {values['ecuas_1_high']:.2f}]"


def test_ids_of_another_order_do_not_make_answers_differ(rng):
    correct, order = rng.integers(0, 2, 60), rng.permutation(60)
    ids = [f"q{i}" for i in range(60)]
    one, two = (
        table("one", rng, correct=correct, ids=ids),
        table("two", rng, correct=correct[order], ids=[ids[i] for i in order]),
    )
    systems = prepare_submissions([one, two], confidence_level=0.9, n_resamples=10)
    assert not make_report(systems, [one, two]).unfair
    assert all(row.fair for row in compare_systems(systems, [one, two]))


def test_weights_and_groups_of_the_file_are_used(rng):
    weights = [1.0, 3.0] * 30
    one = table("one", rng, weight=weights, group=["a", "b", "c"] * 20)
    system = prepare_submissions([one], confidence_level=0.9)["one"]
    assert system.options["sample_weight"].tolist() == weights
    assert system.options["groups"].max() == 2


def test_errors_speak_of_files(rng):
    with pytest.raises(ValueError, match=r"^systems must have different names; 'one' is repeated\.$"):
        prepare_submissions([table("one", rng), table("one", rng)])
    with pytest.raises(
        ValueError, match=r"^systems of one table must have one form; one\.csv holds confidences, two\.csv"
    ):
        prepare_submissions([table("one", rng), table("two", rng, form="posteriors")])
    one = table("one", rng)
    one.predictions[4] = np.nan
    with pytest.raises(
        ValueError, match=r"^one\.csv: column 'confidence' must not be NaN; got nan in row 6 \(1 of 60\)"
    ):
        prepare_submissions([one])


def test_left_out_answers_are_noted(rng):
    one = table("one", rng, unjudged=3)
    assert "one: 3 unjudged answers left out." in make_report(prepare_submissions([one]), [one]).notes


def test_every_metric_has_a_title_with_its_arrow():
    for key, metric in METRICS.items():
        arrow = {True: " ↑", False: " ↓", None: ""}[metric.higher_is_better]
        assert title(key) == f"{metric.title}{arrow}"
    assert title("normalized_ecuas_inf") == "N-ECUAS_∞ ↓"
    assert title("ecuas_0_calibration_loss") == "ECUAS_0 cal. loss ↓"
    assert title("expected_cost_0.25") == "EC_0.25 ↓"


def test_figures_are_drawn(tables, tmp_path):
    names = {path.name for path in write_figures(prepare_submissions(tables), tmp_path)}
    assert {"risk_coverage.png", "reject_cost.svg", "reliability.png", "ecuas_against_n.svg"} <= names
