"""The proper scores: cross-entropy and Brier score, of confidences and of whole posteriors."""

import math

import numpy as np

from .calibration import confidence_brier_cost, confidence_cross_entropy_cost
from .inputs import FloatOrFloats, Floats
from .metric import Data, Frequencies, Metric


def _confidence_cross_entropy(data: Data) -> Floats:
    decisions = data.decisions
    return confidence_cross_entropy_cost(
        decisions.uncertainty, decisions.candidate_cost, epsilon=data.options.epsilon
    )


def _cross_entropy(data: Data) -> Floats:
    assert data.decisions.cross_entropy is not None
    return data.decisions.cross_entropy


def _brier_score(data: Data) -> Floats:
    assert data.decisions.brier_score is not None
    return data.decisions.brier_score


def entropy(share: Floats) -> FloatOrFloats:
    """Return the entropy (...) of shares (..., K), in nats."""
    log = np.log(np.where(share > 0, share, 1.0))
    return -(share * log).sum(axis=-1)


def _naive_cross_entropy(naive: Frequencies) -> FloatOrFloats:
    return entropy(naive.share)


CONFIDENCE_CROSS_ENTROPY = Metric(
    name="confidence_cross_entropy",
    title="CE conf",
    description="Cross-entropy of the confidences (nats)",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    cost=_confidence_cross_entropy,
    naive_confidence=_naive_cross_entropy,
    only_in_full=True,
    column=5,
)
CONFIDENCE_BRIER_SCORE = Metric(
    name="confidence_brier_score",
    title="BS conf",
    description="Squared error of the confidences",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    cost=lambda data: confidence_brier_cost(
        data.decisions.uncertainty, data.decisions.candidate_cost
    ),
    naive_confidence=lambda naive: naive.share.prod(axis=-1),  # p (1 - p)
    only_in_full=True,
    column=6,
)
CROSS_ENTROPY = Metric(
    name="cross_entropy",
    title="CE",
    description="Cross-entropy of the posteriors (nats)",
    assesses="posteriors",
    higher_is_better=False,
    needs="posteriors",
    cost=_cross_entropy,
    range=(0.0, math.inf),
    naive_posterior=_naive_cross_entropy,
    two_classes=(CONFIDENCE_CROSS_ENTROPY.name, 1.0),
    only_in_full=True,
    column=7,
)
BRIER_SCORE = Metric(
    name="brier_score",
    title="BS",
    description="Squared error of the posteriors",
    assesses="posteriors",
    higher_is_better=False,
    needs="posteriors",
    cost=_brier_score,
    range=(0.0, 2.0),
    naive_posterior=lambda naive: 1 - np.square(naive.share).sum(axis=-1),
    two_classes=(CONFIDENCE_BRIER_SCORE.name, 2.0),
    only_in_full=True,
    column=8,
)
SCORES = (CONFIDENCE_CROSS_ENTROPY, CONFIDENCE_BRIER_SCORE, CROSS_ENTROPY, BRIER_SCORE)
