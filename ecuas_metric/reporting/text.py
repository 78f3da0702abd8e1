"""Results in sentences: which system is best, who beats whom, for which users, and how sure all this is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..basis import differing
from ..calibration import CALIBRATION_P
from ..comparison.compare import Comparison, compare_systems
from ..errors import InputError
from ..expected_costs import ECUAS_N
from ..inputs import Floats
from ..metric import Key
from ..metrics import values_of_calibration
from ..options import LEVEL, Options
from ..plotting.curves import RejectCostCurve, reject_cost_curve
from ..plotting.names import percent
from ..results import System, all_values, ranked
from .differences import MAX_ROWS, is_significant, num_tests, pairs_by_key, sort_rows
from .report import DAGGER, p_text, short_title, title
from .tables import Grid, Screen, to_text

MAX_NAMES = 4  # systems listed in a sentence
MAX_PAIRED_ROWS = 2_000_000  # samples times pairs: some seconds
MAX_RANGES = 3
WORTH_SAYING = 0.01  # the share of its cost that a recalibration saves at least
USES = {  # the n from which on -> whose costs ECUAS_n weighs most
    0.0: "to whom a mistake is much worse than a rejection",
    1.0: "with reject costs of all sizes",
    8.0: "to whom a rejection is nearly as bad as a mistake",
}


# ---- who beats whom ------------------------------------------------------------------------------------------------


def winner(row: Comparison, alpha: float) -> str | None:
    """Return the system that is significantly better; None if neither is, or they must not be ranked."""
    better = row.key.entry.higher_is_better
    if better is None or not row.comparable or not row.difference or not is_significant(row, alpha):
        return None
    return row.first if (row.difference > 0) == better else row.second


def summary(rows: Sequence[Comparison], *, alpha: float, digits: int = 3) -> list[str]:
    """Return one line per metric: which system is best, and which of the others it beats significantly."""
    by_key = pairs_by_key(rows)
    unequal = [key for key, pairs in by_key.items() if not all(row.comparable for row in pairs)]
    comparable = [key for key in by_key if key not in unequal]
    undirected = [key for key in comparable if key.entry.higher_is_better is None]
    ranking = [key for key in comparable if key not in undirected]
    width = max(map(len, map(title, ranking)), default=0)
    lines = [f"{title(key):{width}}  {_verdict(by_key[key], alpha, digits)}" for key in ranking]
    if unequal:
        names = ", ".join(f"{title(key)}†" for key in unequal)
        lines.append(f"{names}: no winner, since the systems' answers differ (see † below).")
    if undirected:
        lines.append(f"{', '.join(map(title, undirected))}: neither high nor low is better.")
    return lines


def introduction(
    systems: Mapping[str, System],
    rows: Sequence[Comparison],
    *,
    alpha: float,
    digits: int,
    by_position: bool,
) -> list[str]:
    """Return the lines above the differences: what is compared, what cannot be found, and the summary."""
    first = next(iter(systems.values()))
    size = len(first.decisions.uncertainty)
    paired = "id" if first.ids is not None else "their rows"
    if first.ids is None and not by_position:
        paired += ": there is no column of ids"
    significant = f"Significant: adjusted p at most {alpha:g}."
    lines = [f"{len(systems)} systems on {size} samples, paired by {paired}. {significant}"]
    return [*lines, "", *summary(sort_rows(rows), alpha=alpha, digits=digits), ""]


def overview(grid: Grid, rows: Sequence[Comparison], screen: Screen, *, alpha: float, full: bool = False) -> str:
    """Return the text of a comparison: its introduction, and the differences unless they are too many."""
    above = screen.wrap(grid.above)
    if full or len(grid.rows) <= MAX_ROWS:
        return "\n".join([*above, to_text(replace(grid, above=()), screen)])
    significant = sum(is_significant(row, alpha) for row in rows)
    how = (
        f"The {len(grid.rows)} differences, {significant} of them significant, are not shown. --full shows all, "
        "--only significant or --metrics some of them; --output FILE writes all, --figures DIR draws them."
    )
    footnotes = [] if all(row.comparable for row in rows) else [DAGGER]
    return "\n".join([*above, *screen.wrap([how, "", *footnotes, grid.signature])]) + "\n"


def how_to_read(options: Options, *, tests: int, by_row: bool) -> list[str]:
    """Return how the numbers of a comparison came about and what they do not say, in sentences."""
    level = options.confidence_level or 0.0
    return [
        f"Every system is compared with every other on the same samples, paired by {'their rows' if by_row else 'id'}.",
        "A difference is the metric of the first system minus that of the second. ↓: lower is better, so that a "
        "negative difference favours the first. ↑: higher is better, so that a positive one does.",
        f"The {percent(level)} interval shows how large the true difference may be, for one pair and one metric "
        "alone. There is none where no valid interval is known.",
        "p is 1 minus the level at which that interval would just touch 0: the smaller it is, the less can the "
        "difference be due to the choice of the samples.",
        f"The adjusted p is for all {tests} tests of this call together (Westfall and Young's step-down method, which "
        "takes into account how they are correlated): if no systems differed, the probability of any false alarm "
        f"at p <= {1 - level:.2g} would be {1 - level:.2g}. Fewer --metrics and systems make fewer tests.",
        "An interval may exclude 0 although the adjusted p is large: the interval is for one difference alone. Those "
        "that --figures draws hold for all differences together.",
        "Not significant does not mean equal: there may just be too few samples. The interval shows what is possible.",
    ]


def _verdict(rows: Sequence[Comparison], alpha: float, digits: int) -> str:
    """Say who is best by one metric, of the rows of all pairs, and whom it beats significantly."""
    values: dict[str, float] = {}
    for row in rows:
        values[row.first] = row.first_value
        values[row.second] = row.second_value
    if undefined := [name for name, value in values.items() if math.isnan(value)]:
        return f"undefined for {_list_names(undefined)}."
    ranking = sorted(values, key=lambda name: values[name], reverse=bool(rows[0].key.entry.higher_is_better))
    texts = [f"{values[name]:.{digits}f}" for name in ranking]
    if not any(row.difference for row in rows):
        return f"no difference: {texts[0]} each."
    if len(ranking) == 2:
        return _verdict_on_two(rows[0], ranking[0], f"{texts[0]} against {texts[1]}", alpha)
    return _verdict_on_many(rows, ranking, texts[0], alpha)


def _verdict_on_two(row: Comparison, best: str, numbers: str, alpha: float) -> str:
    adjusted = f"(adjusted {p_text(row.p_adjusted)})"
    if is_significant(row, alpha):
        return f"{best} is better: {numbers}, significant {adjusted}."
    return f"{best} has the better value, {numbers}, which may be due to chance {adjusted}."


def _verdict_on_many(rows: Sequence[Comparison], ranking: Sequence[str], number: str, alpha: float) -> str:
    """Say which of the others the best one beats."""
    best = ranking[0]
    winners = {(row.first, row.second): winner(row, alpha) for row in rows}
    beaten = {name for pair, won in winners.items() if won == best for name in pair}
    if not beaten:
        is_any = any(winners.values())
        what = "is not significantly better than any other" if is_any else "no two systems differ significantly"
        return f"{best} has the best value ({number}), but {what}."
    tied = [name for name in ranking if name not in beaten]
    num_others = len(ranking) - 1
    num_beaten = num_others - len(tied)
    lead = f"{best} is best ({number}), significantly better than"
    if not tied:
        return f"{lead} {'both' if num_others == 2 else f'all {num_others}'} others."
    if len(tied) <= min(MAX_NAMES, num_beaten):
        return f"{lead} all others except {_list_names(tied)}."
    return f"{lead} {num_beaten} of {num_others} others, not than {_list_names(tied)}."


def _list_names(systems: Sequence[str]) -> str:
    if len(systems) <= MAX_NAMES + 1:
        return ", ".join(systems)
    return f"{', '.join(systems[:MAX_NAMES])} and {len(systems) - MAX_NAMES} more"


# ---- a report in plain words ---------------------------------------------------------------------------------------


def explain(systems: Mapping[str, System], *, only: Iterable[Key] | None = None) -> list[str]:
    """Return sentences on a report: which system is best for which use, how sure that is, what recalibration gains."""
    asked = None if only is None else list(only)
    options = next(iter(systems.values())).options
    level = options.confidence_level or LEVEL
    keys = _extreme_orders(options, asked)
    values = {name: all_values(system, only=keys) for name, system in systems.items()}
    sentences = []
    reasons = differing(system.basis for system in systems.values())
    if reasons:
        sentences.append(f"Not ranked, since they differ: {', '.join(reasons)}.")
    else:
        sentences += _best_by_reject_cost({name: reject_cost_curve(system) for name, system in systems.items()})
    sentences += _calibration(systems, alpha=round(1 - level, 12))
    if keys:
        sentences.append(_recalibration(systems, values, keys[0]))
    if len(systems) == 1 or not keys or reasons:
        return sentences
    pairs, remark = _compare_all(systems, asked)
    best = []
    for key in keys:
        costs = {name: float(of_system[key]) for name, of_system in values.items()}
        best.append(_best(key, costs, pairs, level))
    return [*best, remark, *sentences]


def _extreme_orders(options: Options, asked: Sequence[Key] | None) -> list[Key]:
    """Return the least and the largest order of ECUAS_n that is asked for."""
    keys = [Key(ECUAS_N.name, n) for n in sorted(options.n)]
    if asked is not None:
        keys = [key for key in keys if key in asked]
    return list(dict.fromkeys([*keys[:1], *keys[-1:]]))


def _best(key: Key, values: Mapping[str, float], pairs: Sequence[Comparison], level: float) -> str:
    """Say which system costs the users least whom an order of ECUAS_n weighs most, and how sure that is."""
    order = key.parameter or 0.0
    users = next(words for start, words in reversed(USES.items()) if order >= start)
    whom = f"For users {users} (n = {order:g})"
    best, second = sorted(values, key=lambda name: values[name])[:2]
    numbers = f"{short_title(key)} {values[best]:.3f} against {values[second]:.3f} for {second}"
    row = next((row for row in pairs if row.key == key and {row.first, row.second} == {best, second}), None)
    if row is None:
        return f"{whom}, {best} has the lowest cost: {numbers}, the next. Whether this is significant was not tested."
    if not row.difference:
        return f"{whom}, {best} and {second} cost the same: {short_title(key)} {values[best]:.3f}."
    lead = _lead(row if row.second == best else row.turned(), level)
    if is_significant(row, round(1 - level, 12)):
        return f"{whom}, {best} is best: {numbers}, the next best; {lead}."
    return f"{whom}, {best} has the lowest cost: {numbers}, the next. That may be due to chance: {lead}."


def _lead(row: Comparison, level: float) -> str:
    interval = "" if math.isnan(row.low) else f"{percent(level)} interval [{row.low:.3f}, {row.high:.3f}], "
    return f"a lead of {row.difference:.3f} ({interval}adjusted {p_text(row.p_adjusted)})"


def _compare_all(systems: Mapping[str, System], only: Sequence[Key] | None) -> tuple[list[Comparison], str]:
    """Compare all pairs as `ecuas compare` does; the second value says why not, or how p-values are adjusted."""
    first = next(iter(systems.values()))
    if len(first.decisions.uncertainty) * len(systems) * (len(systems) - 1) / 2 > MAX_PAIRED_ROWS:
        return [], "There are too many samples and pairs to test differences here: use `ecuas compare`."
    with_level = dict(systems)
    for name, system in systems.items():
        if system.options.confidence_level is None:  # then its samples are not sorted yet
            with_level[name] = ranked(system.decisions, system.options.replace(confidence_level=LEVEL), ids=system.ids)
    try:
        rows = compare_systems(with_level, only=only)
    except InputError as error:
        return [], f"These systems cannot be compared sample by sample, so no difference is tested: {error}"
    tests = num_tests(rows)
    how = f"p-values are adjusted for {tests} tests: of all pairs by all metrics shown, as `ecuas compare` does."
    if first.ids is None:
        how += " There is no column of ids: the tests assume that the same row of each file is the same sample."
    return rows, how


def _best_by_reject_cost(curves: Mapping[str, RejectCostCurve]) -> list[str]:
    """Say between which reject costs which system costs least, or where a single one costs less than no system."""
    name, curve = next(iter(curves.items()))
    if len(curves) == 1:
        return [_useful_range(name, curve)]
    if len({curve.reject_cost[-1] for curve in curves.values()}) > 1:
        return []
    names = list(curves)
    costs = np.array([curve.expected_cost[1:] for curve in curves.values()])  # at 0 all are 0
    is_lowest = costs <= costs.min(axis=0) + 1e-12
    if is_lowest.all():
        return ["On these samples, all cost the same whatever a rejection costs."]
    # Where several cost the same it is the one that is alone the lowest most often.
    is_alone = is_lowest & (is_lowest.sum(axis=0) == 1)
    lowest = np.argmax(is_lowest * (1 + is_alone.sum(axis=1, keepdims=True)), axis=0)
    return [_sentence_on_ranges([names[i] for i in lowest], curve.reject_cost[1:])]


def _sentence_on_ranges(lowest: Sequence[str], reject_cost: Floats) -> str:
    """Say between which reject costs each system is the one that costs least."""
    ends = [i for i, name in enumerate(lowest) if i + 1 == len(lowest) or lowest[i + 1] != name]
    here = "On these samples, chance not considered,"
    if len(ends) == 1:
        return f"{here} {lowest[0]} has the lowest cost whatever a rejection costs."
    if len(ends) > MAX_RANGES:
        where = "see the plot of cost against reject cost"
        return f"Which system has the lowest cost for its users changes often with the reject cost: {where}."
    ranges = [f"{lowest[i]} up to a reject cost of {reject_cost[i]:.2f}" for i in ends[:-1]]
    return f"{here} the system that costs least is {', then '.join(ranges)}, then {lowest[-1]}."


def _useful_range(name: str, curve: RejectCostCurve) -> str:
    useful = curve.expected_cost < np.minimum(curve.accept_all, curve.reject_all) - 1e-12
    if not useful.any():
        return f"Whatever the cost of a rejection, users of {name} do better by accepting all or rejecting all."
    low, high = curve.reject_cost[useful][[0, -1]]
    is_range = np.ptp(np.flatnonzero(useful)) + 1 == useful.sum()
    gaps = "" if is_range else ", though not everywhere between,"
    return (
        f"Users of {name} to whom a rejection costs {_between(low, high)} of a mistake{gaps} do better by using its "
        "confidences than by accepting or rejecting everything."
    )


def _between(low: float, high: float) -> str:
    """Return a range with as few digits as distinguish its limits."""
    for digits in (2, 3, 4):
        if f"{low:.{digits}f}" != f"{high:.{digits}f}":
            return f"between {low:.{digits}f} and {high:.{digits}f}"
    return f"about {low:.2f}"


def _calibration(systems: Mapping[str, System], *, alpha: float) -> list[str]:
    """Say whose confidences are off by more than chance explains, by the test of calibration of each."""
    miscalibrated = []
    undecided = []
    key = Key(CALIBRATION_P.name)
    for name, system in systems.items():
        options = system.options.replace(calibration=True)
        p = values_of_calibration(system.decisions, options, only=(key,)).get(key, math.nan)
        if p <= alpha:
            miscalibrated.append(f"{name} ({p_text(p)}; {_mean_gap(system)})")
        elif not math.isnan(p):
            undecided.append(f"{name} ({p_text(p)})")
    sentences = []
    if miscalibrated:
        sentences.append(f"Miscalibrated by more than chance explains: {', '.join(miscalibrated)}.")
    if undecided:
        lead = "No evidence of miscalibration, which does not prove calibration"
        sentences.append(f"{lead}: {', '.join(undecided)}.")
    return sentences


def _mean_gap(system: System) -> str:
    """Say how far uncertainties lie from costs on average: the 0-1 cost's, so confidences from correctness."""
    decisions = system.decisions
    gap = float(np.average(decisions.candidate_cost - decisions.uncertainty, weights=system.options.sample_weight))
    if abs(gap) < 0.005:
        return "about right on average"
    return f"{abs(gap):.2f} too {'high' if gap > 0 else 'low'} on average"


def _recalibration(systems: Mapping[str, System], values: Mapping[str, Mapping[Key, float]], key: Key) -> str:
    """Say what the best recalibration would gain at most, for the system that it changes most."""
    recalibrated = key.of("recalibrated")
    after = {}
    for name, system in systems.items():
        decomposed = replace(system, options=system.options.replace(n=(key.parameter,), decompose=True))
        after[name] = float(all_values(decomposed, only=(recalibrated,))[recalibrated])
    name = max(after, key=lambda name: values[name][key] - after[name])
    before = values[name][key]
    gain = before - after[name]
    if gain < WORTH_SAYING * before or not before:
        return f"Recalibration alone would gain less than {WORTH_SAYING:.0%} of {short_title(key)}."
    return (
        f"Recalibration alone, with the same answers in the same order of confidence, would take {short_title(key)} "
        f"of {name} from {before:.3f} to {after[name]:.3f} at best, {gain / before:.0%} less. "
        "It is fitted on these same samples, so the gain on new ones would be smaller."
    )
