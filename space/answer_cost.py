"""What one answer costs under ECUAS_n, as numbers and as curves over its confidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.plotting.curves import confidence_cost

from .drawings import NUM_POINTS, stacked
from .markup import message
from .plots import plot, slots

COST_LIMIT = 5.0  # of the plot: at n = 0 a confident mistake costs 16
CORRECT, INCORRECT, CHOSEN = "correct answer", "incorrect answer", "your confidence"


class Answer(NamedTuple):
    """An answer of one confidence in [0, 1], among K answers (None: infinitely many), and the n of ECUAS_n."""

    n: float
    num_classes: float | None
    confidence: float

    @property
    def lowest(self) -> float:
        """The confidence below which an answer counts as rejected: that of a system that knows nothing."""
        return 0.0 if self.num_classes is None else 1 / self.num_classes


def answer_costs(answer: Answer) -> tuple[float, float]:
    """Return what it costs if it is correct, and if it is incorrect."""
    u_max = 1 - answer.lowest
    uncertainty = min(1 - answer.confidence, u_max)
    correct, incorrect = ecuas_cost([uncertainty] * 2, [0, 1], n=answer.n, max_uncertainty=u_max)
    return float(correct), float(incorrect)


def cost_numbers(answer: Answer) -> str:
    """Return the two costs of `answer_costs` as HTML, with a note on confidences below that of knowing nothing."""
    correct, incorrect = answer_costs(answer)
    numbers = "".join(
        f'<div><span>{name}</span><b class="{style}">{value:.3f}</b></div>'
        for name, value, style in ((CORRECT, correct, "slot-1"), (INCORRECT, incorrect, "slot-2"))
    )
    low = answer.lowest
    note = f"Below 1/K = {low:.3f} an answer counts as rejected, which costs 1." if answer.confidence < low else ""
    return f'<div class="numbers">{numbers}</div>{message(note)}'


def cost_figure(answer: Answer) -> str:
    """Draw `cost_frame`."""
    frame = cost_frame(answer)
    lines, limits = slots(frame["answer"]), (0.0, COST_LIMIT)
    return plot(frame, lines, title="Cost of an answer", names="answer", x_lim=(0, 1), y_lim=limits)


def cost_frame(answer: Answer) -> pd.DataFrame:
    """Return columns confidence, cost, answer: the two curves of ECUAS_n, and a line between them at a confidence."""
    curve = confidence_cost(n=answer.n, num_classes=answer.num_classes, num_points=NUM_POINTS + 1)
    lines: dict[str, dict[str, Any]] = {
        CORRECT: {"confidence": curve.confidence, "cost": curve.correct},
        INCORRECT: {"confidence": curve.confidence, "cost": curve.incorrect},
        CHOSEN: {"confidence": [answer.confidence] * 2, "cost": answer_costs(answer)},
    }
    return stacked(lines, names="answer")
