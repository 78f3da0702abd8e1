import numpy as np
import pytest

from ecuas_metric.designs import design_of_options
from ecuas_metric.options import Options, checked_options
from ecuas_metric.results import all_values, prepare, ranked, resampled_values
from ecuas_metric.sampling import bootstrap_weights

SIZE = 9000
COUNT = 5  # more than a block of samples
OPTIONS = {"reject_costs": 0.1, "confidence_level": 0.95, "weights_are": "counts"}


def outputs(rng, form):
    if form == "posteriors":
        posteriors = rng.dirichlet([1.0, 2.0, 0.5], SIZE).round(2)
        posteriors[:, 0] += 1 - posteriors.sum(axis=1)
        return np.maximum(posteriors, 0), rng.integers(0, 3, SIZE), {"normalize": True}
    if form == "costs":
        return rng.random(SIZE), rng.exponential(size=SIZE), {"max_uncertainty": 1.0}
    confidence = rng.random(SIZE)
    if form == "tenths":
        confidence = confidence.round(1)
    correct = (rng.random(SIZE) < confidence).astype(int)
    if form == "equal ties":
        correct = (np.sin(50 * confidence.round(2)) > 0).astype(int)
    return confidence, correct, {"normalize": True}


@pytest.mark.parametrize("design", ["simple", "groups", "counts", "importance"])
@pytest.mark.parametrize("form", ["confidences", "tenths", "equal ties", "posteriors", "costs"])
def test_each_resample_has_the_values_of_its_counts_as_weights(rng, form, design):
    predictions, references, options = outputs(rng, form)
    kind = form if form in ("posteriors", "costs") else "confidences"
    if design == "groups":  # of unequal sizes: then resamples differ in theirs
        options |= {"groups": np.sqrt(np.arange(SIZE)).astype(int)}
    elif design != "simple":  # a draw counts the weight of the sample
        weight = rng.integers(1, 4, SIZE) if design == "counts" else rng.exponential(size=SIZE)
        options |= {"sample_weight": weight, "weights_are": design}
    system = prepare(kind, predictions, references, checked_options(**OPTIONS | options))
    drawn_by = design_of_options(system.options, SIZE)
    (counts,) = bootstrap_weights(drawn_by, Options(n_resamples=COUNT))
    together = resampled_values(system, counts)
    own = system.options.sample_weight
    for row, drawn in enumerate(counts.astype(np.float64)):
        weight = drawn if own is None else drawn * own
        alone = all_values(ranked(system.decisions, system.options.replace(sample_weight=weight)))
        assert {key: values[row] for key, values in together.items()} == pytest.approx(
            alone, rel=1e-12, abs=1e-15
        )
