"""Rows of logits and labels, as tensors or arrays of several shapes -> arrays of one."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..inputs import IGNORED, Array


def as_array(values: object) -> Array:
    """Return an array or a tensor, of bfloat16 too, which NumPy does not have, as an array."""
    if not hasattr(values, "detach"):
        return np.asarray(values)
    tensor = values.detach().cpu()
    return np.asarray(tensor.double() if tensor.is_floating_point() else tensor)


def rows_of(
    logits: object,
    labels: object,
    weights: object = None,
    *,
    ignored: int | None = IGNORED,
    class_axis: int | None = -1,
) -> tuple[Array, Array, Array | None]:
    """Return rows (N, K), labels and weights (N,) without ignored labels; shapes decide on a `class_axis` of None."""
    values, truth = as_array(logits), as_array(labels)
    fitting = [axis for axis in (1, -1) if values.ndim > 1 and np.moveaxis(values, axis, -1).shape[:-1] == truth.shape]
    axis = class_axis if class_axis is not None else fitting[-1] if fitting else -1
    if class_axis is None and values.ndim > 2 and len(fitting) == 2:
        raise InputError("class_axis", "must be 1 or -1: either axis of the predictions fits the labels")
    if axis not in fitting:
        rule = "must be one class for each row of predictions"
        raise InputError("labels", rule, got=f"shapes {truth.shape} and {values.shape}")
    values, truth = np.moveaxis(values, axis, -1), truth.reshape(-1)
    kept = np.ones(len(truth), dtype=bool) if ignored is None else truth != ignored
    weight = None if weights is None else as_array(weights).reshape(-1)[kept]
    return values.reshape(-1, values.shape[-1])[kept], truth[kept], weight
