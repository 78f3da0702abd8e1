"""A system's output and the truth -> the uncertainty and the cost of the candidate decision for each sample."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .groups import sort_stably
from .inputs import Array, Bools, Floats, Ints, row_blocks, sum_rows
from .options import Options, check_decisions, parse_cost_matrix

SUM_ROUNDING = 1e-12  # rows with a sum this close to 1 are not divided by it
_LAST_DIGIT = 6e-15  # of uncertainties with 14 digits: a little more than half of it
_LARGEST = 309  # digits of a float before the point
_POWERS = 10.0 ** np.arange(14.0 - _LARGEST, 115.0)
EPS = float(np.finfo(np.float64).eps)
Integers = NDArray[np.object_]  # Python's, of any size
# the confidence of a sample in which a system gives no answer: u = 2, beyond each u_M, so that nobody accepts it
ABSTAINS = -1.0
# bits of all costs as integers, up to which the programme is solved in integers
LARGEST_EXACT = 40_000
GAP = 1e-9  # between primal and dual, relative, up to which a larger programme counts as solved


@dataclass(frozen=True, eq=False)
class Decisions:
    """The candidate decision for each sample of one system, from which all its metrics are computed."""

    uncertainty: Floats  # (N,), u >= 0, the expected cost of the candidate decision by the system
    candidate_cost: Floats  # (N,), c >= 0, its actual cost; for the 0-1 cost 1 if incorrect
    max_uncertainty: float  # u_M > 0, the uncertainty of a system that knows nothing
    confidence: Floats | None = None  # (N,), q_e in [0, 1]; only for the 0-1 cost
    cross_entropy: Floats | None = None  # (N,), of the whole posterior
    brier_score: Floats | None = None  # (N,), of the whole posterior
    labels: Ints | None = None  # (N,), the true classes; only for posteriors
    decision: Array | None = None  # (N,), the index of the candidate; only for posteriors

    @property
    def has_only_confidences(self) -> bool:
        """Whether the system gave confidences, and neither posteriors nor costs."""
        return self.confidence is not None and self.labels is None

    @cached_property
    def has_abstentions(self) -> bool:
        """Whether the system abstains from answering some samples."""
        return self.has_only_confidences and bool(self.uncertainty.max(initial=0.0) > 1)

    @property
    def abstained(self) -> Bools:
        """Whether the system abstains, for each sample (N,)."""
        if not self.has_only_confidences:
            return np.zeros(len(self.uncertainty), np.bool_)
        return np.asarray(self.uncertainty > 1)

    @property
    def outcome(self) -> Floats:
        """The candidate cost of each sample (N,), 2 where the system abstains."""
        if not self.has_abstentions:
            return self.candidate_cost
        return np.where(self.abstained, 2.0, self.candidate_cost)

    @property
    def rank(self) -> Floats:
        """The sort key (N,), increasing with uncertainty: u; of confidences -q_e, since 1 - q_e merges small ones."""
        if self.labels is None and self.confidence is not None:
            return -self.confidence
        return self.uncertainty

    @property
    def order(self) -> Ints:
        """The indices (N,) of the samples by increasing uncertainty; tied ones keep their order."""
        return self._sorted[0]

    @property
    def sorted_rank(self) -> Floats:
        """The sorted `rank` (N,)."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> tuple[Ints, Floats]:
        return sort_stably(self.rank)

    def rank_from_uncertainty(self, uncertainty: Floats) -> Floats:
        """Return the `rank` of uncertainties."""
        return uncertainty - 1 if self.has_only_confidences else uncertainty

    def uncertainty_from_rank(self, rank: Floats) -> Floats:
        """Return the uncertainties of samples of these `rank`."""
        return 1 + rank if self.has_only_confidences else rank


def make_decisions(form: str, predictions: Array, references: Array, options: Options) -> Decisions:
    """Return the decisions for checked predictions (N,) or (N, K) and references (N,), read by the form of input."""
    if form == "confidences":
        if options.abstained is not None:
            predictions = np.where(options.abstained, ABSTAINS, predictions)
            references = np.where(options.abstained, 0, references)
        return confidence_decisions(predictions, references, num_classes=options.num_classes)
    if form == "costs":
        if options.max_uncertainty is None:
            raise InputError(
                "max_uncertainty", "is missing: the uncertainty of a system that knows nothing"
            )
        return Decisions(predictions, references, options.max_uncertainty)
    are = options.predictions_are.replace("positive_probabilities", "probabilities")
    num_samples, num_classes = predictions.shape
    return posterior_decisions(
        predictions,
        references,
        predictions_are=are,
        cost=options.cost,
        decisions=check_decisions(options, num_samples=num_samples, num_classes=num_classes),
        epsilon=options.epsilon,
    )


def confidence_decisions(
    confidence: Floats,
    correct: Ints,
    *,
    num_classes: float | None = None,
) -> Decisions:
    """Return the decisions of confidences q_e (N,): u = 1 - q_e, c = 1 - correct and u_M = 1 - 1/K."""
    # at once: large pages of memory are cheaper
    uncertainty, incorrect = np.empty((2, len(correct)))
    np.subtract(1.0, confidence, out=uncertainty)
    np.subtract(1.0, correct, out=incorrect)
    largest = 1 - 1 / (num_classes or math.inf)
    # a copy, since the caller may write to the array
    return Decisions(uncertainty, incorrect, largest, confidence=confidence.copy())


def posterior_decisions(
    posteriors: Array,
    labels: Ints,
    *,
    predictions_are: str = "probabilities",
    cost: str | Floats = "zero_one",
    decisions: Ints | None = None,
    epsilon: float = 1e-7,
) -> Decisions:
    """Return the decisions of least expected cost for checked posteriors (N, K), with true classes `labels` (N,).

    ========== ==================== ============================= ===================================
    cost       candidate            uncertainty u                 largest uncertainty u_M
    ========== ==================== ============================= ===================================
    zero_one   argmax_k q_k         1 - max_k q_k                 1 - 1/K
    log        the posterior        its entropy (nats)            log K
    (K, D) C   argmin_d q.C[:, d]   that minimum                  `largest_uncertainty`
    ========== ==================== ============================= ===================================

    Among equal candidates (for a matrix, up to rounding) the first is taken; if `decisions` (N,) are given, u is their
    expected cost. Rows are divided by their sums; in the cross-entropy, which is the logarithmic cost, a probability of
    the true class below `epsilon` counts as `epsilon`.
    """
    rule = _make_rule(cost, posteriors.shape[1])
    u, c, cross_entropy, brier_score = np.empty((4, len(labels)))
    decision = np.empty(len(labels), np.int32)
    start = 0
    for block in _posterior_blocks(posteriors, predictions_are):
        rows = slice(start, start + len(block.q))
        start = rows.stop
        label = labels[rows]
        places = _flat_indices(block.q, label)
        cross_entropy[rows] = _label_cross_entropy(block, places, epsilon)
        brier_score[rows] = _label_brier_score(block.q, places)
        made = None if decisions is None else decisions[rows]
        # last, since it writes to the block
        candidate, u[rows] = rule.decide(block, made)
        decision[rows] = candidate
        c[rows] = rule.cost(label, candidate, cross_entropy[rows])
    if decisions is None:  # then only rounding can pass it
        np.minimum(u, rule.max_uncertainty, out=u)
    confidences = (
        confidence_from_uncertainty(u) if isinstance(cost, str) and cost == "zero_one" else None
    )
    return Decisions(
        u, c, rule.max_uncertainty, confidences, cross_entropy, brier_score, labels, decision
    )


def confidence_from_uncertainty(uncertainty: Floats) -> Floats:
    """Return the confidences (N,) 1 - u, each the highest that has the 14 digits of u.

    So all that is 0.7 on paper lies in the bin that begins at 0.7, and ties share a bin.
    """
    return np.minimum(1 - uncertainty + _LAST_DIGIT, 1.0)


def one_right_one_wrong(max_uncertainty: float) -> Decisions:
    """Return the decisions of one correct and one incorrect answer: the classes of the naive system of confidences."""
    return Decisions(
        np.zeros(2),
        np.array([0.0, 1.0]),
        max_uncertainty,
        confidence=np.zeros(2),
    )


def one_sample_per_class(num_classes: int, max_uncertainty: float) -> Decisions:
    """Return the decisions of one sample of each class: the classes of the naive system of posteriors."""
    none = np.zeros(num_classes)
    return Decisions(none, none, max_uncertainty, labels=np.arange(num_classes))


def select_rows(decisions: Decisions, rows: slice | Ints) -> Decisions:
    """Return the decisions of the samples `rows`, a slice or indices."""
    columns: dict[str, Any] = {
        name: column[rows]
        for name, column in vars(decisions).items()
        if isinstance(column, np.ndarray)
    }
    return replace(decisions, **columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """A writable copy of the posteriors of consecutive samples, with their logarithms if the user passed these."""

    q: Floats  # (n, K)
    log_q: Floats | None = None  # (n, K)


_Candidates = tuple[Ints, Floats]  # the candidate decision of each sample, and its expected cost


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a cost turns posteriors into candidate decisions, and what these cost given the truth."""

    # of a block and the user's decisions (n,), if any
    decide: Callable[[_Block, Ints | None], _Candidates]
    cost: Callable[[Ints, Ints, Floats], Array]  # of labels, candidates and cross-entropies
    max_uncertainty: float


def _make_rule(cost: str | Floats, num_classes: int) -> _Rule:
    if not isinstance(cost, str):
        matrix = parse_cost_matrix(cost, num_classes=num_classes)
        decide = _make_matrix_decide(matrix)
        return _Rule(
            decide,
            lambda label, candidate, _: matrix[label, candidate],
            largest_uncertainty(matrix),
        )
    if cost == "log":
        return _Rule(
            lambda block, _: _decide_log(block),
            lambda label, candidate, label_cost: label_cost,
            math.log(num_classes),
        )
    return _Rule(
        _decide_zero_one, lambda label, candidate, _: candidate != label, 1 - 1 / num_classes
    )


def _decide_zero_one(block: _Block, made: Ints | None) -> _Candidates:
    q = block.q
    decision = q.argmax(axis=1) if made is None else made
    # 1 - q_e from the other classes: exact where q_e is close to 1
    q.reshape(-1)[_flat_indices(q, decision)] = 0.0
    return decision, _round_uncertainty(sum_rows(q))


def _flat_indices(q: Floats, column: Ints) -> Ints:
    """Return the index of one column of each row in the flattened array (n, K), by which NumPy selects faster."""
    return np.arange(0, q.size, q.shape[1]) + column


def _round_uncertainty(u: Floats) -> Floats:
    """Return uncertainties (N,) rounded to 14 digits, so that sums that are equal on paper are ties."""
    is_normal = u > 1e-100
    magnitude = np.log10(u, where=is_normal, out=np.zeros(len(u)))
    unit = _POWERS[_LARGEST - np.ceil(magnitude).astype(np.int64)]
    return np.where(is_normal, np.rint(u * unit) / unit, u)


def _decide_log(block: _Block) -> _Candidates:
    q = block.q
    with np.errstate(divide="ignore"):
        log_q = np.log(q) if block.log_q is None else block.log_q
    entropy = -np.einsum("nk,nk->n", q, np.where(q > 0, log_q, 0.0))
    return q.argmax(axis=1), _round_uncertainty(np.maximum(entropy, 0.0))


def _make_matrix_decide(matrix: Floats) -> Callable[[_Block, Ints | None], _Candidates]:
    of_decision = np.ascontiguousarray(matrix.T)

    def decide(block: _Block, made: Ints | None) -> _Candidates:
        decision = _first_cheapest(block.q @ matrix, len(matrix)) if made is None else made
        # Not from the product of matrices, which may round equal rows differently.
        expected = np.einsum("nk,nk->n", block.q, of_decision[decision])
        return decision, _round_uncertainty(expected)

    return decide


def _first_cheapest(expected: Floats, num_classes: int) -> Ints:
    """Return the first decision (n,) of least expected cost (n, D), up to rounding."""
    decision = np.asarray(expected.argmin(axis=1))
    # The rounding error of a sum of K non-negative products, twice: costs closer than this count as equal.
    rounding = 2 * (num_classes + 2) * EPS
    least = expected[np.arange(len(expected)), decision, None]
    is_least = expected <= least * (1 + rounding)
    if np.count_nonzero(is_least) > len(expected):
        decision = np.asarray(is_least.argmax(axis=1))
    return decision


def _posterior_blocks(posteriors: Array, predictions_are: str) -> Iterator[_Block]:
    """Yield the distributions of posteriors (N, K) in blocks of rows."""
    for rows in row_blocks(posteriors):
        block = np.array(rows, dtype=np.float64, order="C")
        if predictions_are == "logits":
            log_q = log_softmax(block)
            yield _Block(np.exp(log_q), log_q)
        elif predictions_are == "log_probabilities":
            yield _normalize_rows(_Block(np.exp(block), block))
        else:
            yield _normalize_rows(_Block(block))


def _normalize_rows(block: _Block) -> _Block:
    """Return the block with rows divided, in place, by their sums where these are not 1 up to rounding."""
    q = block.q
    sums = (q @ np.ones(q.shape[1]))[:, None]  # several times as fast as a sum over few classes
    off = np.abs(sums - 1) > SUM_ROUNDING
    if off.any():
        sums[~off] = 1.0
        q /= sums
        if block.log_q is not None:
            np.subtract(block.log_q, np.log(sums), out=block.log_q)
    return block


def log_softmax(logits: Floats) -> Floats:
    """Return the logarithm of the softmax of each row of logits (N, K), precise also where it is close to 0."""
    rows = np.arange(len(logits))
    top = logits.argmax(axis=1)
    # a difference beyond float64 is a probability of 0 all the same
    with np.errstate(over="ignore"):
        shifted = logits - logits[rows, top, None]
    others = np.exp(shifted)
    others[rows, top] = 0.0
    others_sum = others.sum(axis=1, keepdims=True)
    # log1p: exact where the others are negligible
    return np.asarray(shifted - np.log1p(others_sum))


def _label_cross_entropy(block: _Block, places: Ints, epsilon: float) -> Floats:
    if block.log_q is None:
        log_q_label = np.log(np.maximum(block.q.take(places), epsilon))
    else:
        log_q_label = np.maximum(block.log_q.take(places), math.log(epsilon))
    return np.abs(np.minimum(log_q_label, 0.0))


def _label_brier_score(q: Floats, places: Ints) -> Floats:
    flat = q.reshape(-1)
    q_label = flat[places]
    flat[places] = 1 - q_label
    score: Floats = np.einsum("nk,nk->n", q, q)
    flat[places] = q_label
    return score


# ---- u_M of a cost matrix -------------------------------------------------------------------------------------------


def largest_uncertainty(matrix: Floats) -> float:
    r"""Return u_M of a cost matrix (K, D) >= 0, the worst-case uncertainty of a system that knows nothing.

    .. math:: u_M = \max_q \min_d \sum_k q_k C_{kd} = \min_y \max_k \sum_d C_{kd} y_d

    over distributions q of classes and y of decisions (Equation dB_final; von Neumann 1928): a linear programme and its
    dual, solved in integers and rounded once. A float64 solver, even with scaled costs and verified duals, was up to
    92 % too low where costs span 1e24 (4 of 376 matrices); it serves matrices of more than about 20 classes and
    decisions only, and both sides must agree to 1e-9.
    """
    free = (matrix == 0).all(axis=0)
    if free.any():
        first = int(free.argmax())
        got = f"decision {first}, which costs nothing for any"
        count = int(np.count_nonzero(free))
        raise InputError(
            "cost",
            "must make every decision cost something for some class",
            value=first,
            got=got,
            count=count,
            total=len(free),
        )
    exponents = np.frexp(matrix[matrix > 0])[1]
    if matrix.size * (53 + int(np.ptp(exponents))) <= LARGEST_EXACT:
        costs, unit = _scale_to_integers(matrix, int(exponents.min()) - 53)
        low, high = (bound * unit for bound in _game_bounds(costs, *_solve_exactly(costs)))
    else:
        low, high = _game_bounds(matrix, *_solve_approximately(matrix))
    largest = float(low)
    if high - low > GAP * high or largest < np.finfo(np.float64).tiny:
        got = f"one between {float(low):g} and {float(high):g}"
        raise InputError(
            "cost",
            "must have a largest uncertainty that can be verified",
            got=got,
            advice="Leave out costs that are too small to matter, or too large to happen.",
        )
    return largest


def _game_bounds(
    costs: Array,
    q: Array,
    y: Array,
) -> tuple[Fraction | float, Fraction | float]:
    """Return a lower bound of u_M from weights q (K,) of classes, and an upper one from weights y (D,) of decisions."""
    low = (q @ costs).min()
    high = (costs @ y).max()
    if costs.dtype == object:
        return Fraction(low, q.sum()), Fraction(high, y.sum())
    return low / q.sum(), high / y.sum()


def _scale_to_integers(matrix: Floats, exponent: int) -> tuple[Integers, Fraction]:
    """Return the integers that times 2**exponent are the matrix, exactly, and 2**exponent."""
    unit = Fraction(2) ** exponent
    wholes = [int(Fraction(cost) / unit) for cost in matrix.ravel().tolist()]
    return np.array(wholes, object).reshape(matrix.shape), unit


def _solve_exactly(costs: Integers) -> tuple[Integers, Integers]:
    """Return weights of classes and of decisions that solve the programme: maximise sum(y), y >= 0, costs @ y <= 1.

    By the simplex method with exact integer pivots.
    """
    num_classes, num_decisions = costs.shape
    table = np.zeros((num_classes + 1, num_decisions + 1), object)
    table[:-1, :-1] = costs
    table[:-1, -1] = 1
    table[-1, :-1] = -1
    rows = np.arange(num_classes) + num_decisions
    columns = np.arange(num_decisions)
    denominator = 1  # of all entries, the last pivot: every division is exact (Edmonds)
    entering = np.arange(num_decisions)
    while entering.size:
        column = entering[columns[entering].argmin()]  # the first, so that it ends (Bland)
        row = _leaving_row(table, column, rows)
        pivot = table[row, column]
        pivot_row = table[row].copy()
        pivot_column = table[:, column].copy()
        table = (table * pivot - np.multiply.outer(pivot_column, pivot_row)) // denominator
        table[row] = pivot_row
        table[:, column] = -pivot_column
        table[row, column] = denominator
        rows[row], columns[column] = columns[column], rows[row]
        denominator = pivot
        entering = np.flatnonzero(table[-1, :-1] < 0)
    solution = np.zeros(num_decisions + num_classes, object)
    solution[rows] = table[:-1, -1]
    prices = np.zeros(num_decisions + num_classes, object)
    prices[columns] = table[-1, :-1]
    return prices[num_decisions:], solution[:num_decisions]


def _leaving_row(table: Integers, column: int, rows: Ints) -> int:
    """Return the row of least ratio, which leaves the basis for `column`; of several, that of the first variable."""
    candidates = np.flatnonzero(table[:-1, column] > 0)
    return int(
        min(
            candidates,
            key=lambda row: (Fraction(table[row, -1], table[row, column]), rows[row]),
        )
    )


def _solve_approximately(matrix: Floats) -> tuple[Floats, Floats]:
    """Return weights of classes and of decisions that solve the programme up to rounding, in float64."""
    from scipy.optimize import linprog

    num_classes, num_decisions = matrix.shape
    unit = np.exp2(np.log2(matrix[matrix > 0]).mean().round())  # the solver drops costs below 1e-9
    solution = linprog(
        c=np.full(num_decisions, -1.0),  # maximise the sum of y where matrix @ y <= 1
        A_ub=matrix / unit,
        b_ub=np.ones(num_classes),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.x is None:
        raise InputError("cost", "must have a largest uncertainty", got=str(solution.message))
    q = np.maximum(-solution.ineqlin.marginals, 0)
    y = np.maximum(solution.x, 0)
    return _polish(matrix, q, y)


def _polish(
    matrix: Floats,
    q: Floats,
    y: Floats,
) -> tuple[Floats, Floats]:
    """Return the positive weights to full precision from their linear equations, if these are square and solvable."""
    classes = np.flatnonzero(q)
    decisions = np.flatnonzero(y)
    if len(classes) != len(decisions):
        return q, y
    square = matrix[np.ix_(classes, decisions)]
    ones = np.ones(len(classes))
    try:
        exact_q = np.linalg.solve(square.T, ones)
        exact_y = np.linalg.solve(square, ones)
    except np.linalg.LinAlgError:
        return q, y
    if min(exact_q.min(), exact_y.min()) >= 0:
        q[classes] = exact_q
        y[decisions] = exact_y
    return q, y
