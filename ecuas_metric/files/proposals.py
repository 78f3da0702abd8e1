"""Columns that lack a role -> the flags to write, of columns that fit by their values: what an error advises.

No name has a meaning here: classes in the names of columns are those in the labels, and what is proposed was tried on
the first rows. Nothing is proposed where two columns fit alike.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import pairs_of, quoted
from ..inputs import ROUNDED_SUM_TOLERANCE, Array, Bools, Floats
from .cells import TRUTHS, classes_of, parse_cells, row_of_numbers
from .recipe import NAMES, Recipe, column_in
from .values import Sheet, as_text, encode, first_of, floats_in, is_numeric

_ROWS = 1000  # on which proposals are tried
_MOST_LABELS = 50  # that a flag lists
_MOST_OF_RATING = 11
_DEEPEST = 10  # of nested objects
_SURELY = 3  # deviations that are no chance; a coin has the largest, of 1/2
_NOT_IN_FLAGS = re.compile(r"[,=:+\"]")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An id of advice, the columns of roles that it names, and what else its sentence needs."""

    advice: str
    columns: Mapping[str, str]
    labels: tuple[str, ...] = ()
    scale: int = 1
    is_margin: bool = False  # of a decision function
    fields: Mapping[str, Any] = field(default_factory=dict)

    def to_fields(self, said: Mapping[str, str]) -> dict[str, Any]:
        """Return the fields of an error, whose flags say again what was said already."""
        columns = {**said, **self.columns}
        flags = [f"--columns {pairs_of(columns)}"] if columns else []
        arguments = [f"columns={columns}"] if columns else []
        if self.labels:
            flags.append(_labels_flag(self.labels))
            arguments.append(f"labels={list(self.labels)}")
        if self.scale > 1:
            flags.append(f"--scale {self.scale}")
            arguments.append(f"scale={self.scale}")
        if self.is_margin:
            flags.append("--predictions-are logits")
            arguments.append("predictions_are='logits'")
        return {
            "advice": self.advice,
            "columns": columns,
            "flags": " ".join(flags),
            "arguments": ", ".join(arguments),
            **self.fields,
        }


def _second_class(column: str, classes: Sequence[str]) -> str:
    """Return the one of two classes that is in the name of a column, or nothing."""
    low, high = (_positions(column, one) for one in classes)
    if bool(low) == bool(high):
        return ""
    return classes[1] if high else classes[0]


def propose(
    sheet: Sheet, roles: Mapping[str, Sequence[str]], said: Collection[str]
) -> Iterator[Proposal]:
    """Yield what may be the columns that roles lack, the surest first; those that were said are kept."""
    table = _Columns(sheet.head(_ROWS), roles)
    for rule in _RULES:
        proposal = rule(table)
        if proposal is not None and not said & proposal.columns.keys():
            yield proposal


class _Columns:
    """The first rows of a table, and what the columns hold that have no role."""

    def __init__(self, sheet: Sheet, roles: Mapping[str, Sequence[str]]) -> None:
        self.sheet = sheet
        self.roles = roles
        taken = {column_in(name) for names in roles.values() for name in names}
        self.free = [
            name for name in sheet.names if name not in taken and not _NOT_IN_FLAGS.search(name)
        ]
        self.cells = {name: parse_cells(sheet.column(name)) for name in self.free}
        self.numbers = {
            name: floats_in(cells) for name, cells in self.cells.items() if is_numeric(cells.type)
        }

    def of(self, role: str) -> str:
        """Return the column of a role, or nothing."""
        return next(iter(self.roles.get(role, ())), "")

    def values(self, name: str) -> Floats:
        """Return the numbers (N,) of a column, nan where it has none."""
        cells = parse_cells(self.sheet.column(name))
        if not is_numeric(cells.type):
            return np.full(len(cells), np.nan)
        return floats_in(cells) if self.sheet.stored(name) == name else 1 - floats_in(cells)

    def texts(self, name: str) -> Array:
        """Return a column as texts (N,), nothing where it is empty."""
        values, codes = encode(parse_cells(self.sheet.column(name)))
        return np.array([*map(as_text, values), ""])[codes]

    def classes(self, name: str) -> list[str]:
        """Return the distinct texts of a column, sorted; numbers by their size."""
        distinct = sorted(set(self.texts(name)) - {""})
        are_numbers = all(map(str.isdecimal, distinct))
        return sorted(distinct, key=int) if are_numbers else distinct

    def may_be_labels(self) -> list[str]:
        """Return the column of labels, or those that have few values, and no fractions."""
        if self.of("label"):
            return [self.of("label")]
        return [name for name in self.free if self._has_classes(name)]

    def sure(self) -> list[tuple[str, int]]:
        """Return the columns that may be confidences, and what 1 is in them: percentages if there are no fractions."""
        if self.of("confidence"):
            return [(self.of("confidence"), 1)]
        shares = [(name, 1) for name in self.shares()]
        return shares or [
            (name, 100) for name, values in self.numbers.items() if _are_percentages(values)
        ]

    def _has_classes(self, name: str) -> bool:
        values = self.numbers.get(name, np.zeros(0))
        cells = self.cells[name]
        is_plain = name in self.numbers or pa.types.is_large_string(cells.type)
        is_whole = bool((values[~np.isnan(values)] % 1 == 0).all())
        return is_plain and is_whole and 2 <= len(cells.unique()) <= len(cells) / 2

    def shares(self) -> list[str]:
        """Return the columns of numbers from 0 to 1, of which some are fractions."""
        return [name for name, values in self.numbers.items() if _are_shares(values)]

    def verdicts(self) -> list[str]:
        """Return the columns that have 0 and 1, or a known pair of words; and such labels."""
        names = [*filter(None, [self.of("label")]), *self.free]
        return [name for name in names if self.truths(name) is not None]

    def truths(self, name: str) -> Bools | None:
        """Return where a column (N,) says yes, or None if it says more than yes and no, or no more than one."""
        texts = np.char.lower(self.texts(name)) if len(self.sheet.rows) else np.zeros(0, str)
        words = set(texts)
        pairs = [{"1", "0"}, *(set(pair) for pair in TRUTHS)]
        if words not in pairs:
            return None
        right = {"1", *(word for pair in TRUTHS for word, value in pair.items() if value)}
        return np.isin(texts, list(right))


# ---- classes -----------------------------------------------------------------------------------------------------


def _numbered(table: _Columns) -> Proposal | None:
    """Propose columns that are numbered from 0 or 1 and sum to 1, if labels are such numbers."""
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name in table.numbers:
        match = re.fullmatch(r"(.*?)(\d+)(\D*)", name.strip(), re.DOTALL)
        if match:
            groups.setdefault((match[1], match[3]), {})[int(match[2])] = name
    found: list[Proposal] = []
    for (prefix, suffix), group in groups.items():
        first = min(group)
        names = [group[number] for number in sorted(group)]
        is_whole = sorted(group) == list(range(first, first + len(group)))
        if first > 1 or not is_whole or not _sum_to(1, table, names):
            continue
        is_long = len(names) > _MOST_LABELS
        is_prefix = first == 0 and not suffix and re.fullmatch(r"[\w.-]*[^\W_]_?", prefix)
        columns = {"posteriors": prefix if is_prefix else "+".join(names)}
        if is_prefix or not is_long:
            found += _with_labels(table, names, columns, first)
    return _only(found)


def _with_labels(
    table: _Columns, names: Sequence[str], columns: Mapping[str, str], first: int
) -> Iterator[Proposal]:
    """Yield what has the labels of numbered columns: numbers from 0, or those of the columns, or from 1."""
    chosen = np.stack([table.numbers[name] for name in names], axis=1).argmax(axis=1)
    for label in table.may_be_labels():
        has_label = bool(table.of("label"))
        of_label = {} if has_label else {"label": label}
        values = table.values(label)
        known = values[~np.isnan(values)]
        if not known.size or known.min() < 0 or known.max() > len(names):
            if has_label:
                yield from _by_alphabet(table, label, chosen, columns)
            continue
        from_1 = known.min() > 0 and (first == 1 or known.max() == len(names))
        if not from_1 and known.max() == len(names):
            continue
        is_label = _are_no_worse if has_label else _agree
        if is_label(values - from_1, chosen):
            numbers = tuple(str(1 + k) for k in range(len(names))) if from_1 else ()
            yield Proposal("name_found", {**of_label, **columns}, numbers)


def _by_alphabet(
    table: _Columns, label: str, chosen: Array, columns: Mapping[str, str]
) -> Iterator[Proposal]:
    """Yield classes in the order of the alphabet, if in each column these are mostly the true ones."""
    classes = _classes_in_order(table.texts(label), chosen)
    if classes:
        yield Proposal("name_in_order", columns, classes)


def _classes_in_order(labels: Array, chosen: Array) -> tuple[str, ...]:
    """Return the classes of texts (N,) sorted, if each is the most frequent one where its number was chosen (N,)."""
    classes = sorted(set(labels) - {""})
    if not 2 <= len(classes) <= _MOST_LABELS or set(chosen) != set(range(len(classes))):
        return ()
    for number, name in enumerate(classes):
        there, counts = np.unique(labels[chosen == number], return_counts=True)
        if np.count_nonzero(counts == counts.max()) > 1 or there[counts.argmax()] != name:
            return ()
    return tuple(classes) if not any(map(_NOT_IN_FLAGS.search, classes)) else ()


def _named_by_class(table: _Columns) -> Proposal | None:
    """Propose columns whose names have the classes of the labels in one place, in any case, and that sum to 1."""
    found = []
    for label in table.may_be_labels():
        classes = table.classes(label)
        is_short = 2 <= len(classes) <= _MOST_LABELS
        if not is_short or any(map(_NOT_IN_FLAGS.search, classes)):
            continue
        of_label = {} if table.of("label") else {"label": label}
        for by_class, scale in _patterns(table, classes):
            columns = {**of_label, "posteriors": "+".join(by_class.values())}
            proposal = Proposal("name_found", columns, tuple(by_class), scale)
            values = np.stack([table.numbers[one] for one in by_class.values()], axis=1)
            likeliest = np.array(list(by_class))[values.argmax(axis=1)]
            texts = table.texts(label)
            # a column of the likeliest class in all rows was chosen by them
            if _are_no_worse(texts, likeliest) and (not of_label or (texts != likeliest).any()):
                found.append(proposal)
    return _only(found)


def _patterns(table: _Columns, classes: Sequence[str]) -> Iterator[tuple[dict[str, str], int]]:
    """Yield columns by their classes, and what 1 is in them: all with the same text around a class.

    Classes that are never true are among them, if only then they sum to the whole.
    """
    around: dict[tuple[str, str], dict[str, str]] = {}
    for name in table.numbers:
        for one in classes:
            for start in _positions(name, one):
                key = (name[:start].lower(), name[start + len(one) :].lower())
                around.setdefault(key, {})[one] = name
    for (before, after), by_class in around.items():
        if len(by_class) < len(classes) or len(set(by_class.values())) < len(classes):
            continue
        others = {}
        for name in table.numbers:
            low = name.lower()
            is_alike = bool(before + after) and low.startswith(before) and low.endswith(after)
            if is_alike and name not in by_class.values():
                others[name[len(before) : len(name) - len(after)]] = name
        wider = {**by_class, **others}
        for columns, scale in product((by_class, wider), (1, 100)):
            if _sum_to(scale, table, list(columns.values())):
                yield columns, scale
                break


def _positions(name: str, part: str) -> list[int]:
    """Return where a class begins in the name of a column, in any case, and is no part of a longer word."""
    pattern = rf"(?<![^\W\d_]){re.escape(part)}(?![^\W\d_])"
    return [match.start() for match in re.finditer(pattern, name, re.IGNORECASE)]


def _lists(table: _Columns) -> Proposal | None:
    """Propose a column of lists or of mappings, of as many numbers as there are classes, or of their names."""
    found = []
    for name in table.free:
        likeliest = _likeliest_in(table.sheet.column(name).to_pylist())
        if likeliest is None:
            continue
        for label in table.may_be_labels():
            texts = table.texts(label)
            columns = {} if table.of("label") else {"label": label}
            is_label = _agree if columns else _are_no_worse
            if set(texts) & set(likeliest) and is_label(texts, likeliest):
                found.append(Proposal("name_found", {**columns, "posteriors": name}))
    return _only(found)


def _likeliest_in(cells: Sequence[object]) -> Array | None:
    """Return the names or numbers (N,) of the likeliest classes in lists or mappings, or None of other cells."""
    likeliest = []
    for cell in cells:
        by_class = classes_of(cell)
        row = row_of_numbers(cell)
        if not isinstance(row, list) or not _are_probabilities(row):
            return None
        number = int(np.argmax(row))
        likeliest.append(str(number) if by_class is None else list(by_class)[number])
    return np.array(likeliest)


def _labels(table: _Columns) -> Proposal | None:
    """Propose the labels of numbered posteriors: what agrees with the likeliest class in more rows than by chance."""
    names = table.roles.get("posteriors", ())
    if table.of("label") or len(names) < 2:
        return None
    chosen = np.stack([table.values(name) for name in names], axis=1).argmax(axis=1)
    found = [
        Proposal("name_found", {"label": name})
        for name in table.may_be_labels()
        if name in table.numbers
        and table.numbers[name].min() >= 0
        and table.numbers[name].max() < len(names)
        and _agree(table.numbers[name], chosen)
    ]
    return _only(found)


def _two_classes(table: _Columns) -> Proposal | None:
    """Propose the one column of numbers from 0 to 1 as the probability of one of two classes."""
    labels = [
        name
        for name in table.may_be_labels()
        if len(table.classes(name)) == 2 and table.classes(name) != ["0", "1"]
    ]
    shares = [table.of("positive")] if table.of("positive") else table.shares()
    if len(labels) != 1 or len(shares) != 1 or table.of("confidence") or table.of("correct"):
        return None
    columns = {"label": labels[0], "positive": shares[0]}
    missing = {role: one for role, one in columns.items() if not table.of(role)}
    classes = table.classes(labels[0])
    if any(map(_NOT_IN_FLAGS.search, classes)):
        return None
    higher = _higher_class(table.values(shares[0]), table.texts(labels[0]), classes)
    return _on_two_classes(shares[0], classes, missing, higher)


def say_classes(recipe: Recipe, labels: Array, values: Array) -> dict[str, Any]:
    """Return the fields of an error about labels (N,) as texts that are no numbers of classes, or nothing.

    They have the order of the alphabet if posteriors (N, K) say so, numbers from 1 that of the columns; of two classes
    the user knows which the column is of.
    """
    classes = sorted(set(labels) - {""})
    if len(classes) < 2 or any(map(_NOT_IN_FLAGS.search, classes)):
        return {}
    if recipe.form == "positive":
        if len(classes) > 2:
            return {}
        higher = _higher_class(values, labels, classes)
        return _on_two_classes(recipe.predictions[0], classes, {}, higher).to_fields({})
    if values.ndim < 2:
        return {}
    from_1 = tuple(str(1 + k) for k in range(values.shape[1]))
    order = _classes_in_order(labels, values.argmax(axis=1))
    if set(classes) <= set(from_1) and from_1[-1] in classes:
        return Proposal("name_found", {}, from_1).to_fields({})
    return Proposal("name_in_order", {}, order).to_fields({}) if order else {}


def _higher_class(values: Floats, labels: Array, classes: Sequence[str]) -> str:
    """Return the one of two classes in whose rows numbers (N,) are higher, or nothing if one has none."""
    is_known = ~np.isnan(values)
    of_classes = [values[is_known & (labels == one)] for one in classes]
    if not all(one.size for one in of_classes):
        return ""
    low, high = (one.mean() for one in of_classes)
    return classes[1] if high > low else classes[0]


def _on_two_classes(
    column: str, classes: Sequence[str], columns: Mapping[str, str], higher: str
) -> Proposal:
    """Return the advice on which of two classes a column is the probability of.

    That is the class in its name, if numbers are higher where it is true; or the user knows.
    """
    second = _second_class(column, classes)
    if second and second == higher:
        first = classes[0] if second == classes[1] else classes[1]
        return Proposal("name_found", columns, (first, second))
    ways = [
        Proposal("", columns, (one, other)).to_fields({}) for one, other in (classes, classes[::-1])
    ]
    fields = {"of_column": column, "low": classes[0], "high": classes[1]}
    for name in ("flags", "arguments"):
        fields |= {name: ways[0][name], f"reversed_{name}": ways[1][name]}
    return Proposal("name_second_class", columns, fields=fields)


def _labels_flag(labels: Sequence[str]) -> str:
    text = quoted(",".join(labels))
    return f"--labels={text}" if text.startswith("-") else f"--labels {text}"


# ---- answers -----------------------------------------------------------------------------------------------------


def _judged(table: _Columns) -> Proposal | None:
    """Propose the one column of 0 and 1, or of words, beside confidences, by name or the one column of fractions."""
    sure = table.sure()
    verdicts = table.verdicts()
    if table.of("correct") or len(sure) != 1 or len(verdicts) != 1:
        return None
    ((name, scale),) = sure
    (truth,) = verdicts
    truths = table.truths(truth)
    values = table.values(name)
    named = {"confidence": name} if not table.of("confidence") else {}
    if truths is None or (scale > 1 and not _rises_surely(values, truths)):
        return None
    if _rises_surely(values, ~truths) and table.of("confidence"):
        return Proposal("name_errors", {"correct": f"1-{truth}"}, fields={"truth": truth})
    if not _rises(values, truths):
        return None
    columns = {**named, "correct": truth}
    if np.isnan(table.values(truth)).all() or scale > 1:
        advice = "name_per_cent" if scale > 1 else "name_seeming"
        return Proposal(advice, columns, scale=scale)
    other = {"positive": name, "label": truth}
    fields = {"truth": truth, "of_column": name, "other": other, "other_pairs": pairs_of(other)}
    return Proposal("name_judged_or_class", columns, fields=fields)


def _confidence(table: _Columns) -> Proposal | None:
    """Propose the one column of fractions or of percentages beside verdicts, if these are higher for right answers."""
    truths = table.truths(table.of("correct")) if table.of("correct") else None
    if truths is None or table.of("confidence"):
        return None
    sure = table.sure()
    rising = [
        (name, scale)
        for name, scale in sure
        if (_rises if scale == 1 else _rises_surely)(table.numbers[name], truths)
    ]
    if len(rising) == 1:
        ((name, scale),) = rising
        advice = "name_per_cent" if scale > 1 else "name_seeming"
        return Proposal(advice, {"confidence": name}, scale=scale)
    if len(sure) == 1 and sure[0][1] == 1 and _rises_surely(table.numbers[sure[0][0]], ~truths):
        (name, _) = sure[0]
        return Proposal("name_doubt", {"confidence": f"1-{name}"}, fields={"of_column": name})
    return None


def _margin(table: _Columns) -> Proposal | None:
    """Propose the one column of numbers below and above 0 as of a decision function, beside classes 0 and 1."""
    truths = table.truths(table.of("label")) if table.of("label") else None
    found = [
        name
        for name, values in table.numbers.items()
        if values.min() < 0 < values.max() and (values % 1 > 0).any()
    ]
    if truths is None or table.shares() or len(found) != 1:
        return None
    if not _rises_surely(table.numbers[found[0]], truths):
        return None
    fields = {"of_column": found[0]}
    return Proposal("name_margin", {"positive": found[0]}, is_margin=True, fields=fields)


def _chosen(table: _Columns) -> Proposal | None:
    """Propose two columns of the same classes or texts as the chosen and the true ones, beside confidences."""
    sure = [name for name, scale in table.sure() if scale == 1]
    if table.of("correct") or len(sure) != 1:
        return None
    (name,) = sure
    values = table.values(name)
    found = []
    for truth, chosen in _pairs_of_classes(table):
        texts = table.texts(truth)
        others = table.texts(chosen)
        is_of_chosen = len(set(texts) | set(others)) > 2 or values.min() >= 0.5
        if is_of_chosen and _agree(texts, others) and _rises(values, texts == others):
            columns = {"label": truth, "predicted": chosen, "confidence": name}
            missing = {role: one for role, one in columns.items() if not table.of(role)}
            fields = {"truth": truth, "chosen": chosen, "of_column": name}
            found.append(Proposal("name_chosen_and_true", missing, fields=fields))
    return _only(found)


def _pairs_of_classes(table: _Columns) -> list[tuple[str, str]]:
    """Return columns of texts or of whole numbers that may be the true and the chosen classes."""
    label = table.of("label")
    predicted = table.of("predicted")
    free = [
        name
        for name in table.free
        if pa.types.is_large_string(table.cells[name].type)
        or (name in table.numbers and not (table.numbers[name] % 1 > 0).any())
    ]
    if label and predicted:
        return [(label, predicted)]
    if label:
        return [(label, name) for name in free]
    return [(name, predicted) for name in free] if predicted else list(combinations(free, 2))


def _side_by_side(table: _Columns) -> Proposal | None:
    """Propose the columns of several systems, which have the exact names of confidence and correct beside their own."""
    systems: dict[str, dict[str, str]] = {}
    for name in table.free:
        for role in ("correct", "confidence"):
            known = "|".join(sorted(NAMES[role], key=len, reverse=True))
            match = re.fullmatch(
                rf"(.+?)[\W_](?:{known})|(?:{known})[\W_](.+)", name, re.IGNORECASE
            )
            if match:
                systems.setdefault(match[1] or match[2], {}).setdefault(role, name)
    whole = {system: columns for system, columns in systems.items() if len(columns) == 2}
    if len(whole) == 1:
        ((_, columns),) = whole.items()
        return Proposal("name_seeming", columns)
    if not 2 <= len(whole) <= _MOST_LABELS:
        return None
    flags = [
        f"--columns {quoted(f'{system}:' + _pairs_within(one))}" for system, one in whole.items()
    ]
    return Proposal(
        "name_side_by_side", {}, fields={"flags": " ".join(flags), "arguments": f"columns={whole}"}
    )


def _nested(table: _Columns) -> Proposal | None:
    """Propose fields within objects that are called as roles are, if they complete confidences and verdicts."""
    paths: dict[str, list[str]] = {}
    for name in table.free:
        for path in _paths_in(first_of(table.sheet.table, name), name):
            last = path.rpartition(".")[2].lower()
            for role in ("confidence", "correct"):
                if last in NAMES[role] and not table.of(role):
                    paths.setdefault(role, []).append(path)
    columns = {role: found[0] for role, found in paths.items() if len(found) == 1}
    is_whole = all(columns.get(role) or table.of(role) for role in ("confidence", "correct"))
    return Proposal("name_seeming", columns) if columns and is_whole else None


def _paths_in(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the dotted paths of numbers and texts in a nested value, also in JSON within it."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _parsed(value)
    parts: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value) if len(value) == 1 and depth else ()  # of several, which?
    elif depth:
        yield path
    for key, part in parts if depth < _DEEPEST else ():
        if not re.search(r"[.,=:+]", str(key)):
            yield from _paths_in(part, f"{path}.{key}", depth + 1)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _pairs_within(columns: Mapping[str, str]) -> str:
    return ",".join(f"{role}={name}" for role, name in columns.items())


# ---- what values say ---------------------------------------------------------------------------------------------


def _only(found: Sequence[Proposal]) -> Proposal | None:
    """Return the proposal if there is one only."""
    return found[0] if len(found) == 1 else None


def _sum_to(whole: int, table: _Columns, names: Sequence[str]) -> bool:
    """Return whether two or more columns are probabilities of all classes, or percentages."""
    values = np.array([table.numbers[name] for name in names])
    are_shares = len(names) > 1 and bool((values >= 0).all())
    return are_shares and bool(
        (np.abs(values.sum(axis=0) / whole - 1) <= ROUNDED_SUM_TOLERANCE).all()
    )


def _are_probabilities(row: Sequence[object]) -> bool:
    """Return whether numbers sum to 1, or their exponentials do."""
    if len(row) < 2 or not all(isinstance(part, float | int) for part in row):
        return False
    values = np.array(row, np.float64)
    sums = values.sum() if values.min() >= 0 else np.exp(np.minimum(values, 1)).sum()
    return bool(abs(sums - 1) <= ROUNDED_SUM_TOLERANCE)


def _are_shares(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    is_within = known.size > 0 and known.min() >= 0 and known.max() <= 1
    return bool(is_within and (known % 1 > 0).any())


def _are_percentages(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    is_within = known.size > 0 and known.min() >= 0 and _MOST_OF_RATING < known.max() <= 100
    return bool(is_within and not _counts_rows(known))


def _counts_rows(values: Floats) -> bool:
    return bool((np.diff(values) == 1).all())


def _rises(values: Floats, right: Bools) -> bool:
    """Return whether numbers (N,) are higher where it is right, but not all of them: then one follows from another."""
    is_known = ~np.isnan(values)
    high = values[right & is_known]
    low = values[~right & is_known]
    if not high.size or not low.size:
        return False
    return bool(high.mean() > low.mean() and high.min() <= low.max())


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
    known = set(first.tolist()) & set(second.tolist())
    expected = sum(np.mean(first == one) * np.mean(second == one) for one in known)
    return float(np.mean(first == second) - expected)


_RULES: tuple[Callable[[_Columns], Proposal | None], ...] = (
    _side_by_side,
    _nested,
    _numbered,
    _named_by_class,
    _lists,
    _labels,
    _confidence,
    _chosen,
    _two_classes,
    _judged,
    _margin,
)
