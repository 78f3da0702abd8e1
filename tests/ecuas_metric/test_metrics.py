"""Laws that hold for every metric, driven by the registry."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecuas_metric import inputs
from ecuas_metric.decisions import confidence_decisions, cost_decisions, posterior_decisions
from ecuas_metric.metrics import METRICS, metric_of, scores
from ecuas_metric.options import checked_options
from tests.conftest import read_only
from tests.ecuas_metric.systems import compute, confidence_systems, posterior_systems

pytestmark = pytest.mark.filterwarnings("ignore")
SETTINGS = {"n": (0, 0.5, 1, 128, np.inf), "reject_costs": (0.1, 0.25)}


def score(form, predictions, references, **options):
    return compute(form, predictions, references, checked_options(**SETTINGS, **options))


@st.composite
def systems(draw):
    """Any form of input, as (form, predictions, references, options)."""
    form = draw(st.sampled_from(["confidences", "posteriors", "log", "matrix", "graded"]))
    if form in ("confidences", "graded"):
        predictions, references = draw(confidence_systems())
        references = references if form == "confidences" else references * draw(st.sampled_from([1.0, 2.5]))
        return form, predictions, references, {"max_uncertainty": 1.0} if form == "graded" else {}
    predictions, references = draw(posterior_systems())
    cost = {"posteriors": "zero_one", "log": "log"}.get(form, 0.5 + 1.5 * ~np.eye(predictions.shape[1], dtype=bool))
    return "posteriors", predictions, references, {"cost": cost, "normalize": True}


def same(ours, expected):
    assert list(ours) == list(expected)
    np.testing.assert_allclose(list(ours.values()), list(expected.values()), rtol=1e-9, atol=1e-12)


def test_the_registry_is_what_the_forms_give_together():
    keys = set()
    for form, predictions, references, options in (
        ("confidences", np.array([0.9, 0.2]), np.array([1, 0]), {}),
        ("posteriors", np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]), {}),
        ("graded", np.array([0.9, 0.2]), np.array([1.0, 0.0]), {"max_uncertainty": 1}),
    ):
        keys |= set(score(form, predictions, references, **options))
    assert {key if key in METRICS else key.rsplit("_", 1)[0] for key in keys} == set(METRICS)
    assert metric_of("ecuas_0.5") is METRICS["ecuas"]
    assert metric_of("brier_score") is METRICS["brier_score"]


@given(systems(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(system, random):
    form, predictions, references, options = system
    order = random.sample(range(len(references)), len(references))
    same(score(form, predictions[order], references[order], **options), score(form, predictions, references, **options))


@given(systems(), st.data())
def test_whole_weights_are_repetition(system, data):
    form, predictions, references, options = system
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(references), max_size=len(references))))
    assume(weights.any())
    repeated = np.repeat(predictions, weights, axis=0), np.repeat(references, weights)
    same(score(form, predictions, references, sample_weight=weights, **options), score(form, *repeated, **options))


@given(systems(), st.sampled_from([0.3, 7.7]))
def test_equal_weights_in_any_unit_are_no_weights(system, unit):
    form, predictions, references, options = system
    weights = np.full(len(references), unit)
    same(
        score(form, predictions, references, sample_weight=weights, **options),
        score(form, predictions, references, **options),
    )


@given(systems())
def test_input_is_never_written_to(system):
    form, predictions, references, options = system
    score(form, read_only(predictions), read_only(references), **options)


@given(systems())
def test_one_sample_is_enough(system):
    form, predictions, references, options = system
    values = score(form, predictions[:1], references[:1], **options)
    assert values["aurc"] == values.get("error_rate", values.get("risk"))
    assert values["augrc"] == values["aurc"] / 2
    assert all(isinstance(value, float) for value in values.values())


@given(systems())
def test_blocks_change_nothing(system):
    form, predictions, references, options = system
    whole = score(form, predictions, references, **options)
    before, inputs.BLOCK_SIZE = inputs.BLOCK_SIZE, 5
    try:
        same(score(form, predictions, references, **options), whole)
    finally:
        inputs.BLOCK_SIZE = before


@given(systems())
def test_the_expected_cost_is_selective_risk_times_coverage_plus_reject_cost_times_the_rest(system):
    values = score(*system[:3], **system[3])
    for g in SETTINGS["reject_costs"]:
        coverage, risk = values[f"coverage_{g:g}"], values[f"selective_risk_{g:g}"]
        if coverage == 0:
            assert np.isnan(risk)
            risk = 0
        assert values[f"expected_cost_{g:g}"] == pytest.approx(risk * coverage + g * (1 - coverage))


@given(confidence_systems(), st.floats(0.2, 5))
def test_ranking_metrics_see_only_the_order(system, power):
    confidence, correct = system
    assume(len(np.unique(confidence**power)) == len(np.unique(confidence)))
    ours, expected = (score("confidences", values, correct) for values in (confidence**power, confidence))
    for key in ("auroc", "aurc", "augrc", "error_rate"):
        assert ours[key] == pytest.approx(expected[key], nan_ok=True)


def test_all_ties_know_nothing(rng):
    correct = np.array([1, 1, 1, 0])
    values = score("confidences", np.full(4, 0.75), correct)
    assert values["auroc"] == 0.5
    assert values["aurc"] == pytest.approx(0.25)
    assert values["ece"] == 0


def test_a_perfect_system_costs_nothing():
    values = score("posteriors", np.eye(3), np.arange(3))
    assert all(values[key] == 0 for key in values if metric_of(key).judges == "both" and key[:9] != "selective")
    assert np.isnan(values["auroc"])


def test_precision_of_float64_survives():
    values = scores(confidence_decisions(np.array([1 - 1e-9, 1 - 1e-9]), np.array([1, 0])), n=(0,), epsilon=1e-12)
    assert values["ecuas_0"] == pytest.approx((1e-9 - 1e-9 * 0 + 1e-9 - np.log(1e-9)) / 2, rel=1e-6)


def test_several_sets_of_weights_give_what_each_gives_alone(rng):
    graded = posterior_decisions(rng.dirichlet(np.ones(4), 40), rng.integers(0, 4, 40))
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=5).astype(float)
    together = scores(graded, sample_weight=weights, **SETTINGS)
    alone = [scores(graded, sample_weight=row, **SETTINGS) for row in weights]
    for key, values in together.items():
        np.testing.assert_allclose(values, [row[key] for row in alone], rtol=1e-12, err_msg=key)


def test_a_cost_twice_as_dear_doubles_risk_and_areas_and_leaves_ecuas():
    u, c = np.array([0.1, 0.5, 0.7]), np.array([0.0, 2.0, 1.0])
    once = scores(cost_decisions(u, c, max_uncertainty=1.0), n=(0, 1))
    twice = scores(cost_decisions(2 * u, 2 * c, max_uncertainty=2.0), n=(0, 1), epsilon=2e-7)
    for key, value in once.items():
        assert twice[key] == pytest.approx(value * (1 if key.startswith("ecuas") else 2))


def test_no_warning_where_nothing_is_wrong(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score("posteriors", rng.dirichlet(np.ones(4), 40), np.arange(40) % 4, normalize=True)
