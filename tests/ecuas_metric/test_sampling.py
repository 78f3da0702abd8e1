import re

import numpy as np
import pytest
from scipy import stats

from ecuas_metric import inputs
from ecuas_metric.options import Options, checked_options
from ecuas_metric.results import (
    compute_results,
    compute_values,
    make_system,
    prepare_system,
    resampled_values,
)
from ecuas_metric.sampling import bootstrap_counts, bootstrap_intervals, make_design
from tests.ecuas_metric.scale.parts import FORMS


@pytest.fixture
def system(rng):
    confidence = rng.beta(4, 1.5, 300)
    return confidence, (rng.random(300) < confidence).astype(int)


def percentile(system, **options):
    options = checked_options(
        **{"confidence_level": 0.95, "interval_method": "percentile"} | options
    )
    return compute_results(prepare_system("confidences", *system, options))


def all_weights(num_samples, count, **design):
    options = Options(n_resamples=count, **design)
    return np.concatenate(list(bootstrap_counts(make_design(num_samples, options), options)))


@pytest.mark.parametrize("size", [10, 100])
def test_draws_are_the_same_in_any_chunks(size, monkeypatch):
    weights = all_weights(size, 40)
    assert (weights.sum(axis=1) == size).all()
    for block in (1, 37, 600, 10**6):
        monkeypatch.setattr(inputs, "BLOCK_SIZE", block)
        np.testing.assert_array_equal(all_weights(size, 40), weights)


@pytest.mark.parametrize("form", FORMS)
def test_a_resample_has_the_values_of_its_counts_as_weights(form, rng):
    system = FORMS[form](rng, 300).system(confidence_level=0.95)
    (counts,) = bootstrap_counts(make_design(300, Options()), Options(n_resamples=3))
    together = resampled_values(system, counts)
    own = system.options.sample_weight
    for row, drawn in enumerate(counts.astype(np.float64)):
        weight = drawn if own is None else drawn * own
        alone = compute_values(
            make_system(system.decisions, system.options.replace(sample_weight=weight))
        )
        of_row = {key: values[row] for key, values in together.items()}
        assert of_row == pytest.approx(alone, rel=1e-12, abs=1e-15)


def test_a_group_in_two_strata_is_an_error():
    with pytest.raises(
        ValueError, match="^groups must each lie in one stratum; got one in two, at sample 1"
    ):
        all_weights(2, 10, groups=np.array([0, 0]), strata=np.array([0, 1]))


def variance_of(data):
    def variance(weights):
        mean = weights @ data / weights.sum(axis=-1)
        return {"variance": weights @ data**2 / weights.sum(axis=-1) - mean**2}

    return variance


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_of_a_skewed_statistic_is_scipys(level, rng):
    """To the last digits: the same generator, asked in the same way, draws the same resamples."""
    data = rng.exponential(size=60)
    options = Options(n_resamples=2000, random_state=5, confidence_level=level)
    ours, _ = bootstrap_intervals(variance_of(data), make_design(60, options), options)
    theirs = stats.bootstrap(
        (data,), np.var, n_resamples=2000, rng=5, method="percentile", confidence_level=level
    ).confidence_interval
    np.testing.assert_allclose(ours["variance"], theirs, rtol=1e-9)


@pytest.mark.long
def test_resamples_without_a_value_are_left_out_and_counted():
    results = percentile((np.linspace(0.5, 0.9, 20), np.arange(20) < 19))
    note, _, few = results.notes
    assert (note.id, few.id) == ("resamples_left_out", "few_errors")
    assert "with few errors: 1 here" in few.fact
    assert re.search(r"left out of its interval, .*: auroc 3\d\.\d%", note.fact)
    assert 0 <= results.flat()["auroc_low"] <= results.flat()["auroc_high"] <= 1


def test_same_seed_same_numbers_another_seed_others(system):
    first, again, other = (
        percentile(system, random_state=seed, n_resamples=50).flat() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["ecuas_0_low"] != other["ecuas_0_low"]
