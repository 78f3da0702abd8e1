"""The Evaluate module: schemas, options and result keys around the functions of the files beside it."""

from __future__ import annotations

import os
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa

# Evaluate copies the files that stand here, one to a line, and no others: also those that only the others need.
from .inputs import confidences, graded, numbers, posteriors
from .options import checked_options
from .costs import ecuas_cost
from .ranking import tie_groups
from .baselines import aurc
from .decisions import Graded
from .metrics import scores
from .naive import naive_posterior_scores
from .decomposition import recalibrated_scores
from .intervals import intervals
from .signature import signature
from .results import results

_DESCRIPTION = """\
ECUAS_n is the expected cost, over all reject costs, of a system that answers and says how sure it is: a classifier
with posteriors, or a language model with a confidence. It is a proper scoring rule: the lower, the better, and no
system gains by reporting a confidence other than its true one. The parameter n sets how hard confident mistakes are
punished, hardest at n = 0. The module also computes the metrics such systems are usually given: error rate, ECE,
AUROC, AURC, AUGRC, cross-entropy and Brier score.
"""

_CITATION = """\
@article{estienne2026ecuas,
  title  = {ECUAS$_n$: A family of metrics for principled evaluation of uncertainty-augmented systems},
  author = {Estienne, Lautaro and Ernst, Erik and Vera, Mat{\\'i}as and Piantanida, Pablo and Ferrer, Luciana},
  year   = {2026}
}
"""

_INPUTS_DESCRIPTION = """
Args:
    predictions: confidences in [0, 1], shape (N,); or posteriors over K classes, shape (N, K). In the configuration
        "graded": uncertainties, shape (N,), in the unit of the costs.
    references: for confidences whether each answer is correct, 0 or 1; for posteriors the true class, 0 to K - 1. In
        the configuration "graded": the cost of each candidate decision.
    n: the parameter of ECUAS_n, a number >= 0 (inf allowed) or several. Default (0, 1, 128).
    num_classes: K for confidences. Default None, infinitely many.
    predictions_are: "probabilities" (default), "log_probabilities" or "logits" of posteriors.
    cost: "zero_one" (default), "log" or an array of shape (K, D), row class, column decision; for posteriors.
    decisions: shape (N,), the system's own decisions for posteriors. Default None, the Bayes decisions.
    max_uncertainty: the uncertainty of a system that knows nothing; in the configuration "graded", and only there.
    reject_costs: a number or several in [0, max_uncertainty]. Adds expected_cost_{g}, coverage_{g} and
        selective_risk_{g} for a user to whom rejecting an answer costs g.
    normalize: if True, adds normalized_{key}: divided by the value of the naive system, which ignores its input.
    missing_confidence: None (default): a NaN confidence is an error. A number in [0, 1] replaces it, with a warning.
    n_bins: number of bins of ECE. Default 10.
    epsilon: floor of the uncertainty in the logarithm of n = 0, and of confidences and their complements in the
        cross-entropy. Default 1e-7.
    sample_weight: shape (N,), non-negative. Whole numbers count equal samples; others are scaled to mean 1.
    decompose: if True, adds ecuas_{n}_recalibrated, its value after the best monotone recalibration of the confidences,
        and ecuas_{n}_calibration_loss, the difference.
    confidence_level: None (default), or e.g. 0.95: adds {key}_low and {key}_high, a bootstrap interval of every metric.
    interval_method: "percentile" (default) or "bca".
    n_resamples, random_state: number of bootstrap resamples and their seed. Default 1000 and 0.
    groups: shape (N,), samples to be drawn together, as those of one document.
    strata: shape (N,), parts of the sample whose sizes are fixed.

Returns:
    dict of key to float: ecuas_{n} for each n, error_rate, ece, auroc, confidence_cross_entropy,
    confidence_brier_score, aurc, augrc; for posteriors also cross_entropy and brier_score. With a cost other than
    0-1: ecuas_{n}, risk, aurc, augrc, and for posteriors cross_entropy and brier_score.

Examples:

    >>> ecuas = evaluate.load("ecuas_metric/ecuas.py")
    >>> results = ecuas.compute(predictions=[0.9, 0.8, 0.4], references=[1, 0, 1], n=1)
    >>> round(results["ecuas_1"], 2)
    0.67
"""

_FORMS = {
    "confidences": {"predictions": datasets.Value("float64"), "references": datasets.Value("int64")},
    "posteriors": {
        "predictions": datasets.Sequence(datasets.Value("float64")),
        "references": datasets.Value("int64"),
    },
    "graded": {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")},
}
_CONFIGURATIONS = {"default": ("confidences", "posteriors"), "graded": ("graded",)}


class Ecuas(evaluate.Metric):
    """ECUAS_n and its baselines. Input travels as Arrow tables in float64, never row by row."""

    # Evaluate's own, declared for the type checker.
    writer: Any
    data: Any
    selected_feature_format: Any
    filelock: Any
    filelocks: Any
    cache_file_name: Any
    file_paths: Any
    row_shape: tuple[int, ...] = ()

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name not in _CONFIGURATIONS:
            raise ValueError(f"the configuration must be 'default' or 'graded'; got {self.config_name!r}.")
        info = evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS_DESCRIPTION,
            features=[datasets.Features(_FORMS[form]) for form in _CONFIGURATIONS[self.config_name]],
        )
        info.format = "arrow"  # its constructor refuses this beside several feature sets
        return info

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, float] | None:
        """Compute the metrics of what was added and of what is passed here.

        Wrong options or a bad batch leave what was added before as it was; any later error empties the module.
        """
        checked = checked_options(**options)
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions, references=references)
        if self.writer is None:
            raise ValueError("predictions and references are missing: pass them here, or call add_batch before.")
        try:
            return super().compute(**checked)
        except pa.ArrowException as error:
            self._discard()
            raise ValueError(f"the processes' predictions must have one form; {error}") from None
        except BaseException:
            self._discard()
            raise

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add checked predictions and references."""
        form, *columns = _checked_columns(self.config_name, predictions, references)
        row_shape = columns[0].shape[1:]
        if self.writer is None:
            self.selected_feature_format = datasets.Features(_FORMS[form])
            self._init_writer()
            self.row_shape = row_shape
        elif row_shape != self.row_shape:
            raise ValueError(
                f"predictions must have the shape of the batches before, (N{_axes(self.row_shape)}); "
                f"got (N{_axes(row_shape)})."
            )
        table = _arrow_table(*columns, schema=self.selected_feature_format.arrow_schema)
        self.writer.write_table(table, writer_batch_size=len(table))

    def add(self, *, prediction: Any = None, reference: Any = None, **columns: Any) -> None:
        """Add one checked prediction and reference; as in Evaluate, their names may be those of the columns."""
        one = {"predictions": prediction, "references": reference} | columns
        self.add_batch(**{name: [value] for name, value in one.items()})

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, float]:
        predictions, references = _to_numpy(predictions), _to_numpy(references)
        return results(_form(self.config_name, predictions), predictions, references, options)

    def signature(self, **options: Any) -> str:
        """Return one line that names everything the numbers of `compute` with these options depend on.

        After posteriors were computed, K is the number of their classes.
        """
        return signature(checked_options(**options), num_classes=self.row_shape[0] if self.row_shape else None)

    def _discard(self) -> None:
        """Forget what was added, and let go of its files and locks, which Evaluate holds after an error."""
        self.data = self.writer = self.buf_writer = None
        locks, paths = self.filelocks or [self.filelock], self.file_paths or [self.cache_file_name]
        self.filelock = self.cache_file_name = self.filelocks = self.file_paths = None
        for lock, path in reversed(list(zip(locks, paths, strict=True))):
            if path is not None and os.path.exists(path):
                os.remove(path)
            if lock is not None:
                lock.release()


def _form(config_name: str, predictions: np.ndarray) -> str:
    if config_name == "graded":
        return "graded"
    return "confidences" if predictions.ndim == 1 else "posteriors"


def _checked_columns(config_name: str, predictions: Any, references: Any) -> tuple[str, np.ndarray, np.ndarray]:
    predictions = numbers(predictions, "predictions")
    form = _form(config_name, predictions)
    check = {"confidences": confidences, "posteriors": posteriors, "graded": graded}[form]
    return form, *check(predictions, references)


def _axes(row_shape: tuple[int, ...]) -> str:
    return "".join(f", {size}" for size in row_shape) or ","


def _arrow_table(predictions: np.ndarray, references: np.ndarray, *, schema: pa.Schema) -> pa.Table:
    """Wrap the arrays as Arrow columns, without a copy where they are contiguous float64."""
    values = pa.array(np.ascontiguousarray(predictions, np.float64).ravel())
    if predictions.ndim == 2:
        offsets = np.arange(0, predictions.size + 1, predictions.shape[1], dtype=np.int32)
        values = pa.ListArray.from_arrays(offsets, values)
    return pa.Table.from_arrays([values, pa.array(references)], schema=schema)


def _to_numpy(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column as an array (N,) or (N, K), without a copy where it is one chunk."""
    arrays = [_chunk_to_numpy(chunk) for chunk in column.chunks]
    if len({array.shape[1:] for array in arrays}) > 1:
        raise ValueError("predictions must have the same number of classes in every batch.")
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _chunk_to_numpy(chunk: pa.Array) -> np.ndarray:
    if not pa.types.is_list(chunk.type):
        return chunk.to_numpy()
    values = chunk.flatten().to_numpy()
    return values.reshape(len(chunk), -1)
