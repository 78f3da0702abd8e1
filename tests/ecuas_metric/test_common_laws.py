"""The laws of scikit-learn's common metric tests (sklearn/metrics/tests/test_common.py, 1.9), for every key.

Two of them contradict each other for what depends on the number of samples: that weights are copies, and that their
unit does not matter. Each holds for all keys where `weights_are` says so.
"""

import functools

import numpy as np
import pytest

from ecuas_metric import score_confidences, score_posteriors

SIZE = 50
OPTIONS = {
    "n": (0, 1, 128),
    "reject_costs": (0.3, 0.6),
    "normalize": True,
    "decompose": True,
    "calibration": True,
    "n_resamples": 19,
}
OF_COPIES = {"aurc", "ece_debiased", "calibration_p"}  # depend on how many samples there are


@pytest.fixture(params=["confidences", "posteriors"])
def data(request):
    """Return a score of all keys, and its arrays: those of scikit-learn's tests."""
    random = np.random.RandomState(0)
    if request.param == "confidences":
        score, classes, shape = score_confidences, 2, (SIZE,)
    else:
        score, classes, shape = functools.partial(score_posteriors, labels=range(5)), 5, (SIZE, 5)
    truth, scores = random.randint(0, classes, SIZE), random.random_sample(shape)
    if scores.ndim == 2:
        scores = np.exp(-scores) / np.exp(-scores).sum(axis=1, keepdims=True)
    return functools.partial(score, **OPTIONS), truth, scores, random.randint(1, 10, SIZE)


def same(ours, theirs, *, but=()):
    differ = {key for key in ours if not np.isclose(ours[key], theirs[key], rtol=1e-7, atol=0, equal_nan=True)}
    assert differ <= set(but)
    assert ours.keys() == theirs.keys()


def test_order_and_container_do_not_matter(data):
    score, truth, scores, weight = data
    order = np.random.RandomState(1).permutation(SIZE)
    same(score(truth[order], scores[order]), score(truth, scores))
    same(score(truth.tolist(), scores.tolist()), score(truth, scores))
    same(score(truth, scores, sample_weight=weight.tolist()), score(truth, scores, sample_weight=weight))


@pytest.mark.parametrize("weights_are", ["importance", "counts"])
def test_weights_of_1_are_none_and_of_0_leave_out(data, weights_are):
    score, truth, scores, weight = data
    score = functools.partial(score, weights_are=weights_are)
    same(score(truth, scores, sample_weight=np.ones(SIZE)), score(truth, scores))
    zeroed = np.where(np.arange(SIZE) % 2, weight, 0)
    same(score(truth, scores, sample_weight=zeroed), score(truth[1::2], scores[1::2], sample_weight=weight[1::2]))


def test_copies_are_repetitions(data):
    score, truth, scores, weight = data
    repeated = score(np.repeat(truth, weight), np.repeat(scores, weight, axis=0))
    same(score(truth, scores, sample_weight=weight, weights_are="counts"), repeated)
    same(score(truth, scores, sample_weight=weight), repeated, but=OF_COPIES)


@pytest.mark.parametrize("factor", [2, 0.3, 1000])
@pytest.mark.parametrize("shift", [0, 0.25])
def test_the_unit_of_weights_does_not_matter(data, factor, shift):
    score, truth, scores, weight = data
    same(
        score(truth, scores, sample_weight=factor * (weight + shift)),
        score(truth, scores, sample_weight=weight + shift),
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda weight: np.append(weight, 1),
        lambda weight: np.where(np.arange(SIZE), weight, np.inf),
        lambda weight: np.where(np.arange(SIZE), weight, np.nan),
        lambda weight: weight + 1j,
        lambda weight: np.stack([weight, weight], axis=1),
    ],
    ids=["length", "inf", "nan", "complex", "columns"],
)
def test_bad_weights_are_refused(data, spoil):
    score, truth, scores, weight = data
    with pytest.raises(ValueError, match="sample_weight"):
        score(truth, scores, sample_weight=spoil(weight))
