"""Rows of every form, the states of their parts, and the same rows in memory."""

from typing import Any, NamedTuple

import numpy as np

from ecuas_metric.inputs import FORM_CHECKS
from ecuas_metric.options import checked_options
from ecuas_metric.results import prepare
from ecuas_metric.scale.state import state_of
from ecuas_metric.scale.storage import Collection, to_bytes


class Rows(NamedTuple):
    form: str
    predictions: np.ndarray
    references: np.ndarray
    given: dict[str, Any]
    weight: np.ndarray | None = None

    def state(self, rows=slice(None)):
        given = dict(self.given)
        if "decisions" in given:
            given["decisions"] = given["decisions"][rows]
        weight = None if self.weight is None else self.weight[rows]
        options = checked_options(**given)
        return state_of(self.form, self.predictions[rows], self.references[rows], options, sample_weight=weight)

    def system(self, **more):
        """Return the same rows as all in memory has them."""
        form = "confidences" if self.given.get("predictions_are") == "positive_probabilities" else self.form
        options = checked_options(**self.given, sample_weight=self.weight, **more)
        return prepare(self.form, *FORM_CHECKS[form](self.predictions, self.references), options)


def packed(state):
    """Return all that a state has."""
    return to_bytes(Collection({"": state}))


def of_each(states):
    return {name: packed(state) for name, state in sorted(states.items())}


def cut(rows, count, rng):
    """Return the states of `count` random parts."""
    return [rows.state(part) for part in np.array_split(rng.permutation(len(rows.references)), count)]


def rows_of(name, rng, *, size):
    return FORMS[name](rng, size)


def _confidences(rng, size, **given):
    confidence = rng.random(size)
    confidence[::3] = confidence[::3].round(1)
    correct = (rng.random(size) < confidence).astype(int)
    return Rows("confidences", confidence, correct, {"n": [0, 0.5, 1, 128], "reject_costs": [0.1, 0.3]} | given)


def _repaired(rng, size):
    rows = _confidences(rng, size, missing_confidence=0.5, num_classes=4)
    rows.predictions[1:4] = np.nan, -1e-8, 1 + 1e-8
    return rows


def _weighted(rng, size, **given):
    return _confidences(rng, size, **given)._replace(weight=rng.exponential(size=size).clip(1e-6))


def _counted(rng, size):
    rows = _confidences(rng, size, weights_are="counts")
    return rows._replace(weight=rng.integers(0, 4, size).astype(float))


def _posteriors(rng, size, **given):
    return Rows("posteriors", rng.dirichlet(np.ones(4), size), rng.integers(0, 4, size), given)


def _rounded(rng, size):
    rows = _posteriors(rng, size, renormalize=True, reject_costs=[0.2])
    return rows._replace(predictions=rows.predictions.round(2))


def _single(rng, size):
    rows = _posteriors(rng, size)
    return rows._replace(predictions=rows.predictions.astype(np.float32))


def _logits(rng, size):
    return _posteriors(rng, size, predictions_are="logits", cost="log")._replace(predictions=rng.normal(size=(size, 4)))


def _matrix(rng, size):
    return _posteriors(rng, size, cost=rng.random((4, 3)), reject_costs=[0.1])


def _own_decisions(rng, size):
    return _posteriors(rng, size, decisions=rng.integers(0, 4, size))


def _weighted_posteriors(rng, size):
    return _posteriors(rng, size)._replace(weight=rng.choice([0.0, 0.5, 2.0, 3.0], size))


def _positive(rng, size):
    rows = _confidences(rng, size, predictions_are="positive_probabilities")
    return rows._replace(form="posteriors")


def _costs(rng, size, scale=1e-5):
    u, c = rng.exponential(scale, size=(2, size))
    u[::3] = u[::3].round(6)
    return Rows(
        "costs", u, c, {"max_uncertainty": 2 * scale, "reject_costs": [scale], "epsilon": min(1e-7, 1e-3 * scale)}
    )


def _weighted_costs(rng, size):
    return _costs(rng, size, scale=1000.0)._replace(weight=rng.exponential(size=size).clip(1e-6))


FORMS = {
    "confidences": _confidences,
    "repaired confidences": _repaired,
    "weighted confidences": _weighted,
    "counted confidences": _counted,
    "posteriors": _posteriors,
    "posteriors, rounded": _rounded,
    "posteriors, float32": _single,
    "posteriors, own decisions": _own_decisions,
    "posteriors, weighted": _weighted_posteriors,
    "logits, log cost": _logits,
    "cost matrix": _matrix,
    "positive class": _positive,
    "costs": _costs,
    "weighted costs": _weighted_costs,
}
