"""The module that `evaluate.load` loads: schemas, options and keys of results around the functions of this folder."""

from __future__ import annotations

import copy
import functools
import inspect
import os
import textwrap
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Evaluate copies the files imported here, one per line, and no others: also those that only the others need.
from .version import BIBTEX, VERSION
from .messages import SENTENCES
from .errors import InputError, Note, issue_warnings
from .display import Shown
from .precision import widen
from .inputs import (
    FORM_CHECKS,
    Array,
    find_indices,
    parse_confidences,
    parse_numbers,
    require_same_labels,
    require_same_order,
)
from .options import (
    DEFAULTS,
    OPTIONS,
    Options,
    checked_options,
    select_per_sample,
    refuse_idle_options,
)
from .classes import sort_columns
from .groups import tie_groups
from .peer_metrics import prr
from .decisions import Decisions
from .abstentions import select_answered_groups
from .metric import METRICS
from .calibration import ECE
from .costs import ecuas_cost
from .order import AURC
from .metrics import metric_values
from .basis import make_options_basis
from .inference import infer
from .sampling import bootstrap_intervals
from .intervals import analytic_intervals
from .results import compute_results
from .audit import prepare_with_judge

_DESCRIPTION = """\
ECUAS_n is the expected cost, over all reject costs, of a system that answers and says how sure it is: a classifier
with posteriors, or a language model with a confidence. It is a proper scoring rule: the lower, the better, and no
system gains by reporting a confidence other than its true one. The parameter n sets how hard confident mistakes are
punished, hardest at n = 0. The module also computes the metrics such systems are usually given: error rate, ECE,
AUROC, AURC, AUGRC, cross-entropy and Brier score.
"""

# filled in when it is published
_CODE = "https://huggingface.co/spaces/<namespace>/ecuas/tree/main"
_PAPER = "https://arxiv.org/abs/2605.20490"

_FORM_HELP = {
    name: f" ({' and '.join(one.forms)} only)" if len(one.forms) < 3 else ""
    for name, one in OPTIONS.items()
}
_TEXTS = [
    f"    {name}: {one.help}{_FORM_HELP[name]}. Default {getattr(DEFAULTS, name)!r}."
    for name, one in OPTIONS.items()
]
_ARGS = "\n".join(textwrap.fill(text, 118, subsequent_indent=8 * " ") for text in _TEXTS)
_KWARGS_DESCRIPTION = f"""
Args:
    predictions: confidences in [0, 1], shape (N,); or posteriors over K classes, shape (N, K). In the configuration
        "graded": uncertainties, shape (N,), in the unit of the costs.
    references: for confidences whether each answer is correct, 0 or 1, or, beside a judge, nan where people did not
        look; for posteriors the true class, 0 to K - 1. In the configuration "graded": the cost of each candidate
        decision.
{_ARGS}

Returns:
    dict of key to float: error_rate, ece, auroc, confidence_cross_entropy, confidence_brier_score, aurc, augrc,
    ecuas_{{n}} for each n; for posteriors also cross_entropy and brier_score. With a cost other than
    0-1: risk, aurc, augrc, ecuas_{{n}}, and for posteriors cross_entropy and brier_score. Options add to these:
    reject_costs expected_cost_{{g}}, coverage_{{g}} and selective_risk_{{g}} for each reject cost g; normalize
    normalized_{{key}}; decompose ecuas_{{n}}_recalibrated and ecuas_{{n}}_calibration_loss; calibration ece_debiased
    and calibration_p; confidence_level {{key}}_low and {{key}}_high, nan where no valid interval is known.

Examples:

    >>> import evaluate
    >>> ecuas = evaluate.load("ecuas_metric/ecuas.py")
    >>> results = ecuas.compute(predictions=[0.9, 0.8, 0.4], references=[1, 0, 1], n=1)
    >>> round(results["ecuas_1"], 2)
    0.67
"""

_FEATURES = {
    "confidences": {
        "predictions": datasets.Value("float64"),
        "references": datasets.Value("int64"),
    },
    "posteriors": {
        "predictions": datasets.Sequence(datasets.Value("float64")),
        "references": datasets.Value("int64"),
    },
    "costs": {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")},
}
_CONFIGURATIONS = {"default": ("confidences", "posteriors"), "graded": ("costs",)}


@dataclass(frozen=True, slots=True)
class _Batch:
    """The checked samples that one call of `add_batch` or `compute` passed."""

    form: str
    predictions: Array  # (B,) or (B, K)
    references: Array  # (B,)
    indices: Mapping[str, Any] = field(default_factory=dict)  # those of pandas, by argument

    @property
    def row_shape(self) -> tuple[int, ...]:
        return self.predictions.shape[1:]

    def rows(self, rows: slice) -> _Batch:
        return _Batch(self.form, self.predictions[rows], self.references[rows])


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Ecuas(evaluate.Metric):  # type: ignore[misc]  # Evaluate has no types
    """ECUAS_n and its baselines; options passed to `evaluate.load` are the defaults of `compute`.

    Added samples are kept in memory until a `compute` succeeds or `reset` is called. Several processes exchange them
    through Evaluate's files, as Arrow tables in float64.
    """

    # Evaluate's own, declared for the type checker.
    writer: Any
    filelock: Any
    filelocks: Any
    file_paths: Any
    cache_file_name: Any
    row_shape: tuple[int, ...] = ()
    _num_own: int

    def __init__(self, *names: object, **settings: object) -> None:
        evaluate_names = set(inspect.signature(evaluate.Metric.__init__).parameters)
        own = {name: settings.pop(name) for name in {*settings} - evaluate_names}
        self.options = copy.deepcopy(own)  # the caller may write to arrays
        checked_options(**self.options)
        super().__init__(*names, **settings)
        self.reset()

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name not in _CONFIGURATIONS:
            raise InputError(
                "the configuration", "must be 'default' or 'graded'", value=self.config_name
            )
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=BIBTEX,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features(_FEATURES[form]) for form in _CONFIGURATIONS[self.config_name]
            ],
            homepage=_PAPER,
            license="apache-2.0",
            codebase_urls=[] if "<" in _CODE else [_CODE],
            reference_urls=[_PAPER],
        )

    def compute(
        self, *, predictions: object = None, references: object = None, **options: object
    ) -> dict[str, float] | None:
        """Compute the metrics of the added and the passed samples; in processes but the first, return None.

        An error leaves the module as it was before: what was added is kept, and counts in the next `compute`.
        """
        asked = self._with_defaults(options)
        checked = checked_options(**asked)
        refuse_idle_options(checked, options)  # not defaults, which another call may use
        passed = []
        is_given = predictions is not None or references is not None
        if is_given and not (_is_empty(predictions) and _is_empty(references)):
            passed.append(self._check_batch(predictions, references, asked))
        indices = _join_indices([*self._added, *passed])
        require_same_labels(**indices, **find_indices(**select_per_sample(asked)))
        try:
            if self.num_process > 1 and self._other_batches is None:
                results = self._gather_and_compute([*self._added, *passed], asked)
            else:
                rows = [*self._added, *passed, *(self._other_batches or [])]
                results = self._score(rows, checked)
        except BaseException:
            self._has_failed = True
            raise
        self.reset()
        return results

    def reset(self) -> None:
        """Forget what was added."""
        self._added: list[_Batch] = []
        # those of the other processes, if a compute gathered them and then failed
        self._other_batches: list[_Batch] | None = None
        self._has_failed = False

    def __len__(self) -> int:
        """Return the number of samples that were added."""
        return sum(len(batch.references) for batch in self._added)

    def add_batch(
        self,
        *,
        predictions: object = None,
        references: object = None,
        **others: object,
    ) -> None:
        """Add checked predictions and references; an empty batch adds nothing.

        After a `compute` that failed, a warning says how many samples are kept.
        """
        if others:
            raise InputError("the inputs", "unknown_input", value=next(iter(others)))
        if _is_empty(predictions) and _is_empty(references):
            return
        batch = self._check_batch(predictions, references, self.options)
        if self._other_batches is not None:
            raise InputError(
                "the inputs",
                ("cannot be added: those of all processes are gathered, and their compute failed"),
                advice="Call compute as the error asked, or reset to forget them.",
            )
        if self._has_failed and self._added:
            issue_warnings(
                [
                    Note(
                        "kept_after_error",
                        {"count": len(self)},
                        "Were they added again? reset() forgets them.",
                    )
                ],
                stacklevel=2,
            )
            self._has_failed = False
        # copies, since the caller may write to the arrays
        arrays = {"predictions": batch.predictions, "references": batch.references}
        copies = {name: array.copy() for name, array in arrays.items()}
        self._added.append(replace(batch, **copies))  # type: ignore[arg-type]

    def add(
        self,
        *,
        prediction: object = None,
        reference: object = None,
        **columns: object,
    ) -> None:
        """Add one prediction and its reference; as in Evaluate, also by the names `predictions` and `references`."""
        both = {"predictions": prediction, "references": reference}
        twice = [name for name in columns if both.get(name) is not None]
        if twice:
            raise InputError("the inputs", "unknown_input", value=twice[0])
        one = both | columns
        self.add_batch(**{name: [value] for name, value in one.items()})

    def _compute(
        self,
        predictions: pa.ChunkedArray,
        references: pa.ChunkedArray,
        n: object = (0, 1, 128),
        num_classes: object = None,
        predictions_are: object = "probabilities",
        renormalize: object = False,
        cost: object = "zero_one",
        decisions: object = None,
        max_uncertainty: object = None,
        reject_costs: object = (),
        normalize: object = False,
        missing_confidence: object = None,
        n_bins: object = 10,
        epsilon: object = 1e-07,
        sample_weight: object = None,
        weights_are: object = "importance",
        decompose: object = False,
        calibration: object = False,
        confidence_level: object = None,
        interval_method: object = "analytic",
        n_resamples: object = 1000,
        random_state: object = 0,
        groups: object = None,
        strata: object = None,
        abstained: object = None,
        judge: object = None,
        audit_probability: object = None,
    ) -> dict[str, float]:
        arguments = locals()
        options = checked_options(**{name: arguments[name] for name in OPTIONS})
        arrays = _to_numpy(predictions), _to_numpy(references)
        every = _Batch(_input_form(self.config_name, arrays[0]), *arrays)
        self._other_batches = [every.rows(slice(self._num_own, None))]
        return self._score([every], options)

    def _check_batch(
        self, predictions: object, references: object, options: Mapping[str, object]
    ) -> _Batch:
        """Return a checked batch; InputError also if its rows have another shape than those of earlier batches.

        Labels beside a judge may be nan.
        """
        for name, values in {"predictions": predictions, "references": references}.items():
            if values is None:
                raise InputError(name, "inputs_missing")
        require_same_order(predictions=predictions, references=references)
        values = parse_numbers(sort_columns(predictions), "predictions")
        form = _input_form(self.config_name, values)
        check = FORM_CHECKS[form]
        if form == "confidences" and options.get("judge") is not None:
            check = functools.partial(parse_confidences, are_drawn=True)
        checked, truth = check(values, references)
        indices = find_indices(predictions=predictions, references=references)
        batch = _Batch(form, checked.astype(np.float64, copy=False), truth, indices)
        if self._added and self._added[0].row_shape != batch.row_shape:
            raise InputError(
                "predictions",
                "must have the shape of the batches before, (N{axes})",
                value=batch.row_shape,
                got=f"(N{_format_axes(batch.row_shape)})",
                axes=_format_axes(self._added[0].row_shape),
            )
        return batch

    def _score(self, batches: list[_Batch], options: Options) -> dict[str, float]:
        if not batches:
            raise InputError("predictions and references", "inputs_missing")
        predictions, references = batches[0].predictions, batches[0].references
        if len(batches) > 1:
            predictions = np.concatenate([batch.predictions for batch in batches])
            references = np.concatenate([batch.references for batch in batches])
        self.row_shape = predictions.shape[1:]
        form = batches[0].form
        results = compute_results(prepare_with_judge(form, predictions, references, options))
        issue_warnings(results.notes, stacklevel=3)
        return results.flat()

    def _gather_and_compute(
        self, batches: list[_Batch], options: dict[str, object]
    ) -> dict[str, float] | None:
        """Return the metrics of the batches of all processes in the first; the others write theirs and return None."""
        form = batches[0].form if batches else _CONFIGURATIONS[self.config_name][0]
        self._num_own = sum(len(batch.references) for batch in batches)
        self.selected_feature_format = datasets.Features(_FEATURES[form])
        self._init_writer()
        for batch in batches:
            table = _arrow_table(batch, schema=self.selected_feature_format.arrow_schema)
            self.writer.write_table(table, writer_batch_size=len(table))
        if not batches:
            self.selected_feature_format = None  # that of the others is read from their files
        self.info.format = "arrow"  # only here: its constructor, and so its reader, refuses it beside two feature sets
        try:
            results: dict[str, float] | None = super().compute(**options)
        except pa.ArrowException as error:
            self._release_files()
            raise InputError(
                "predictions", "must have one form in all processes", got=str(error)
            ) from None
        except BaseException:
            self._release_files()
            raise
        finally:
            self.info.format = None
        return results

    def signature(self, **options: object) -> str:
        """Return what the numbers depend on, in one line; with the number of classes after posteriors were scored."""
        num_classes = self.row_shape[0] if self.row_shape else None
        checked = checked_options(**self._with_defaults(options))
        return str(make_options_basis(checked, num_classes=num_classes))

    def _with_defaults(self, options: dict[str, object]) -> dict[str, object]:
        """Return options with those of `evaluate.load` in place of those that are None or missing."""
        kept = {name: value for name, value in self.options.items() if options.get(name) is None}
        return {**options, **kept}

    def _release_files(self) -> None:
        """Delete the files and release the locks that Evaluate keeps after an error."""
        self.data = self.writer = self.buf_writer = None
        locks = self.filelocks or [self.filelock]
        paths = self.file_paths or [self.cache_file_name]
        self.filelock = self.cache_file_name = self.filelocks = self.file_paths = None
        for lock, path in reversed(list(zip(locks, paths, strict=True))):
            if path is not None and os.path.exists(path):
                os.remove(path)
            if lock is not None:
                lock.release()


def _input_form(config_name: str, predictions: Array) -> str:
    """Return the form of input, "costs", "confidences" or "posteriors", from the configuration and the shape."""
    if config_name == "graded":
        return "costs"
    return "confidences" if predictions.ndim == 1 else "posteriors"


def _join_indices(batches: list[_Batch]) -> dict[str, Any]:
    """Return the index of the rows of all batches, by argument, of those that are pandas objects in every batch."""
    if len(batches) < 2:
        return dict(batches[0].indices) if batches else {}
    first, *others = [batch.indices for batch in batches]
    names = [name for name in first if all(name in one for one in others)]
    return {name: first[name].append([one[name] for one in others]) for name in names}


def _is_empty(values: object) -> bool:
    return isinstance(values, Sized) and np.ndim(values) > 0 and len(values) == 0  # type: ignore[arg-type]


def _format_axes(row_shape: tuple[int, ...]) -> str:
    """Return what follows N in a shape: "," of (N,), ", 3" of (N, 3)."""
    return "".join(f", {size}" for size in row_shape) or ","


def _arrow_table(batch: _Batch, *, schema: pa.Schema) -> pa.Table:
    """Return the batch as an Arrow table, without a copy."""
    predictions = batch.predictions
    values = pa.array(predictions.ravel())
    if predictions.ndim == 2:
        offsets = np.arange(0, predictions.size + 1, predictions.shape[1], dtype=np.int32)
        values = pa.ListArray.from_arrays(offsets, values)
    truth = pa.array(batch.references, schema.field("references").type, from_pandas=True)
    return pa.Table.from_arrays([values, truth], schema=schema)


def _to_numpy(column: pa.ChunkedArray) -> Array:
    """Return a column as an array (N,) or (N, K), without a copy if it is one chunk."""
    if not pa.types.is_list(column.type):
        return np.asarray(column.to_numpy())
    if len(pc.unique(pc.list_value_length(column))) > 1:
        raise InputError("predictions", "must have the same number of classes in every batch")
    return np.asarray(pc.list_flatten(column).to_numpy()).reshape(len(column), -1)
