"""Metrics that other tools print, each by its source's definition.

Two rules hold for all. Ties: the cost E_k of the k most confident answers is its expectation over the orders of tied
answers; where a tool prints another number after its rows are shuffled, the number here is the mean of those. Weights:
a whole weight counts as so many equal answers; others interpolate, continuously unless the definition counts answers.
"""

from __future__ import annotations

import math

import numpy as np

from .calibration import confidence_bins, ece_bounds, gap_bounds, signed_gaps
from .errors import InputError
from .groups import Groups, Line, positive_or_nan, replace_zeros, sum_parts, tie_groups
from .inputs import Floats, Ints, Limits, inner_product
from .metric import Data, Metric, PartialLabels
from .order import aurc, aurc_line, make_monotone_bounds, mean_cost_range

# to which numbers of answers are rounded: 100 * 0.07 is 7, not 7.000000000000001, which would round up to 8
_DECIMALS = 9
_ROUNDING = 1e-12  # of a difference of two accuracies
# distance of a group's weight from 1 below which a derivative replaces a divided difference
_ALMOST_ONE = 1e-4
# power of N that minimises the mean square error of a mean over neighbours (Stone 1982)
_NEIGHBOURS = 0.8
_STEPS = 2**12  # of a grid of confidences: a hundredth of a bandwidth of 0.025
_HALVINGS = 30  # of the bandwidth of `smooth_ece`, to 1e-9


def mean_selective_risk(groups: Groups) -> float:
    r"""Return the mean of the selective risks at coverages 1/N, .., 1: the AURC of most tools.

    .. math:: \frac{1}{N} \sum_{k=1}^{N} R_k, \qquad R_k = E_k / k

    Source: Geifman, Uziel and El-Yaniv 2019, "Bias-reduced uncertainty estimation for deep neural classifiers", where
    it is called AURC. `order.aurc` integrates the same risks by trapezoids. If the total weight W is not whole, the
    risk of all has the weight that W exceeds its whole part by.
    """
    areas = groups.areas
    beyond = areas.weight - math.floor(areas.weight)
    risk_of_all = areas.cost / areas.weight
    return (areas.risks + beyond * risk_of_all) / areas.weight


def auarc(groups: Groups) -> float:
    r"""Return the area under accuracy against rejection, in [0, 1]: higher is better, 0-1 cost only.

    .. math:: \frac{1}{N} \sum_{k=1}^{N} A_k, \qquad A_k = 1 - E_k / k

    Source: Nadeem, Zucker and Hanczar 2009, "Accuracy-rejection curves for comparing classification methods with a
    reject option", as the mean that MAPIE's `auarc` takes: 1 minus `mean_selective_risk`. MAPIE keeps tied answers in
    the order of the rows. One answer has its correctness; all right are 1 and all wrong 0.
    """
    return 1 - mean_selective_risk(groups)


def e_aurc(groups: Groups) -> float:
    r"""Return the excess of the AURC over that of the best order: lower is better, 0-1 cost only.

    .. math:: \frac{1}{N} \left( R_1 + \sum_{k=2}^{N} \frac{R_{k-1} + R_k}{2} \right) - r - (1 - r) \log (1 - r)

    with the error rate r. Source: Geifman, Uziel and El-Yaniv 2019, whose approximation of the best AURC is the last
    part. The area is that of fd-shifts, which draws the curve from coverage 0 with the risk of the most confident
    answer; fd-shifts prints 1000 times the value, and of ties it takes the chord in place of the mean over orders. Of
    N answers in the best order the value is about :math:`-r (2 - r) / (12 (1 - r) N^2)`, since the best AURC is that
    of infinitely many. One answer, all right and all wrong are 0.
    """
    areas = groups.areas
    total = areas.weight
    length = max(total, 1.0)
    first_risk = areas.first_cost / min(total, 1.0)
    trapezoids = aurc(groups) * (length - 1)
    accuracy = areas.correct / total
    best = areas.cost / total + accuracy * _log_or_zero(accuracy)
    return (first_risk + trapezoids) / length - best


def _log_or_zero(value: float) -> float:
    """Return the logarithm of a value, 0 for 0."""
    return math.log(value) if value > 0 else 0.0


def prr(groups: Groups, max_rejection: float = 1.0) -> float:
    r"""Return the prediction rejection ratio: 1 for the best order, 0 for any, higher is better, 0-1 cost only.

    .. math:: \frac{S - a}{S^* - a}, \qquad S = \frac{1}{m} \sum_{k=N-m+1}^{N} A_k, \quad A_k = 1 - E_k / k

    where at most m of N answers, the share `max_rejection`, are rejected, :math:`S^*` is S of the best order, and the
    accuracy a is what an order by chance has in expectation. Source: lm-polygraph's `prr_normalized`, and
    `prr_0.5_normalized` for a share of 0.5, after Malinin and Gales 2021, "Uncertainty estimation in autoregressive
    structured prediction" (whose curve counts rejected answers as right). lm-polygraph estimates a from 1000 shuffles
    of seed 42, so that its number differs by chance; it keeps ties in an order that NumPy's sort leaves open; and it
    maps graded qualities to [0, 1] by their extremes, which is not done here. Without a best order that differs (all
    right, all wrong, one answer, no answer to reject) the ratio is nan, where lm-polygraph prints S.
    """
    accuracy = 1 - float(groups.cost.sum() / groups.weight.sum())
    right_and_wrong = np.array([groups.right.sum(), groups.cost.sum()])
    best_order = Groups(right_and_wrong, right_and_wrong * [0.0, 1.0], np.arange(2.0))
    best_gain = _mean_accuracy(best_order, max_rejection) - accuracy
    if not best_gain > _ROUNDING:
        return math.nan
    return (_mean_accuracy(groups, max_rejection) - accuracy) / best_gain


def _mean_accuracy(groups: Groups, max_rejection: float) -> float:
    """Return S of `prr`: the mean accuracy while at most this share is rejected; nan if it is less than one answer."""
    total = float(groups.weight.sum())
    never_rejected = _round_up((1 - max_rejection) * total)
    risks = mean_selective_risk(groups) * total
    if max_rejection < 1:
        # up to the middle of the next answer, so that rounding decides nothing
        share = _leading_share(groups, never_rejected + 0.5)
        first = Groups(groups.weight * share, groups.cost * share, groups.rank)
        risks -= first.areas.risks
    return 1 - risks / positive_or_nan(total - never_rejected)


def _round_up(count: float) -> float:
    """Return the smallest whole number >= count, up to rounding."""
    return math.ceil(round(count, _DECIMALS))


def _round_down(counts: Floats) -> Floats:
    """Return the largest whole numbers <= counts, up to rounding."""
    return np.floor(np.round(counts, _DECIMALS))


def _leading_share(groups: Groups, amount: float) -> Floats:
    """Return the share (G,) of each group among the most confident samples, of total weight `amount`."""
    before = groups.weight_until - groups.weight
    part = np.clip(amount - before, 0.0, groups.weight)
    return np.asarray(part / replace_zeros(groups.weight))


def error_average_precision(groups: Groups) -> float:
    r"""Return the average precision of finding wrong answers by uncertainty: higher is better, 0-1 cost only.

    .. math:: \frac{1}{m} \sum_{k=1}^{N} w_k \frac{w_1 + \ldots + w_k}{k}

    where :math:`w_k = 1` if the k-th answer from the most uncertain one is wrong, and m are wrong. Source: fd-shifts'
    `failap_err`, which is scikit-learn's `average_precision_score`. That scores ties by the precision at the end of
    each group; here it is their mean over orders: of a group of n answers of which e are wrong, after A answers of
    which B are wrong,

    .. math:: \frac{e}{n} \sum_{j=1}^{n} \frac{B + 1 + (j - 1) (e - 1) / (n - 1)}{A + j}

    by digamma functions, which weights that are not whole continue. All wrong are 1; without wrong answers it is nan.
    """
    weight = groups.weight[::-1]
    cost = groups.cost[::-1]
    until = np.cumsum(weight)
    alone, among_others = _reciprocal_sums(until - weight, weight)
    wrong_before = np.cumsum(cost) - cost
    precision = (wrong_before + 1) * alone + (cost - 1) * among_others
    risk = cost / replace_zeros(weight)
    return inner_product(risk, precision) / positive_or_nan(float(cost.sum()))


def _reciprocal_sums(before: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums over j = 1 .. n of 1 / (A + j), and of (j - 1) / (n - 1) / (A + j); A is `before`, n `weight`."""
    from scipy.special import digamma, polygamma

    end = digamma(before + weight + 1)
    companions = weight - 1
    is_one = np.abs(companions) < _ALMOST_ONE
    divisor = np.where(is_one, 1.0, companions)
    divided = (end - digamma(before + 2)) / divisor
    derivative = polygamma(1, before + 2 + companions / 2)
    change = np.where(is_one, derivative, divided)
    return end - digamma(before + 1), 1 - (before + 1) * change


def fpr_at_tpr(groups: Groups, tpr: float = 0.95) -> float:
    r"""Return the share of wrong answers accepted where a share `tpr` of the right ones is: lower is better.

    .. math:: F_k / m, \qquad k = \lceil t P \rceil

    where :math:`F_k` of m wrong answers are more confident than the k-th of P right ones, and t is `tpr`; 0-1 cost
    only. Source: torch-uncertainty's `FPR95` with right answers as positives, and fd-shifts' `fpr@95tpr` (where t is
    0.9495, so that it may be one answer off from 100 right ones on). Of a tie group of p right and q wrong answers in
    which the j-th right one is reached, :math:`j q / (p + 1)` wrong ones come before it in expectation; both tools
    count all q. It is nan unless there are right and wrong answers.
    """
    correct = groups.right
    until = np.cumsum(correct)
    before = until - correct
    right = float(until[-1])
    if not right > 0:
        return math.nan
    needed = min(_round_up(tpr * right), right)
    share = np.where(before < needed, (needed - before) / (correct + 1), 0.0)
    share[np.round(until - needed, _DECIMALS) < 0] = 1.0
    return inner_product(groups.cost, share) / positive_or_nan(float(groups.cost.sum()))


def risk_at_coverage(groups: Groups, coverage: float) -> float:
    r"""Return the mean cost of the most confident answers, a share `coverage` in [0, 1]: lower is better.

    .. math:: R_k = E_k / k, \qquad k = \lceil \phi N \rceil

    with the coverage :math:`\phi`, at least one answer, for any cost. Source: torch-uncertainty's `RiskAtxCov`
    (`RiskAt80Cov` for 0.8). Of weights k is a weight. Always defined; all right are 0, all wrong 1, one answer has its
    cost.
    """
    total = float(groups.weight.sum())
    amount = min(max(_round_up(coverage * total), 1.0), total)
    return inner_product(groups.cost, _leading_share(groups, amount)) / amount


def coverage_at_risk(groups: Groups, risk: float) -> float:
    r"""Return the largest coverage at which the mean cost of what is accepted is at most `risk`.

    .. math:: \max \{k : E_k / k \le r\} / N

    with the risk r, for any cost: higher is better. Source: torch-uncertainty's `CovAtxRisk` (`CovAt5Risk` for 0.05).
    With ties it is the coverage at which the risk *expected* over their orders is at most r, not the mean of the
    coverages of all orders: of those some may have no coverage at all. Where no coverage is low enough in risk it is
    0, where torch-uncertainty has nan: of nothing accepted nothing is wrong, and such a system must not go unranked.
    All right are 1; all wrong are 0 for r < 1.
    """
    end = groups.weight_until
    before = end - groups.weight
    slope = groups.mean_cost - risk
    surplus = risk * before - (groups.cost_until - groups.cost)
    # After k - A answers of a group the surplus has shrunk by (k - A) times the slope.
    length = np.where(slope > 0, surplus / replace_zeros(slope), np.inf)
    last = _round_down(np.minimum(before + length, end))
    is_inside = last > np.maximum(np.round(before, _DECIMALS), 0.0)
    is_low = is_inside & (np.round(surplus - slope * (last - before), _DECIMALS) >= 0)
    total = float(end[-1])
    if round(risk * total - float(groups.cost_until[-1]), _DECIMALS) >= 0:
        return 1.0
    return float(last.max(where=is_low, initial=0.0)) / total


def mce(groups: Groups, n_bins: int = 10) -> float:
    r"""Return the largest gap between confidence and accuracy over bins of equal width: lower is better.

    .. math:: \max_b | \text{acc}(b) - \text{conf}(b) |

    Source: Naeini, Cooper and Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian binning";
    `MCE` of netcal, `mce` of fd-shifts. Groups are of equal confidence q_e, ranked by -q_e; the bins are those of the
    ECE, a bin of one answer counts as any other, and empty ones do not. Always defined; one answer has its own gap.
    """
    bins = confidence_bins(-groups.rank, n_bins=n_bins)
    gaps = np.abs(sum_parts(bins, signed_gaps(groups)))
    return float((gaps / replace_zeros(sum_parts(bins, groups.weight))).max())


def ece_equal_mass(groups: Groups, n_bins: int = 10) -> float:
    r"""Return the ECE over bins of about equally many answers: lower is better.

    .. math:: \sum_b \frac{N_b}{N} | \text{acc}(b) - \text{conf}(b) |

    Source: netcal's `ECE` with `equal_intervals=False`, whose bins start at the quantiles of the confidences (linear
    interpolation); such bins go back to Nguyen and O'Connor 2015, "Posterior calibration and exploratory analysis for
    natural language processing models". Answers of one confidence share a bin, however many they are: of N sorted
    ones and M bins, it is bin :math:`\lfloor M (j - 1) / (N - 1) \rfloor`, where j is the last with that confidence
    (of 0 .. M - 1, where the last is closed). Groups are ranked by -q_e. Always defined; one answer has its own gap.
    """
    gaps = sum_parts(_equal_mass_bins(groups, n_bins), signed_gaps(groups))
    return float(np.abs(gaps).sum() / groups.weight.sum())


def _equal_mass_bins(groups: Groups, n_bins: int) -> Ints:
    """Return the bin (G,) of each group; see `ece_equal_mass`."""
    steps = groups.weight.sum() - 1
    above = groups.weight_until - groups.weight
    place = n_bins * (steps - above) / (steps if steps > 0 else 1.0)
    return np.asarray(np.clip(_round_down(place), 0, n_bins - 1), np.int64)


def smooth_ece(groups: Groups) -> float:
    r"""Return the smooth calibration error, in [0, 1]: lower is better.

    .. math:: \text{smECE}_\sigma = \int_0^1 \left| \frac{1}{N} \sum_i (q_i - y_i) K_\sigma(t, q_i) \right| dt,
        \qquad \text{smECE} = \text{smECE}_{\sigma^*} = \sigma^*

    with correctness y and the Gaussian kernel :math:`K_\sigma` reflected at 0 and 1. Source: Blasiok and Nakkiran
    2024, "Smooth ECE: principled reliability diagrams via kernel smoothing", and its package relplot, `smECE`. The
    bandwidth at which value and bandwidth agree is unique, since the value falls with the bandwidth. It is found to
    1e-9 here; relplot halves ten times, on a mesh of 200 confidences, which moved its value by up to 0.0008 in five
    samples. Groups are ranked by -q_e. Always defined; one answer has its own gap.
    """
    spectrum = np.fft.rfft(_reflected_gaps(groups))
    frequencies = np.pi * np.arange(_STEPS + 1)
    width = 0.0
    for halving in range(1, _HALVINGS):
        wider = width + 0.5**halving
        kernel = np.exp(-np.square(frequencies * wider) / 2)
        smoothed = np.fft.irfft(spectrum * kernel)
        value = float(np.abs(smoothed).sum()) / 2
        if value >= wider:
            width = wider
    return value


def _reflected_gaps(groups: Groups) -> Floats:
    """Return the signed gaps / N on a grid of confidences from 0 to 1 and, mirrored, back: shape (2 `_STEPS`,)."""
    place = -groups.rank * _STEPS
    below = np.minimum(place.astype(np.int64), _STEPS - 1)
    gap = signed_gaps(groups) / groups.weight.sum()
    gap_above = gap * (place - below)
    there = sum_parts(below, gap - gap_above, _STEPS + 1)
    there += sum_parts(below + 1, gap_above, _STEPS + 1)
    there[[0, -1]] *= 2  # 0 and 1 are their own mirror images
    return np.append(there, there[-2:0:-1])


def e_aurc_line(groups: Groups) -> Line:
    """Return the influence function of `e_aurc`: the best AURC changes by -log(1 - r) with the error rate r."""
    line = aurc_line(groups)
    accuracy = groups.areas.correct / groups.areas.weight
    return Line(line.intercept, line.slope + _log_or_zero(accuracy))


def prr_line(groups: Groups) -> Line:
    """Return the line of `prr` without a limit: (r - M) / D with error rate r, AURC M and D = -(1 - r) log(1 - r)."""
    line = aurc_line(groups)
    accuracy = groups.areas.correct / groups.areas.weight
    gain = positive_or_nan(-accuracy * _log_or_zero(accuracy))
    gain_slope = _log_or_zero(accuracy) + 1
    slope = 1 - line.slope - prr(groups) * gain_slope
    return Line(-line.intercept / gain, slope / gain)


def error_average_precision_line(groups: Groups) -> Line:
    r"""Return the influence function of `error_average_precision`, the derivative of :math:`\int B / A \, dB`.

    A and B are the shares of answers, and of wrong ones, that are more uncertain. A group that begins at A, of share n
    with wrong ones of share e, adds e / n + (B - A e / n) log(1 + n / A) / n for each of its wrong answers.
    """
    total = groups.weight.sum()
    weight = groups.weight[::-1] / total
    cost = groups.cost[::-1] / total
    end = np.cumsum(weight)
    before = end - weight
    risk = cost / replace_zeros(weight)
    start = replace_zeros(before)  # of the first group, all terms with it are 0
    log_mean = np.where(before > 0, np.log1p(weight / start), 0.0) / replace_zeros(weight)
    surplus = np.cumsum(cost) - cost - before * risk
    precision = risk + surplus * log_mean
    squared = surplus / (start * replace_zeros(end)) + risk * log_mean
    fall = _later_sums(cost * squared)
    fall += risk * (precision - before * squared)
    slope = _later_sums(cost * log_mean)
    slope += precision + risk * (1 - before * log_mean)
    wrong = positive_or_nan(float(cost.sum()))
    slope -= inner_product(cost, precision) / wrong
    return Line(-fall[::-1] / wrong, slope[::-1] / wrong)


def _later_sums(values: Floats) -> Floats:
    """Return the sum of the values after each (G,), summed from the last on."""
    return np.cumsum(values[::-1])[::-1] - values


def fpr_at_tpr_line(groups: Groups, tpr: float = 0.95) -> Line:
    """Return the influence function of `fpr_at_tpr`: a right answer moves the threshold past wrong ones next to it.

    The odds of wrong answers there are those in a window of N^0.8 answers around the threshold.
    """
    correct = groups.right
    until = np.cumsum(correct)
    needed = tpr * until[-1]
    accepted = np.clip((needed - until + correct) / replace_zeros(correct), 0.0, 1.0)
    accepted = np.where(correct > 0, accepted, until < needed)
    margin = _local_risk(groups, inner_product(groups.weight, accepted))
    odds = margin / positive_or_nan(1 - margin)
    wrong = positive_or_nan(float(groups.cost.sum()))
    fall = odds * (accepted - tpr)
    rise = accepted - inner_product(groups.cost, accepted) / wrong
    scale = float(groups.weight.sum()) / wrong
    return Line(-fall * scale, (rise + fall) * scale)


def risk_at_coverage_line(groups: Groups, coverage: float) -> Line:
    """Return the influence function of `risk_at_coverage`: an accepted answer drives the last accepted one out.

    The cost of the last one is the mean over a window of N^0.8 answers around it.
    """
    amount = coverage * float(groups.weight.sum())
    accepted = _leading_share(groups, amount) / positive_or_nan(coverage)
    return Line(-_local_risk(groups, amount) * accepted, accepted)


def _local_risk(groups: Groups, amount: float) -> float:
    """Return the mean cost of the N^0.8 answers around the cumulative weight `amount`."""
    half = float(groups.weight.sum()) ** _NEIGHBOURS / 2
    window = _leading_share(groups, amount + half) - _leading_share(groups, amount - half)
    return inner_product(groups.cost, window) / inner_product(groups.weight, window)


# ---- their entries in the registry: shown when named ----------------------------------------------------------------


def _check_coverage(data: Data) -> float:
    """Return the parameter; InputError if it is no coverage."""
    if not 0 <= data.parameter <= 1:
        raise InputError("coverage", "out_of_unit_interval", value=data.parameter)
    return data.parameter


def _check_risk(data: Data) -> float:
    """Return the parameter; InputError if it is no risk."""
    if not data.parameter >= 0:
        raise InputError("risk", "negative", value=data.parameter)
    return data.parameter


def _confidence_groups(data: Data) -> Groups:
    """Return the tie groups by confidence, of rank -q_e; those of posteriors in `data` are by uncertainty."""
    decisions = data.decisions
    if decisions.labels is None:
        return data.groups
    return tie_groups(
        -data.confidence, decisions.candidate_cost, sample_weight=data.options.sample_weight
    )


def _auarc(data: Data) -> float:
    return auarc(data.groups)


def _risk_at_coverage(data: Data) -> float:
    return risk_at_coverage(data.groups, _check_coverage(data))


def _coverage_at_risk(data: Data) -> float:
    return coverage_at_risk(data.groups, _check_risk(data))


def _mce_bounds(answers: PartialLabels) -> Limits:
    """Return the least and the largest MCE over all labels: a label changes the gap of one bin only."""
    bounds = gap_bounds(
        answers, confidence_bins(answers.confidence, n_bins=answers.all_right.options.n_bins)
    )
    weight = replace_zeros(bounds.weight)
    low = bounds.low / weight
    high = bounds.high / weight
    return float(low.max()), float(high.max())


def _ece_equal_mass_bounds(answers: PartialLabels) -> Limits:
    """Return the least and the largest value over all labels, on which these bins do not depend."""
    groups = answers.all_right.groups
    bins = _equal_mass_bins(groups, answers.all_right.options.n_bins)
    return ece_bounds(answers, bins[np.searchsorted(groups.rank, -answers.confidence)])


PRR = Metric(
    name="prr",
    has_audit=True,
    title="PRR",
    description="Gain in accuracy by rejecting uncertain answers: 0 for an order by chance, 1 for the best",
    assesses="confidences",
    higher_is_better=True,
    needs="confidences",
    value=lambda data: prr(data.groups),
    line=lambda data: prr_line(data.groups),
    range=(-math.inf, 1.0),
    has_order_bounds=True,
    when="named",
    column=20,
)
PRR_HALF = Metric(
    name="prr_0.5",
    title="PRR 0.5",
    description="PRR where at most half of the answers are rejected",
    assesses="confidences",
    higher_is_better=True,
    needs="confidences",
    value=lambda data: prr(data.groups, max_rejection=0.5),
    range=(-math.inf, 1.0),
    has_order_bounds=True,
    when="named",
    column=21,
)
AUARC = Metric(
    name="auarc",
    has_audit=True,
    title="AUARC",
    description="Mean accuracy of the k most confident answers, over all k",
    assesses="both",
    higher_is_better=True,
    needs="confidences",
    value=_auarc,
    line=lambda data: aurc_line(data.groups).times(-1),
    range=(0.0, 1.0),
    unjudged=make_monotone_bounds(_auarc),
    has_order_bounds=True,
    when="named",
    column=22,
)
E_AURC = Metric(
    name="e_aurc",
    has_audit=True,
    title="E-AURC",
    description="Area under risk against coverage, less that of the best order",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    value=lambda data: e_aurc(data.groups),
    line=lambda data: e_aurc_line(data.groups),
    range=(-1.0, 1.0),
    has_order_bounds=True,
    when="named",
    column=23,
)
ERROR_AVERAGE_PRECISION = Metric(
    name="error_average_precision",
    title="AP err",
    description="Average precision of finding the incorrect answers by their uncertainty",
    assesses="confidences",
    higher_is_better=True,
    needs="confidences",
    value=lambda data: error_average_precision(data.groups),
    line=lambda data: error_average_precision_line(data.groups),
    range=(0.0, 1.0),
    # of 4 to 6 wrong answers 95 % intervals held in 79 %, of 11 to 15 in 88, of 16 to 20 in 92
    fewest=(20, 0),
    has_order_bounds=True,
    when="named",
    column=24,
)
FPR_AT_95_TPR = Metric(
    name="fpr_at_95_tpr",
    title="FPR95",
    description="Share of incorrect answers accepted where 95 % of the correct ones are",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    value=lambda data: fpr_at_tpr(data.groups),
    line=lambda data: fpr_at_tpr_line(data.groups),
    range=(0.0, 1.0),
    # of 4 to 6 wrong answers they held in 77 %, of 20 to 59 right ones in 88 to 89, of 60 to 79 in 93
    fewest=(10, 60),
    has_order_bounds=True,
    when="named",
    column=25,
)
RISK_AT_COVERAGE = Metric(
    name="risk_at_coverage",
    title="Risk@cov",
    description="Mean cost of the most confident answers that are this share of all",
    assesses="both",
    higher_is_better=False,
    parameter="any",
    value=_risk_at_coverage,
    line=lambda data: risk_at_coverage_line(data.groups, _check_coverage(data)),
    range=mean_cost_range,
    unjudged=make_monotone_bounds(_risk_at_coverage),
    has_order_bounds=True,
    when="named",
    column=26,
)
COVERAGE_AT_RISK = Metric(
    name="coverage_at_risk",
    title="Cov@risk",
    description="Largest share of answers, the most confident first, whose mean cost is at most this",
    assesses="both",
    higher_is_better=True,
    parameter="any",
    value=_coverage_at_risk,
    range=(0.0, 1.0),
    is_biased=True,
    unjudged=make_monotone_bounds(_coverage_at_risk),
    has_order_bounds=True,
    when="named",
    column=27,
)
MCE = Metric(
    name="mce",
    title="MCE",
    description="Largest gap between confidence and accuracy over bins",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    options=("n_bins",),
    value=lambda data: mce(_confidence_groups(data), data.options.n_bins),
    range=(0.0, 1.0),
    is_biased=True,
    unjudged=_mce_bounds,
    when="named",
    column=28,
)
ECE_EQUAL_MASS = Metric(
    name="ece_equal_mass",
    title="ECE mass",
    description="ECE over bins of about equally many answers",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    options=("n_bins",),
    value=lambda data: ece_equal_mass(_confidence_groups(data), data.options.n_bins),
    range=(0.0, 1.0),
    is_biased=True,
    unjudged=_ece_equal_mass_bounds,
    when="named",
    column=29,
)
SMOOTH_ECE = Metric(
    name="smooth_ece",
    title="smECE",
    description="Gap between confidence and accuracy after smoothing by as much as the gap itself",
    assesses="confidences",
    higher_is_better=False,
    needs="confidences",
    value=lambda data: smooth_ece(_confidence_groups(data)),
    range=(0.0, 1.0),
    is_biased=True,
    when="named",
    column=30,
)
PEER_METRICS = (
    PRR,
    PRR_HALF,
    AUARC,
    E_AURC,
    ERROR_AVERAGE_PRECISION,
    FPR_AT_95_TPR,
    RISK_AT_COVERAGE,
    COVERAGE_AT_RISK,
    MCE,
    ECE_EQUAL_MASS,
    SMOOTH_ECE,
)
