"""What a state has of bins and of classes: the bins of ECE, and the class frequencies of the naive system."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..decisions import Decisions
from ..inputs import FloatOrFloats, Floats
from ..metrics import Key, naive_values
from ..options import Options
from .moments import first
from .settings import bits_of, no_rows, settings_of
from .state import State
from .sums import exact


def naive_of(state: State) -> dict[Key, FloatOrFloats]:
    """Return the values of the system that ignores its input, for `normalize`."""
    settings = settings_of(state.settings)
    none, values = no_rows(settings), dict[Key, FloatOrFloats]()
    if none.confidence is not None:
        wrong = first(state, "error_rate")
        weights = np.array([float(first(state, "1") - wrong), float(wrong)])
        one_each = Decisions(np.zeros(2), np.array([0.0, 1.0]), none.max_uncertainty, confidence=np.zeros(2))
        values |= naive_values(one_each, settings.options, sample_weight=weights)
    if none.labels is not None:
        classes = np.arange(int(settings.options.num_classes or 0))
        weights = np.array([float(_of_group(state, "class", k, "weight")) for k in range(len(classes))])
        zeros = np.zeros(len(classes))
        one_each = Decisions(zeros, zeros, none.max_uncertainty, labels=classes)
        values |= naive_values(one_each, settings.options, sample_weight=weights)
    return values


def bins_of(state: State) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the rows, the weight, and the mean confidence and accuracy (nan if empty) of each bin of ECE."""
    settings = settings_of(state.settings)
    bins = range(settings.options.n_bins)
    rows = np.array([state.sums.get(f"bin {k} rows", 0) for k in bins], np.float64)
    weight, *sums = ([_of_group(state, "bin", k, name) for k in bins] for name in ("weight", "confidence", "correct"))
    means = ([float(s / w) if w else math.nan for s, w in zip(part, weight, strict=True)] for part in sums)
    confidence, accuracy = map(np.array, means)
    return rows, np.array([float(w) for w in weight]), confidence, accuracy


def one_row_per_bin(state: State) -> tuple[Decisions, Options, Floats]:
    """Return decisions that have the bins of the rows, which is all that a metric of bins looks at."""
    settings = settings_of(state.settings)
    _, weight, confidence, accuracy = bins_of(state)
    some = weight > 0
    weight, confidence, accuracy = weight[some], confidence[some], accuracy[some]
    u_max = no_rows(settings).max_uncertainty
    return Decisions(1 - confidence, 1 - accuracy, u_max, confidence=confidence), settings.options, weight


def _of_group(state: State, kind: str, group: int, name: str) -> Fraction:
    settings = settings_of(state.settings)
    if name == "weight" and not settings.is_weighted:
        return Fraction(state.sums.get(f"{kind} {group} rows", 0))
    return exact(state.sums.get(f"{kind} {group} {name}", 0), bits=bits_of(settings))
