"""Rows of every form, the states of their parts, and the same rows in memory."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ecuas_metric.groups import SUMS
from ecuas_metric.inputs import FORM_CHECKS
from ecuas_metric.options import checked_options
from ecuas_metric.results import prepare_system
from ecuas_metric.scale.rows import state_of
from ecuas_metric.summary import compute_summary_results
from tests.ecuas_metric.registry import is_by_differences


class Rows(NamedTuple):
    form: str
    predictions: np.ndarray
    references: np.ndarray
    given: dict[str, Any]
    weight: np.ndarray | None = None

    def state(self, rows=slice(None)):
        given = {
            name: value[rows] if name in ("decisions", "abstained") else value
            for name, value in self.given.items()
        }
        weight = None if self.weight is None else self.weight[rows]
        options = checked_options(**given)
        return state_of(
            self.form, self.predictions[rows], self.references[rows], options, sample_weight=weight
        )

    def system(self, **more):
        """Return the same rows as all in memory has them."""
        form = (
            "confidences"
            if self.given.get("predictions_are") == "positive_probabilities"
            else self.form
        )
        options = checked_options(**self.given, sample_weight=self.weight, **more)
        return prepare_system(
            self.form, *FORM_CHECKS[form](self.predictions, self.references), options
        )


def packed(state):
    """Return all that a state tells, to ten digits, errors by differences to four: other orders of sums differ less."""
    groups = state.groups
    sums = [getattr(groups, name) for name in (*SUMS, "rank", "high")]
    numbers = np.concatenate([np.ravel(values) for values in sums])
    found = {str(index): value for index, value in enumerate(numbers.tolist())}
    rough = set()
    if state.samples:
        results = compute_summary_results(state)
        found |= results.flat()
        for key in results.estimates:
            if is_by_differences(key.entry):
                rough.add(f"{key}_standard_error")
    told = {}
    for name, value in found.items():
        if abs(value) > 1e-14:
            told[name] = f"{value:.{4 if name in rough else 10}g}"
    return state.rows, state.samples, state.wrong, told


def of_each(states):
    return {name: packed(state) for name, state in sorted(states.items())}


def cut(rows, count, rng):
    """Return the states of `count` random parts."""
    return [
        rows.state(part) for part in np.array_split(rng.permutation(len(rows.references)), count)
    ]


def _confidences(rng, size, **given):
    confidence = rng.random(size)
    confidence[::3] = confidence[::3].round(1)
    correct = (rng.random(size) < confidence).astype(int)
    return Rows(
        "confidences",
        confidence,
        correct,
        {"n": [0, 0.5, 1, 128], "reject_costs": [0.1, 0.3]} | given,
    )


def _repaired(rng, size):
    rows = _confidences(rng, size, missing_confidence=0.5, num_classes=4)
    rows.predictions[1:4] = np.nan, -1e-8, 1 + 1e-8
    return rows


def _posteriors(rng, size, change=np.asarray, **given):
    return Rows(
        "posteriors", change(rng.dirichlet(np.ones(4), size)), rng.integers(0, 4, size), given
    )


def _costs(rng, size, scale=1e-5):
    u, c = rng.exponential(scale, size=(2, size))
    u[::3] = u[::3].round(6)
    given = {
        "max_uncertainty": 2 * scale,
        "reject_costs": [scale],
        "epsilon": min(1e-7, 1e-3 * scale),
    }
    return Rows("costs", u, c, given)


def weighted(make, **given):
    return lambda rng, size: make(rng, size, **given)._replace(
        weight=rng.exponential(size=size).clip(1e-6)
    )


POSITIVE = {"predictions_are": "positive_probabilities"}
FORMS = {
    "confidences": _confidences,
    "repaired confidences": _repaired,
    "confidences, some withheld": lambda rng, size: _confidences(
        rng, size, abstained=rng.random(size) < 0.2
    ),
    "weighted confidences": weighted(_confidences),
    "counted confidences": lambda rng, size: _confidences(rng, size, weights_are="counts")._replace(
        weight=rng.integers(0, 4, size).astype(float)
    ),
    "posteriors": _posteriors,
    "posteriors, rounded": partial(
        _posteriors, change=lambda p: p.round(2), renormalize=True, reject_costs=[0.2]
    ),
    "posteriors, float32": partial(_posteriors, change=np.float32),
    "posteriors, own decisions": lambda rng, size: _posteriors(
        rng, size, decisions=rng.integers(0, 4, size)
    ),
    "posteriors, weighted": lambda rng, size: _posteriors(rng, size)._replace(
        weight=rng.choice([0, 0.5, 2, 3], size)
    ),
    "logits, log cost": partial(
        _posteriors, change=lambda p: 2 * np.log(p), predictions_are="logits", cost="log"
    ),
    "cost matrix": lambda rng, size: _posteriors(
        rng, size, cost=rng.random((4, 3)), reject_costs=[0.1]
    ),
    "positive class": lambda rng, size: _confidences(rng, size, **POSITIVE)._replace(
        form="posteriors"
    ),
    "costs": _costs,
    "weighted costs": weighted(_costs, scale=1000.0),
}
