"""A state that training and evaluation loops update batch by batch, with the methods of a torchmetrics metric."""

from __future__ import annotations

from dataclasses import replace

from ..basis import make_options_basis
from ..inputs import FORM_CHECKS
from ..options import check_choice, checked_options
from ..summary import Summary, compute_summary_results, merge, require_mergeable
from .rows import check_state_options, state_of
from .storage import pack, unpack

READING_OPTIONS = ("normalize", "decompose", "confidence_level")


class StreamedMetrics:
    """All metrics of a system whose rows come in batches, and from several processes, in constant memory.

    `form` says what `update` is given: "confidences", "posteriors" or "costs". Options are those of `evaluate` that a
    state depends on (`rows.STATE_OPTIONS`), and ``normalize``, ``decompose`` and ``confidence_level`` for
    `compute`. TypeError if there is no such option, InputError if one is out of its range.

    Examples
    --------
    >>> metrics = StreamedMetrics("confidences", n=1)
    >>> metrics.update([0.9, 0.8], [1, 0])
    >>> metrics.update([0.4], [1])
    >>> round(metrics.compute()["ecuas_1"], 4)
    0.67
    """

    def __init__(self, form: str = "confidences", **options: object) -> None:
        self.form = check_choice(form, tuple(FORM_CHECKS), "form")
        self.reading = {name: options.pop(name) for name in READING_OPTIONS if name in options}
        checked_options(**self.reading)
        self.options = check_state_options(**options)
        self.state: Summary | None = None

    def update(
        self,
        predictions: object,
        references: object,
        *,
        sample_weight: object = None,
    ) -> None:
        """Add some rows: lists, arrays or CPU tensors, as for `evaluate`; for weights see `rows.state_of`."""
        self._add(
            state_of(
                self.form,
                predictions,
                references,
                self.options,
                sample_weight=sample_weight,
            )
        )

    def packed(self) -> bytes:
        """Return the state as bytes, empty without rows: for checkpoints and other processes."""
        return b"" if self.state is None else pack(self.state)

    def load(self, packed: object) -> None:
        """Add the rows of a state that `packed` returned; MergeError if its form or options are others."""
        if isinstance(packed, bytes) and packed:
            state = unpack(packed)
            self._require_same(state)
            self._add(state)

    def compute(self) -> dict[str, float]:
        """Return the numbers as plain floats, see `SummaryResults.flat`; ValueError if there are no rows."""
        if self.state is None:
            raise ValueError("compute needs rows: call update first.")
        return compute_summary_results(self.state, **self.reading).flat()  # type: ignore[arg-type]

    def reset(self) -> None:
        """Forget all rows."""
        self.state = None

    def _require_same(self, state: Summary) -> None:
        """Raise MergeError, with the reasons, if a state has another form or other options."""
        num_classes = None if state.classes is None else len(state.classes)
        options_basis = make_options_basis(self.options, num_classes=num_classes)
        own = replace(options_basis, form=self.form, weights=state.basis.weights)
        require_mergeable(own, state.basis)

    def _add(self, state: Summary) -> None:
        self.state = state if self.state is None else merge([self.state, state])
