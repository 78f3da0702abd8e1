"""Submissions as `read_submissions` would return them, without files."""

import numpy as np

from ecuas_metric.files.submissions import Source, Submission
from ecuas_metric.files.values import as_ids, from_values


def submission(
    name, rng, *, form="confidences", correct=None, size=60, ids=None, per_sample=None, notes=()
):
    predictions = rng.random(size) if form == "confidences" else rng.dirichlet(np.ones(3), size)
    references = (
        rng.integers(0, 2 if form == "confidences" else 3, size) if correct is None else correct
    )
    columns = {
        "predictions": "confidence",
        "references": "correct",
        "ids": "id",
        "sample_weight": "w",
        "groups": "doc",
    }
    ids = None if ids is None else as_ids(from_values(list(ids)))
    source = Source(f"{name}.csv", columns, np.arange(2, size + 2))
    return Submission(name, form, predictions, references, ids, per_sample or {}, notes, source)
