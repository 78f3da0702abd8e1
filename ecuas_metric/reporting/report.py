"""Several systems -> one table in the layout of the paper's, and its figures."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..basis import Basis, join_signatures, may_rank, why_not_rankable
from ..costs import ECUAS_N, ERROR_RATE, calibrated_ecuas
from ..display import Drawn, is_watched
from ..errors import UNLABELLED, FileError, InputError, Note, Words, fill_sentence
from ..files.recipe import Recipe, describe_recipes, distinct_fields
from ..files.submissions import UNLABELLED_ADVICE, Submission, Unlabelled
from ..files.systems import collect_systems, prepare_submissions
from ..files.write import write_whole
from ..inputs import grouped
from ..metric import Key, Keys, checked_keys
from ..metrics import column_order
from ..options import LEVEL
from ..results import (
    Estimate,
    Results,
    System,
    compute_results,
    require_same_keys,
    value_keys,
)
from .tables import BEST_OF_PART, BEST_VALUE, Cell, Grid, Record, to_text

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..comparison.rows import Comparison
    from ..comparison.unlabelled import ValueBounds

DIFFERING = "No best value is marked, since the systems differ in:"
DAGGER = (
    "† These assess the confidences only, and the systems' answers differ: unsure mistakes improve them. Do not rank "
    "by them."
)
NONE_SHOWN = "[-]"
NO_INTERVAL = f"{NONE_SHOWN} no interval with valid coverage is known"
DIGITS = 3  # after the decimal point, unless intervals are narrower than these show
MOST_DIGITS = 12
NUMBER_TO_BEAT = "number to beat (that of the same answers, all with confidence 1 - ER)"
MOST_ANCHORS = 3  # systems, of which one line still says what one confidence for all would give
MAX_NAMES = 4  # systems listed in a sentence
SAME = 1e-12  # numbers as close are equal but for rounding, and share the mark of the best
_ARROWS = {True: " ↑", False: " ↓", None: ""}
_DIRECTIONS = {False: "↓ lower is better", True: "↑ higher is better"}
BELOW = (UNLABELLED, "biased", "bounded")  # the notes that the table itself shows
_SUBSCRIPTS = {"n": "_n", "reject_costs": "_r"}
_VARIANTS = {  # of a metric -> the mark in its title, and what it means
    "normalized": ("N-", "divided by the value of a system that ignores its input"),
    "recalibrated": ("recal.", "after the best recalibration, fitted on the same samples"),
    "calibration_loss": ("cal. loss", "what that recalibration would save"),
}

PYTHON: Words = {}  # which has no words of its own
Systems = Mapping[str, System]  # by their names
Notes = list[tuple[str, Note]]  # each of a system, or of none: ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Drawn):
    """The metrics of several systems.

    Attributes
    ----------
    results : dict of name to Results
    keys : list of Key
        In the order of the columns.
    not_comparable : list of Key
        Must not rank these systems, see `basis.may_rank`.
    signature : str
        Of all systems, or of each where they differ.
    differing : list of str
        What forbids to rank them by any metric, see `basis.differing`.
    unlabelled, bounds : mapping of name to Unlabelled, and to mapping of Key to ValueBounds
        What is unknown of systems, and their bounds; where the rule is to bound, results are nan.
    systems : mapping of name to System
        None where only their numbers are known.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> report = make_report({"a": confidence_system([1, 0, 1], [0.9, 0.8, 0.4])}, only=["er", "ecuas_1"])
    >>> report.to_frame().round(2).to_dict("index")
    {'a': {'N': 3, 'error_rate': 0.33, 'ecuas_1': 0.67, 'must_not_rank': ''}}
    """

    results: dict[str, Results]
    keys: list[Key]
    not_comparable: list[Key]
    signature: str
    differing: list[str]
    unlabelled: Mapping[str, Unlabelled] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[Key, ValueBounds]] = field(default_factory=dict)
    systems: Systems = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of samples N of each system."""
        return {name: results.basis.num_samples or 0 for name, results in self.results.items()}

    @property
    def is_ranked(self) -> bool:
        """Whether any metric may rank the systems: if there are several, of the same basis, and all have numbers."""
        are_several = any(len(names) > 1 for names in names_by_part(self.results))
        return are_several and not self.differing and not is_bounded(self.unlabelled)

    def notes(self) -> Notes:
        """Return what a reader must know beside the numbers: system and note."""
        return [(name, note) for name, results in self.results.items() for note in results.notes]

    def shares_unlabelled(self) -> dict[str, Any]:
        """Return the share of each system's answers that are unlabelled, in [0, 1]; nothing if all are labelled."""
        noted = {name: note for name, note in self.notes() if note.id == UNLABELLED}
        shares = {name: note.fields["share"] for name, note in noted.items()}
        return dict.fromkeys(self.results, 0.0) | shares if noted else {}

    def to_frame(self) -> DataFrame:
        """Return a data frame with a row for each system, and a column for each number and each limit."""
        import pandas as pd

        return pd.DataFrame(report_records(self)).set_index("system")

    def __repr__(self) -> str:
        """Return the table of the main metrics as text."""
        return to_text(report_grid(self, keys=main_keys(self.keys)))


def is_bounded(unlabelled: Mapping[str, Unlabelled]) -> bool:
    """Return whether the numbers of a system are only bounded."""
    return any(answers.rule == "bounds" for answers in unlabelled.values())


def not_below(notes: Notes) -> Notes:
    """Return the notes of systems that their table does not show."""
    return [(name, note) for name, note in notes if note.id not in BELOW]


def without_bounds(note: Note) -> Note:
    """Return a note on answers that count as wrong which promises no bounds; others unchanged."""
    if note.advice != UNLABELLED_ADVICE["wrong"]:
        return note
    return replace(note, advice="unlabelled_without_bounds")


def prepare_open(
    submissions: Iterable[Submission], **options: object
) -> tuple[dict[str, System], dict[str, Unlabelled]]:
    """Prepare submissions whose unlabelled answers count as wrong; also return what is unknown, by system.

    Unless `missing_confidence` is an option, answers without a confidence are unknown too.
    """
    unknown = {}
    closed = []
    for submission in submissions:
        if options.get("missing_confidence") is None:
            submission = _with_unknown_confidences(submission)
        if submission.unlabelled:
            unknown[submission.name] = submission.unlabelled
            submission = replace(
                submission, unlabelled=replace(submission.unlabelled, rule="wrong")
            )
        closed.append(submission)
    return prepare_submissions(closed, **options), unknown


def _with_unknown_confidences(submission: Submission) -> Submission:
    """Return a submission in which missing confidences are unknown: a number that nothing depends on, and a mark."""
    if submission.form != "confidences":
        return submission
    missing = np.isnan(submission.predictions)
    if not missing.any():
        return submission
    if missing.all():
        column = submission.recipe.predictions[0]
        raise FileError(submission.file, "no_value_at_all", column=column)
    none = np.zeros(len(missing), dtype=bool)
    unlabelled = submission.unlabelled or Unlabelled("bounds", none, 0.0)
    rows = unlabelled.rows if unlabelled.rule == "bounds" else none
    count = int(np.count_nonzero(missing))
    note = Note(
        "confidences_unknown", {"count": count, "total": len(missing)}, "confidences_bounded"
    )
    return replace(
        submission,
        predictions=np.where(missing, 0.5, submission.predictions),
        unlabelled=replace(unlabelled, rule="bounds", rows=rows, missing=missing),
        notes=(*submission.notes, note),
    )


def make_report(
    systems: Any,
    *,
    progress: bool | None = None,
    only: Keys | None = None,
    unlabelled: Mapping[str, Unlabelled] | None = None,
    **options: object,
) -> Report:
    """Compute every metric of every system.

    Parameters
    ----------
    systems : mapping of name to System, frame or results, frame, iterable of System, or list of Submission
        Systems of `confidence_system`, `posterior_system` or `prepare_submissions`, which are numbered without names;
        data frames, with columns as files have them; what `read_submissions` returns; or results of `score_frame`,
        which have their numbers.
    progress : bool, optional
        Show a bar on work of more than a second; by default, as the command does, where a person sees it: on a
        terminal, and in a notebook.
    only : iterable of str or Key, optional
        The metrics to compute, as ``["ecuas_1", "er"]``; by default all.
    unlabelled : mapping of name to Unlabelled, optional
        Of `reporting.report.prepare_open`: the answers without a label, for the bounds of what depends on them.
    **options
        Of frames and submissions: every option of `compute` for their form; of frames also ``columns``, ``right``,
        ``abstained``, ``scale``, ``correct_from`` and ``labels`` of `read_submissions`.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If there is no system.

    Examples
    --------
    >>> from ecuas_metric import confidence_system
    >>> report = make_report({"a": confidence_system([1, 0, 1], [0.9, 0.8, 0.4], n=1)})
    >>> str(report.keys[-1]), round(report.results["a"].estimates[report.keys[-1]].value, 4)
    ('ecuas_1', 0.67)
    """
    asked = None if only is None else checked_keys(only)
    computed = _results_of_frames(systems, asked)
    if computed:
        return report_of(computed)
    systems = collect_systems(systems, **options)
    if not systems:
        raise InputError("a report", "needs_a_system")
    progress = is_watched() if progress is None else progress
    unlabelled = unlabelled or {}
    results = {}
    bounds = {}
    for name, system in systems.items():
        answers = unlabelled.get(name)
        if answers is not None:
            from ..comparison.unlabelled import bound_system

            system = replace(system, origin=replace(system.origin, unlabelled=answers.rule))
            bounds[name] = bound_system(system, answers, only=asked)
        if answers is not None and answers.rule == "bounds":
            results[name] = _undefined_results(system, asked)
        else:
            results[name] = compute_results(system, progress=progress, only=asked)
    return replace(report_of(results, unlabelled, bounds), systems=systems)


def _results_of_frames(given: Any, asked: Sequence[Key] | None) -> dict[str, Results]:
    """Return results by name where they were computed, those of the keys that are asked for; else nothing."""
    named = {"system 1": given} if isinstance(given, Results) else given
    is_mapping = isinstance(named, Mapping)
    if not is_mapping or not all(isinstance(one, Results) for one in named.values()):
        return {}
    if asked is None:
        return dict(named)
    return {name: _select_results(name, one, asked) for name, one in named.items()}


def _select_results(name: str, results: Results, keys: Sequence[Key]) -> Results:
    """Return the results of some keys; InputError if one is not among them."""
    for key in keys:
        if key not in results.estimates:
            rule = "must be among the results of {name}"
            raise InputError("only", rule, value=str(key), name=name)
    return replace(results, estimates={key: results.estimates[key] for key in keys})


def report_of(
    results: Mapping[str, Results],
    unlabelled: Mapping[str, Unlabelled] | None = None,
    bounds: Mapping[str, Mapping[Key, ValueBounds]] | None = None,
) -> Report:
    """Return the report of results, however they were computed: what may be ranked is decided by their bases.

    InputError if the keys of their numbers differ.
    """
    results = _of_shared_numbers(results)
    require_same_keys({name: one.estimates for name, one in results.items()})
    keys = sorted(next(iter(results.values())).estimates, key=column_order)
    by_part = [[results[name].basis for name in names] for names in names_by_part(results)]
    reasons = dict.fromkeys(chain.from_iterable(map(why_not_rankable, by_part)))
    return Report(
        results=dict(results),
        keys=keys,
        not_comparable=[key for key in keys if not all(may_rank(key, bases) for bases in by_part)],
        signature=join_signatures(chain.from_iterable(by_part)),
        differing=list(reasons),
        unlabelled=unlabelled or {},
        bounds=bounds or {},
    )


def _of_shared_numbers(results: Mapping[str, Results]) -> Mapping[str, Results]:
    """Return results; of several parts only the numbers that all of them have."""
    if len({one.basis.part for one in results.values()}) < 2:
        return results
    first, *others = results.values()
    shared = [key for key in first.estimates if all(key in one.estimates for one in others)]
    return {name: _select_results(name, one, shared) for name, one in results.items()}


def names_by_part(results: Mapping[str, Results]) -> list[list[str]]:
    """Return the names of the systems of each part of the data: only these may be ranked among each other."""
    return list(grouped(results, lambda name: results[name].basis.part).values())


def main_keys(keys: Iterable[Key]) -> list[Key]:
    """Return the keys of the metrics that a table shows unless more is asked for."""
    return [key for key in keys if not key.entry.only_in_full]


def digits_for(numbers: Iterable[Estimate | Comparison], asked: int | None = None) -> int:
    """Return as many digits as tell limits of intervals apart, the narrowest ten units wide, unless some are asked."""
    if asked is not None:
        return asked
    pairs = [(one.low, one.high) for one in numbers]
    widths = [high - low for low, high in pairs if low is not None and high is not None]
    least = min((width for width in widths if width > 0), default=1.0)
    return max(DIGITS, min(math.ceil(1 - math.log10(least)), MOST_DIGITS))


def texts_apart(numbers: Collection[float], digits: int) -> list[str]:
    """Return numbers with so many digits, or as many more as tell all apart."""
    for enough in range(digits, max(digits, MOST_DIGITS) + 1):
        texts = [f"{number:.{enough}f}" for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts


def report_grid(
    report: Report,
    *,
    digits: int | None = None,
    keys: Iterable[Key] | None = None,
    words: Words = PYTHON,
) -> Grid:
    """Lay a report out: one row per system, one column per metric with its arrow, † on those that must not rank.

    The second column is N; the share of unlabelled answers follows where there are any. Without `digits` each column
    has those that its intervals need.
    """
    shown = list(report.keys if keys is None else keys)
    of_rows = {
        "system": list(report.results),
        "N": list(map(str, report.sizes.values())),
    }
    shares = report.shares_unlabelled()
    if shares:
        of_rows["unlabelled"] = [f"{share:.{DIGITS}f}" for share in shares.values()]
    columns = {header: list(map(Cell, texts)) for header, texts in of_rows.items()}
    columns |= dict(_column(report, key, digits) for key in shown)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return Grid(
        list(columns),
        rows,
        _footnotes(report, shown, rows, words),
        report.signature,
        above=[f"{DIFFERING} {', '.join(report.differing)}."] if report.differing else [],
        best=BEST_VALUE if len(names_by_part(report.results)) < 2 else BEST_OF_PART,
        legend=legend_of(shown),
        hints=[*explain_scale(report, shown, words), *_name_left_out(report, shown)],
    )


def explain_scale(report: Report, shown: Collection[Key], words: Words = PYTHON) -> list[str]:
    """Say what ECUAS_n is based on, and what confidences are to be better than."""
    sentences = [base_of_ecuas(report, shown, words)]
    if are_few(report):
        numbers = numbers_to_beat(report.results, shown)
        sentences += [f"{NUMBER_TO_BEAT}: {numbers}"] if numbers else []
    else:
        sentences.append(not_beaten(report.results, shown))
    return list(filter(None, sentences))


def _name_left_out(report: Report, shown: Collection[Key]) -> list[str]:
    """Name the metrics that the table leaves out unless they were chosen."""
    left_out = [
        short_title(key) for key in report.keys if key.entry.only_in_full and key not in shown
    ]
    return [f"not shown: {', '.join(left_out)} (ecuas score --full)"] if left_out else []


def base_of_ecuas(report: Report, shown: Iterable[Key], words: Words) -> str:
    """Say over which reject costs ECUAS_n is taken, and of how many classes; nothing where systems differ in these."""
    bases = {
        (one.basis.max_uncertainty, one.basis.num_classes, one.basis.cost)
        for one in report.results.values()
    }
    largest, num_classes, cost = bases.pop()
    if bases or largest is None or not any(key.entry is ECUAS_N for key in shown):
        return ""
    if num_classes is None:
        why = "of the costs that were given"
    elif math.isinf(num_classes):
        how = fill_sentence("set_classes", {}, words)
        why = f"of free text, K = inf (of K choices: {how})"
    else:
        why = f"of K = {num_classes:,} classes"
    why += "" if cost == "zero_one" else f", cost {cost}"
    return f"reject costs of ECUAS_n: 0 to {largest:.4g}, {why}"


def are_few(report: Report) -> bool:
    """Return whether one line can say of all systems what is to beat."""
    return len(report.results) <= MOST_ANCHORS


def not_beaten(
    results: Mapping[str, Results],
    keys: Collection[Key],
) -> str:
    """Say which systems score no better than their answers with one confidence for all; nothing if all do."""
    numbers = numbers_to_beat(results, keys, are_beaten=False)
    return f"not below the {NUMBER_TO_BEAT}: {numbers}" if numbers else ""


def few_of(names: Sequence[str], separator: str = ", ") -> str:
    """Return names in a line, and of many how many more there are."""
    if len(names) <= MAX_NAMES + 1:
        return separator.join(names)
    return f"{separator.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"


def numbers_to_beat(
    results: Mapping[str, Results],
    keys: Collection[Key],
    *,
    are_beaten: bool = True,
) -> str:
    """Return what the answers of each system would score with one confidence for all.

    Or only those that are not beaten, behind the values that do not. The digits that are shown decide.
    """
    systems = []
    for name, one in results.items():
        numbers = []
        for key, anchor in anchors_at_one_confidence(one, keys).items():
            value = one.estimates[key].value
            is_worse = round(value, DIGITS) > round(anchor, DIGITS)
            name_of_metric = short_title(key)
            if are_beaten:
                mark = f" (not beaten by {value:.{DIGITS}f})" if is_worse else ""
                numbers.append(f"{name_of_metric} {anchor:.{DIGITS}f}{mark}")
            elif is_worse:
                numbers.append(f"{name_of_metric} {value:.{DIGITS}f} against {anchor:.{DIGITS}f}")
        if numbers:
            of_system = f"{name} " if len(results) > 1 else ""
            systems.append(of_system + ", ".join(numbers))
    return few_of(systems, "; ")


def anchors_at_one_confidence(
    results: Results,
    keys: Iterable[Key],
) -> dict[Key, float]:
    """Return ECUAS_n of the same answers if the confidence of each were the share that is right.

    No other constant is better, since ECUAS_n is a proper scoring rule; nothing if answers are not right or wrong, nor
    of the infinite order, where confidences are worth nothing.
    """
    error_rate = results.estimates.get(Key(ERROR_RATE.name), Estimate(math.nan)).value
    max_uncertainty = results.basis.max_uncertainty
    epsilon = results.basis.epsilon
    if math.isnan(error_rate) or max_uncertainty is None or epsilon is None:
        return {}
    silent, error_rate = _share_and_error_rate(results, error_rate)
    uncertainty = np.array(min(error_rate, max_uncertainty))
    anchors = {}
    for key in keys:
        order = key.parameter or 0.0
        if key.entry is ECUAS_N and not key.variant and order != math.inf:
            anchor = calibrated_ecuas(
                uncertainty, n=order, max_uncertainty=max_uncertainty, epsilon=epsilon
            )
            anchors[key] = silent + (1 - silent) * float(anchor)
    return anchors


def _share_and_error_rate(results: Results, error_rate: float) -> tuple[float, float]:
    """Return the share of abstentions, and the error rate of the answers."""
    for note in results.notes:
        if note.id == "abstentions":
            fields: Mapping[str, Any] = note.fields
            return fields["share"], fields["wrong"]
    return 0.0, error_rate


def _column(
    report: Report,
    key: Key,
    digits: int | None,
) -> tuple[str, list[Cell]]:
    """Return the header and the cells of a metric."""
    best = _best(report, key)
    estimates = {name: results.estimates[key] for name, results in report.results.items()}
    digits = digits_for(estimates.values(), digits)
    cells = []
    for name, estimate in estimates.items():
        text = _text(estimate, report.bounds.get(name, {}).get(key), digits)
        is_best = name in best and math.isclose(
            estimate.value, best[name], rel_tol=SAME, abs_tol=SAME
        )
        cells.append(Cell(text, is_best))
    dagger = "†" if key in report.not_comparable else ""
    return f"{title(key)}{dagger}", cells


def _best(report: Report, key: Key) -> dict[str, float]:
    """Return the best value of those with which each system is ranked; nothing if a metric ranks none of them."""
    better = key.entry.higher_is_better
    if better is None or not report.is_ranked or key in report.not_comparable:
        return {}
    best: dict[str, float] = {}
    for names in names_by_part(report.results):
        values = [report.results[name].estimates[key].value for name in names]
        known = [value for value in values if not math.isnan(value)]
        if len(names) > 1:
            best |= dict.fromkeys(names, (max if better else min)(known, default=math.nan))
    return best


def _text(estimate: Estimate, bounds: ValueBounds | None, digits: int) -> str:
    """Return a number with its interval, and what it can be while correctness or confidences are unknown."""
    ends = () if bounds is None else (bounds.low, bounds.high)
    span = " to ".join(dict.fromkeys(f"{end:.{digits}f}" for end in ends))
    if span and math.isnan(estimate.value):
        return span
    text = estimate_text(estimate, digits)
    return f"{text} ({span})" if span else text


def estimate_text(estimate: Estimate, digits: int) -> str:
    """Return a number, with its interval if there is one."""
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} {interval_text(estimate.low, estimate.high, f'.{digits}f')}"


def _footnotes(
    report: Report,
    keys: Iterable[Key],
    rows: Iterable[Sequence[Cell]],
    words: Words,
) -> list[str]:
    """Return what the marks in a table mean, and how many answers are unlabelled."""
    notes = [DAGGER] if set(keys) & set(report.not_comparable) else []
    if any(NONE_SHOWN in cell.text for row in rows for cell in row[1:]):
        notes.append(NO_INTERVAL)
    advice = []
    for name, note in report.notes():
        if note.id == UNLABELLED:
            notes.append(f"{name}: {note.fact}")
            noted = note if name in report.bounds else without_bounds(note)
            advice.append(fill_sentence(noted.advice, {}, words))
    return [*notes, *filter(None, dict.fromkeys(advice))]


def report_records(
    report: Report,
    *,
    keys: Iterable[Key] | None = None,
) -> list[Record]:
    """Return one dict per system: name, N, numbers with all digits, and the keys by which systems must not rank."""
    shown = list(report.keys if keys is None else keys)
    not_comparable = " ".join(str(key) for key in shown if key in report.not_comparable)
    shares = report.shares_unlabelled()
    records: list[Record] = []
    for name, size in report.sizes.items():
        record: dict[str, object] = {"system": name, "N": size}
        if shares:
            record["unlabelled"] = shares[name]
        results = report.results[name]
        for key in shown:
            record |= replace(results, estimates={key: results.estimates[key]}).flat()
        for key, bounds in report.bounds.get(name, {}).items():
            if key in shown:
                record |= {f"{key}_min": bounds.low, f"{key}_max": bounds.high}
        records.append({**record, "must_not_rank": not_comparable})
    return records


def origin_fields(recipes: Sequence[Recipe], bases: Mapping[str, Basis]) -> dict[str, object]:
    """Return the fields of JSON on how files were read, and on what the numbers of each system depend."""
    fields: dict[str, object] = {}
    if recipes:
        fields = {"read": describe_recipes(recipes), "recipes": distinct_fields(recipes)}
    if bases:
        fields["basis"] = {name: basis.to_json() for name, basis in bases.items()}
    return fields


def legend_of(keys: Iterable[Key]) -> list[str]:
    """Return what the arrows mean, and one line for each metric shown and for each mark of a variant."""
    keys = list(keys)
    shown = {key.entry.higher_is_better for key in keys}
    arrows = ", ".join(meaning for better, meaning in _DIRECTIONS.items() if better in shown)
    lines = [f"{name}: {meaning}" for name, meaning in meanings_of(keys).items()]
    return [*filter(None, [arrows]), *lines]


def meanings_of(keys: Sequence[Key]) -> dict[str, str]:
    """Return what each metric measures, and what each mark of a variant means, by their names in tables."""
    meanings = {}
    for key in keys:
        metric = key.entry
        text = metric.description
        name = metric.title + _SUBSCRIPTS.get(metric.parameter, "")
        is_abbreviation = text[1:2].isupper()
        meanings[name] = text if is_abbreviation else text[:1].lower() + text[1:]
    for variant in dict.fromkeys(key.variant for key in keys if key.variant):
        name, meaning = _VARIANTS[variant]
        meanings[name] = meaning
    return meanings


def title(key: Key) -> str:
    """Return the header of a metric's column with its arrow."""
    return short_title(key) + _ARROWS[key.entry.higher_is_better]


def short_title(key: Key) -> str:
    """Return the name of a number in tables, e.g. ECUAS_128."""
    name = key.entry.title
    if key.parameter is not None:
        name += f"_{key.parameter:g}".replace("inf", "∞")
    if not key.variant:
        return name
    mark, _ = _VARIANTS[key.variant]
    return f"{mark}{name}" if key.variant == "normalized" else f"{name} {mark}"


def interval_text(low: float, high: float, form: str) -> str:
    """Return an interval as a table shows it, with numbers of a format; `NONE_SHOWN` where there is none."""
    return NONE_SHOWN if math.isnan(low) else f"[{low:{form}}, {high:{form}}]"


def p_text(
    p: float,
    alpha: float = 1 - LEVEL,
    *,
    in_cell: bool = False,
) -> str:
    """Return a p-value as "p = 0.012" or "p < 0.001"; in a table's cell as "0.012" or "<0.001", and nan as nothing.

    It has as many digits as tell on which side of alpha it lies.
    """
    if in_cell and math.isnan(p):
        return ""
    digits = DIGITS
    while digits < MOST_DIGITS and (round(p, digits) <= alpha) != (p <= alpha):
        digits += 1
    least = min(0.001, alpha)
    relation, number = ("<", f"{least:g}") if p < least else ("=", f"{p:.{digits}f}")
    if not in_cell:
        return f"p {relation} {number}"
    return number if relation == "=" else relation + number


def write_figures(
    systems: Systems, folder: str | Path, suffixes: Sequence[str] = (".png", ".svg")
) -> list[Path]:
    """Draw all curves of the systems into a folder; reliability if all have confidences."""
    contents = draw_figures(systems, suffixes)
    for name, content in contents.items():
        write_whole(Path(folder, name), content)
    return [Path(folder, name) for name in contents]


def draw_figures(systems: Systems, suffixes: Sequence[str]) -> dict[str, bytes]:
    """Return all curves of the systems in some formats, by the names of their files."""
    from ..plotting import figures

    drawings = {
        "risk_coverage": figures.risk_coverage_figure,
        "reject_cost": figures.reject_cost_figure,
        "ecuas_against_n": figures.order_figure,
    }
    if all(one.decisions.confidence is not None and not one.audit for one in systems.values()):
        drawings["reliability"] = figures.reliability_figure
    contents = {}
    for name, draw in drawings.items():
        figure = draw(systems)
        for suffix in suffixes:
            contents[f"{name}{suffix}"] = figures.drawn(figure, suffix, salt=name)
    return contents


def _undefined_results(system: System, only: Collection[Key] | None) -> Results:
    """Return nan for every metric of a system with unlabelled answers, and notes on what has no bounds."""
    asked = only or value_keys(system.decisions, system.options)
    keys = [key for key in asked if key.entry.applies(system.decisions)]
    plain = [key for key in keys if not key.variant]
    unbounded = [key for key in plain if not key.entry.has_bounds]
    found = [
        (plain != keys, Note("variants_without_bounds")),
        (unbounded, Note("values_without_bounds", {"metrics": unbounded})),
        (system.options.confidence_level is not None, Note("bounds_only")),
    ]
    notes = [note for is_found, note in found if is_found]
    estimates = dict.fromkeys(keys, Estimate(math.nan))
    return Results(estimates, (*system.notes, *notes), system.basis)
