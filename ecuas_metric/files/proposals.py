"""Columns that lack a role -> the flags to write, of columns that fit by their values: what an error advises.

No name has a meaning here: classes in the names of columns are those in the labels, and what is proposed was tried on
the first rows. Nothing is proposed where two columns fit alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product, takewhile
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import FileError, pairs_of, quoted
from ..inputs import ROUNDED_SUM_TOLERANCE, Array, Bools, Floats
from .cells import TRUTHS, classes_of, numbers_in, parse_cells, row_of_numbers
from .recipe import NAMES, Recipe, column_in
from .values import Sheet, as_text, encode, first_of, parsed_json, with_fields

_T = TypeVar("_T")

_ROWS = 1000  # on which proposals are tried
_MOST_LABELS = 50  # that a flag lists
_MOST_OF_RATING = 11
_DEEPEST = 10  # of nested objects
_SURELY = 3  # deviations that are no chance; a coin has the largest, of 1/2
_NOT_IN_FLAGS = re.compile(r"[\"+]|,\s*\w+\s*=")  # of columns
_NOT_IN_LABELS = re.compile(r"[\",]")
_JUDGED = ("correct", "confidence")  # roles
_VERDICTS = [{"1", "0"}, *map(set, TRUTHS)]  # pairs of words
_RIGHT = ["1", *(word for pair in TRUTHS for word, value in pair.items() if value)]
_OF_CLASSES = [{"yes", "no"}, {"y", "n"}, {"t", "f"}]  # too


@dataclass(frozen=True, slots=True)
class Proposal:
    """An id of advice, the columns of roles that it names, and what else its sentence needs."""

    advice: str
    columns: Mapping[str, str]
    labels: tuple[str, ...] = ()
    scale: int = 1
    right: str = ""  # words for right and wrong answers, as RIGHT/WRONG
    predictions_are: str = ""  # a form of posteriors
    alternative: Proposal | None = None  # what else the columns may be
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_fields(self, said: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of an error, whose flags say again what was said already."""
        flags = []
        arguments = []
        for flag, argument in self._parts({**said, **self.columns}):
            flags.append(flag)
            arguments.append(argument)
        fields: dict[str, Any] = {"flags": " ".join(flags), "arguments": ", ".join(arguments)}
        if self.alternative is not None:
            others = self.alternative.to_fields(said)
            fields |= {f"other_{name}": others[name] for name in ("flags", "arguments", "columns")}
            fields["other_pairs"] = pairs_of(others["columns"])
        return {
            "advice": self.advice,
            "columns": {**said, **self.columns},
            **fields,
            **self.fields,
        }

    def _parts(self, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield what it says, as flags of the command and as arguments."""
        if columns:
            yield f"--columns {pairs_of(columns)}", f"columns={columns}"
        if self.labels:
            yield _labels_flag(self.labels), f"labels={list(self.labels)}"
        if self.scale > 1:
            yield f"--scale {self.scale}", f"scale={self.scale}"
        if self.right:
            yield f"--right={quoted(self.right)}", f"right={self.right!r}"
        if self.predictions_are:
            form = self.predictions_are
            yield f"--predictions-are {form}", f"predictions_are={form!r}"


def propose(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], said: Collection[str]
) -> Iterator[Proposal]:
    """Yield what may be the columns that roles lack, the surest first; those that were said are kept."""
    table = _Columns(sheet.head(_ROWS), roles)
    for rule in _RULES:
        proposal = _only(list(rule(table)))
        if proposal is not None and not said & proposal.columns.keys():
            yield proposal


def _only(fitting: Collection[_T]) -> _T | None:
    """Return what fits if nothing else does."""
    return next(iter(fitting)) if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True)
class _Sure:
    """A column that may be confidences, and what 1 is in it."""

    name: str
    values: Floats
    scale: int = 1
    is_rating: bool = False  # of a scale that only the user knows

    @property
    def advice(self) -> str:
        """Return the id of the advice to take it as confidences."""
        return "name_seeming" if self.scale == 1 else "name_per_cent"

    def is_higher(self, verdict: _Verdict) -> bool:
        """Return whether it is higher for right answers: surely, where it may be anything, or these are not known."""
        is_unsure = self.scale > 1 or self.is_rating or verdict.words or verdict.is_label
        rises = _rises_surely if is_unsure else _rises
        return rises(np.where(verdict.known, self.values, np.nan), verdict.right)

    def is_lower(self, verdict: _Verdict) -> bool:
        """Return whether it is surely lower for right answers."""
        return _rises_surely(np.where(verdict.known, self.values, np.nan), ~verdict.right)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A column that may say which answers are right."""

    name: str
    right: Bools  # (N,)
    known: Bools  # (N,), where it says something
    words: str = ""  # RIGHT/WRONG, if only the user knows which is which
    is_label: bool = False  # by its name


class _Columns:
    """The first rows of a table, and what the columns hold that have no role, and the fields within them."""

    def __init__(self, sheet: Sheet, roles: Mapping[str, Sequence[str]]) -> None:
        self.roles = roles
        self.nested = [path for name in sheet.names for path in _paths_of(sheet, name)]
        self.sheet = replace(sheet, table=with_fields(sheet.table, self.nested))
        self.free = list(_without_role(self.sheet.names, roles))
        self.cells = {name: parse_cells(self.sheet.column(name)) for name in self.free}
        numbers = {name: _numbers_of(self.sheet, name) for name in self.free}
        self.numbers = {name: values for name, values in numbers.items() if values is not None}

    def named(self, role: str) -> list[str]:
        """Return the column of a role, if it has one."""
        return list(self.roles.get(role, ()))[:1]

    def missing(self, **columns: str) -> dict[str, str]:
        """Return those of the roles that have no column yet, with the columns that they may have."""
        return {role: name for role, name in columns.items() if not self.named(role)}

    def values(self, name: str) -> Floats:
        """Return the numbers (N,) of a column, nan where it has none."""
        numbers = _numbers_of(self.sheet, name)
        return np.full(len(self.sheet.rows), np.nan) if numbers is None else numbers

    def texts(self, name: str) -> Array:
        """Return a column as texts (N,), nothing where it is empty."""
        values, codes = encode(parse_cells(self.sheet.column(name)))
        return np.array([*map(as_text, values), ""])[codes]

    def classes(self, name: str) -> list[str]:
        """Return the distinct texts of a column, sorted; numbers by their size."""
        distinct = _distinct(self.texts(name))
        are_numbers = all(map(str.isdecimal, distinct))
        return sorted(distinct, key=int) if are_numbers else distinct

    def likeliest(self, names: Iterable[str]) -> Array:
        """Return the number (N,) of the column with the highest value."""
        values = np.stack([self.values(name) for name in names], axis=1)
        numbers: Array = values.argmax(axis=1)
        return numbers

    def may_be_labels(self) -> list[str]:
        """Return the column of labels, or those that have few values, and no fractions."""
        return self.named("label") or [name for name in self.free if self._repeats_classes(name)]

    def _repeats_classes(self, name: str) -> bool:
        cells = self.cells[name]
        return self.may_be_classes(name) and 2 <= len(cells.unique()) <= len(cells) / 2

    def may_be_classes(self, name: str) -> bool:
        """Return whether a column without a role has texts, or numbers without fractions."""
        if name in self.numbers:
            return not _has_fractions(self.numbers[name])
        return bool(pa.types.is_large_string(self.cells[name].type))

    def fit(self, labels: Array, chosen: Array) -> bool:
        """Return whether true classes (N,) fit the chosen ones; a column without a role has to do so surely."""
        return _are_no_worse(labels, chosen) if self.named("label") else _agree(labels, chosen)

    def sure(self) -> list[_Sure]:
        """Return the columns that may be confidences: percentages if there are no fractions."""
        names = self.named("confidence") or self.shares()
        shares = [_Sure(name, self.values(name)) for name in names]
        return shares or [
            _Sure(name, values, 100)
            for name, values in self.numbers.items()
            if _are_percentages(values)
        ]

    def ratings(self) -> list[_Sure]:
        """Return the columns of a few whole numbers that are none of two codes."""
        few = {name: values for name, values in self.numbers.items() if _are_levels(values)}
        return [_Sure(name, values, is_rating=True) for name, values in few.items()]

    def shares(self) -> list[str]:
        """Return the columns of numbers from 0 to 1, of which some are fractions."""
        return [name for name, values in self.numbers.items() if _are_shares(values)]

    def verdicts(self) -> list[_Verdict]:
        """Return the columns that have 0 and 1, or a known pair of words; and such labels."""
        names = [*self.named("label"), *self.free]
        return [verdict for verdict in map(self.verdict_known, names) if verdict is not None]

    def verdict_known(self, name: str) -> _Verdict | None:
        """Return what a column of 0 and 1, or of a known pair of words, says of answers; None if it has others."""
        words = np.array([text.lower() for text in self.texts(name)])
        if set(words[words != ""]) not in _VERDICTS:
            return None
        is_label = name in self.named("label")
        return _Verdict(name, np.isin(words, _RIGHT), words != "", is_label=is_label)

    def verdict(self, name: str, sure: _Sure) -> _Verdict | None:
        """Return what a column says of answers, also by two other words: right is where confidences are surely higher.

        None if it does not.
        """
        texts = self.texts(name)
        pair = _distinct(texts)
        if (
            self.verdict_known(name) is not None
            or not _are_two_names(pair)
            or not _fit_labels(pair)
        ):
            return self.verdict_known(name)
        for right, wrong in (pair, pair[::-1]):
            verdict = _Verdict(name, texts == right, texts != "", f"{right}/{wrong}")
            if "/" not in right + wrong and sure.is_higher(verdict):
                return verdict
        return None


def _without_role(names: Iterable[str], roles: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the columns that have no role and can be named by a flag."""
    with_role = {column_in(name) for columns in roles.values() for name in columns}
    for name in names:
        if name not in with_role and not _NOT_IN_FLAGS.search(name):
            yield name


def _numbers_of(sheet: Sheet, name: str) -> Floats | None:
    """Return the numbers (N,) of a column as they would be read, or None if it has others than numbers, or none."""
    try:
        values = numbers_in(sheet, name, share=True)
    except FileError:
        return None
    return None if np.isnan(values).all() else values


def _paths_of(sheet: Sheet, name: str) -> list[str]:
    """Return the dotted paths of the fields within the cells of a column, by the first of them."""
    return list(_paths_in(first_of(sheet.table, name), name))


# ---- classes -----------------------------------------------------------------------------------------------------


def _numbered(table: _Columns) -> Iterator[Proposal]:
    """Yield columns that are numbered from 0 or 1 and have one sum, if labels are such numbers."""
    for (prefix, suffix), group in _by_number(table.numbers).items():
        first = min(group)
        names = [group[number] for number in sorted(group)]
        posteriors = "+".join(names) if len(names) <= _MOST_LABELS else ""
        if first == 0 and not suffix and re.fullmatch(r"[\w.-]*[^\W_]_?", prefix):
            posteriors = prefix
        form = _form_of(table, names)
        if posteriors and _is_without_gap(group) and form is not None:
            for proposal in _with_labels(table, names, posteriors, first):
                yield replace(proposal, **form)


def _by_number(names: Iterable[str]) -> dict[tuple[str, str], dict[int, str]]:
    """Return columns by the text around the last number in their names, and by that number."""
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name in names:
        match = re.fullmatch(r"(.*?)(\d+)(\D*)", name.strip(), re.DOTALL)
        if match:
            prefix, number, suffix = match.groups()
            groups.setdefault((prefix, suffix), {})[int(number)] = name
    return groups


def _is_without_gap(numbers: Collection[int]) -> bool:
    """Return whether numbers are all of those from 0, or from 1."""
    first = min(numbers)
    return first <= 1 and max(numbers) - first == len(numbers) - 1


def _with_labels(
    table: _Columns, names: Sequence[str], posteriors: str, first: int
) -> Iterator[Proposal]:
    """Yield what has the labels of numbered columns: numbers, or classes in the order of the alphabet."""
    chosen = table.likeliest(names)
    for label in table.may_be_labels():
        columns = {**table.missing(label=label), "posteriors": posteriors}
        values = table.values(label)
        if _are_within(values, 0, len(names)):
            start = _start_of(values, len(names), first)
            if start is not None and table.fit(values - start, chosen):
                yield Proposal("name_found", columns, _from_1(len(names)) if start else ())
        elif table.named("label"):
            yield from _in_order(table.texts(label), chosen, columns)


def _start_of(labels: Floats, count: int, first: int) -> int | None:
    """Return the number of the first class: 0, or as in the names of columns, or 1; None if labels begin with both."""
    lowest = np.nanmin(labels)
    has_last = np.nanmax(labels) == count
    if lowest > 0 and (has_last or first == 1):
        return 1
    return None if has_last else 0


def _from_1(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, count + 1)))


def _in_order(labels: Array, chosen: Array, columns: Mapping[str, str]) -> Iterator[Proposal]:
    """Yield the classes of texts (N,) sorted, if each is the most frequent one where its number was chosen (N,)."""
    classes = _distinct(labels)
    is_each_chosen = set(chosen) == set(range(len(classes)))
    if _are_listed(classes) and is_each_chosen and _are_most_frequent(classes, labels, chosen):
        yield Proposal("name_in_order", columns, tuple(classes))


def _are_most_frequent(classes: Sequence[str], labels: Array, chosen: Array) -> bool:
    for number, name in enumerate(classes):
        there, counts = np.unique(labels[chosen == number], return_counts=True)
        if there[counts == counts.max()].tolist() != [name]:
            return False
    return True


def _named_by_class(table: _Columns) -> Iterator[Proposal]:
    """Yield columns whose names have the classes of the labels in one place, in any case, and that have one sum."""
    for label in table.may_be_labels():
        classes = table.classes(label)
        if not _are_listed(classes):
            continue
        texts = table.texts(label)
        missing = table.missing(label=label)
        for by_class, form in _patterns(table, classes):
            likeliest = np.array(list(by_class))[table.likeliest(by_class.values())]
            # a column of the likeliest class in all rows was chosen by them
            is_label = not missing or (texts != likeliest).any()
            if is_label and _are_no_worse(texts, likeliest):
                columns = {**missing, "posteriors": "+".join(by_class.values())}
                yield Proposal("name_found", columns, tuple(by_class), **form)


def _patterns(
    table: _Columns, classes: Sequence[str]
) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield columns by their classes, and the form that they have: all with the same text around a class.

    Classes that are never true are among them, if only then they sum to the whole.
    """
    for (before, after), by_class in _by_text_around(table.numbers, classes).items():
        if len(set(by_class.values())) < len(classes):
            continue
        further = [name for name in table.numbers if name not in by_class.values()]
        wider = {**by_class, **_between(further, before, after)}
        for columns in (by_class, wider):
            form = _form_of(table, list(columns.values()))
            if form is not None:
                yield columns, form
                break


def _by_text_around(
    names: Iterable[str], classes: Sequence[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """Return columns by the text before and after a class in their names, in lower case, and by that class."""
    around: dict[tuple[str, str], dict[str, str]] = {}
    for name, part in product(names, classes):
        for start in _positions(name, part):
            before = name[:start].lower()
            after = name[start + len(part) :].lower()
            around.setdefault((before, after), {})[part] = name
    return around


def _between(names: Iterable[str], before: str, after: str) -> dict[str, str]:
    """Return the columns whose names begin and end so, in any case, by what is between."""
    between = {}
    for name in names if before or after else ():
        low = name.lower()
        if low.startswith(before) and low.endswith(after):
            between[name[len(before) : len(name) - len(after)]] = name
    return between


def _positions(name: str, part: str) -> list[int]:
    """Return where a class begins in the name of a column, in any case, and is no part of a longer word."""
    pattern = rf"(?<![^\W\d_]){re.escape(part)}(?![^\W\d_])"
    return [match.start() for match in re.finditer(pattern, name, re.IGNORECASE)]


def _lists(table: _Columns) -> Iterator[Proposal]:
    """Yield columns of lists or of mappings, of as many numbers as there are classes, or of their names."""
    for name in table.named("posteriors") or table.free:
        likeliest = _likeliest_in(table.sheet.column(name).to_pylist())
        if likeliest is None:
            continue
        for label in table.may_be_labels():
            texts = table.texts(label)
            if np.isin(texts, likeliest).any() and table.fit(texts, likeliest):
                yield Proposal("name_found", table.missing(label=label, posteriors=name))


def _likeliest_in(cells: Sequence[object]) -> Array | None:
    """Return the names or numbers (N,) of the likeliest classes in lists or mappings, or None of other cells."""
    likeliest = []
    for cell in cells:
        row = row_of_numbers(cell)
        if not isinstance(row, list) or not _are_probabilities(row):
            return None
        number = int(np.argmax(row))
        by_class = classes_of(cell)
        likeliest.append(str(number) if by_class is None else list(by_class)[number])
    return np.array(likeliest)


def _labels(table: _Columns) -> Iterator[Proposal]:
    """Yield labels of numbered posteriors: what agrees with the likeliest class in more rows than by chance."""
    names = table.roles.get("posteriors", ())
    if table.named("label") or len(names) < 2:
        return
    chosen = table.likeliest(names)
    for label in table.may_be_labels():
        values = table.values(label)
        if values.min() >= 0 and values.max() < len(names) and _agree(values, chosen):
            yield Proposal("name_found", {"label": label})


def _in_place(table: _Columns) -> Iterator[Proposal]:
    """Yield all columns of numbers that sum to 1, if each is highest mostly where the label is its place."""
    names = table.shares()
    label = _only(table.named("label"))
    are_all = 2 < len(names) <= _MOST_LABELS and _form_of(table, names) == {"scale": 1}
    if label is None or not are_all:
        return
    classes = [str(number) for number in range(len(names))]
    is_numbered = table.classes(label) == classes
    if is_numbered and _are_most_frequent(classes, table.texts(label), table.likeliest(names)):
        yield Proposal("name_in_order", {"posteriors": "+".join(names)})


def _two_classes(table: _Columns) -> Iterator[Proposal]:
    """Yield the one column of numbers from 0 to 1 as the probability of one of two classes."""
    label = _only([name for name in table.may_be_labels() if _are_two_names(table.classes(name))])
    share = _only(table.named("positive") or table.shares())
    is_judged = table.named("confidence") or table.named("correct")
    if label is None or share is None or is_judged:
        return
    classes = table.classes(label)
    if _fit_labels(classes) and _is_of_a_class(table, share, classes):
        higher = _higher_class(table.values(share), table.texts(label), classes)
        missing = table.missing(label=label, positive=share)
        yield _on_two_classes(share, classes, missing, higher)


def _is_of_a_class(table: _Columns, share: str, classes: Sequence[str]) -> bool:
    """Return whether names say that there are classes; or else two words may say which answers are right."""
    has_role = table.named("label") or table.named("positive")
    return bool(has_role) or any(_positions(share, name) for name in classes)


def _are_two_names(classes: Sequence[str]) -> bool:
    return len(classes) == 2 and classes != ["0", "1"]


def say_classes(recipe: Recipe, labels: Array, values: Array) -> dict[str, Any]:
    """Return the fields of an error about labels (N,) as texts that are no numbers of classes, or nothing.

    They have the order of the alphabet if posteriors (N, K) say so, numbers from 1 that of the columns; of two classes
    the user knows which the column is of.
    """
    classes = _distinct(labels)
    if len(classes) < 2 or not _fit_labels(classes):
        return {}
    if recipe.form == "positive":
        proposal = _of_one_column(recipe.predictions[0], classes, labels, values)
    else:
        proposal = _of_columns(classes, labels, values)
    return {} if proposal is None else proposal.to_fields({})


def _of_one_column(
    column: str, classes: Sequence[str], labels: Array, values: Array
) -> Proposal | None:
    if len(classes) > 2:
        return None
    return _on_two_classes(column, classes, {}, _higher_class(values, labels, classes))


def _of_columns(classes: Sequence[str], labels: Array, values: Array) -> Proposal | None:
    if values.ndim < 2:
        return None
    from_1 = _from_1(values.shape[1])
    if from_1[-1] in classes and set(classes) <= set(from_1):
        return Proposal("name_found", {}, from_1)
    return next(_in_order(labels, values.argmax(axis=1), {}), None)


def _higher_class(values: Floats, labels: Array, classes: Sequence[str]) -> str:
    """Return the one of two classes in whose rows numbers (N,) are higher, or nothing if one has none."""
    is_known = ~np.isnan(values)
    low, high = (values[is_known & (labels == name)] for name in classes)
    if not low.size or not high.size:
        return ""
    return classes[1] if high.mean() > low.mean() else classes[0]


def _on_two_classes(
    column: str, classes: Sequence[str], columns: Mapping[str, str], higher: str
) -> Proposal:
    """Return the advice on which of two classes a column is the probability of.

    That is the class in its name, if numbers are higher where it is true; or the user knows.
    """
    low, high = classes
    in_name = [name for name in classes if _positions(column, name)]
    if in_name == [higher]:
        lower = low if higher == high else high
        return Proposal("name_found", columns, (lower, higher))
    return Proposal(
        "name_second_class",
        columns,
        (low, high),
        alternative=Proposal("", columns, (high, low)),
        fields={"of_column": column, "low": low, "high": high},
    )


def _labels_flag(labels: Sequence[str]) -> str:
    text = quoted(",".join(labels))
    return f"--labels={text}" if text.startswith("-") else f"--labels {text}"


def _distinct(texts: Array) -> list[str]:
    return sorted(set(texts.tolist()) - {""})


def _are_listed(classes: Sequence[str]) -> bool:
    """Return whether a flag lists classes: several, but not too many."""
    return 2 <= len(classes) <= _MOST_LABELS and _fit_labels(classes)


def _fit_labels(classes: Sequence[str]) -> bool:
    """Return whether a flag can list classes."""
    return not any(map(_NOT_IN_LABELS.search, classes))


# ---- answers -----------------------------------------------------------------------------------------------------


def _judged(table: _Columns) -> Iterator[Proposal]:
    """Yield the one column of 0 and 1, or of two words, beside confidences, by name or the one column of fractions."""
    sure = _only(table.sure())
    if table.named("correct") or sure is None:
        return
    of_words = (table.verdict(name, sure) for name in table.may_be_labels())
    verdict = _only(table.verdicts() or list(filter(None, of_words)))
    if verdict is None:
        return
    if sure.is_higher(verdict):
        yield _as_correct(table, sure, verdict)
    elif not verdict.words and not verdict.is_label and sure.is_lower(verdict):
        yield _as_errors(table, sure, verdict)


def _as_errors(table: _Columns, sure: _Sure, verdict: _Verdict) -> Proposal:
    """Return the advice to take verdicts as those on mistakes, or else numbers as doubts."""
    errors = table.missing(confidence=sure.name, correct=f"1-{verdict.name}")
    fields = {"truth": verdict.name, "of_column": sure.name}
    if table.named("confidence") or sure.scale > 1:
        return Proposal("name_errors", errors, scale=sure.scale, fields=fields)
    doubts = Proposal("", {"confidence": f"1-{sure.name}", "correct": verdict.name})
    return Proposal("name_errors_or_doubt", errors, alternative=doubts, fields=fields)


def _as_correct(table: _Columns, sure: _Sure, verdict: _Verdict) -> Proposal:
    """Return the advice to take verdicts as those on answers, or also as classes if they may be such."""
    truth = verdict.name
    columns = table.missing(confidence=sure.name, correct=truth)
    proposal = Proposal(sure.advice, columns, scale=sure.scale, right=verdict.words)
    classes = _classes_of(table, verdict)
    if classes is None:
        return proposal
    as_classes = {"positive": sure.name, "label": truth}
    high = classes[-1] if classes else "class 1"
    return replace(
        proposal,
        advice="name_judged_or_class",
        alternative=Proposal("", as_classes, classes, sure.scale),
        fields={"truth": truth, "of_column": sure.name, "high": high},
    )


def _classes_of(table: _Columns, verdict: _Verdict) -> tuple[str, ...] | None:
    """Return the classes that verdicts may be as well, nothing of 0 and 1; None if they are verdicts by their words."""
    if verdict.words:
        high, _, low = verdict.words.partition("/")
        return low, high
    if not np.isnan(table.values(verdict.name)).all():
        return ()
    words = sorted(table.classes(verdict.name), key=lambda word: word.lower() in _RIGHT)
    may_be_classes = set(map(str.lower, words)) in _OF_CLASSES and not table.named("confidence")
    return tuple(words) if may_be_classes else None


def _confidence(table: _Columns) -> Iterator[Proposal]:
    """Yield the one column of fractions, percentages or ratings beside verdicts that is higher for right answers."""
    higher = [
        (sure, verdict) for sure, verdict in _beside_verdicts(table) if sure.is_higher(verdict)
    ]
    for sure, verdict in higher if len(higher) == 1 else ():
        named = {"confidence": sure.name}
        yield Proposal(sure.advice, named, scale=sure.scale, right=verdict.words)


def _doubt(table: _Columns) -> Iterator[Proposal]:
    """Yield the complement of the one column of fractions beside verdicts, if it is surely lower for right answers."""
    columns = _beside_verdicts(table) if table.shares() else []
    for sure, verdict in columns if len(columns) == 1 else ():
        if sure.is_lower(verdict):
            fields = {"of_column": sure.name}
            yield Proposal("name_doubt", {"confidence": f"1-{sure.name}"}, fields=fields)


def _beside_verdicts(table: _Columns) -> list[tuple[_Sure, _Verdict]]:
    """Return what may be confidences, each with the verdicts of the one column that is named as theirs."""
    truth = _only(table.named("correct"))
    if truth is None or table.named("confidence"):
        return []
    verdicts = ((sure, table.verdict(truth, sure)) for sure in table.sure() or table.ratings())
    return [(sure, verdict) for sure, verdict in verdicts if verdict is not None]


def _margin(table: _Columns) -> Iterator[Proposal]:
    """Yield the one column of numbers below and above 0 as of a decision function, beside labels of two classes."""
    label = _only(table.named("label"))
    name = _only([name for name, values in table.numbers.items() if _are_margins(values)])
    classes = [] if label is None else table.classes(label)
    if label is None or name is None or len(classes) != 2 or table.shares():
        return
    high = _higher_class(table.numbers[name], table.texts(label), classes)
    if _rises_surely(table.numbers[name], table.texts(label) == high):
        labels = () if classes == ["0", "1"] else _with_last(classes, high)
        fields = {"of_column": name}
        columns = {"positive": name}
        yield Proposal("name_margin", columns, labels, predictions_are="logits", fields=fields)


def _with_last(classes: Sequence[str], last: str) -> tuple[str, ...]:
    """Return two classes, a certain one behind the other."""
    return tuple(sorted(classes, key=lambda one: one == last))


def _chosen(table: _Columns) -> Iterator[Proposal]:
    """Yield two columns of the same classes or texts as the chosen and the true ones, beside confidences."""
    sure = _only(table.sure())
    if table.named("correct") or sure is None or sure.scale > 1:
        return
    for truth, chosen in _pairs_of_classes(table):
        if _is_of_chosen(sure.values, table.texts(truth), table.texts(chosen)):
            missing = table.missing(label=truth, predicted=chosen, confidence=sure.name)
            fields = {"truth": truth, "chosen": chosen, "of_column": sure.name}
            yield Proposal("name_chosen_and_true", missing, fields=fields)


def _is_of_chosen(confidences: Floats, true: Array, chosen: Array) -> bool:
    """Return whether confidences (N,) are of the chosen one, which is often right, and of two not of class 1."""
    are_several = len({*true, *chosen}) > 2 or confidences.min() >= 0.5
    return bool(are_several and _agree(true, chosen) and _rises(confidences, true == chosen))


def _pairs_of_classes(table: _Columns) -> Iterable[tuple[str, str]]:
    """Return columns of texts or of whole numbers that may be the true and the chosen classes."""
    labels = table.named("label")
    predicted = table.named("predicted")
    free = [name for name in table.free if table.may_be_classes(name)]
    if labels or predicted:
        return product(labels or free, predicted or free)
    return combinations(free, 2)


def _side_by_side(table: _Columns) -> Iterator[Proposal]:
    """Yield the columns of several systems: with the exact names of confidence and correct, or alike in their names."""
    systems = _by_system(table.free)
    whole = {system: columns for system, columns in systems.items() if len(columns) == 2}
    if len(whole) == 1:
        yield from (Proposal("name_seeming", columns) for columns in whole.values())
    whole = whole or _by_values(table)
    if 2 <= len(whole) <= _MOST_LABELS:
        texts = [f"{system}:{_pairs_within(columns)}" for system, columns in whole.items()]
        flags = " ".join(f"--columns {quoted(text)}" for text in texts)
        yield Proposal(
            "name_side_by_side", {}, fields={"flags": flags, "arguments": f"columns={whole}"}
        )


def _by_values(table: _Columns) -> dict[str, dict[str, str]]:
    """Return columns of fractions, each with that of 0 and 1 whose name begins most alike, by what both begin with."""
    verdicts = [verdict.name for verdict in table.verdicts()]
    systems = {}
    for share in table.shares():
        common = [_common_beginning(share, verdict) for verdict in verdicts]
        longest = max(common, key=len, default="")
        if common.count(longest) == 1:
            verdict = verdicts[common.index(longest)]
            systems[longest.strip(" _-.:/")] = {"confidence": share, "correct": verdict}
    judged = {columns["correct"] for columns in systems.values()}
    are_all = len(judged) == len(systems) == len(verdicts) == len(table.shares())
    return systems if are_all and "" not in systems else {}


def _common_beginning(one: str, other: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in pairs)


def _by_system(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the columns of confidences and verdicts by their role, and by what else is in their names."""
    systems: dict[str, dict[str, str]] = {}
    for name, role in product(names, _JUDGED):
        known = "|".join(sorted(NAMES[role], key=len, reverse=True))
        pattern = rf"(.+?)[\W_](?:{known})|(?:{known})[\W_](.+)"
        match = re.fullmatch(pattern, name, re.IGNORECASE)
        if match:
            systems.setdefault(match[1] or match[2], {}).setdefault(role, name)
    return systems


def _pairs_within(columns: Mapping[str, str]) -> str:
    return ",".join(f"{role}={name}" for role, name in columns.items())


def _nested(table: _Columns) -> Iterator[Proposal]:
    """Yield fields within objects that are called as roles are, if they complete confidences and verdicts."""
    by_role: dict[str, list[str]] = {}
    for path, role in product(table.nested, table.missing(correct="", confidence="")):
        if path.rpartition(".")[2].lower() in NAMES[role]:
            by_role.setdefault(role, []).append(path)
    columns = {role: paths[0] for role, paths in by_role.items() if len(paths) == 1}
    is_whole = all(role in columns or table.named(role) for role in _JUDGED)
    if columns and is_whole:
        yield Proposal("name_seeming", columns)


def _paths_in(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the dotted paths of numbers and texts in a nested value, also in JSON within it."""
    value = parsed_json(value)
    if isinstance(value, dict | list):
        for key, part in _parts_of(value, depth):
            if not re.search(r"[.,=:+]", str(key)):
                yield from _paths_in(part, f"{path}.{key}", depth + 1)
    elif depth:
        yield path


def _parts_of(
    value: dict[object, object] | list[object], depth: int
) -> Iterable[tuple[object, object]]:
    """Return the fields of an object, or the only part of a list within one; of several, none is surely meant."""
    if depth >= _DEEPEST:
        return ()
    if isinstance(value, dict):
        return value.items()
    is_within = depth > 0 or isinstance(value[0] if value else None, dict)
    return enumerate(value) if len(value) == 1 and is_within else ()


# ---- what values say ---------------------------------------------------------------------------------------------


def _form_of(table: _Columns, names: Sequence[str]) -> dict[str, Any] | None:
    """Return what two or more columns of all classes are besides probabilities, or None if they are nothing known.

    That is: in per cent, numbers of votes, or logarithms.
    """
    values = np.array([table.numbers[name] for name in names])
    if len(names) < 2:
        return None
    if (values <= 0).all():
        are_logs = _are_near(np.exp(values).sum(axis=0), 1)
        return {"predictions_are": "log_probabilities"} if are_logs else None
    sums = values.sum(axis=0)
    are_votes = (sums == sums[0]).all() and (values % 1 == 0).all()
    wholes = [1, 100, *([int(sums[0])] if are_votes else [])]
    fitting = [whole for whole in wholes if _are_near(sums, whole)]
    return {"scale": fitting[0]} if fitting and (values >= 0).all() else None


def _are_near(sums: Floats, whole: int) -> bool:
    return bool((np.abs(sums - whole) <= whole * ROUNDED_SUM_TOLERANCE).all())


def _are_probabilities(row: Sequence[object]) -> bool:
    """Return whether numbers sum to 1, or their exponentials do."""
    if len(row) < 2 or not all(isinstance(part, float | int) for part in row):
        return False
    values = np.array(row, np.float64)
    shares = values if values.min() >= 0 else np.exp(np.minimum(values, 1))
    return bool(abs(shares.sum() - 1) <= ROUNDED_SUM_TOLERANCE)


def _are_shares(values: Floats) -> bool:
    return _are_within(values, 0, 1) and _has_fractions(values)


def _are_percentages(values: Floats) -> bool:
    if not _are_within(values, 0, 100) or np.nanmax(values) <= _MOST_OF_RATING:
        return False
    counts_rows = (np.diff(values[~np.isnan(values)]) == 1).all()
    return not counts_rows


def _are_levels(values: Floats) -> bool:
    levels = np.unique(values[~np.isnan(values)])
    is_whole = (levels % 1 == 0).all() and levels.min() >= 0
    return bool(is_whole and 2 < len(levels) <= _MOST_OF_RATING >= levels.max())


def _are_margins(values: Floats) -> bool:
    return bool(values.min() < 0 < values.max()) and _has_fractions(values)


def _are_within(values: Floats, lowest: int, highest: int) -> bool:
    """Return whether there are numbers, and all are from the lowest to the highest."""
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= lowest and known.max() <= highest)


def _has_fractions(values: Floats) -> bool:
    return bool((values % 1 > 0).any())


def _rises(values: Floats, right: Bools) -> bool:
    """Return whether numbers (N,) are higher where it is right, but not all of them: then one follows from another."""
    is_known = ~np.isnan(values)
    high = values[right & is_known]
    low = values[~right & is_known]
    if not high.size or not low.size:
        return False
    do_overlap = high.min() <= low.max()
    return bool(do_overlap and high.mean() > low.mean())


def _rises_surely(values: Floats, right: Bools) -> bool:
    """Return whether numbers (N,) are so by more than chance explains."""
    known = ~np.isnan(values)
    if not _rises(values, right) or not np.ptp(values[known]):
        return False
    correlation = np.corrcoef(values[known], right[known])[0, 1]
    return bool(correlation * math.sqrt(np.count_nonzero(known)) > _SURELY)


def _are_no_worse(first: Array, second: Array) -> bool:
    """Return whether two columns (N,) are the same in as many rows as by chance, or in more."""
    return _beyond_chance(first, second) >= 0


def _agree(first: Array, second: Array) -> bool:
    """Return whether two columns (N,) are the same in more rows than by chance, but not in all."""
    is_all = bool((first == second).all())
    return not is_all and _beyond_chance(first, second) * math.sqrt(len(first)) > _SURELY / 2


def _beyond_chance(first: Array, second: Array) -> float:
    """Return by how much the share of rows in which two columns (N,) are the same exceeds that of chance."""
    shared = set(first.tolist()) & set(second.tolist())
    expected = sum(np.mean(first == value) * np.mean(second == value) for value in shared)
    return float(np.mean(first == second) - expected)


_RULES: tuple[Callable[[_Columns], Iterator[Proposal]], ...] = (
    _side_by_side,
    _nested,
    _numbered,
    _named_by_class,
    _lists,
    _labels,
    _in_place,
    _confidence,
    _doubt,
    _chosen,
    _two_classes,
    _judged,
    _margin,
)
