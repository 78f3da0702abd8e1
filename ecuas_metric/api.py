"""The public functions that take arrays, the truth first, as in scikit-learn's metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from .abstentions import zero_abstentions
from .audit import prepare_with_judge
from .calibration import CALIBRATION_P, ECE, ECE_DEBIASED
from .classes import (
    COMPLETE_CONFIDENCE_WORDS,
    CONFIDENCE_WORDS,
    COST_WORDS,
    POSTERIOR_WORDS,
    UNCERTAINTY_WORDS,
    ClassCosts,
    binary_posteriors,
    class_indices,
    note_order,
    order_columns,
    parse_class_costs,
    refuse_named_levels,
    refuse_swapped,
    reword_errors,
)
from .costs import ECUAS_N
from .errors import InputError, Note, issue_warnings
from .inputs import (
    Array,
    complement,
    fill_masked,
    note_hard_predictions,
    parse_confidences,
    parse_costs,
    parse_numbers,
    parse_posteriors,
    require_not_missing,
    require_same_length,
    require_same_order,
)
from .metric import Key, Metric
from .options import (
    check_number,
    checked_options,
    cost_frame_to_mapping,
    refuse_idle_options,
    select_per_sample,
)
from .order import AUGRC, AURC, AUROC
from .results import System, compute_results, prepare_system


def ecuas_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n: float = 1,
    labels: ArrayLike | None = None,
    cost: str | ArrayLike | ClassCosts = "zero_one",
    normalize: bool = False,
    sample_weight: ArrayLike | None = None,
    predictions_are: str = "probabilities",
    renormalize: bool = False,
) -> float:
    r"""Return ECUAS_n of a classifier with posteriors: its expected cost over all reject costs. Lower is better.

    .. math::
        \frac{1}{N} \sum_i \left(r_i^{n+1} + c_i \frac{n+1}{n\,u_M} (1 - r_i^n)\right), \qquad r_i = u_i / u_M

    where :math:`c_i` is the cost of the candidate decision for sample i, :math:`u_i` its expected cost under the
    posterior, and :math:`u_M` the largest of those over all posteriors. For n = 0 see `ecuas_cost`.

    Parameters
    ----------
    y_true : array_like, shape (N,)
        True classes, all numbers or all strings.
    y_prob : array_like, shape (N, K) or (N,)
        Posteriors in [0, 1], each row with sum 1, the columns in the sorted order of the classes, as `predict_proba`
        returns them, or of a data frame named by the classes; or for two classes the probability of the second one.
    n : float, default 1
        In [0, inf]. Small n punishes confident mistakes, large n tends to the mean cost of the candidate decisions.
    labels : array_like, shape (K,), optional
        All classes in sorted order, as `classes_` of a classifier. By default those in `y_true`; needed where that may
        lack one, e.g. in a fold.
    cost : {"zero_one", "log"}, array_like of shape (K, D) or mapping, default "zero_one"
        The 0-1 cost, the logarithmic cost, or the cost of each decision (column) given each class (row). By names: of
        each class the cost of a mistake, ``{"ham": 5, "spam": 1}``, or of each decision,
        ``{"ham": {"keep": 0, "delete": 5}, "spam": {"keep": 1, "delete": 0}}``; the classes are then known.
    normalize : bool, default False
        Divide by the value of a system that outputs the class frequencies: 1 is no better than ignoring the input.
    sample_weight : array_like, shape (N,), optional
        Non-negative.
    predictions_are : {"probabilities", "log_probabilities", "logits"}, default "probabilities"
        What `y_prob` holds; of shape (N,) the logits are margins, as of `decision_function`.
    renormalize : bool, default False
        Divide rows of probabilities by their sums, which rounding keeps within 0.05 of 1.

    Returns
    -------
    float
        In [0, inf). With `normalize`, nan and a warning if the class frequencies cost nothing.

    Raises
    ------
    InputError
        If a row of `y_prob` is not a distribution, a class is not among the labels, lengths differ, or an option is out
        of its range.

    References
    ----------
    Estienne et al., "ECUAS_n: A family of metrics for principled evaluation of uncertainty-augmented systems",
    Equation psr_integral_n.

    Examples
    --------
    >>> ecuas_score(["cat", "dog", "dog"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    0.5466666666666666

    As a scorer for scikit-learn's `cross_val_score` and `GridSearchCV`, also where a fold lacks a class:

    >>> from sklearn.metrics import make_scorer
    >>> scorer = make_scorer(
    ...     ecuas_score, response_method="predict_proba", greater_is_better=False, labels=["cat", "dog"]
    ... )
    """
    options = {
        "n": check_number(n, "n", 0, math.inf),
        "cost": cost,
        "normalize": normalize,
        "sample_weight": sample_weight,
        "predictions_are": predictions_are,
        "renormalize": renormalize,
    }
    return compute_value(_posterior_system(y_true, y_prob, labels, options, sort=False), ECUAS_N)


def confidence_ecuas_score(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n: float = 1,
    num_classes: float | None = None,
    sample_weight: ArrayLike | None = None,
    judge: ArrayLike | None = None,
    audit_probability: ArrayLike | None = None,
) -> float:
    """Return ECUAS_n of a system that answers with a confidence, e.g. a language model. Lower is better.

    The formula is that of `ecuas_score` with u = 1 - confidence, c = 1 - correct and u_M = 1 - 1/K.

    Parameters
    ----------
    correct : array_like, shape (N,)
        1 or True where the answer is correct, else 0.
    confidence : array_like, shape (N,)
        The system's probability that its answer is correct, in [0, 1].
    n : float, default 1
        In [0, inf]; see `ecuas_score`.
    num_classes : int, optional
        Number K of possible answers; by default infinitely many, as for free text.
    sample_weight : array_like, shape (N,), optional
        Non-negative.
    judge : array_like, shape (N,), optional
        A judge's verdicts, 1 or 0, or nan where it has none. `correct` has then the labels of people for answers that
        were drawn at random, and nan for the others; the value holds whatever the judge's mistakes.
    audit_probability : array_like, shape (N,), optional
        With which each answer was drawn; by default all with the same.

    Returns
    -------
    float
        In [0, inf).

    Raises
    ------
    InputError
        If a confidence lies outside [0, 1] or is NaN, `correct` is not 0 or 1, lengths differ, or an option is out of
        its range.

    References
    ----------
    Estienne et al., Equation psr_integral_n01, section "Application of ECUAS to generative systems".

    Examples
    --------
    >>> round(confidence_ecuas_score([1, 0, 1], [0.9, 0.8, 0.4]), 4)
    0.67
    """
    n = check_number(n, "n", 0, math.inf)
    system = _complete_system(
        correct,
        confidence,
        sort=False,
        n=n,
        num_classes=num_classes,
        sample_weight=sample_weight,
        judge=judge,
        audit_probability=audit_probability,
    )
    return compute_value(system, ECUAS_N)


def ece_score(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    n_bins: int = 10,
    debiased: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the expected calibration error, the gap between confidence and accuracy over bins. Lower is better.

    .. math:: \sum_b \frac{N_b}{N} \left| \bar q_b - \bar a_b \right|

    with the share, the mean confidence and the accuracy of each bin. It is biased upwards: in a small sample accuracy
    differs from confidence by chance.

    Parameters
    ----------
    correct, confidence
        See `confidence_ecuas_score`.
    n_bins : int, default 10
        Number of bins of equal width, closed on the left, the last one on both sides.
    debiased : bool, default False
        Return instead the root mean square of the gaps without that bias, 0 where they are no larger than chance makes
        them: the products of the gaps of two different answers of a bin are averaged, not squares.
    sample_weight : array_like, shape (N,), optional
        Non-negative.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        See `confidence_ecuas_score`.

    References
    ----------
    Naeini et al. 2015, "Obtaining well calibrated probabilities using Bayesian binning"; Kumar, Liang and Ma 2019,
    "Verified uncertainty calibration" (without the bias).

    Examples
    --------
    >>> round(ece_score([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.9]), 4)
    0.15
    >>> ece_score([1, 1, 1, 0], [0.9, 0.9, 0.9, 0.9], debiased=True)
    0.0
    """
    system = _complete_system(
        correct, confidence, n_bins=n_bins, calibration=debiased, sample_weight=sample_weight
    )
    return compute_value(system, ECE_DEBIASED if debiased else ECE)


def calibration_p_value(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_resamples: int = 1000,
    random_state: int = 0,
) -> float:
    r"""Return the p-value of the test that a system is calibrated: correct as often as its confidences say.

    Small if the answers contradict the confidences. The statistic is the largest sum of differences between answers and
    confidences over an interval of confidences, which needs no bins,

    .. math:: \max_{a < b} \left| \sum_{i: a < q_i \le b} (y_i - q_i) \right|,

    compared with that of answers drawn at random, each correct with the chance that its confidence says. A single
    wrong answer of confidence 1 refutes calibration.

    Parameters
    ----------
    correct, confidence, sample_weight
        See `confidence_ecuas_score`.
    groups : array_like, shape (N,), optional
        Samples of one group, as the questions of one document, depend on each other.
    n_resamples : int, default 1000
        How often answers are drawn.
    random_state : int, default 0
        Seed: the same seed gives the same number.

    Returns
    -------
    float
        In (0, 1], at least 1 / (n_resamples + 1): with chance 5 % at most 0.05 if the system is calibrated, for any
        number of samples and errors; with groups approximately, and nan for fewer than three.

    Raises
    ------
    InputError
        See `confidence_ecuas_score`.

    References
    ----------
    Arrieta-Ibarra et al. 2022, "Metrics of calibration for probabilistic predictions" (the statistic); Broecker and
    Smith 2007, "Increasing the reliability of reliability diagrams" (the draws); Rao and Scott 1981, "The analysis of
    categorical data from complex sample surveys" (groups).

    Examples
    --------
    >>> confidence, correct = [0.9] * 40, [1, 1, 1, 0] * 10
    >>> round(calibration_p_value(correct, confidence), 2), calibration_p_value(correct, [0.75] * 40)
    (0.01, 1.0)
    """
    system = _complete_system(
        correct,
        confidence,
        calibration=True,
        sample_weight=sample_weight,
        groups=groups,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    return compute_value(system, CALIBRATION_P)


def auroc_score(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    judge: ArrayLike | None = None,
    audit_probability: ArrayLike | None = None,
) -> float:
    """Return the probability that a correct answer has a higher confidence than an incorrect one. Higher is better.

    Ties count 1/2.

    Parameters
    ----------
    correct, confidence, sample_weight, judge, audit_probability
        See `confidence_ecuas_score`.

    Returns
    -------
    float
        In [0, 1]; nan, with a warning, if all answers are correct or all incorrect.

    Raises
    ------
    InputError
        See `confidence_ecuas_score`.

    References
    ----------
    Hanley and McNeil 1982, "The meaning and use of the area under a receiver operating characteristic curve".

    Examples
    --------
    >>> auroc_score([1, 0, 1], [0.9, 0.8, 0.4])
    0.5
    """
    system = _complete_system(
        correct,
        confidence,
        sample_weight=sample_weight,
        judge=judge,
        audit_probability=audit_probability,
    )
    return compute_value(system, AUROC)


def aurc_score(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    judge: ArrayLike | None = None,
    audit_probability: ArrayLike | None = None,
) -> float:
    r"""Return the area under the risk-coverage curve, answers accepted from high to low confidence. Lower is better.

    .. math:: \frac{1}{N - 1} \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2}, \qquad R_k = E_k / k

    where :math:`E_k` is the expected number of incorrect answers among the k most confident ones, over the orders of
    tied answers.

    Parameters
    ----------
    correct, confidence, sample_weight, judge, audit_probability
        See `confidence_ecuas_score`.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        See `confidence_ecuas_score`.

    References
    ----------
    Geifman, Uziel and El-Yaniv 2019, "Bias-reduced uncertainty estimation for deep neural classifiers".

    Examples
    --------
    >>> round(aurc_score([1, 0, 1], [0.9, 0.8, 0.4]), 4)
    0.3333
    """
    system = _complete_system(
        correct,
        confidence,
        sample_weight=sample_weight,
        judge=judge,
        audit_probability=audit_probability,
    )
    return compute_value(system, AURC)


def augrc_score(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    judge: ArrayLike | None = None,
    audit_probability: ArrayLike | None = None,
) -> float:
    r"""Return the area under the generalized risk-coverage curve, accepted errors / N by coverage. Lower is better.

    .. math:: \mathrm{AUGRC} = (1 - \mathrm{AUROC})\, a (1 - a) + \frac{(1 - a)^2}{2}

    where a is the accuracy.

    Parameters
    ----------
    correct, confidence, sample_weight, judge, audit_probability
        See `confidence_ecuas_score`.

    Returns
    -------
    float
        In [0, 1/2].

    Raises
    ------
    InputError
        See `confidence_ecuas_score`.

    References
    ----------
    Traub et al. 2024, "Overcoming common flaws in the evaluation of selective classification systems".

    Examples
    --------
    >>> round(augrc_score([1, 0, 1], [0.9, 0.8, 0.4]), 4)
    0.1667
    """
    system = _complete_system(
        correct,
        confidence,
        sample_weight=sample_weight,
        judge=judge,
        audit_probability=audit_probability,
    )
    return compute_value(system, AUGRC)


def score_posteriors(
    y_true: ArrayLike, y_prob: ArrayLike, *, labels: ArrayLike | None = None, **options: object
) -> dict[str, float]:
    """Compute all metrics of a classifier with posteriors.

    Parameters
    ----------
    y_true, y_prob, labels
        See `ecuas_score`.
    **options
        Every option of `compute` for posteriors: n, predictions_are, renormalize, cost, decisions, reject_costs,
        normalize, n_bins, epsilon, sample_weight, weights_are, decompose, calibration, confidence_level,
        interval_method, n_resamples, random_state, groups, strata.
        Decisions are columns of the cost, numbered from 0.

    Returns
    -------
    dict of str to float
        The metrics under the keys of `compute`.

    Raises
    ------
    InputError
        See `ecuas_score`; or if an option is for other input.
    TypeError
        If there is no such option.

    References
    ----------
    Estienne et al., section "Analysis on UA classification systems".

    Examples
    --------
    >>> values = score_posteriors(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], normalize=True)
    >>> round(values["ecuas_1"], 4), round(values["normalized_error_rate"], 4)
    (0.5467, 1.0)
    """
    return _score_system(_posterior_system(y_true, y_prob, labels, options))


def score_confidences(
    correct: ArrayLike,
    confidence: ArrayLike | None = None,
    *,
    uncertainty: ArrayLike | None = None,
    **options: Any,
) -> dict[str, float]:
    """Compute all metrics of a system that answers with a confidence.

    Parameters
    ----------
    correct, confidence
        See `confidence_ecuas_score`.
    uncertainty : array_like, shape (N,), optional
        In place of confidences, the system's probability that its answer is wrong, in [0, 1]: 1 - confidence. Where x
        is -log p, as from lm-polygraph, pass ``confidence=np.exp(-x)``.
    **options
        Every option of `compute` for confidences: n, num_classes, reject_costs, normalize, missing_confidence, n_bins,
        epsilon, sample_weight, weights_are, decompose, calibration, confidence_level, interval_method, n_resamples,
        random_state, groups, strata, abstained, judge, audit_probability.
        Where `abstained`, confidence and correctness are ignored. Beside a `judge`, `correct` is nan where people did
        not look.

    Returns
    -------
    dict of str to float
        The metrics under the keys of `compute`.

    Raises
    ------
    InputError, TypeError
        See `score_posteriors`.

    References
    ----------
    Estienne et al., section "Application of ECUAS to generative systems".

    Examples
    --------
    >>> values = score_confidences([1, 0, 1, 1], [0.9, 0.8, 0.4, 0.7], reject_costs=0.2)
    >>> round(values["ecuas_0"], 4), round(values["expected_cost_0.2"], 4), values["coverage_0.2"]
    (0.7024, 0.35, 0.5)
    """
    return _score_system(confidence_system(correct, confidence, uncertainty=uncertainty, **options))


def score_costs(
    *, candidate_cost: ArrayLike, uncertainty: ArrayLike, max_uncertainty: float, **options: object
) -> dict[str, float]:
    """Compute all metrics of a system whose uncertainties and costs are known, under any cost.

    Parameters
    ----------
    candidate_cost : array_like, shape (N,)
        c >= 0, the cost of each candidate decision given the truth.
    uncertainty : array_like, shape (N,)
        u >= 0, its expected cost according to the system, in the same unit.
    max_uncertainty : float
        u_M > 0, the uncertainty of a system that knows nothing, in the same unit.
    **options
        Every option of `compute` for costs: n, reject_costs, epsilon, sample_weight, weights_are, decompose,
        confidence_level, interval_method, n_resamples, random_state, groups, strata.

    Returns
    -------
    dict of str to float
        ``ecuas_{n}``, risk, aurc, augrc, and what the options add.

    Raises
    ------
    InputError
        If a cost or an uncertainty is negative or not finite, lengths differ, or an option is out of its range or for
        other input.
    TypeError
        If there is no such option.

    References
    ----------
    Estienne et al., Equation psr_integral_n.

    Examples
    --------
    >>> values = score_costs(candidate_cost=[0, 2.5], uncertainty=[0.1, 0.5], max_uncertainty=1.6, n=1)
    >>> round(values["ecuas_1"], 4), values["risk"]
    (1.125, 1.25)
    """
    checked = checked_options(max_uncertainty=max_uncertainty, **options)
    require_same_order(
        candidate_cost=candidate_cost, uncertainty=uncertainty, **select_per_sample(options)
    )
    with reword_errors(COST_WORDS):
        return _score_system(
            prepare_system("costs", *parse_costs(uncertainty, candidate_cost), checked)
        )


def posterior_system(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    ids: Iterable[object] | None = None,
    **options: object,
) -> System:
    """Prepare a classifier's posteriors: what the curves, `make_report` and `compare_systems` take.

    Parameters
    ----------
    y_true, y_prob, labels
        See `ecuas_score`.
    ids : iterable, shape (N,), optional
        What pairs the samples of different systems, compared as text.
    **options
        See `score_posteriors`.

    Returns
    -------
    System
        Its `decisions` have the fields uncertainty (N,) and candidate_cost (N,), which the per-sample costs take, and
        max_uncertainty.

    Raises
    ------
    InputError, TypeError
        See `score_posteriors`.

    References
    ----------
    Estienne et al., Equation dB_final.

    Examples
    --------
    >>> system = posterior_system(["a", "b"], [[0.75, 0.25], [0.5, 0.5]])
    >>> system.decisions.uncertainty.tolist(), system.decisions.candidate_cost.tolist()
    ([0.25, 0.5], [0.0, 1.0])
    """
    return _posterior_system(y_true, y_prob, labels, options, ids)


def confidence_system(
    correct: ArrayLike,
    confidence: ArrayLike | None = None,
    *,
    uncertainty: ArrayLike | None = None,
    ids: Iterable[object] | None = None,
    **options: Any,
) -> System:
    """Prepare answers with confidences: what the curves, `make_report` and `compare_systems` take.

    Parameters
    ----------
    correct, confidence, uncertainty
        See `score_confidences`.
    ids : iterable, shape (N,), optional
        What pairs the samples of different systems, compared as text.
    **options
        See `score_confidences`.

    Returns
    -------
    System
        See `posterior_system`.

    Raises
    ------
    InputError, TypeError
        See `score_posteriors`.

    References
    ----------
    Estienne et al., section "Application of ECUAS to generative systems".

    Examples
    --------
    >>> system = confidence_system([1, 0], [0.75, 0.5], num_classes=4)
    >>> system.decisions.uncertainty.tolist(), system.decisions.max_uncertainty
    ([0.25, 0.5], 0.75)
    """
    if (confidence is None) == (uncertainty is None):
        raise InputError(
            "confidence and uncertainty", "are two forms of one thing: pass one of them"
        )
    if confidence is not None:
        return _confidence_system(correct, confidence, options, CONFIDENCE_WORDS, ids)
    assert uncertainty is not None
    return _confidence_system(correct, uncertainty, options, UNCERTAINTY_WORDS, ids)


def _posterior_system(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    labels: ArrayLike | None,
    options: Mapping[str, object],
    ids: Iterable[object] | None = None,
    *,
    sort: bool = True,
) -> System:
    """Return the system of `posterior_system`; without `sort` only means of costs can be computed from it."""
    cost = cost_frame_to_mapping(options.get("cost"))
    has_labels = labels is not None
    if isinstance(cost, Mapping):
        matrix, labels, _ = parse_class_costs(cost, labels)
        options = {**options, "cost": matrix}
    checked = checked_options(**options)
    require_same_order(y_true=y_true, y_prob=y_prob, ids=ids, **select_per_sample(options))
    refuse_named_levels(y_true, checked.cost)
    with reword_errors(POSTERIOR_WORDS):
        scores = parse_numbers(order_columns(y_prob, y_true, labels), "y_prob")
        noted: tuple[Note, ...] = ()
        if scores.ndim == 1:
            refuse_swapped(y_true, scores)
            noted = note_hard_predictions(scores, f"{checked.predictions_are} of the second class")
        if not has_labels:
            has_matrix = not isinstance(cost, Mapping) and not isinstance(checked.cost, str)
            are_numbered = has_matrix or checked.decisions is not None
            noted += note_order(y_true, y_prob, are_numbered=are_numbered)
        array = binary_posteriors(scores, checked)
        if array.ndim == 2 and array.shape[1] > 1:  # `parse_posteriors` refuses all other shapes
            y_true = class_indices(y_true, labels, array)
        array, truth = parse_posteriors(array, y_true)
        texts = _parse_ids(ids, y_true=truth)
        system = prepare_system("posteriors", array, truth, checked, ids=texts, sort=sort)
        return replace(system, notes=noted + system.notes)


def _confidence_system(
    correct: ArrayLike,
    predictions: ArrayLike,
    options: Mapping[str, object],
    words: Mapping[str, str],
    ids: Iterable[object] | None = None,
    sort: bool = True,
) -> System:
    """Return the system of confidences (N,), or of uncertainties (N,) if `words`, the names in errors, are of these.

    Without `sort` only means of costs can be computed from it.
    """
    checked = checked_options(**options)
    arrays = {words["references"]: correct, words["predictions"]: predictions}
    require_same_order(**arrays, ids=ids, **select_per_sample(options))
    with reword_errors(words):
        q, truth = parse_confidences(
            zero_abstentions(predictions, checked.abstained, "predictions"),
            zero_abstentions(correct, checked.abstained, "references"),
            are_drawn=checked.judge is not None,
        )
        if words is UNCERTAINTY_WORDS:
            q = complement(q)
        texts = _parse_ids(ids, correct=truth)
        return prepare_with_judge("confidences", q, truth, checked, ids=texts, sort=sort)


def _complete_system(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    sort: bool = True,
    **options: object,
) -> System:
    """Return the system of complete confidences (N,), for a function of one metric: a missing one is an error."""
    return _confidence_system(correct, confidence, options, COMPLETE_CONFIDENCE_WORDS, sort=sort)


def compute_value(system: System, metric: Metric) -> float:
    """Return the metric's value, at the first of its parameters such as n, and issue its notes as warnings."""
    options = system.options
    parameter = getattr(options, metric.parameter)[0] if metric.parameter else None
    key = Key(metric.name, parameter, "normalized" if options.normalize else "")
    results = compute_results(system, only=(key,))
    issue_warnings(results.notes, stacklevel=3)
    return results.estimates[key].value


def _score_system(system: System) -> dict[str, float]:
    """Return all numbers of a system by key and issue its notes as warnings; InputError if an option has no effect."""
    refuse_idle_options(system.options)
    results = compute_results(system)
    issue_warnings(results.notes, stacklevel=3)
    return results.flat()


def _parse_ids(
    ids: Iterable[object] | None,
    **truth: Array,
) -> list[str] | None:
    """Return ids (N,) as texts; InputError if one is missing, or they are not as many as the truth."""
    if ids is None:
        return None
    values = list(fill_masked(ids))
    require_same_length(**truth, ids=values)
    require_not_missing(values, "ids")
    return list(map(str, values))
