import re

import numpy as np
import pytest
from scipy import stats

from ecuas_metric import inputs
from ecuas_metric import sampling as module
from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.results import compute_results, prepare
from ecuas_metric.sampling import Resampling, bootstrap, bootstrap_weights, interval, intervals, jackknife
from tests.ecuas_metric.systems import compute


def mean_of(data):
    return lambda weights: {"mean": weights @ data / weights.sum(axis=-1)}


@pytest.fixture
def system(rng):
    confidence = rng.beta(4, 1.5, 300)
    return confidence, (rng.random(300) < confidence).astype(int)


def all_weights(num_samples, resampling):
    return np.concatenate(list(bootstrap_weights(num_samples, resampling)))


def in_chunks_of(num_bytes, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK_SIZE", num_bytes)
    monkeypatch.setattr(inputs, "CHUNK_ROWS", 2)


@pytest.mark.parametrize("chunk", [1, 37, 10**6])
def test_each_resample_draws_as_many_samples_as_there_are(chunk, monkeypatch):
    in_chunks_of(chunk, monkeypatch)
    weights = all_weights(20, Resampling(50))
    assert weights.shape == (50, 20)
    assert (weights.sum(axis=1) == 20).all()


def test_chunks_do_not_change_the_draws(monkeypatch):
    whole = all_weights(20, Resampling(50))
    in_chunks_of(120, monkeypatch)
    np.testing.assert_array_equal(all_weights(20, Resampling(50)), whole)


def test_draws_are_uniform():
    weights = all_weights(10, Resampling(5000))
    assert stats.chisquare(weights.sum(axis=0)).pvalue > 1e-3
    assert weights.var() == pytest.approx(0.9, rel=0.05)  # of a binomial of 10 draws with chance 1/10


def test_many_units_are_drawn_part_by_part_with_the_same_distribution(monkeypatch):
    monkeypatch.setattr(module, "DRAWN_TOGETHER", 16)  # 6 parts of 16, whose bits are taken as they come, and one of 4
    weights = all_weights(100, Resampling(4000))
    assert (weights.sum(axis=1) == 100).all()
    assert stats.chisquare(weights.sum(axis=0)).pvalue > 1e-3
    assert weights.var(axis=0) == pytest.approx(np.full(100, 0.99), rel=0.15)  # binomial, 100 draws, chance 1/100
    parts = weights[:, :96].reshape(4000, 6, 16).sum(axis=2)
    assert parts.var(axis=0) == pytest.approx(np.full(6, 16 * 0.84), rel=0.15)
    assert np.corrcoef(weights[:, :2].T)[0, 1] == pytest.approx(-1 / 99, abs=0.06)
    in_chunks_of(600, monkeypatch)
    np.testing.assert_array_equal(all_weights(100, Resampling(40)), weights[:40])


def test_groups_are_drawn_whole():
    groups = np.array([0, 0, 0, 1, 2, 2])
    weights = all_weights(6, Resampling(100, groups=groups))
    for group in range(3):
        members = weights[:, groups == group]
        assert (members == members[:, :1]).all()
    assert (weights[:, [0, 3, 4]].sum(axis=1) == 3).all()


def test_strata_keep_their_sizes():
    strata = np.array([0] * 7 + [1] * 3)
    weights = all_weights(10, Resampling(100, strata=strata))
    assert (weights[:, :7].sum(axis=1) == 7).all()
    both = all_weights(10, Resampling(100, strata=strata, groups=np.array([0, 0, 1, 1, 2, 2, 3, 4, 4, 5])))
    assert (both[:, [0, 2, 4, 6]].sum(axis=1) == 4).all()


def test_a_group_in_two_strata_is_an_error():
    with pytest.raises(ValueError, match="^groups must each lie in one stratum; got one in two, at sample 1"):
        all_weights(2, Resampling(10, groups=np.array([0, 0]), strata=np.array([0, 1])))


def variance_of(data):
    def variance(weights):
        mean = weights @ data / weights.sum(axis=-1)
        return {"variance": weights @ data**2 / weights.sum(axis=-1) - mean**2}

    return variance


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_interval_of_a_skewed_statistic_is_scipys(method, rng):
    """To the last digits: the same generator, asked in the same way, draws the same resamples."""
    data = rng.exponential(size=60)
    ours = intervals(variance_of(data), 60, resampling=Resampling(2000, random_state=5), method=method)[0]["variance"]
    theirs = stats.bootstrap((data,), np.var, n_resamples=2000, method=method, rng=5).confidence_interval
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_bca_corrects_a_skewed_statistic_upwards(rng):
    statistic = variance_of(rng.exponential(size=60))
    percentile, bca = (
        intervals(statistic, 60, resampling=Resampling(), method=m)[0]["variance"] for m in ("percentile", "bca")
    )
    assert bca[0] > percentile[0]
    assert bca[1] > percentile[1]


def test_the_jackknife_leaves_one_out_or_a_block(rng, monkeypatch):
    data = rng.random(12)
    ours = jackknife(mean_of(data), 12, resampling=Resampling())["mean"]
    np.testing.assert_allclose(np.sort(ours), np.sort([np.delete(data, i).mean() for i in range(12)]))
    monkeypatch.setattr(module, "JACKKNIFE_BLOCKS", 4)
    ours = jackknife(lambda weights: {"size": weights.sum(axis=-1), "sum": weights @ data}, 12, resampling=Resampling())
    assert (ours["size"] == 9).all()
    assert (data.sum() - ours["sum"]).sum() == pytest.approx(data.sum())  # each sample is left out once


def test_blocks_of_the_jackknife_do_not_follow_the_order_of_the_samples(rng):
    """The acceleration of a mean is its skewness / (6 sqrt(N)), also where the samples stand in order."""
    data = np.sort(rng.exponential(size=4000))
    without = jackknife(mean_of(data), 4000, resampling=Resampling())["mean"]
    deviations = without.mean() - without
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    assert acceleration == pytest.approx(stats.skew(data) / (6 * np.sqrt(4000)), rel=0.35)


def test_a_wider_level_is_a_wider_interval(rng):
    replicates = rng.normal(size=1000)
    low, high = interval(replicates, confidence_level=0.9)
    wide_low, wide_high = interval(replicates, confidence_level=0.99)
    assert wide_low < low < high < wide_high


def test_resamples_without_a_value_are_left_out_and_counted():
    correct = np.array([1] * 19 + [0])
    system = prepare(
        "confidences",
        np.linspace(0.5, 0.9, 20),
        correct,
        checked_options(confidence_level=0.95, interval_method="percentile"),
    )
    results = compute_results(system)
    note, _, few = results.notes
    assert (note.kind, few.kind) == ("resamples_left_out", "few_errors")
    assert "with few errors: 1 here" in few.fact
    assert re.search(r"left out of its interval: auroc 3\d\.\d%", note.fact)
    values = results.flat()
    assert 0 <= values["auroc_low"] <= values["auroc_high"] <= 1


def test_same_seed_same_numbers_another_seed_others(system):
    def run(seed):
        return compute(
            "confidences",
            *system,
            checked_options(confidence_level=0.95, interval_method="percentile", random_state=seed),
        )

    assert run(1) == run(1)
    assert run(1)["ecuas_0_low"] != run(2)["ecuas_0_low"]


def test_row_order_does_not_matter(system, rng):
    order = rng.permutation(300)
    options = checked_options(confidence_level=0.95, interval_method="percentile", n_resamples=50)
    shuffled = compute("confidences", system[0][order], system[1][order], options)
    assert shuffled == pytest.approx(compute("confidences", *system, options), nan_ok=True)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_every_metric_of_every_form_gets_an_interval_around_its_value(method, rng):
    logits, labels = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    options = checked_options(
        predictions_are="logits",
        normalize=True,
        decompose=True,
        reject_costs=0.3,
        confidence_level=0.9,
        interval_method=method,
        n_resamples=100,
        sample_weight=rng.random(80),
        strata=labels,
        n=(0, 1, np.inf),
    )
    values = compute("posteriors", logits, labels, options)
    keys = [key for key in values if not key.endswith(("_low", "_high"))]
    assert len(keys) * 3 == len(values)
    for key in keys:
        is_biased = key == "ece" or "calibration_loss" in key
        assert values[f"{key}_low"] <= values[f"{key}_high"] or is_biased, key
        assert np.isnan(values[f"{key}_low"]) == is_biased, key
        if "recalibrated" not in key and "calibration_loss" not in key and "ece" not in key:
            slack = 0.05 * (1 + abs(values[key]))
            assert values[f"{key}_low"] - slack <= values[key] <= values[f"{key}_high"] + slack, key


def test_one_group_a_sample_is_no_groups(system):
    options = {"confidence_level": 0.95, "interval_method": "percentile", "n_resamples": 30}
    plain = compute("confidences", *system, checked_options(**options))
    ranks = np.argsort(np.argsort(-system[0]))  # groups are numbered in the order in which samples are sorted
    grouped = compute("confidences", *system, checked_options(groups=ranks, **options))
    assert grouped == pytest.approx(plain, rel=1e-12, nan_ok=True)


def test_grouped_copies_give_the_interval_of_the_originals(system):
    """Ten copies of a sample tell nothing new; if groups say so, the interval does not shrink."""
    copies = np.repeat(system[0], 10), np.repeat(system[1], 10)
    options = {"confidence_level": 0.95, "interval_method": "percentile", "n_resamples": 400}
    original = compute("confidences", *system, checked_options(**options))
    grouped = compute("confidences", *copies, checked_options(groups=np.repeat(np.arange(300), 10), **options))
    naive = compute("confidences", *copies, checked_options(**options))

    def width(values):
        return values["ecuas_1_high"] - values["ecuas_1_low"]

    assert width(grouped) == pytest.approx(width(original), rel=0.15)
    assert width(naive) < 0.5 * width(original)


def test_no_note_where_every_resample_has_a_value(system):
    options = checked_options(confidence_level=0.95, interval_method="percentile", n_resamples=50)
    (note,) = compute_results(prepare("confidences", *system, options)).notes
    assert str(note) == "These metrics are biased upwards, so no valid interval is known: ece."


def test_bootstrap_collects_every_key(rng):
    both = bootstrap(lambda w: {"one": w.sum(axis=1), "two": w[:, 0]}, 5, resampling=Resampling(7))
    assert both["one"].tolist() == [5] * 7
    assert both["two"].shape == (7,)


def test_a_bca_interval_needs_an_estimate():
    with pytest.raises(InputError, match="^estimate must be finite"):
        interval(np.arange(5.0), jackknife=np.arange(3.0))
