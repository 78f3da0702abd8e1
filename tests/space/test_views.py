import math
import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.metrics import METRICS, scores
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.report import make_report, prepare_tables, report_grid
from ecuas_metric.results import prepare
from space import views
from space.uploads import read_uploads


@pytest.fixture
def systems(rng):
    q = rng.random((2, 1000))
    return {name: system(q[i], (rng.random(1000) < q[i]).astype(int)) for i, name in enumerate("ab")}


def system(predictions, references, **options):
    form = "confidences" if predictions.ndim == 1 else "posteriors"
    return prepare(form, predictions, references, checked_options(**options))


def text_of(html):
    return re.sub(r"<[^>]*>", "", html)


@pytest.fixture
def report(files):
    tables = read_uploads(files)
    return make_report(prepare_tables(tables, confidence_level=0.9, n_resamples=50), tables)


def test_the_table_holds_every_cell_of_the_reports_grid(report):
    rows = re.findall(r"<tr>(.*?)</tr>", views.report_table(report))
    cells = [[text_of(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    grid = report_grid(report)
    expected = [[re.sub(" (?=\\[)", "", cell.text) for cell in row] for row in grid.rows]
    assert cells[0] == grid.head
    assert [[cell.replace(" ★", "") for cell in row] for row in cells[1:]] == expected
    assert [["★" in cell for cell in row] for row in cells[1:]] == [[cell.is_best for cell in row] for row in grid.rows]


def test_names_are_text_wherever_they_stand(report):
    evil = '<img src=x onerror="alert(1)">'
    named = report._replace(values={evil: report.values["first"]}, notes=[evil])
    for html in (views.report_table(named), views.message(evil), views.bullets([evil])):
        assert "<img" not in html
        assert "&lt;img" in html


def test_code_in_a_message_is_code_and_nothing_else():
    assert views.message("use `ecuas <b>`") == (
        '<div class="message note" role="status">use <code>ecuas &lt;b&gt;</code></div>'
    )
    assert views.message("") == ""


@pytest.mark.parametrize("key", [*METRICS, "ecuas_0.5", "normalized_ecuas_0", "ecuas_1_recalibrated"])
def test_every_metric_has_a_tooltip_that_says_what_it_judges(key):
    tip = views.tells(key)
    assert re.search(r"Judges .*; (lower is|higher is|neither way is) better\.", tip)
    assert ("ignores its input" in tip) == key.startswith("normalized")


def test_risk_coverage_ends_at_the_error_rate_with_few_points(systems):
    frame = views.risk_coverage_frame(systems)
    for name, (graded, *_) in systems.items():
        one = frame[frame["system"] == name]
        assert len(one) <= views.NUM_POINTS
        assert one["coverage"].is_monotonic_increasing
        assert one.iloc[-1][["coverage", "risk"]].tolist() == pytest.approx([1, graded.candidate_cost.mean()], abs=1e-5)


def test_what_is_thinned_is_a_part_of_the_curve(systems):
    from ecuas_metric.plotting.curves import risk_coverage

    curve = risk_coverage(systems["a"].graded)
    points = set(zip(curve.coverage.round(5), curve.risk.round(5), strict=True))
    frame = views.risk_coverage_frame({"a": systems["a"]})
    assert set(zip(frame["coverage"], frame["risk"], strict=True)) <= points


def test_few_points_are_all_kept():
    few = system(np.array([0.9, 0.5, 0.2]), np.array([1, 0, 1]))
    assert len(views.risk_coverage_frame({"a": few})) == 3


def test_expected_cost_is_that_of_the_metric(systems):
    frame = views.reject_cost_frame(systems).set_index(["system", "reject_cost"])["expected_cost"]
    for name, (graded, *_) in systems.items():
        expected = scores(graded, n=(0,), reject_costs=(0.25,))["expected_cost_0.25"]
        assert frame[name, 0.25] == pytest.approx(expected, abs=1e-5)
        assert frame[f"{views.ACCEPT} {name}", 0.25] == pytest.approx(graded.candidate_cost.mean(), abs=1e-5)
    assert frame[views.REJECT, 0.25] == 0.25


def test_the_plots_limit_shows_every_system_whole(systems):
    frame = views.reject_cost_frame(systems)
    assert views.highest_cost(frame) > frame["expected_cost"][frame["system"] != views.REJECT].max()


def test_reliability_averages_to_accuracy(systems):
    frame = views.reliability_frame(systems)
    for name, (graded, *_) in systems.items():
        one = frame[frame["system"] == name]
        assert one["samples"].sum() == 1000
        assert np.average(one["accuracy"], weights=one["samples"]) == pytest.approx(
            1 - graded.candidate_cost.mean(), abs=1e-4
        )
    counts = views.counts_frame(systems)
    assert counts.groupby("system")["samples"].sum().tolist() == [1000, 1000]
    assert counts["confidence"].unique().tolist()[:2] == ["0.0-0.1", "0.1-0.2"]


def test_order_curve_holds_the_metric_at_each_n(systems):
    frame = views.order_frame(systems).set_index(["system", "n"])["ecuas"]
    values = scores(systems["a"].graded, n=(0, 0.5, 1, 128, math.inf))
    for name, order in (("0", "0"), ("1/2", "0.5"), ("1", "1"), ("128", "128"), ("∞", "inf")):
        assert frame["a", name] == pytest.approx(values[f"ecuas_{order}"], abs=1e-5)


def test_weights_are_repetitions_in_every_plot(rng):
    q, correct, weight = rng.random(40), rng.integers(0, 2, 40), rng.integers(0, 3, 40)
    weighted = {"a": system(q, correct, sample_weight=weight)}
    repeated = {"a": system(np.repeat(q, weight), np.repeat(correct, weight))}
    for draw in (views.reject_cost_frame, views.order_frame, views.reliability_frame):
        frames = [draw(systems).drop(columns="samples", errors="ignore") for systems in (weighted, repeated)]
        pd.testing.assert_frame_equal(*frames, atol=2e-5)
    assert views.counts_frame(weighted)["samples"].sum() == 40


def test_posteriors_are_drawn_too(rng):
    classifier = system(rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50))
    assert views.reject_cost_frame({"a": classifier})["reject_cost"].max() == pytest.approx(2 / 3, abs=1e-5)
    assert len(views.reliability_frame({"a": classifier})) > 2


@pytest.mark.parametrize(("n", "num_classes"), [(0, None), (1, 4), (2.5, 100)])
def test_the_two_costs_are_those_of_the_metric(n, num_classes):
    u_max = 1 if num_classes is None else 1 - 1 / num_classes
    costs = views.answer_costs(n=n, num_classes=num_classes, confidence=0.75)
    assert costs == pytest.approx(ecuas_cost([0.25, 0.25], [0, 1], n=n, max_uncertainty=u_max).tolist())
    frame = views.cost_frame(n=n, num_classes=num_classes, confidence=0.75)
    assert frame[frame["answer"] == views.CHOSEN]["cost"].tolist() == pytest.approx(costs, abs=1e-5)


def test_the_costs_of_ecuas_1_by_hand():
    # r^2, and r^2 + 2 (1 - r) for r = 0.2
    assert views.answer_costs(n=1, num_classes=None, confidence=0.8) == pytest.approx((0.04, 1.64))
    assert ">0.040<" in views.cost_numbers(n=1, num_classes=None, confidence=0.8)


def test_below_chance_an_answer_counts_as_rejected_and_the_page_says_so():
    assert views.answer_costs(n=1, num_classes=4, confidence=0.1) == (1, 1)
    assert "Below 1/K = 0.250" in views.cost_numbers(n=1, num_classes=4, confidence=0.1)
    assert "Below" not in views.cost_numbers(n=1, num_classes=None, confidence=0.0)


def test_every_line_has_a_style_and_accepting_all_its_systems(systems):
    styles = views.styles(systems)
    assert set(views.reject_cost_frame(systems)["system"]) <= set(styles)
    assert set(views.reliability_frame(systems)["system"]) <= set(styles)
    assert (styles["a"], styles["b"]) == ("slot-1", "slot-2")
    assert styles[f"{views.ACCEPT} a"] == "slot-1 faint"


def test_a_row_of_the_table_is_marked_as_its_lines_are(report):
    html = views.report_table(report)
    marked = dict(re.findall(r'swatch (slot-\d)"></i>(\w+)<', html))
    assert {name: slot for slot, name in marked.items()} == {
        name: style for name, style in views.styles(report.values).items() if name in report.values
    }


def test_frames_hold_plain_numbers(systems):
    for frame in (views.reject_cost_frame(systems), views.order_frame(systems), views.reliability_frame(systems)):
        assert not frame.isna().to_numpy().any()
        assert isinstance(frame, pd.DataFrame)
