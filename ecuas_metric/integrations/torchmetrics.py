"""A metric of torchmetrics: rows come in batches and from several processes, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from ..errors import InputError
from ..inputs import IGNORED
from ..scale.training import StreamedMetrics
from .choices import flatten_rows

_MANY = 64  # states of batches are merged when there are more
_DIGITS = 20  # before each state, in decimal: how many bytes it has


class ECUAS(Metric):  # type: ignore[misc]
    """All metrics, equal to those of all rows at once: see `ecuas_metric.scale.StreamedMetrics` for the arguments.

    ``update(preds, target)`` takes confidences and whether they are correct, or with ``form="posteriors"`` what
    `predictions_are` says, and labels: of shapes (B, K) and (B,), (B, .., K) as models of transformers return them,
    or (B, K, ..) as torchmetrics has them; `class_axis` says which where both fit. Logits of tokens need `shift`: True
    for a causal language model, whose logits at a token are of the next one, False for token classification. Targets of
    `ignore_index` are left out. ``compute()`` returns a dict of tensors, or one tensor with e.g. ``only="ecuas_1"``, as
    ``MetricTracker(metric, maximize=False)`` and loggers take it. Options of torchmetrics, such as
    ``sync_on_compute``, are passed in a dict, `metric_options`.
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    def __init__(
        self,
        form: str = "confidences",
        *,
        only: str | None = None,
        ignore_index: int | None = IGNORED,
        class_axis: int | None = None,
        shift: bool | None = None,
        metric_options: dict[str, object] | None = None,
        **options: object,
    ) -> None:
        super().__init__(**metric_options or {})
        self.form = form
        self.options = options
        self.only = only
        self.flatten_rows = partial(
            flatten_rows, ignored=ignore_index, class_axis=class_axis, shift=shift
        )
        self._load_parts([])  # checks the options
        _refuse_idle(form, ignore_index=ignore_index, class_axis=class_axis, shift=shift)
        self.add_state("parts", default=[], dist_reduce_fx="cat")
        self.set_dtype(torch.uint8)  # what a process without rows sends must be bytes too

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        sample_weight: Tensor | None = None,
    ) -> None:
        """Add a batch."""
        rows: tuple[Any, Any, Any] = (preds, target, sample_weight)
        predictions, references, weight = (
            self.flatten_rows(*rows) if self.form == "posteriors" else rows
        )
        if len(references):
            batch = self._load_parts([])
            batch.update(predictions, references, sample_weight=weight)
            self.parts.append(self._bytes(batch))
            self._merge()

    def forward(self, *args: Tensor, **kwargs: Tensor) -> object:
        """Add a batch and return its own metrics."""
        values = super().forward(*args, **kwargs)
        self._merge()
        return values

    def reset(self) -> None:
        """Forget all rows, and leave the states of earlier batches, which `Running` keeps, as they are."""
        self.parts: list[Tensor] = []
        super().reset()

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Return the metrics of all batches of all processes, or the one that `only` names; nan or {} without rows."""
        # a tensor once gathered
        metrics = self._load_parts([self.parts] if torch.is_tensor(self.parts) else self.parts)
        if metrics.state is None:
            return {} if self.only is None else torch.tensor(torch.nan, dtype=torch.float64)
        values = metrics.compute()
        if self.only is not None and self.only not in values:
            raise InputError("only", "not_a_choice", value=self.only, choices=list(values))
        tensors = {key: torch.tensor(value, dtype=torch.float64) for key, value in values.items()}
        return tensors if self.only is None else tensors[self.only]

    def plot(self, val: object = None, ax: object = None) -> object:
        """Draw `compute()`, or values that it returned."""
        return self._plot(val, ax)

    def _merge(self) -> None:
        if len(self.parts) > _MANY:
            self.parts[:] = [self._bytes(self._load_parts(self.parts))]

    def _load_parts(self, parts: Iterable[Tensor]) -> StreamedMetrics:
        metrics = StreamedMetrics(self.form, **self.options)
        arrays = [part.cpu().to(torch.uint8).numpy() for part in parts]
        packed = b"".join(array.tobytes() for array in arrays)
        while packed:
            end = _DIGITS + int(packed[:_DIGITS])
            metrics.load(packed[_DIGITS:end])
            packed = packed[end:]
        return metrics

    def _bytes(self, metrics: StreamedMetrics) -> Tensor:
        packed = metrics.packed()
        return torch.frombuffer(
            bytearray(b"%0*d" % (_DIGITS, len(packed)) + packed), dtype=torch.uint8
        ).to(self.device)


def _refuse_idle(form: str, **settings: object) -> None:
    """Raise InputError if a setting of rows of classes is set for another form, which has none."""
    for name, value in settings.items():
        if form != "posteriors" and value not in (None, IGNORED):
            raise InputError(name, "requires_form", forms="posteriors", form=form)
