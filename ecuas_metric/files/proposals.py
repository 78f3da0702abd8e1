"""Columns that lack a role -> the flags to write, of columns that fit by their values: what an error advises.

No name has a meaning here: classes in the names of columns are those in the labels, and what is proposed was tried on
the first rows. Nothing is proposed where two columns fit alike.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product, takewhile
from typing import Any, TypeVar

import numpy as np

from ..errors import pairs_of, quoted
from ..inputs import ROUNDED_SUM_TOLERANCE, Array, Floats
from .candidates import (
    RIGHT,
    Candidates,
    Sure,
    Verdict,
    agree,
    are_margins,
    are_no_worse,
    are_two_names,
    are_within,
    distinct_texts,
    rises,
    rises_surely,
)
from .cells import classes_of, lists_of_numbers, row_of_numbers
from .recipe import NAMES, Recipe, labels_in, name_of, on_unit_scale, pairs_in
from .values import Sheet

_T = TypeVar("_T")

_ROWS = 1000  # on which proposals are tried
_MOST_LABELS = 50  # that a flag lists
_BEGUN_WORD = re.compile(r"(?<=[\W_])[^\W\d_]+$")  # the common letters of two words behind a name
_AROUND_NAMES = " _-.:/(,'\""
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
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_fields(self, said: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of an error, whose flags say again what was said already."""
        flags = []
        arguments = []
        for flag, argument in self._parts({**said, **self.columns}):
            flags.append(flag)
            arguments.append(argument)
        fields: dict[str, Any] = {
            "flags": " ".join(flags),
            "arguments": ", ".join(arguments),
        }
        if self.alternative is not None:
            others = self.alternative.to_fields(said)
            fields |= {f"other_{name}": others[name] for name in ("flags", "arguments", "columns")}
            fields["other_pairs"] = pairs_of(others["columns"])
        return {
            "advice": self.advice,
            "columns": {**said, **self.with_scale(self.columns)},
            **fields,
            **self.fields,
        }

    def with_scale(self, columns: Mapping[str, str]) -> dict[str, str]:
        """Return columns with the scale among them, if it is not that of probabilities."""
        return {**columns, **({} if self.scale == 1 else {"scale": str(self.scale)})}

    def is_read_back(self) -> bool:
        """Return whether the flags that are printed say the same columns and classes, whatever signs are in these."""
        pairs = [
            (system, role, name)
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


def propose(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], said: Collection[str]
) -> Iterator[Proposal]:
    """Yield what may be the columns that roles lack, the surest first; those that were said are kept."""
    table = Candidates(sheet.head(_ROWS), roles)
    for rule in _RULES:
        proposal = _only(list(rule(table)))
        if proposal is None or said & proposal.columns.keys():
            continue
        if proposal.is_read_back():
            yield proposal


def _only(fitting: Collection[_T]) -> _T | None:
    """Return what fits if nothing else does."""
    return next(iter(fitting)) if len(fitting) == 1 else None


# ---- classes -----------------------------------------------------------------------------------------------------


def _numbered(table: Candidates) -> Iterator[Proposal]:
    """Yield columns that are numbered from 0 or 1 and have one sum, if labels are such numbers."""
    for (prefix, suffix), group in _by_number(table.numbers).items():
        first = min(group)
        names = [group[number] for number in sorted(group)]
        posteriors = "+".join(names) if len(names) <= _MOST_LABELS else ""
        if first == 0 and not suffix and re.fullmatch(r"[\w.-]*[^\W_]_?", prefix):
            posteriors = prefix
        is_whole = bool(posteriors) and _is_without_gap(group)
        form = _form_of(table, names) if is_whole else None
        if form is not None:
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
    table: Candidates, names: Sequence[str], posteriors: str, first: int
) -> Iterator[Proposal]:
    """Yield what has the labels of numbered columns: numbers, or classes in the order of the alphabet."""
    chosen = table.likeliest(names)
    for label in table.may_be_labels(len(names)):
        columns = {**table.missing(label=label), "posteriors": posteriors}
        values = table.values(label)
        if are_within(values, 0, len(names)):
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
    classes = distinct_texts(labels)
    is_each_chosen = set(chosen) == set(range(len(classes)))
    if _are_listed(classes) and is_each_chosen and _are_most_frequent(classes, labels, chosen):
        yield Proposal("name_in_order", columns, tuple(classes))


def _are_most_frequent(classes: Sequence[str], labels: Array, chosen: Array) -> bool:
    for number, name in enumerate(classes):
        there, counts = np.unique(labels[chosen == number], return_counts=True)
        if there[counts == counts.max()].tolist() != [name]:
            return False
    return True


def _named_by_class(table: Candidates) -> Iterator[Proposal]:
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
            is_label &= label not in by_class.values()
            if is_label and are_no_worse(texts, likeliest):
                columns = {**missing, "posteriors": "+".join(by_class.values())}
                yield Proposal("name_found", columns, tuple(by_class), **form)


def _patterns(
    table: Candidates, classes: Sequence[str]
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


def _lists(table: Candidates) -> Iterator[Proposal]:
    """Yield columns of lists or of mappings, of as many numbers as there are classes, or of their names."""
    for name in table.named("posteriors") or table.free:
        likeliest = _likeliest_in(table.sheet.column(name).to_pylist())
        if likeliest is None:
            continue
        for label in table.may_be_labels():
            texts = table.texts(label)
            if np.isin(texts, likeliest).any() and table.fit(texts, likeliest):
                yield Proposal("name_found", table.missing(label=label, posteriors=name))


def _logits(table: Candidates) -> Iterator[Proposal]:
    """Yield columns of lists of numbers, one for each class, the largest of which is often that of the labels."""
    label = _only(table.named("label"))
    for name in table.free if label is not None else ():
        values = lists_of_numbers(table.sheet, name)
        if values is None or not 1 < values.shape[1] <= _MOST_LABELS:
            continue
        if agree(table.texts(str(label)), values.argmax(axis=1).astype(str)):
            yield Proposal("name_found", {"posteriors": name}, predictions_are="logits")


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


def _labels(table: Candidates) -> Iterator[Proposal]:
    """Yield labels of numbered posteriors: what agrees with the likeliest class in more rows than by chance."""
    names = table.roles.get("posteriors", ())
    if table.named("label") or len(names) < 2:
        return
    chosen = table.likeliest(names)
    for label in table.may_be_labels(len(names)):
        values = table.values(label)
        if values.min() >= 0 and values.max() < len(names) and agree(values, chosen):
            yield Proposal("name_found", {"label": label})


def _one_hot(table: Candidates) -> Iterator[Proposal]:
    """Yield what to do about true classes that are in a column each."""
    names = one_hot_in(table.numbers)
    are_several = len(table.roles.get("posteriors", ())) > 2
    if names and are_several and not table.named("label"):
        yield Proposal("number_true_class", {}, fields={"names": name_of(names)})


def one_hot_in(columns: Mapping[str, Floats]) -> list[str]:
    """Return three or more columns (N,) of 0 and 1, all or those numbered alike, one of which is 1 in each row."""
    codes = {name: values for name, values in columns.items() if np.isin(values, (0, 1)).all()}
    numbered = _by_number(codes).values()
    for names in (list(codes), *(list(group.values()) for group in numbered)):
        sums = np.sum([codes[name] for name in names], axis=0)
        if len(names) > 2 and (sums == 1).all():
            return names
    return []


def _in_place(table: Candidates) -> Iterator[Proposal]:
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


def _answers_or_classes(table: Candidates) -> Iterator[Proposal]:
    """Yield what a probability by its name is beside the one column of verdicts: of answers, or that of a class."""
    share = _only(table.named("positive"))
    truth = _only(table.named("correct"))
    verdict = _only(table.verdicts()) if truth is None else table.verdict_known(truth)
    if share is None or verdict is None or table.named("label"):
        return
    sure = Sure(share, table.values(share))
    if truth is not None and sure.is_higher(verdict):
        yield Proposal("name_seeming", {"confidence": share})
    elif sure.is_higher(verdict):
        yield _as_correct(table, sure, verdict)


def _two_classes(table: Candidates) -> Iterator[Proposal]:
    """Yield the one column of numbers from 0 to 1 as the probability of one of two classes."""
    label = _only([name for name in table.may_be_labels() if are_two_names(table.classes(name))])
    share = _only(table.named("positive") or table.shares())
    is_judged = table.named("confidence") or table.named("correct")
    if label is None or share is None or is_judged:
        return
    classes = table.classes(label)
    if not _is_of_a_class(table, share, classes):
        return
    yield _of_two_words(table, share, label, classes)


def _of_two_words(table: Candidates, share: str, label: str, classes: Sequence[str]) -> Proposal:
    """Return the advice on a probability beside two words, which may be verdicts on answers by what they mean."""
    verdict = table.verdict_known(label)
    sure = Sure(share, table.values(share))
    if verdict is not None and not table.named("positive") and not sure.is_lower(verdict):
        return _as_correct(table, sure, verdict)
    higher = _higher_class(table.values(share), table.texts(label), classes)
    missing = table.missing(label=label, positive=share)
    return _on_two_classes(share, classes, missing, higher)


def _is_of_a_class(table: Candidates, share: str, classes: Sequence[str]) -> bool:
    """Return whether names say that there are classes; or else two words may say which answers are right."""
    has_role = table.named("label") or table.named("positive")
    return bool(has_role) or any(_positions(share, name) for name in classes)


def say_classes(recipe: Recipe, labels: Array, values: Array) -> dict[str, Any]:
    """Return the fields of an error about labels (N,) as texts that are no numbers of classes, or nothing.

    They have the order of the alphabet if posteriors (N, K) say so, numbers from 1 that of the columns; of two classes
    the user knows which the column is of.
    """
    classes = distinct_texts(labels)
    if not _are_classes(classes):
        return {}
    if recipe.form == "positive":
        proposal = _of_one_column(recipe.predictions[0], classes, labels, values)
    else:
        proposal = _of_columns(classes, labels, values)
    if proposal is None or not proposal.is_read_back():
        return {}
    return proposal.to_fields({})


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
        return Proposal("name_found", columns, _with_last(classes, higher))
    return Proposal(
        "name_second_class",
        columns,
        (low, high),
        alternative=Proposal("", columns, (high, low)),
        fields={"of_column": column, "low": low, "high": high},
    )


def _with_last(classes: Sequence[str], last: str) -> tuple[str, ...]:
    """Return two classes, a certain one behind the other."""
    return tuple(sorted(classes, key=lambda one: one == last))


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
    """Yield the one column of 0 and 1, or of two words, beside confidences, by name or the one column of fractions."""
    sure = _only(table.sure())
    if table.named("correct") or sure is None:
        return
    of_words = (table.verdict(name, sure) for name in table.may_be_labels())
    verdicts = table.verdicts() or list(filter(None, of_words))
    verdict = _only(verdicts)
    if verdict is None:
        yield from _of_judges(table, sure, verdicts)
    elif sure.is_higher(verdict):
        yield _as_correct(table, sure, verdict)
    elif not verdict.words and sure.is_lower(verdict):
        of_class_0 = Proposal("name_seeming", {"positive": f"1-{sure.name}"})
        yield of_class_0 if verdict.is_label else _as_errors(table, sure, verdict)


def _of_judges(
    table: Candidates,
    sure: Sure,
    verdicts: Sequence[Verdict],
) -> Iterator[Proposal]:
    """Yield the question whose verdicts count, where confidences are higher for right answers by each."""
    if verdicts and table.named("confidence") and all(map(sure.is_higher, verdicts)):
        names = " or correct=".join(verdict.name for verdict in verdicts)
        yield Proposal("choose_correct", {}, fields={"names": names})


def _as_errors(table: Candidates, sure: Sure, verdict: Verdict) -> Proposal:
    """Return the advice to take verdicts as those on mistakes, or else numbers as doubts."""
    errors = table.missing(confidence=sure.name, correct=f"1-{verdict.name}")
    fields = {"truth": verdict.name, "of_column": sure.name}
    if table.named("confidence") or sure.scale != 1:
        return Proposal("name_errors", errors, scale=sure.scale, fields=fields)
    doubts = Proposal("", {"confidence": f"1-{sure.name}", "correct": verdict.name})
    return Proposal("name_errors_or_doubt", errors, alternative=doubts, fields=fields)


def _as_confidences(sure: Sure, columns: Mapping[str, str], verdict: Verdict) -> Proposal:
    """Return the advice to take a column as confidences in answers with verdicts."""
    fields = {"of_column": sure.name}
    return Proposal(sure.advice, columns, scale=sure.scale, right=verdict.words, fields=fields)


def _as_correct(table: Candidates, sure: Sure, verdict: Verdict) -> Proposal:
    """Return the advice to take verdicts as those on answers, or also as classes if they may be such."""
    truth = verdict.name
    columns = table.missing(confidence=sure.name, correct=truth)
    proposal = _as_confidences(sure, columns, verdict)
    classes = _classes_of(table, verdict)
    if classes is None:
        return proposal
    as_classes = {"positive": sure.name, "label": truth}
    high = classes[-1] if classes else "class 1"
    complements = {"confidence": f"1-{sure.name}", "correct": f"1-{truth}"}
    # data alone do not tell doubts and mistakes from confidences and right answers
    may_be_mistakes = len(columns) == len(_JUDGED) and not verdict.words
    return replace(
        proposal,
        advice="name_judged_mistaken_or_class" if may_be_mistakes else "name_judged_or_class",
        alternative=Proposal("", as_classes, classes, sure.scale),
        fields={
            **proposal.fields,
            "truth": truth,
            "high": high,
            "complements": pairs_of(proposal.with_scale(complements)),
        },
    )


def _classes_of(table: Candidates, verdict: Verdict) -> tuple[str, ...] | None:
    """Return the classes that verdicts may be as well, nothing of 0 and 1; None if they are verdicts by their words."""
    if verdict.words:
        high, _, low = verdict.words.partition("/")
        return None if "," in low else (low, high)
    if not np.isnan(table.values(verdict.name)).all():
        return ()
    words = sorted(table.classes(verdict.name), key=lambda word: word.lower() in RIGHT)
    may_be_classes = set(map(str.lower, words)) in _OF_CLASSES and not table.named("confidence")
    return tuple(words) if may_be_classes else None


def _confidence(table: Candidates) -> Iterator[Proposal]:
    """Yield the one column of fractions, percentages or ratings beside verdicts that is higher for right answers."""
    higher = [
        (sure, verdict) for sure, verdict in _beside_verdicts(table) if sure.is_higher(verdict)
    ]
    for sure, verdict in higher if len(higher) == 1 else ():
        yield _as_confidences(sure, {"confidence": sure.name}, verdict)


def _doubt(table: Candidates) -> Iterator[Proposal]:
    """Yield the complement of the one column of fractions beside verdicts, if it is surely lower for right answers."""
    columns = _beside_verdicts(table) if table.shares() else []
    for sure, verdict in columns if len(columns) == 1 else ():
        if sure.is_lower(verdict):
            fields = {"of_column": sure.name}
            yield Proposal("name_doubt", {"confidence": f"1-{sure.name}"}, fields=fields)


def _beside_verdicts(table: Candidates) -> list[tuple[Sure, Verdict]]:
    """Return what may be confidences, each with the verdicts of the one column that is named as theirs."""
    truth = _only(table.named("correct"))
    if truth is None or table.named("confidence"):
        return []
    columns = table.sure() or table.ratings()
    verdicts = ((sure, table.verdict(truth, sure)) for sure in columns)
    return [(sure, verdict) for sure, verdict in verdicts if verdict is not None]


def _margin(table: Candidates) -> Iterator[Proposal]:
    """Yield the one column of numbers below and above 0 as of a decision function, beside labels of two classes."""
    label = _only(table.named("label"))
    name = _only([name for name, values in table.numbers.items() if are_margins(values)])
    classes = [] if label is None else table.classes(label)
    if label is None or name is None or len(classes) != 2 or table.shares():
        return
    high = _higher_class(table.numbers[name], table.texts(label), classes)
    if rises_surely(table.numbers[name], table.texts(label) == high):
        labels = () if classes == ["0", "1"] else _with_last(classes, high)
        fields = {"of_column": name}
        columns = {"positive": name}
        yield Proposal("name_margin", columns, labels, predictions_are="logits", fields=fields)


def _chosen(table: Candidates) -> Iterator[Proposal]:
    """Yield two columns of the same classes or texts as the chosen and the true ones, beside confidences."""
    sure = _only(table.sure())
    if table.named("correct") or sure is None:
        return
    for truth, chosen in _pairs_of_classes(table):
        if _is_of_chosen(sure, table.texts(truth), table.texts(chosen)):
            missing = table.missing(label=truth, predicted=chosen, confidence=sure.name)
            fields = {"truth": truth, "chosen": chosen, "of_column": sure.name}
            proposal = Proposal("name_chosen_and_true", missing, scale=sure.scale, fields=fields)
            if not table.named("predicted"):
                swapped = replace(
                    proposal, columns={**missing, "label": chosen, "predicted": truth}
                )
                proposal = replace(proposal, advice="name_chosen_or_true", alternative=swapped)
            yield proposal


def _is_of_chosen(sure: Sure, true: Array, chosen: Array) -> bool:
    """Return whether confidences are of the chosen one (N,), which is often right, and of two not of class 1."""
    lowest = on_unit_scale(sure.values, sure.scale).min()
    are_several = len({*true, *chosen}) > 2 or lowest >= 0.5
    rule = rises if sure.scale == 1 or sure.is_named else rises_surely
    return bool(are_several and agree(true, chosen) and rule(sure.values, true == chosen))


def _pairs_of_classes(table: Candidates) -> Iterable[tuple[str, str]]:
    """Return columns of texts or of whole numbers that may be the true and the chosen classes."""
    labels = table.named("label")
    predicted = table.named("predicted")
    free = [name for name in table.free if table.may_be_classes(name)]
    if labels or predicted:
        return product(labels or free, predicted or free)
    return combinations(free, 2)


def _side_by_side(table: Candidates) -> Iterator[Proposal]:
    """Yield the columns of several systems: with the exact names of confidence and correct, or alike in their names."""
    systems = _by_system(table.free)
    whole = {system: columns for system, columns in systems.items() if len(columns) == 2}
    if len(whole) == 1:
        yield from (Proposal("name_seeming", columns) for columns in whole.values())
    whole = whole or _by_values(table) or _of_one_truth(table)
    if 2 <= len(whole) <= _MOST_LABELS:
        yield Proposal("name_side_by_side", {}, systems=whole)


def _of_one_truth(table: Candidates) -> dict[str, dict[str, str]]:
    """Return all columns of fractions by their names, if each is higher for right answers or class 1 of one truth."""
    names = table.shares()
    is_named = any(map(table.named, ("confidence", "positive", "posteriors")))
    if is_named or _form_of(table, names) is not None:
        return {}
    for truth, role in (("correct", "confidence"), ("label", "positive")):
        for verdict in filter(None, map(table.verdict_known, table.named(truth))):
            shares = [Sure(name, table.values(name)) for name in names]
            if not verdict.words and all(sure.is_higher(verdict) for sure in shares):
                return {name: {role: name} for name in names}
    return {}


def _by_values(table: Candidates) -> dict[str, dict[str, str]]:
    """Return columns of fractions, each with that of 0 and 1 whose name begins most alike, by what both begin with."""
    verdicts = [verdict.name for verdict in table.verdicts()]
    systems = {}
    for share in table.shares():
        common = [_common_beginning(share, verdict) for verdict in verdicts]
        longest = max(common, key=len, default="")
        if common.count(longest) == 1:
            verdict = verdicts[common.index(longest)]
            name = _BEGUN_WORD.sub("", longest).strip(_AROUND_NAMES)
            systems[name] = {"confidence": share, "correct": verdict}
    judged = {columns["correct"] for columns in systems.values()}
    are_all = len(judged) == len(systems) == len(verdicts) == len(table.shares())
    return systems if are_all and "" not in systems else {}


def _common_beginning(one: str, other: str) -> str:
    letters = zip(one, other, strict=False)
    pairs = takewhile(lambda pair: pair[0] == pair[1], letters)
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


def _nested(table: Candidates) -> Iterator[Proposal]:
    """Yield fields within objects that are called as roles are, if they complete confidences and verdicts."""
    by_role: dict[str, list[str]] = {}
    for path, role in product(table.nested, table.missing(correct="", confidence="")):
        if path.rpartition(".")[2].lower() in NAMES[role]:
            by_role.setdefault(role, []).append(path)
    columns = {role: paths[0] for role, paths in by_role.items() if len(paths) == 1}
    is_whole = all(role in columns or table.named(role) for role in _JUDGED)
    if columns and is_whole:
        yield Proposal("name_seeming", columns)


# ---- what columns sum to ------------------------------------------------------------------------------------------


def _form_of(table: Candidates, names: Sequence[str]) -> dict[str, Any] | None:
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


_RULES: tuple[Callable[[Candidates], Iterator[Proposal]], ...] = (
    _side_by_side,
    _nested,
    _numbered,
    _named_by_class,
    _lists,
    _logits,
    _labels,
    _one_hot,
    _in_place,
    _confidence,
    _doubt,
    _chosen,
    _answers_or_classes,
    _two_classes,
    _judged,
    _margin,
)
