"""Submissions as `read_submissions` would return them, without files."""

import numpy as np

from ecuas_metric.files.recipe import Recipe
from ecuas_metric.files.submissions import Submission
from ecuas_metric.files.values import from_values, to_ids


def submission(
    name, rng, *, form="confidences", correct=None, size=60, ids=None, per_sample=None, notes=()
):
    predictions = rng.random(size) if form == "confidences" else rng.dirichlet(np.ones(3), size)
    references = (
        rng.integers(0, 2 if form == "confidences" else 3, size) if correct is None else correct
    )
    roles = ("confidence", "correct") if form == "confidences" else ("posteriors", "label")
    columns = dict(zip(roles, (("confidence",), ("correct",)), strict=True))
    columns |= {"id": ("id",), "weight": ("w",), "group": ("doc",)}
    ids = None if ids is None else to_ids(from_values(list(ids)))
    recipe = Recipe(f"{name}.csv", "csv", size, form, columns)
    rows = np.arange(2, size + 2)
    return Submission(name, recipe, rows, predictions, references, ids, per_sample or {}, notes)
