"""Columns that lack a role -> the flags to write, of columns that fit by their values: what an error advises.

No name has a meaning here: classes in the names of columns are those in the labels, and what is proposed was tried on
the first rows. Nothing is proposed where two columns fit alike.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, product
from os.path import commonprefix
from typing import Any, TypeVar

import numpy as np

from ..errors import pairs_of, quoted
from ..inputs import Array, Bools, Floats, Ints
from .candidates import (
    RIGHT,
    Candidates,
    Sure,
    Verdict,
    agree,
    are_near,
    are_no_worse,
    are_signed,
    are_two_names,
    by_number,
    classes_among,
    distinct_texts,
    is_called,
    rises,
    rises_surely,
    rows_of_systems,
    tells_apart,
)
from .cells import are_numbers, classes_of, lists_of_numbers, row_of_numbers
from .recipe import LOG, Recipe, labels_in, on_unit_scale, pairs_in
from .values import Sheet

_T = TypeVar("_T")
_Systems = dict[str, dict[str, str]]  # side by side -> columns of their own, by role

_ROWS = 1000  # on which proposals are tried
_MOST_LABELS = 50  # that a flag lists
_BEGUN_WORD = re.compile(
    r"(?:^|(?<=[\W_]))[^\W\d_]+$"
)  # the common letters of two words behind a name
_AROUND_NAMES = " _-.:/()=,'\""
_NUMBER_LAST = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
_BEFORE_NUMBER = re.compile(r"[\w.-]*[^\W_]_?")  # that a flag names all columns by
_JUDGED = ("correct", "confidence")  # roles
_OF_CLASSES = [{"yes", "no"}, {"y", "n"}, {"t", "f"}]  # verdicts that may be classes


@dataclass(frozen=True, slots=True)
class Proposal:
    """An id of advice, the columns of roles that it names, and what else its sentence needs."""

    advice: str
    columns: Mapping[str, str]
    labels: tuple[str, ...] = ()
    scale: int | str = 1
    right: str = ""  # words for right and wrong answers, as RIGHT/WRONG
    predictions_are: str = ""  # a form of posteriors
    # side by side -> columns of their own
    systems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    alternative: Proposal | None = None  # what else the columns may be
    complements: Mapping[str, str] = field(default_factory=dict)  # the columns if both are
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_fields(self, said: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of an error, whose flags say again what was said already."""
        flags = []
        arguments = []
        for flag, argument in self._parts({**said, **self.columns}):
            flags.append(flag)
            arguments.append(argument)
        options = {
            "labels": self.labels or None,
            "right": self.right or None,
            "predictions_are": self.predictions_are or None,
        }
        fields: dict[str, Any] = {
            "flags": " ".join(flags),
            "arguments": ", ".join(arguments),
            "options": options,
            "systems": self.systems,
        }
        if self.alternative is not None:
            others = self.alternative.to_fields(said)
            names = ("flags", "arguments", "columns", "options", "systems")
            fields |= {f"other_{name}": others[name] for name in names}
            fields["other_pairs"] = pairs_of(others["columns"])
        if self.complements:
            fields["complements"] = pairs_of({**said, **self.complements})
        return {
            "advice": self.advice,
            "columns": {**said, **self.with_scale(self.columns)},
            **fields,
            **self.fields,
        }

    def with_scale(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Return columns with the scale among them, if it is not that of probabilities."""
        return _scaled(columns, self.scale)

    def is_read_back(self) -> bool:
        """Return whether the flags that are printed say the same columns and classes, whatever signs are in these."""
        pairs = [
            (system, role, name.strip())
            for system, columns in {"": self.columns, **self.systems}.items()
            for role, name in columns.items()
        ]
        printed = " ".join(self.to_fields({})["flags"].split())
        try:
            is_same = _said_in(printed) == (pairs, [*self.labels])
        except ValueError:
            return False
        return is_same and (self.alternative is None or self.alternative.is_read_back())

    def _parts(self, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield what it says, as flags of the command and as arguments."""
        flags = [
            f"--columns {pairs_of(of_system, system)}"
            for system, of_system in {"": columns, **self.systems}.items()
            if of_system
        ]
        if flags:
            argument = {**columns, **self.systems}
            yield " ".join(flags), f"columns={argument}"
        if self.labels:
            yield _labels_flag(self.labels), f"labels={list(self.labels)}"
        if self.scale != 1:
            yield f"--scale {self.scale}", f"scale={self.scale!r}"
        if self.right:
            yield f"--right={quoted(self.right)}", f"right={self.right!r}"
        if self.predictions_are:
            form = self.predictions_are
            yield f"--predictions-are {form}", f"predictions_are={form!r}"


def _scaled(columns: Mapping[str, str], scale: int | str) -> dict[str, str]:
    return dict(columns) if scale == 1 else {**columns, "scale": str(scale)}


def propose(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], said: Collection[str]
) -> Iterator[Proposal]:
    """Yield what may be the columns that roles lack, the surest first; those that were said are kept."""
    table = Candidates(sheet.head(_ROWS), roles)
    for rule in _RULES:
        proposals = list(rule(table))
        proposal = _only(proposals) or _of_systems(proposals)
        if proposal is None or said & proposal.columns.keys():
            continue
        if proposal.is_read_back():
            yield proposal


def _only(fitting: Collection[_T]) -> _T | None:
    """Return what fits if nothing else does."""
    return next(iter(fitting)) if len(fitting) == 1 else None


def _of_systems(proposals: Sequence[Proposal]) -> Proposal | None:
    """Return posteriors that are proposed beside one truth as those of systems, if all else is the same, or None."""
    if len(proposals) < 2:
        return None
    first = proposals[0]
    sets = [one.columns.get("posteriors", "").split("+") for one in proposals]
    names = _differences([columns[0] for columns in sets])
    are_others = len({*chain.from_iterable(sets)}) == sum(map(len, sets))
    are_alike = all(
        replace(one, columns=first.columns) == first
        and one.columns.get("label") == first.columns.get("label")
        for one in proposals
    )
    if not are_others or not are_alike or len({*names} - {""}) < len(names):
        return None
    systems = {name: one.columns for name, one in zip(names, proposals, strict=True)}
    return replace(first, advice="name_side_by_side", columns={}, systems=systems)


def _differences(texts: Sequence[str]) -> list[str]:
    """Return what texts have but their common beginning and end, without words that these begin within."""
    begin, end = (len(_BEGUN_WORD.sub("", one)) for one in _ends_of(texts))
    return [text[begin : len(text) - end].strip(_AROUND_NAMES) for text in texts]


def _ends_of(texts: Sequence[str]) -> tuple[str, str]:
    """Return what all texts begin with, and in reverse what they end with."""
    reversed_texts = [text[::-1] for text in texts]
    return commonprefix(texts), commonprefix(reversed_texts)  # noqa: RUF071 - of names, not of paths


# ---- classes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Posteriors:
    """What may be the posteriors of all classes, and which of them is the likeliest one."""

    columns: Mapping[str, str]  # of their role, if that has none yet
    chosen: Ints  # (N,), by its place
    count: int
    names: tuple[str, ...] = ()  # of the classes, or nothing where only their places count
    are_names_said: bool = False  # by the columns, or by what is in them
    first: int = 0  # the number of the first one
    form: Mapping[str, Any] = field(default_factory=dict)

    def chosen_among(self, names: Sequence[str]) -> Array:
        """Return the names (N,) of the likeliest classes."""
        return np.array(names)[self.chosen]

    def says(self, names: tuple[str, ...]) -> bool:
        """Return whether no flag has to say these names of the classes."""
        return self.are_names_said or (not self.names and names == _numbers(0, self.count))


def _labels_beside(
    source: Callable[[Candidates], Iterable[_Posteriors]], table: Candidates
) -> Iterator[Proposal]:
    """Yield posteriors with the labels that go with the likeliest classes, but are not always the likeliest of some.

    Logits only where there are no probabilities. Where a named column always has the likeliest class, another is true.
    """
    sets = _outermost(source(table))
    if any(_are_named_likeliest(table, posteriors) for posteriors in sets):
        table = table.without("label")
    proposals: list[Proposal] = []
    for posteriors, label in _true_classes(table, sets):
        proposals += _with_labels(table, label, posteriors)
    yield from [one for one in proposals if one.predictions_are != "logits"] or proposals


def _true_classes(
    table: Candidates, sets: Sequence[_Posteriors]
) -> Iterator[tuple[_Posteriors, str]]:
    """Yield posteriors with columns that may have the true classes: no field of theirs, and none that they choose."""
    pairs = [(one, label) for one in sets for label in table.may_be_labels(one.count)]
    free = [] if table.named("label") else pairs
    predicted = {label for one, label in free if _are_likeliest(table.texts(label), one)}
    for posteriors, label in pairs:
        is_field = label.startswith(f"{posteriors.columns.get('posteriors')}.")
        if not is_field and label not in predicted:
            yield posteriors, label


def _outermost(sets: Iterable[_Posteriors]) -> list[_Posteriors]:
    """Return posteriors but those that are within the cells of others: lists of classes and numbers in an object."""
    by_name = {one.columns.get("posteriors", ""): one for one in sets}
    return [
        one
        for name, one in by_name.items()
        if not any(name.startswith(f"{outer}.") for outer in by_name)
    ]


def _are_named_likeliest(table: Candidates, posteriors: _Posteriors) -> bool:
    """Return whether the column that has the name of labels has the likeliest class in all rows."""
    return any(_are_likeliest(table.texts(name), posteriors) for name in table.named("label"))


def _are_likeliest(labels: Array, posteriors: _Posteriors) -> bool:
    """Return whether labels (N,) are those of the likeliest class in all rows."""
    _, names = _names_beside(labels, posteriors)
    return bool(names) and bool((labels == posteriors.chosen_among(names)).all())


def _with_labels(table: Candidates, label: str, posteriors: _Posteriors) -> Iterator[Proposal]:
    """Yield posteriors with labels that are the likeliest classes in more rows than by chance, in no fewer by names."""
    labels = table.texts(label)
    advice, names = _names_beside(labels, posteriors)
    if not {*distinct_texts(labels)} <= {*names}:
        return
    are_named = table.named("label") or posteriors.names
    are_logits = posteriors.form.get("predictions_are") == "logits"
    is_surely = advice == "name_in_order" and table.named("label")
    goes_with = are_no_worse if are_named and not are_logits else agree
    if is_surely or goes_with(labels, posteriors.chosen_among(names)):
        columns = {**table.missing(label=label), **posteriors.columns}
        said = () if posteriors.says(names) else names
        yield Proposal(advice, columns, said, **posteriors.form)


def _names_beside(labels: Array, posteriors: _Posteriors) -> tuple[str, tuple[str, ...]]:
    """Return an id of advice, and the names of the classes that posteriors have, or have by their places."""
    names = posteriors.names
    return ("name_found", names) if names else _names_by_place(labels, posteriors)


def _names_by_place(labels: Array, posteriors: _Posteriors) -> tuple[str, tuple[str, ...]]:
    """Return an id of advice, and the names of the classes in the order of their columns, or nothing.

    Labels (N,) are numbers from 0 or 1, or all classes, sorted, if each is the most frequent one where its place is
    the likeliest.
    """
    classes = classes_among(labels)
    for start in (posteriors.first, 1 - posteriors.first):
        numbers = _numbers(start, posteriors.count)
        if {*classes} <= {*numbers}:
            return "name_found", numbers
    if not _are_listed(classes) or {*posteriors.chosen} != {*range(len(classes))}:
        return "", ()
    for number, name in enumerate(classes):
        there, counts = np.unique(labels[posteriors.chosen == number], return_counts=True)
        if there[counts == counts.max()].tolist() != [name]:
            return "", ()
    return "name_in_order", tuple(classes)


def _numbers(first: int, count: int) -> tuple[str, ...]:
    return tuple(map(str, range(first, first + count)))


def _numbered(table: Candidates) -> Iterator[_Posteriors]:
    """Yield columns that are numbered from 0 or 1 and have one sum."""
    names = dict(zip(map(str.strip, table.numbers), table.numbers, strict=True))
    for (prefix, suffix), group in by_number(names, _NUMBER_LAST).items():
        first = min(group)
        columns = list(map(group.__getitem__, sorted(group)))
        form = _form_of(table, columns)
        if first > 1 or max(group) - first != len(columns) - 1 or form is None:
            continue
        is_prefix = first == 0 and not suffix and _BEFORE_NUMBER.fullmatch(prefix)
        named = {"posteriors": prefix if is_prefix else "+".join(columns)}
        if is_prefix or len(columns) <= _MOST_LABELS:
            chosen = table.likeliest(columns)
            yield _Posteriors(named, chosen, len(columns), first=first, form=form)


def _named_by_class(table: Candidates) -> Iterable[_Posteriors]:
    """Return columns whose names have the classes of the labels in one place, in any case, and that have one sum."""
    sets = {}
    for classes in map(table.classes, table.may_be_labels()):
        for by_class, form in _patterns(table, classes) if _are_listed(classes) else ():
            columns = "+".join(by_class.values())
            chosen = table.likeliest(by_class.values())
            sets[columns] = _Posteriors(
                {"posteriors": columns}, chosen, len(by_class), tuple(by_class), form=form
            )
    return sets.values()


def _patterns(
    table: Candidates, classes: Sequence[str]
) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield columns by their classes, and the form that they have: all with the same text around a class.

    Classes that are never true are among them, if only then they sum to the whole.
    """
    for name, start in _places(table.numbers, classes[0]):
        around = name[:start], name[start + len(classes[0]) :]
        between = _between(table.numbers, *around)
        own = _one_of_each(classes, between)
        if not own:
            continue
        further = between if any(around) else {}
        others = {text: one for text, one in further.items() if one not in own.values()}
        for by_class in (own, own | others):
            form = _form_of(table, list(by_class.values()))
            if form is not None:
                yield by_class, form
                break


def _one_of_each(classes: Iterable[str], between: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each class, by texts in any case; nothing if a class has none, or two have one."""
    by_lower = {text.lower(): column for text, column in between.items()}
    columns = {one: by_lower.get(one.lower(), "") for one in classes}
    distinct = {*columns.values()}
    return columns if "" not in distinct and len(distinct) == len(columns) else {}


def _between(names: Iterable[str], before: str, after: str) -> dict[str, str]:
    """Return the columns whose names begin and end so, in any case, by what is between."""
    pattern = rf"{re.escape(before)}(.+){re.escape(after)}"
    matches = {name: re.fullmatch(pattern, name, re.IGNORECASE) for name in names}
    return {match[1]: name for name, match in matches.items() if match}


def _places(names: Iterable[str], part: str) -> Iterator[tuple[str, int]]:
    """Yield columns and where a class begins in their names, in any case, and is no part of a longer word.

    A capital behind a small letter begins a word, as in choiceA.
    """
    begin = r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z])(?=[A-Z])))"
    pattern = rf"{begin}{re.escape(part)}(?![^\W\d_])"
    for name in names:
        for match in re.finditer(pattern, name, re.IGNORECASE):
            yield name, match.start()


def _lists(table: Candidates) -> Iterator[_Posteriors]:
    """Yield columns of lists or of mappings, of as many numbers as there are classes: probabilities, or else logits.

    Lists in changing order are read with each column of lists that may have their classes.
    """
    for name in table.named("posteriors") or table.free:
        cells = table.sheet.column(name).to_pylist()
        columns = table.missing(posteriors=name)
        mappings = list(_with_names(columns, cells))
        beside = [] if mappings else table.classes_beside(name)
        for classes in beside:
            pairs = zip(table.sheet.column(classes).to_pylist(), cells, strict=True)
            joined = [{classes: texts, name: numbers} for texts, numbers in pairs]
            yield from _with_names({"posteriors": "+".join([classes, name])}, joined)
        values = None if mappings or beside else lists_of_numbers(table.sheet, name)
        yield from mappings if values is None else _without_names(columns, values)


def _with_names(columns: Mapping[str, str], cells: Sequence[object]) -> Iterator[_Posteriors]:
    """Yield mappings (N,) of classes to probabilities as posteriors; nothing of other cells."""
    likeliest = []
    largest = -math.inf
    for cell in cells:
        by_class = classes_of(cell)
        row = row_of_numbers(cell)
        if not by_class or not isinstance(row, list) or not are_numbers(row):
            return
        if not _are_probabilities(np.array(row, np.float64)):
            return
        likeliest.append(list(by_class)[int(np.argmax(row))])
        largest = max(largest, *row)
    distinct, chosen = np.unique(likeliest, return_inverse=True)
    form = {"predictions_are": "log_probabilities"} if largest <= 0 else {}
    yield _Posteriors(
        columns, chosen, len(distinct), tuple(distinct), are_names_said=True, form=form
    )


def _without_names(columns: Mapping[str, str], values: Floats) -> Iterator[_Posteriors]:
    """Yield the numbers (N, K) of lists as posteriors by their places: probabilities, or else logits."""
    if 1 < values.shape[1] <= _MOST_LABELS:
        form = {} if values.min() >= 0 else {"predictions_are": "log_probabilities"}
        if not all(map(_are_probabilities, values)):
            form = {"predictions_are": "logits"}
        yield _Posteriors(columns, values.argmax(axis=1), values.shape[1], form=form)


def _of_all_shares(table: Candidates) -> Iterator[_Posteriors]:
    """Yield all columns of fractions, if they have one sum in each row, by their places."""
    names = table.shares()
    form = _form_of(table, names)
    if form is not None and len(names) <= _MOST_LABELS:
        columns = table.missing(posteriors="+".join(names))
        yield _Posteriors(columns, table.likeliest(names), len(names), form=form)


def _with_role(table: Candidates) -> Iterator[_Posteriors]:
    """Yield the columns that have the role of posteriors, without labels."""
    names = table.roles.get("posteriors", ())
    if len(names) > 1:
        yield _Posteriors({}, table.likeliest(names), len(names))


def _two_classes(table: Candidates) -> Iterator[Proposal]:
    """Yield the one column of numbers from 0 to 1 as the probability of one of two classes, if names say so."""
    share = _only(table.named("positive") or table.shares())
    if share is None or table.named("confidence") or table.named("correct"):
        return
    label = _label_of_two(table, share)
    if label is not None and _are_classes_by_name(table, share, label):
        yield _of_two_words(table, Sure(share, table.values(share)), label)


def _log_odds(table: Candidates) -> Iterator[Proposal]:
    """Yield the one column of numbers of both signs that are surely higher in class 1 as its log odds."""
    roles = ("posteriors", "positive", "confidence", "correct")
    verdict = _only(table.verdicts())
    if verdict is None or verdict.words or any(map(table.named, roles)) or table.shares():
        return
    signed = [name for name, values in table.numbers.items() if are_signed(values)]
    column = _only([name for name in signed if rises_surely(table.values(name), verdict.right)])
    if column is not None:
        fields = {"of_column": column}
        columns = {"positive": column, **table.missing(label=verdict.name)}
        yield Proposal("name_log_odds", columns, predictions_are="logits", fields=fields)


def _label_of_two(table: Candidates, share: str) -> str | None:
    """Return the one column of two classes that a probability is called after, or else the one that there is."""
    of_two = [name for name in table.may_be_labels() if are_two_names(table.classes(name))]
    in_name = [name for name in of_two if _classes_in_name(share, table.classes(name))]
    return _only(in_name or of_two)


def _of_two_words(table: Candidates, sure: Sure, label: str) -> Proposal:
    """Return the advice on a probability beside two words, which may be verdicts on answers by what they mean."""
    verdict = table.verdict_known(label)
    if verdict is not None and not table.named("positive") and sure.is_higher(verdict):
        return _as_correct(table, sure, verdict)
    classes = table.classes(label)
    higher = _higher_class(sure.values, table.texts(label), classes)
    columns = table.missing(label=label, positive=sure.name)
    return _on_two_classes(sure.name, classes, columns, higher)


def _are_classes_by_name(table: Candidates, share: str, label: str) -> bool:
    """Return whether names say that there are classes; or else two words may say which answers are right."""
    has_role = label in table.named("label") or table.named("positive")
    return bool(has_role or _classes_in_name(share, table.classes(label)))


def _classes_in_name(column: str, classes: Sequence[str]) -> list[str]:
    return [name for name in classes if any(_places([column], name))]


def say_classes(recipe: Recipe, labels: Array, values: Array) -> dict[str, Any]:
    """Return the fields of an error about labels (N,) as texts that are no numbers of classes, or nothing.

    They have the order of the alphabet if posteriors (N, K) say so, numbers from 1 that of the columns; of two classes
    the user knows which the column is of.
    """
    classes = distinct_texts(labels)
    if not _are_classes(classes):
        return {}
    proposal = None
    if recipe.form != "positive" and values.ndim > 1:
        posteriors = _Posteriors({}, values.argmax(axis=1), values.shape[1])
        advice, names = _names_by_place(labels, posteriors)
        proposal = Proposal(advice, {}, names) if names else None
    elif recipe.form == "positive" and len(classes) == 2:
        higher = _higher_class(values, labels, classes)
        proposal = _on_two_classes(recipe.predictions[0], classes, {}, higher)
    if proposal is None or not proposal.is_read_back():
        return {}
    return proposal.to_fields({})


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
    if _classes_in_name(column, classes) == [higher]:
        return Proposal("name_found", columns, (low, high) if higher == high else (high, low))
    return Proposal(
        "name_second_class",
        columns,
        (low, high),
        alternative=Proposal("", columns, (high, low)),
        fields={"of_column": column, "low": low, "high": high},
    )


def _labels_flag(labels: Sequence[str]) -> str:
    """Return the flag of classes, of which those with commas or quotes are quoted as in CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(labels)
    text = quoted(line.getvalue())
    return f"--labels={text}" if text.startswith("-") else f"--labels {text}"


def _said_in(flags: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return the columns, by their systems and roles, and the classes that flags say."""
    pairs: list[tuple[str, str, str]] = []
    labels: list[str] = []
    words = iter(shlex.split(flags))
    for word in words:
        flag, equals, text = word.partition("=")
        value = text if equals else next(words)
        if flag == "--columns":
            pairs += pairs_in(value, "columns")
        elif flag == "--labels":
            labels += labels_in(value)
    return pairs, labels


def _are_listed(classes: Sequence[str]) -> bool:
    """Return whether a flag lists classes: not too many."""
    return len(classes) <= _MOST_LABELS and _are_classes(classes)


def _are_classes(classes: Sequence[str]) -> bool:
    """Return whether texts may be the classes of labels: several, and no lists, which have several in a row."""
    return len(classes) >= 2 and not any(one.startswith(("[", "{")) for one in classes)


# ---- answers -----------------------------------------------------------------------------------------------------


def _judged(table: Candidates) -> Iterator[Proposal]:
    """Yield what one column of numbers and one of 0 and 1, or of two words, are together.

    Of several it is the one column that is higher for right answers, surely so if these have no name.
    """
    pairs = _with_verdicts(table)
    higher = [(sure, verdict) for sure, verdict in pairs if sure.is_higher(verdict)]
    surely = [(sure, verdict) for sure, verdict in pairs if sure.is_surely_higher(verdict)]
    likely = higher if table.named("correct") else surely
    different = _different(likely or pairs)
    pair = _only(different)
    if len(different) == 2 == len(_different(higher)):
        yield from _either(table, *different)
    elif pair is not None:
        yield from _as_judged(table, *pair, is_likely=bool(higher))


def _with_verdicts(table: Candidates) -> list[tuple[Sure, Verdict]]:
    """Return confidences with verdicts, but words that may name two systems, if there are others."""
    pairs = list(chain.from_iterable(_beside(table, sure) for sure in _sure(table)))
    return [pair for pair in pairs if not _may_be_systems(table, pair[1])] or pairs


def _may_be_systems(table: Candidates, verdict: Verdict) -> bool:
    """Return whether two words stand in as many rows each as systems do, which right and wrong answers hardly do."""
    return bool(verdict.words and rows_of_systems(table.sheet, verdict.name))


def _as_judged(
    table: Candidates, sure: Sure, verdict: Verdict, *, is_likely: bool
) -> Iterator[Proposal]:
    """Yield the advice on numbers and verdicts: of right answers, if numbers are higher there, or of mistakes."""
    if is_likely:
        yield _as_correct(table, sure, verdict)
    elif _may_be_mistakes(table, sure, verdict):
        yield _as_mistakes(table, sure, verdict)


def _either(table: Candidates, *pairs: tuple[Sure, Verdict]) -> Iterator[Proposal]:
    """Yield what two columns of numbers are beside the same verdicts on answers, or two verdicts beside confidences."""
    proposal, other = (_as_verdicts(table, *pair) for pair in pairs)
    truth, second = (verdict.name for _, verdict in pairs)
    may_be_class = "correct" in proposal.columns
    if truth == second:
        advice = "name_either_or_class" if may_be_class else "name_either"
        yield replace(proposal, advice=advice, alternative=other, fields={"truth": truth})
    elif table.named("confidence"):
        fields = {"truth": truth, "second": second}
        yield replace(proposal, advice="name_either_truth", alternative=other, fields=fields)


def _different(pairs: Sequence[tuple[Sure, Verdict]]) -> list[tuple[Sure, Verdict]]:
    """Return pairs but verdicts that follow from the confidences, if there are others; of copies the least nested."""
    undecided = [(sure, verdict) for sure, verdict in pairs if not sure.decides(verdict)]
    by_depth = sorted(
        undecided or pairs, key=lambda pair: f"{pair[0].name}{pair[1].name}".count(".")
    )
    by_content: dict[tuple[bytes, ...], tuple[Sure, Verdict]] = {}
    for sure, verdict in by_depth:
        arrays = (sure.values, verdict.right, verdict.known)
        content = tuple(array.tobytes() for array in arrays)
        by_content.setdefault(content, (sure, verdict))
    return list(by_content.values())


def _may_be_mistakes(table: Candidates, sure: Sure, verdict: Verdict) -> bool:
    """Return whether numbers are surely lower for right answers, as doubts and confidences in mistakes are."""
    are_known = verdict.is_label or table.named("correct")
    classes = table.classes(verdict.name) if verdict.is_label else []
    if verdict.words or table.named("positive") or are_two_names(classes):
        return False
    return (sure.is_share or not are_known) and sure.is_lower(verdict)


def _sure(table: Candidates) -> list[Sure]:
    """Return the columns that may be confidences."""
    positive = table.named("positive")
    return [Sure(name, table.values(name)) for name in positive] or table.sure()


def _beside(table: Candidates, sure: Sure) -> Iterable[tuple[Sure, Verdict]]:
    """Return confidences with what may be verdicts on their answers: labels of two classes, or any two words."""
    of_two = [name for name in table.named("label") if len(table.classes(name)) == 2]
    truth = table.named("correct") or of_two
    of_truth = filter(None, map(table.verdict_known, truth))
    known = list(of_truth) if truth else table.verdicts()
    verdicts = known or _verdicts_in_words(table, sure, truth or table.free_labels())
    return product([sure], verdicts)


def _verdicts_in_words(table: Candidates, sure: Sure, names: Sequence[str]) -> list[Verdict]:
    """Return the columns of two words that say which answers with such confidences are right, and are no classes."""
    of_words = [table.verdict(name, sure) for name in names]
    verdicts = list(filter(None, of_words))
    is_of_answers = table.named("confidence") or not sure.is_share
    if is_of_answers and not table.named("positive"):
        return verdicts
    return [one for one in verdicts if not _are_classes_by_name(table, sure.name, one.name)]


def _as_mistakes(table: Candidates, sure: Sure, verdict: Verdict) -> Proposal:
    """Return the advice on numbers that are lower for right answers: doubts, verdicts on mistakes, or of class 0."""
    doubt = f"1-{sure.name}"
    fields = {"truth": verdict.name, "of_column": sure.name}
    if verdict.is_label:
        return Proposal("name_seeming", {"positive": doubt})
    if table.named("correct") or is_called(verdict.name, "correct"):
        columns = table.missing(confidence=doubt, correct=verdict.name)
        return Proposal("name_doubt", columns, fields=fields)
    errors = table.missing(confidence=sure.name, correct=f"1-{verdict.name}")
    if table.named("confidence") or sure.scale != 1:
        return Proposal("name_errors", errors, scale=sure.scale, fields=fields)
    doubts = Proposal("", {"confidence": doubt, "correct": verdict.name})
    return Proposal("name_errors_or_doubt", errors, alternative=doubts, fields=fields)


def _as_verdicts(table: Candidates, sure: Sure, verdict: Verdict) -> Proposal:
    """Return the advice to take verdicts as those on answers."""
    columns = table.missing(confidence=sure.name, correct=verdict.name)
    _, comma, third = verdict.words.rpartition(",")
    advice = "name_third_word" if comma else sure.advice
    fields = {"of_column": sure.name, "truth": verdict.name, "third": third}
    return Proposal(advice, columns, scale=sure.scale, right=verdict.words, fields=fields)


def _as_correct(table: Candidates, sure: Sure, verdict: Verdict) -> Proposal:
    """Return the advice to take verdicts as those on answers, or also as classes if they may be such."""
    proposal = _as_verdicts(table, sure, verdict)
    truth = verdict.name
    is_of_answers = table.named("correct") or is_called(truth, "correct")
    classes = None if is_of_answers else _classes_of(table, verdict)
    if classes is None:
        return proposal
    as_classes = Proposal("", {"positive": sure.name, "label": truth}, classes, sure.scale)
    if _is_cut_in_half(table, sure, verdict):
        return replace(as_classes, advice="name_found")
    complements = {"confidence": f"1-{sure.name}", "correct": f"1-{truth}"}
    # data alone do not tell doubts and mistakes from confidences and right answers
    has_complement = sure.scale != LOG and not verdict.words
    may_be_mistakes = len(proposal.columns) == len(_JUDGED) and has_complement
    return replace(
        proposal,
        advice="name_judged_mistaken_or_class" if may_be_mistakes else "name_judged_or_class",
        alternative=as_classes,
        complements=proposal.with_scale(complements),
        fields={**proposal.fields, "high": classes[-1] if classes else "class 1"},
    )


def _is_cut_in_half(table: Candidates, sure: Sure, verdict: Verdict) -> bool:
    """Return whether another column has one true class where numbers are above 1/2, and the other elsewhere."""
    is_above = on_unit_scale(sure.values, sure.scale) > 0.5
    classes = table.classes(verdict.name)
    for name in (*table.free, *table.named("predicted")):
        texts = table.texts(name)
        apart = [classes_among(texts[is_above]), classes_among(texts[~is_above])]
        if name != verdict.name and sorted(apart) == sorted([one] for one in classes):
            return True
    return False


def _classes_of(table: Candidates, verdict: Verdict) -> tuple[str, ...] | None:
    """Return the classes that verdicts may be as well, nothing of 0 and 1; None if they are verdicts by their words."""
    if verdict.words:
        high, _, low = verdict.words.partition("/")
        return None if "," in low else (low, high)
    if not np.isnan(table.values(verdict.name)).all():
        return ()
    words = table.classes(verdict.name)
    words.sort(key=lambda word: word.lower() in RIGHT)
    may_be_classes = {word.lower() for word in words} in _OF_CLASSES
    return tuple(words) if may_be_classes and not table.named("confidence") else None


def _chosen(table: Candidates) -> Iterator[Proposal]:
    """Yield two columns of the same classes or texts as the chosen and the true ones, beside confidences."""
    if table.named("correct"):
        return
    several = _sure(table)
    for truth, chosen in _pairs_of_classes(table):
        answers = table.texts(chosen)
        right_answers = table.texts(truth)
        are_right = (answers == right_answers) & (answers != "")
        fitting = [one for one in several if _is_of_chosen(one, right_answers, answers)]
        surely = [one for one in fitting if rises_surely(one.values, are_right)]
        sure = _only(fitting) or _only(surely)
        if sure is not None:
            judged = _verdicts_on(table, sure, are_right, but=(truth, chosen))
            # which of several verdicts holds, only the user knows
            yield from judged or [_as_chosen(table, sure, truth, chosen)]


def _verdicts_on(
    table: Candidates, sure: Sure, right: Bools, *, but: Collection[str]
) -> list[Proposal]:
    """Return what other columns are that judge answers as these are right (N,): verdicts, each once."""
    others = [one for one in table.verdicts() if one.name not in but]
    pairs = [(sure, one) for one in others if one.goes_with(right)]
    return [_as_verdicts(table, *pair) for pair in _different(pairs)]


def _as_chosen(table: Candidates, sure: Sure, truth: str, chosen: str) -> Proposal:
    """Return the advice on two columns of classes: which has the true ones, or what is chosen if no name says it."""
    missing = table.missing(label=truth, predicted=chosen, confidence=sure.name)
    fields = {"truth": truth, "chosen": chosen, "of_column": sure.name}
    proposal = Proposal("name_chosen_and_true", missing, scale=sure.scale, fields=fields)
    if table.named("predicted"):
        return proposal
    swapped = replace(proposal, columns={**missing, "label": chosen, "predicted": truth})
    return replace(proposal, advice="name_chosen_or_true", alternative=swapped)


def _is_of_chosen(sure: Sure, true: Array, chosen: Array) -> bool:
    """Return whether confidences are of the chosen one (N,), which is often right, and of two not of class 1."""
    lowest = on_unit_scale(sure.values, sure.scale).min()
    is_of_any = sure.is_named or lowest >= 0.5 or not tells_apart(sure.values, chosen)
    are_several = len({*true, *chosen}) > 2 or is_of_any
    rule = rises if sure.scale == 1 or sure.is_named else rises_surely
    return bool(are_several and agree(true, chosen) and rule(sure.values, true == chosen))


def _pairs_of_classes(table: Candidates) -> Iterable[tuple[str, str]]:
    """Return columns of texts or of whole numbers that may be the true and the chosen classes."""
    labels = table.named("label")
    predicted = table.named("predicted")
    free = table.distinct(filter(table.may_be_classes, table.free))
    named = product(labels or free, predicted or free)
    pairs = named if labels or predicted else combinations(free, 2)
    return [pair for pair in pairs if not _are_parts(*map(table.values, pair))]


def _are_parts(values: Floats, wholes: Floats) -> bool:
    """Return whether of two numbers (N,) one counts a part of what the other counts: it is never more."""
    num_values = len(np.unique(values[~np.isnan(values)]))
    is_above = bool((values > wholes).any())
    is_below = bool((values < wholes).any())
    return num_values > 2 and is_above != is_below


def _of_each_class(table: Candidates) -> Iterator[Proposal]:
    """Yield columns of 1 for the true class, one of each, beside the posteriors of these, in the order of these."""
    posteriors = [*table.roles.get("posteriors", ())]
    columns = posteriors or table.shares()
    verdicts = table.verdicts()
    form = {} if posteriors else _form_of(table, columns)
    if table.named("label") or form is None or not _is_one_right(verdicts):
        return
    true = _ordered_like(columns, [verdict.name for verdict in verdicts])
    if true and are_no_worse(table.likeliest(true), table.likeliest(columns)):
        missing = table.missing(posteriors="+".join(columns), label="+".join(true))
        yield Proposal("name_seeming", missing, **form)


def _ordered_like(columns: Sequence[str], truths: Sequence[str]) -> list[str]:
    """Return columns of truths in the order of others, by what differs in the names of each; nothing if none fits."""
    names = [name.lower() for name in _differences(columns)]
    names_of_truths = [name.lower() for name in _differences(truths)]
    by_name = dict(zip(names_of_truths, truths, strict=True))
    is_alike = len(names) == len(truths) and {*names} == by_name.keys()
    return [by_name[name] for name in names] if is_alike else []


def _is_one_right(verdicts: Sequence[Verdict]) -> bool:
    """Return whether in each row exactly one of several columns says that something is right."""
    rights = [verdict.right for verdict in verdicts]
    num_right = np.sum(rights, axis=0)
    return len(rights) > 1 and bool((num_right == 1).all())


def _side_by_side(table: Candidates) -> Iterator[Proposal]:
    """Yield the columns of several systems: alike in their names, or all confidences beside one truth."""
    systems = _by_system(table) or _of_one_truth(table) or _by_choice(table)
    if not 2 <= len(systems) <= _MOST_LABELS:
        return
    proposal = Proposal("name_side_by_side", {}, systems=systems)
    if all(_may_be_of_class(table, columns) for columns in systems.values()):
        of_classes = {
            name: {"positive": columns["confidence"], "label": columns["correct"]}
            for name, columns in systems.items()
        }
        other = Proposal("", {}, systems=of_classes)
        proposal = replace(proposal, advice="name_side_by_side_or_classes", alternative=other)
    yield proposal


def _may_be_of_class(table: Candidates, columns: Mapping[str, str]) -> bool:
    """Return whether the confidences and verdicts of a system may be probabilities of class 1, and true classes."""
    if columns.keys() != {*_JUDGED} or is_called(columns["correct"], "correct"):
        return False
    are_numbers = not np.isnan(table.values(columns["correct"])).all()
    return are_numbers and bool(table.values(columns["confidence"]).min() < 0.5)


def _by_system(table: Candidates) -> _Systems:
    """Return verdicts, each with the confidences whose name is most alike, by what both names begin and end with."""
    verdicts = {verdict.name: verdict for verdict in table.verdicts()}
    if _is_one_right(list(verdicts.values())):
        return {}
    return _each_once(
        (system, {"confidence": sure.name, "correct": name})
        for system, name, sure in _named_alike(verdicts, table.sure())
        if not sure.decides(verdicts[name])
    )


def _by_choice(table: Candidates) -> _Systems:
    """Return chosen classes beside one column of true ones, each with the confidences whose name is most alike."""
    sure = table.sure()
    if len(sure) < 2:
        return {}
    free = list(filter(table.may_be_classes, table.free))
    fitting = []
    for truth in table.named("label") or free:
        answers = [name for name in free if name != truth]
        systems = _each_once(
            (system, {"label": truth, "predicted": chosen, "confidence": one.name})
            for system, chosen, one in _named_alike(answers, sure)
            if _is_of_chosen(one, table.texts(truth), table.texts(chosen))
        )
        if len(systems) > 1:
            fitting.append(systems)
    return _only(fitting) or {}


def _each_once(pairs: Iterable[tuple[str, dict[str, str]]]) -> _Systems:
    """Return the columns of systems, or nothing if two of these are called alike, or have the same confidences."""
    named = list(pairs)
    systems = dict(named)
    confidences = {columns["confidence"] for columns in systems.values()}
    return systems if len(confidences) == len(systems) == len(named) else {}


def _named_alike(names: Iterable[str], sure: Sequence[Sure]) -> Iterator[tuple[str, str, Sure]]:
    """Yield columns with the confidences whose names are most alike, and what both names begin and end with."""
    for name in names if sure else ():
        alike = {one.name: _ends_of([name, one.name]) for one in sure}
        nearest = max(sure, key=lambda one: len("".join(alike[one.name])))
        begin, reversed_end = (_BEGUN_WORD.sub("", end) for end in alike[nearest.name])
        system = (begin + reversed_end[::-1]).strip(_AROUND_NAMES)
        if system:
            yield system, name, nearest


def _of_one_truth(table: Candidates) -> _Systems:
    """Return all confidences by their names, if each is higher for right answers or class 1 of one truth."""
    is_named = any(map(table.named, ("confidence", "positive", "posteriors")))
    several = [] if is_named else table.sure()
    names = [sure.name for sure in several]
    if _form_of(table, names) is not None:
        return {}
    for verdict, role, truth in _truths_of_all(table, names):
        if not verdict.words and all(sure.is_higher(verdict) for sure in several):
            return {sure.name: _scaled({role: sure.name, **truth}, sure.scale) for sure in several}
    return {}


def _truths_of_all(
    table: Candidates, names: Sequence[str]
) -> Iterator[tuple[Verdict, str, dict[str, str]]]:
    """Yield what may be the truth of all systems, the role of their columns, and the truth's if it has none.

    Without a name that is the one column of 0 and 1, as true classes, if the systems' names have something in common.
    """
    for truth, role in (("correct", "confidence"), ("label", "positive")):
        for verdict in filter(None, map(table.verdict_known, table.named(truth))):
            yield verdict, role, {}
    only = _only(table.verdicts())
    are_alike = len(names) > 1 and _differences(names)[0] != names[0]
    if only is not None and are_alike and not only.is_label and not table.named("correct"):
        yield replace(only, is_label=True), "positive", {"label": only.name}


# ---- what columns sum to ------------------------------------------------------------------------------------------


def _form_of(table: Candidates, names: Sequence[str]) -> dict[str, Any] | None:
    """Return what two or more columns of all classes are besides probabilities, or None if they are nothing known.

    That is: in per cent, numbers of votes, or logarithms.
    """
    values = np.array([table.numbers[name] for name in names])
    if len(names) < 2:
        return None
    if (values <= 0).all():
        are_logs = are_near(np.exp(values).sum(axis=0))
        return {"predictions_are": "log_probabilities"} if are_logs else None
    sums = values.sum(axis=0)
    whole = max(1, round(sums[0])) if np.isfinite(sums[0]) else 1
    are_parts = (values >= 0).all() and are_near(sums, whole)
    return {"scale": whole} if are_parts else None


def _are_probabilities(row: Floats) -> bool:
    """Return whether numbers (K,) sum to 1, or their exponentials do."""
    shares = row if row.min() >= 0 else np.exp(np.minimum(row, 1))
    return are_near(shares.sum())


_RULES: tuple[Callable[[Candidates], Iterator[Proposal]], ...] = (
    _of_each_class,
    _side_by_side,
    *(
        partial(_labels_beside, source)
        for source in (_numbered, _named_by_class, _lists, _of_all_shares, _with_role)
    ),
    _chosen,
    _judged,
    _two_classes,
    _log_odds,
)
