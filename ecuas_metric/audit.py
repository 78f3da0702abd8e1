"""A judge's verdicts on all answers, people's labels on some that were drawn: numbers that hold whatever it errs in.

What the judge and the confidences tell of an answer is the chance that it is wrong. These chances are corrected by what
people found, each time weighted by the inverse of the probability of the draw. A metric of these costs has an error of
two parts: that of the corrections, and that of the answers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from .abstentions import note_abstentions
from .costs import ECUAS_N, ERROR_RATE
from .decisions import confidence_decisions, select_rows
from .errors import InputError, Note
from .groups import Groups, Line, Rows, make_rows, sum_parts, sum_samples
from .inference import Inference, Number, Side, infer, infer_all
from .inputs import (
    NO_LIMITS,
    Array,
    Bools,
    Floats,
    Ints,
    require,
    require_same_length,
)
from .intervals import Answers, make_number, make_numbers, note_keys
from .metric import Key, Point, checked_keys
from .metrics import Values, sample_costs
from .options import LEVEL, Options, checked_options, scale_to_effective_size, select_options
from .results import (
    Estimate,
    Results,
    System,
    compute_results,
    compute_values,
    draw_samples,
    make_answers,
    make_system,
    prepare_system,
    value_keys,
)
from .sampling import Design, make_design

# wrong, and right, answers that people must have seen: for means, and for what depends on the order
FEWEST = 5
FEWEST_OF_ORDER = 10
NOT_DRAWN = 1e-3  # the level of the tests whether answers look drawn
_RIDGE = 0.5
_STEPS = 50  # of Newton's method
_CONVERGED = 1e-10
_LEAST = 1e-3  # uncertainty, in its logarithm
_ROUNDING = 1e-9
_REFUSED = ("normalize", "decompose", "calibration")


@dataclass(frozen=True, eq=False)
class Audit:
    """The labels of people for some of N answers, and the chances of being wrong that a judge gives all."""

    correct: Floats  # 1 or 0 by people, nan where they did not look
    chance: Floats  # of being wrong, predicted by verdict and confidence
    left_out: Floats  # the same, predicted without the answer itself
    factor: Floats  # the inverse of the probability of the draw, up to scale: 0 where nobody looked

    @cached_property
    def rows(self) -> Ints:
        """The indices (M,) of the answers that people labelled."""
        return np.flatnonzero(self.factor)

    @cached_property
    def rarer_count(self) -> int:
        """The number of wrong or of right answers among those that people labelled, whichever is smaller."""
        wrong = int(np.count_nonzero(self.correct[self.rows] == 0))
        return min(wrong, len(self.rows) - wrong)

    def supports(self, key: Key) -> bool:
        """Return whether people saw enough wrong and right answers for the interval of a number to hold."""
        return self.rarer_count >= (FEWEST_OF_ORDER if key.entry.has_audit else FEWEST)

    def select(self, rows: Ints) -> Audit:
        """Return the audit of the answers `rows`."""
        return Audit(*(getattr(self, field.name)[rows] for field in fields(self)))

    def select_labelled(self, system: System) -> System:
        """Return the system of the answers that people labelled, weighted by `factor`, and of all abstentions."""
        abstained = system.decisions.abstained
        rows = np.flatnonzero((self.factor > 0) | abstained)
        weight = system.options.weights(len(abstained)) * np.where(abstained, 1.0, self.factor)
        wrong = np.where(abstained, 1.0, 1.0 - self.correct)[rows]
        decisions = replace(select_rows(system.decisions, rows), candidate_cost=wrong)
        options = select_options(system.options, rows)
        drawn = scale_to_effective_size(weight[rows])
        alone = make_system(decisions, options.replace(sample_weight=drawn))
        return replace(alone, origin=system.origin)

    def compute_results(self, system: System, only: Sequence[Key] | None) -> Results:
        """Return the numbers of an audited system, or those in `only`, by people alone where they saw too little."""
        keys, notes = _choose_keys(system, only)
        both = [key for key in keys if self.supports(key)]
        alone = [key for key in keys if not self.supports(key)]
        estimates = self._estimates(system, compute_values(replace(system, audit=None), both))
        if system.options.confidence_level is not None:
            notes += self._note_gain(system, estimates)
        if alone:
            by_people = compute_results(self.select_labelled(system), only=alone)
            estimates |= by_people.estimates
            fields = {"count": self.rarer_count, "few": FEWEST, "of_order": FEWEST_OF_ORDER}
            notes += note_keys("judge_not_used", alone, **fields) + by_people.notes
        ordered = {key: estimates[key] for key in keys if key in estimates}
        return Results(ordered, (*system.notes, *notes), system.basis, system)

    def _estimates(self, system: System, values: Values) -> dict[Key, Estimate]:
        """Return the values as estimates, with intervals if there is a confidence level."""
        level = system.options.confidence_level
        if level is None:
            return {key: Estimate(value) for key, value in values.items()}
        answers = make_answers(system)
        numbers = known_numbers(system, answers, values)
        tests = [[number] for number in numbers.values()]
        inferred = dict(zip(numbers, infer_audits(tests, answers.design), strict=True))
        estimates = {}
        for key, value in values.items():
            found = inferred.get(key)
            limits = NO_LIMITS if found is None else found.limits(level)
            estimates[key] = Estimate(value, *limits)
        return estimates

    def _note_gain(self, system: System, estimates: Mapping[Key, Estimate]) -> tuple[Note, ...]:
        """Return a note that compares the interval with that of people's labels alone, for an ECUAS_n of n > 0."""
        key = next((key for key in estimates if key.metric == ECUAS_N.name and key.parameter), None)
        if key is None:
            return ()
        alone = compute_results(self.select_labelled(system), only=[key]).estimates[key]
        texts = {"metric": str(key), "alone": str(alone), "both": str(estimates[key])}
        return (Note("audit_gain", texts),)


def prepare_with_judge(
    form: str,
    predictions: Array,
    references: Array,
    options: Options,
    *,
    ids: Sequence[object] | None = None,
    sort: bool = True,
) -> System:
    """Return the system of checked arrays, as `results.prepare_system`; with a judge in the options the audited one.

    `references` (N,) are then 1 or 0 for answers that people labelled, nan for others, and candidate costs are chances
    of being wrong, corrected by these labels.
    """
    if options.judge is None or form != "confidences":
        return prepare_system(form, predictions, references, options, ids=ids, sort=sort)
    require_same_length(predictions=predictions, judge=options.judge)
    chances = options.audit_probability
    if chances is not None:
        require_same_length(predictions=predictions, audit_probability=chances)
    _refuse_options(options)
    plain = options.replace(judge=None, audit_probability=None)
    system = prepare_system(form, predictions, np.nan_to_num(references), plain, ids=ids)
    found = _audited_system(system, references.astype(np.float64), options.judge, chances)
    judged = found.options.replace(judge=options.judge, audit_probability=chances)
    return replace(found, options=judged)


def _audited_system(
    system: System, label: Floats, verdict: Floats, chances: Floats | None
) -> System:
    """Return a system with an audit: its costs follow from people's labels (N,), nan if missing, and verdicts (N,)."""
    answered = ~system.decisions.abstained
    audited = ~np.isnan(label) & answered
    design = make_design(system.num_samples, system.options)
    _require_labels(audited, chances, design)
    drawn = audited / (1.0 if chances is None else np.where(audited, chances, 1.0))
    share = design.sum_strata(design.weight * answered) / design.sum_strata(design.weight * drawn)
    factor = drawn * design.broadcast_strata(share)
    chance, left_out = _fit_chances(
        system.decisions.uncertainty, verdict, 1 - label, design.weight * factor
    )
    audit = Audit(label, chance, left_out, factor)
    corrections = np.where(audited, factor * (1 - label - chance), 0.0)
    decisions = replace(
        system.decisions, candidate_cost=np.where(answered, chance + corrections, 1.0)
    )
    ties = make_system(decisions, system.options).ties
    origin = replace(
        system.origin,
        audit=f"{len(audit.rows)}/{np.count_nonzero(answered)}",
    )
    silent = int(np.count_nonzero(~answered))
    notes = [note for note in system.notes if note.id not in ("inverted", "abstentions")]
    notes += note_abstentions(ties, decisions, silent)
    found = replace(system, decisions=decisions, ties=ties, origin=origin, audit=audit)
    return replace(found, notes=(*notes, *_notes(found, verdict, design.weight)))


def refuse_audit(system: System, what: str) -> None:
    """Raise InputError, about `what`, if a system has an audit."""
    if system.audit is not None:
        raise InputError(what, "not_of_an_audit")


# ---- what is given ---------------------------------------------------------------------------------------------------


def _refuse_options(options: Options) -> None:
    for name in _REFUSED:
        if getattr(options, name):
            raise InputError(name, "not_of_an_audit")
    if options.weights_are == "counts":
        raise InputError("weights_are", "not_of_an_audit")
    if options.confidence_level is not None and options.interval_method != "analytic":
        raise InputError("interval_method", "not_of_an_audit")


def _require_labels(audited: Bools, chances: Floats | None, design: Design) -> None:
    """Raise InputError unless people labelled two answers of each stratum, drawn with known probabilities."""
    fewest = int(design.sum_strata(audited.astype(np.float64)).min())
    if fewest < 2:
        of_each = "" if design.stratum is None else " of each stratum"
        rule = "must be given for two or more answers{of_each}, which were drawn at random"
        raise InputError("references", rule, got=str(fewest), of_each=of_each)
    if chances is not None:
        ok = ~audited | ((chances > 0) & (chances <= 1))
        require(ok, chances, "audit_probability", "must lie in (0, 1] where there are labels")


def _choose_keys(system: System, only: Iterable[Key] | None) -> tuple[list[Key], tuple[Note, ...]]:
    """Return the auditable keys of a system, or of `only`, and a note on others; InputError for others in `only`."""
    asked = value_keys(system.decisions, system.options) if only is None else checked_keys(only)
    keys = [key for key in asked if is_auditable(key, system)]
    others = [key for key in asked if key not in keys]
    if others and only is not None:
        raise InputError(str(others[0]), "not_of_an_audit")
    return keys, note_keys("unknown_by_audit", others)


def is_auditable(key: Key, system: System) -> bool:
    """Return whether a number is right for chances as costs: a mean that is affine in the cost, or of the order."""
    metric = key.entry
    if key.variant or metric.is_posterior_loss or metric.of_samples:
        return False
    if metric.cost is None:
        return metric.ratio is not None or metric.has_audit
    template = confidence_decisions(np.linspace(0, 1, 9), np.ones(9, np.int64))
    at = [
        sample_costs(key, replace(template, candidate_cost=np.full(9, cost)), system.options)
        for cost in (0.0, 1.0, 3.0)
    ]
    return np.allclose(at[2], at[0] + 3 * (at[1] - at[0]))


# ---- the chances -----------------------------------------------------------------------------------------------------


def _fit_chances(
    uncertainty: Floats, verdict: Floats, wrong: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Return the chance (N,) that each answer is wrong, fitted to those with a weight, and fitted without the answer.

    It is a logistic regression on verdict and confidence with a ridge, and one right and one wrong answer of weight 1/2
    added. Leaving out an answer is approximated by one step, from its leverage.
    """
    from scipy.special import expit

    rows = np.flatnonzero(weight)
    scaled = weight[rows] * (len(rows) / weight.sum())
    features = _make_features(uncertainty, verdict)
    features[:, 1:] -= scaled @ features[rows, 1:] / len(rows)
    beta, hessian = _fit_logistic(features[rows], wrong[rows], scaled)
    chance = expit(features @ beta)
    left_out = chance.copy()
    x = features[rows]
    p = chance[rows]
    leverage = scaled * np.einsum("nk,nk->n", x @ np.linalg.inv(hessian), x)
    error = (wrong[rows] - p) / np.maximum(1 - leverage * p * (1 - p), _ROUNDING)
    left_out[rows] = expit(x @ beta - leverage * error)
    return chance, left_out


def _make_features(uncertainty: Floats, verdict: Floats) -> Floats:
    """Return the features (N, 4) of answers: 1, the verdict, whether it is missing, and the log-odds of u."""
    from scipy.special import logit

    silent = np.isnan(verdict)
    u = np.clip(uncertainty, _LEAST, 1 - _LEAST)
    columns = [np.where(silent, 0.5, 1 - verdict), silent, logit(u) / 2]
    return np.stack([np.ones(len(u)), *columns], axis=1)


def _fit_logistic(features: Floats, wrong: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return coefficients (4,) of a logistic regression on features (M, 4), by Newton's method, and the Hessian."""
    from scipy.special import expit

    x = np.vstack([features, np.eye(1, 4), np.eye(1, 4)])
    y = np.append(wrong, [0.0, 1.0])
    v = np.append(weight, [0.5, 0.5])
    penalty = _RIDGE * np.diag([0.0, 1, 1, 1])
    beta = np.zeros(4)
    for _ in range(_STEPS):
        p = expit(x @ beta)
        hessian = (x.T * (v * p * (1 - p))) @ x + penalty
        step = np.linalg.solve(hessian, x.T @ (v * (y - p)) - penalty @ beta)
        beta += step * min(1.0, 2 / max(np.abs(x @ step).max(), _CONVERGED))
        if np.abs(step).max() < _CONVERGED:
            break
    return beta, hessian


# ---- two parts of an error -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AuditedNumber:
    """A number of an audited system: its part from corrections by labels, and that from predicted chances."""

    residual: Number  # of these answers
    rows: Ints  # (M,), which they are
    drawn: Design  # of these (M,)
    # (N,), W times the influence of each answer, through confidence and verdict
    model_scores: Floats
    design: Design

    @property
    def value(self) -> float:
        """The number."""
        return self.residual.value

    @cached_property
    def corrections(self) -> Floats:
        """W times the influence of each answer (N,) through its correction, about the mean."""
        weight = self.drawn.weight
        wrong = self.residual.groups.cost / weight
        corrections = np.zeros(len(self.model_scores))
        corrections[self.rows] = weight * self.drawn.centred(self.residual.line.influence(wrong))
        return corrections

    def is_drawn_as(self, other: AuditedNumber) -> bool:
        """Return whether the same answers, drawn in the same way, were labelled for another number."""
        return np.array_equal(self.rows, other.rows) and np.allclose(
            self.drawn.weight, other.drawn.weight
        )

    @property
    def scores(self) -> Floats:
        """W times the influence of each answer (N,)."""
        return self.model_scores + self.corrections

    @property
    def point(self) -> Point:
        """The number with its influence function, where each answer (N,) is a group."""
        weight = self.design.weight
        return Point(self.value, Line(self.scores / weight, 0 * weight))

    @property
    def samples(self) -> Rows:
        """The answers (N,), each of which is a group of `point`."""
        weight = self.design.weight
        return make_rows(np.arange(len(weight)), 0 * weight, weight)


def known_numbers(
    system: System, answers: Answers, values: Values
) -> dict[Key, AuditedNumber | Number]:
    """Return the numbers of a system whose error is known, for the engine: with an audit as audited numbers."""
    if system.audit is None:
        return {**make_numbers(answers, values)}
    audit: Audit = draw_samples(system).audit
    numbers: dict[Key, AuditedNumber | Number] = {}
    for key, value in values.items():
        whole = make_number(key, answers, value) if audit.supports(key) else None
        if whole is not None:
            depends = whole.groups is answers.groups and whole.matters.any()
            numbers[key] = _make_audited_number(audit, answers, whole) if depends else whole
    return numbers


def _make_audited_number(audit: Audit, answers: Answers, whole: Number) -> AuditedNumber:
    weight = answers.design.weight
    group = whole.samples.group
    line = whole.line
    chance = np.where(answers.template.abstained, 1.0, audit.chance)
    influence = line.intercept[group] + line.slope[group] * chance
    moved = weight * answers.design.centred(influence)
    stratum = answers.design.stratum
    drawn = Design(
        (weight * audit.factor)[audit.rows],
        stratum=None if stratum is None else stratum[audit.rows],
    )
    residual = _make_residual(whole, audit, group, drawn.weight)
    return AuditedNumber(residual, audit.rows, drawn, moved, answers.design)


def _make_residual(whole: Number, audit: Audit, group: Ints, a: Floats) -> Number:
    """Return a number as a function of the labelled answers, each a group with the weight `a` (M,)."""
    rows = audit.rows
    home = group[rows]
    wrong = 1 - audit.correct[rows]
    size = len(whole.groups.weight)
    base = whole.groups.cost - sum_parts(home, a * (wrong - audit.chance[rows]), size)
    total = float(a.sum())
    share = total / whole.groups.total

    def evaluate(groups: Groups) -> Point:
        moved = groups.cost - groups.weight * audit.chance[rows]
        cost = base + sum_parts(home, moved * (total / groups.total), size)
        point = whole.evaluate(replace(whole.groups, cost=cost))
        slope = point.line.slope[home] * share
        return Point(point.value, Line(-slope * audit.left_out[rows], slope))

    groups = sum_samples(whole.groups.rank[home], a, wrong, np.asarray)
    return Number(
        whole.value,
        groups,
        evaluate,
        evaluate(groups),
        whole.least,
        whole.most,
        rows=lambda: make_rows(np.arange(len(a)), wrong, a),
    )


def infer_audits(
    tests: Sequence[Sequence[AuditedNumber | Number]], design: Design
) -> list[Inference | None]:
    """Return the inferences about numbers, or differences (the first less the second), of the same answers (N,)."""
    plain = [[one for one in test if isinstance(one, Number)] for test in tests]
    are_plain = [len(one) == len(test) for one, test in zip(plain, tests, strict=True)]
    inferred = iter(infer_all(list(itertools.compress(plain, are_plain)), design))
    return [
        next(inferred) if is_plain else _infer_with_constants(test)
        for test, is_plain in zip(tests, are_plain, strict=True)
    ]


def _infer_with_constants(numbers: Sequence[AuditedNumber | Number]) -> Inference | None:
    """Return the inference about audited numbers, some of which may be constants; None with another plain number."""
    constants = [isinstance(one, AuditedNumber) or _is_constant(one) for one in numbers]
    if not all(constants):
        return None
    audited = next(one for one in numbers if isinstance(one, AuditedNumber))
    return _infer_audited(
        [_make_constant(one, audited) if isinstance(one, Number) else one for one in numbers]
    )


def _is_constant(number: Number) -> bool:
    """Return whether no answer has influence on a number, as on the cost of rejecting everything."""
    return not number.samples.influence(number.line).any()


def _make_constant(number: Number, other: AuditedNumber) -> AuditedNumber:
    """Return a constant as an audited number of the same audit as another."""
    none = np.zeros(len(other.rows))
    point = Point(number.value, Line(none, none))
    residual = replace(
        other.residual,
        value=number.value,
        evaluate=lambda groups: point,
        point=point,
        least=number.value,
        most=number.value,
    )
    return replace(other, residual=residual, model_scores=0 * other.model_scores)


def _infer_audited(numbers: Sequence[AuditedNumber]) -> Inference | None:
    """Return the inference about an audited number, or a difference of two; None if its error is unknown."""
    inferred, corrections = _infer_corrections(numbers)
    if len(inferred) < len(corrections):
        return None
    scores = _first_less_others([one.scores for one in numbers])
    moved = _first_less_others([one.model_scores for one in numbers])
    rest = _AuditError(scores, moved, corrections, numbers[0])
    return Inference(
        math.fsum(one.value for one in inferred),
        rest.side([one.lower for one in inferred], 1),
        rest.side([one.upper for one in inferred], -1),
        sum(one.least for one in inferred),
        sum(one.most for one in inferred),
    )


def _infer_corrections(
    numbers: Sequence[AuditedNumber],
) -> tuple[list[Inference], list[Floats]]:
    """Return the inferences about corrections, and the corrections (N,).

    If the same answers were labelled for all numbers it is one of their difference; else one for each number, negated
    for all but the first. Those whose error is unknown are left out.
    """
    first, *others = numbers
    corrections = [one.corrections for one in numbers]
    if all(first.is_drawn_as(one) for one in others):
        corrections = [_first_less_others(corrections)]
        inferred = [infer([one.residual for one in numbers], first.drawn)]
    else:
        inferred = [infer([one.residual], one.drawn) for one in numbers]
        inferred[1:] = [one and one.negated() for one in inferred[1:]]
    return [one for one in inferred if one is not None], corrections


def _first_less_others(values: Sequence[Floats]) -> Floats:
    return np.asarray(2 * values[0] - np.sum(values, axis=0))


@dataclass(frozen=True, eq=False)
class _AuditError:
    """The error of an audited number, or a difference: W times influences (N,), in all and by their sources."""

    scores: Floats
    model_scores: Floats
    corrections: Sequence[Floats]
    number: AuditedNumber

    def side(self, sides: Sequence[Side], sign: int) -> Side:
        """Return the distribution of the number (`sign` 1) or of minus it (-1), from those of its corrections."""
        total = float(self.number.design.weight.sum())
        square = float(self.scores @ self.scores)
        seen = math.fsum(float(one @ one) for one in self.corrections)
        residual = math.fsum(side.deviation**2 for side in sides)
        variance = residual + max((square - seen) / total**2, -residual / 2)
        deviation = math.sqrt(variance * self._effect(square))
        third = math.fsum(side.skewness * side.deviation**3 for side in sides)
        third += sign * float((self.model_scores**3).sum()) / total**3
        root = math.sqrt(variance) or 1.0
        shift = math.fsum(side.shift * side.deviation for side in sides) / root
        return Side(
            math.fsum(side.centre - side.shift for side in sides) + shift,
            deviation,
            third / root**3,
            self._freedom(sides, variance),
            shift,
        )

    def _freedom(self, sides: Sequence[Side], variance: float) -> float:
        """Return the degrees of freedom of the variance (Satterthwaite 1946), at most those of labelled groups."""
        spent = math.fsum(
            side.deviation**4 / self._correction_freedom(side, one)
            for side, one in zip(sides, self.corrections, strict=True)
        )
        freedom = variance**2 / spent if spent else math.inf
        groups = self.number.design.group
        if groups is None:
            return freedom
        return min(freedom, max(len(np.unique(groups[self.number.rows])) - 1.0, 1.0))

    def _effect(self, square: float) -> float:
        """Return the design effect of groups, at least 1."""
        groups = self.number.design.group
        if groups is None or not square > 0:
            return 1.0
        return max(float(np.square(sum_parts(groups, self.scores)).sum()) / square, 1.0)

    def _correction_freedom(self, side: Side, corrections: Floats) -> float:
        """Return the degrees of freedom of the variance of corrections: fewer if these are mostly small."""
        values = corrections[np.flatnonzero(corrections)]
        centred = values - values.mean() if len(values) else values
        variance = float(np.square(centred).mean()) if len(values) else 0.0
        if not variance > 0:
            return side.freedom
        skewness = float((centred**3).mean()) / variance**1.5
        kurtosis = float((centred**4).mean()) / variance**2
        excess = kurtosis - 1 - skewness**2
        return min(side.freedom, max(2 * len(values) / excess, 1.0)) if excess > 0 else side.freedom


# ---- notes -----------------------------------------------------------------------------------------------------------


def _notes(system: System, verdict: Floats, weight: Floats) -> tuple[Note, ...]:
    """Return the note on how often the judge is right, and one if labelled answers do not look drawn at random."""
    audit: Audit = system.audit
    rows = audit.rows
    called_wrong = verdict[rows] == 0
    wrong = audit.correct[rows] == 0
    weights = (weight * audit.factor)[rows]
    fields = {
        "count": len(rows),
        "total": int(np.count_nonzero(~system.decisions.abstained)),
        "sensitivity": _describe_share(called_wrong, wrong, weights),
        "specificity": _describe_share(~called_wrong, ~wrong, weights),
    }
    return (Note("audited", fields), *_note_not_drawn(system, verdict, weight))


def _describe_share(hits: Bools, among: Bools, weight: Floats) -> str:
    """Return, in words, the weighted share of hits in the answers selected by `among` (M,), with its interval."""
    if not among.any():
        return "an unknown share"
    options = checked_options(confidence_level=LEVEL, sample_weight=weight[among])
    answers = hits[among].astype(np.int64)
    decisions = confidence_decisions(np.full(len(answers), 0.5), answers)
    key = Key(ERROR_RATE.name)
    missed = compute_results(make_system(decisions, options), only=[key]).estimates[key]
    low, high = 1 - (missed.high or 0.0), 1 - (missed.low or 0.0)
    if math.isnan(low):
        return f"{1 - missed.value:.0%}"
    return f"{1 - missed.value:.0%} ({low:.0%} to {high:.0%})"


def _note_not_drawn(system: System, verdict: Floats, weight: Floats) -> tuple[Note, ...]:
    """Return a note if verdicts or confidences of labelled answers differ from those of all by more than chance."""
    from scipy.special import ndtri

    audit: Audit = system.audit
    answered = ~system.decisions.abstained
    drawn = weight * audit.factor
    for what, values in {
        "verdicts": np.nan_to_num(verdict, nan=0.5),
        "confidences": 1 - system.decisions.uncertainty,
    }.items():
        centred = np.where(answered, values - np.average(values, weights=weight * answered), 0.0)
        deviation = math.sqrt(float(np.square(drawn * centred).sum()))
        if deviation > 0 and abs(float(drawn @ centred)) > -ndtri(NOT_DRAWN / 2) * deviation:
            return (Note("audit_not_drawn", {"what": what}),)
    return ()
