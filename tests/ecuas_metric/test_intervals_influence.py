import numpy as np
import pytest

from ecuas_metric.intervals import influences
from ecuas_metric.metric import Key
from ecuas_metric.options import checked_options
from ecuas_metric.results import all_values, prepare
from ecuas_metric.sampling import Resampling, bootstrap, design_of, jackknife, standard_error

SIZE = 600
# A bin's sign may change; few are accepted; blocks of equal fitted values change.
TOLERANCE = {"ece": 0.15, "selective_risk": 0.06, "recalibrated": 0.12, "calibration_loss": 0.2}


def confidences(rng):
    p = rng.beta(4, 1.5, SIZE)
    return "confidences", p, (rng.random(SIZE) < p).astype(int), {"num_classes": 4, "reject_costs": (0.1, 0.3)}


def tenths(rng):
    form, p, correct, options = confidences(rng)
    return form, p.round(1), correct, options | {"sample_weight": rng.exponential(size=SIZE)}


def posteriors(rng):
    q = rng.dirichlet(np.full(4, 0.7), SIZE)
    labels = (rng.random((SIZE, 1)) > np.cumsum(q, axis=1)).sum(axis=1).clip(max=3)
    return "posteriors", q, labels, {"reject_costs": 0.2}


def matrix(rng):
    form, q, labels, _ = posteriors(rng)
    return form, q, labels, {"cost": rng.random((4, 3)) + 0.1, "sample_weight": rng.exponential(size=SIZE)}


def entropies(rng):
    form, q, labels, _ = posteriors(rng)
    return form, q, labels, {"cost": "log"}


def standard_errors(system):
    design, values = design_of(system.options, SIZE), all_values(system)
    found = dict(influences(system.decisions, system.options, values))
    assert set(found) == set(values)
    return {key: standard_error(influence, design) for key, influence in found.items()}, found, design


@pytest.mark.parametrize("output", [confidences, tenths, posteriors, matrix, entropies])
def test_every_standard_error_is_the_jackknifes(output, rng):
    form, predictions, references, options = output(rng)
    options = checked_options(confidence_level=0.95, normalize=True, decompose=True, n=(0, 1), **options)
    system = prepare(form, predictions, references, options)
    errors, found, design = standard_errors(system)
    without = jackknife(lambda weights: all_values(system, weights), SIZE, resampling=Resampling())
    for key, values in without.items():
        theirs = np.sqrt((SIZE - 1) * values.var())
        assert errors[key] == pytest.approx(theirs, rel=TOLERANCE.get(key.variant or key.metric, 0.03)), str(key)
        assert design.weight @ found[key] == pytest.approx(0, abs=1e-8), str(key)


def test_standard_errors_are_those_of_the_textbook_and_delongs(rng):
    form, p, correct, _ = confidences(rng)
    p = p.round(1)
    errors, _, _ = standard_errors(prepare(form, p, correct, checked_options(confidence_level=0.95)))
    for metric, values in (("confidence_brier_score", np.square(p - correct)), ("error_rate", correct)):
        assert errors[Key(metric)] == pytest.approx(values.std(ddof=1) / np.sqrt(SIZE), rel=1e-12)
    right, wrong = p[correct == 1], p[correct == 0]
    wins = (right[:, None] > wrong) + (right[:, None] == wrong) / 2
    theirs = wins.mean(axis=1).var(ddof=1) / len(right) + wins.mean(axis=0).var(ddof=1) / len(wrong)
    assert errors[Key("auroc")] == pytest.approx(np.sqrt(theirs), rel=0.01)  # DeLong divides by n - 1 of each kind


@pytest.mark.parametrize("design", ["groups", "strata", "both"])
def test_groups_and_strata_are_those_of_the_bootstrap(design, rng):
    form, p, correct, _ = confidences(rng)
    p, correct = np.sort(p), correct[np.argsort(p)]  # so that groups and strata are alike inside
    options = {}
    if design != "strata":
        options["groups"] = np.arange(SIZE) // 6
    if design != "groups":
        options["strata"] = np.arange(SIZE) // 300
    system = prepare(form, p, correct, checked_options(confidence_level=0.95, **options))
    groups, strata = system.options.groups, system.options.strata
    resampling = Resampling(4000, groups=groups, strata=strata)
    replicates = bootstrap(lambda weights: all_values(system, weights), SIZE, resampling=resampling)
    errors = standard_errors(system)[0]
    for key in errors:
        if key.metric != "ece":
            assert errors[key] == pytest.approx(replicates[key].std(), rel=0.07), str(key)


def test_the_standard_error_of_a_mean_in_strata_is_the_textbooks(rng):
    values, strata = rng.normal(size=30), np.repeat([0, 1, 2], [4, 10, 16])
    parts = [values[strata == stratum] for stratum in range(3)]
    expected = np.sqrt(sum((len(part) / 30) ** 2 * part.var(ddof=1) / len(part) for part in parts))
    found = standard_error(values - values.mean(), design_of(checked_options(strata=strata), 30))
    assert found == pytest.approx(expected)
