"""The first rows of a table -> what its columns may be by their values: confidences, verdicts on answers, classes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse

import numpy as np
import pyarrow as pa

from ..inputs import LEAST_PER_CENT, ROUNDED_SUM_TOLERANCE, Array, Bools, Floats, count_up
from .cells import (
    TRUTHS,
    are_numbers,
    is_vector,
    numbers_if_any,
    row_of_numbers,
    texts_of_names,
    words_to_say,
)
from .recipe import LOG, NAMES, OTHER_ROLES, column_in
from .values import (
    TEXT,
    Sheet,
    as_text,
    encode,
    first_of,
    parsed_json,
    parts_by_name,
    texts_in,
    with_fields,
)

RIGHT = ["1", *(word for pair in TRUTHS for word, value in pair.items() if value)]
_VERDICTS = [{"1", "0"}, *map(set, TRUTHS)]  # pairs of words
_OF_ANSWERS = [pair for pair in TRUTHS if pair.keys() & {"correct", "right", "pass", "passed"}]
_DEEPEST = 10  # of nested objects
_SURELY = 3  # deviations that are no chance; a coin has the largest, of 1/2
MOST_PARTS = 20  # systems of a file that are noted, where only their numbers of rows tell
_NEARLY = 0.9  # of the rows of one system that another one has, where rows of each are together
_FEWEST_ROWS = 10  # of a system that only these numbers tell
# two whole numbers in the name of a column, such as 1-5 or 0..10
_RANGE = re.compile(r"(?<![\d.])(\d+) ?(?:-|_|\.\.|to|/|\N{EN DASH}) ?(\d+)(?![\d.])")
# quantities that are no probabilities, whatever their range
_NO_SHARE = re.compile("entropy|perplexity|varian|margin|distance", re.IGNORECASE)
_NOT_IN_FLAGS = re.compile(rf"[\"+]|{OTHER_ROLES.pattern}")


@dataclass(frozen=True, slots=True)
class Sure:
    """A column that may be confidences, and what 1 is in it."""

    name: str
    values: Floats
    scale: int | str = 1
    is_named: bool = False  # as confidences

    @property
    def is_share(self) -> bool:
        """Whether it has fractions from 0 to 1."""
        return are_shares(self.values)

    @property
    def advice(self) -> str:
        """Return the id of the advice to take it as confidences."""
        is_known = self.is_named or self.scale != 1
        return "name_seeming" if is_known else "name_probability"

    def is_higher(self, verdict: Verdict) -> bool:
        """Return whether it is higher for right answers: surely, where it may be anything, or these are not known."""
        is_strange = self.scale != 1 and not self.is_named
        if is_strange or verdict.words or verdict.is_label:
            return self.is_surely_higher(verdict)
        return rises(self._judged(verdict), verdict.right)

    def is_surely_higher(self, verdict: Verdict) -> bool:
        """Return whether it is surely higher for right answers."""
        return rises_surely(self._judged(verdict), verdict.right)

    def is_lower(self, verdict: Verdict) -> bool:
        """Return whether it is surely lower for right answers."""
        return rises_surely(self._judged(verdict), ~verdict.right)

    def _judged(self, verdict: Verdict) -> Floats:
        """Return its numbers (N,), nan where a verdict says nothing."""
        return np.where(verdict.known, self.values, np.nan)

    def decides(self, verdict: Verdict) -> bool:
        """Return whether all of one verdict have higher numbers than all of the other: it was computed of them."""
        right = self.values[verdict.known & verdict.right]
        wrong = self.values[verdict.known & ~verdict.right]
        return are_above(right, wrong) or are_above(wrong, right)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A column that may say which answers are right."""

    name: str
    right: Bools  # (N,)
    known: Bools  # (N,), where it says something
    words: str = ""  # RIGHT/WRONG, if only the user knows which is which, or RIGHT/WRONG,WRONG
    is_label: bool = False  # by its name

    def goes_with(self, right: Bools) -> bool:
        """Return whether it says what another verdict (N,) says, in all rows or in more than by chance."""
        is_same = bool((self.right == right).all())
        return is_same or agree(self.right, right)


class Candidates:
    """The first rows of a table, and what the columns hold that have no role, and the fields within them."""

    def __init__(self, sheet: Sheet, roles: Mapping[str, Sequence[str]]) -> None:
        self.roles = roles
        nested = [path for name in sheet.names for path in paths_of(sheet, name)]
        self.sheet = replace(sheet, table=with_fields(sheet.table, nested))
        names = " ".join(sheet.names)
        self.words = set(re.split(r"[\W_]+", names))
        with_role = {column_in(name) for columns in roles.values() for name in columns}
        sayable = filterfalse(_NOT_IN_FLAGS.search, self.sheet.names)
        free = [name for name in sayable if name not in with_role]
        numbers = {name: numbers_if_any(self.sheet, name) for name in free}
        self.numbers = {
            name: values for name, values in numbers.items() if not np.isnan(values).all()
        }
        self.free = [name for name in free if not self._has_names_of_scores(name)]

    def _has_names_of_scores(self, name: str) -> bool:
        """Return whether a column says of which score a row is: confidences are some of them."""
        if name in self.numbers:
            return False
        words = {text.lower() for text in distinct_texts(self.texts(name))}
        return not words.isdisjoint(NAMES["confidence"])

    def without(self, role: str) -> Candidates:
        """Return the same rows where no column has a role."""
        return Candidates(self.sheet, {**self.roles, role: ()})

    def named(self, role: str) -> list[str]:
        """Return the column of a role, if it has one."""
        return list(self.roles.get(role, ()))[:1]

    def _called(self, role: str) -> list[str]:
        """Return the columns without a role; if the last part of some names is called as a role is, only these."""
        with_points = [name for name in self.free if "." in name]
        called = [name for name in with_points if name.rpartition(".")[2].lower() in NAMES[role]]
        return called or self.free

    def missing(self, **columns: str) -> dict[str, str]:
        """Return those of the roles that have no column yet, with the columns that they may have."""
        return {role: name for role, name in columns.items() if not self.named(role)}

    def values(self, name: str) -> Floats:
        """Return the numbers (N,) of a column, nan where it has none."""
        return self.numbers[name] if name in self.numbers else numbers_if_any(self.sheet, name)

    def texts(self, name: str) -> Array:
        """Return a column as texts (N,), nothing where it is empty; a class may be "none" if a column is named so."""
        texts = texts_of_names(self.sheet.column(name), self.words)
        values, codes = encode(texts)
        return np.array([*map(as_text, values), ""])[codes]

    def classes(self, name: str) -> list[str]:
        """Return the distinct texts of a column, sorted; numbers by their size."""
        return classes_among(self.texts(name))

    def likeliest(self, names: Iterable[str]) -> Array:
        """Return the number (N,) of the column with the highest value."""
        values = np.stack([self.values(name) for name in names], axis=1)
        numbers: Array = values.argmax(axis=1)
        return numbers

    def may_be_labels(self, num_classes: int = 2) -> list[str]:
        """Return the column of labels, or those that have few values, and no fractions; of equal ones the first.

        Two values are labels of two classes: of more, a column of 0 and 1 is one of several for each row.
        """
        return self.named("label") or self.free_labels(num_classes)

    def free_labels(self, num_classes: int = 2) -> list[str]:
        """Return the columns without a role that may be labels, see `may_be_labels`."""
        counts = {name: len(self.classes(name)) for name in filter(self.may_be_classes, self.free)}
        least = min(num_classes, 3)
        most = len(self.sheet.rows) / 2
        return self.distinct(name for name, count in counts.items() if least <= count <= most)

    def distinct(self, names: Iterable[str]) -> list[str]:
        """Return columns that differ as texts; of equal ones the first."""
        by_content: dict[bytes, str] = {}
        for name in names:
            by_content.setdefault(self.texts(name).tobytes(), name)
        return list(by_content.values())

    def may_be_classes(self, name: str) -> bool:
        """Return whether a column without a role has texts, or numbers without fractions."""
        if name in self.numbers:
            return not has_fractions(self.numbers[name])
        return bool(self.sheet.column(name).type == TEXT)

    def sure(self) -> list[Sure]:
        """Return the columns that may be confidences: percentages or logarithms if there are no fractions."""
        named = self.named("confidence")
        free = [name for name in self._called("confidence") if not _NO_SHARE.search(name)]
        columns = {name: self.values(name) for name in named or free}
        shares = [Sure(name, values) for name, values in columns.items() if are_shares(values)]
        sure = shares or self._on_scales(columns, is_named=bool(named))
        return sure or [Sure(name, columns[name]) for name in named]

    def _on_scales(self, columns: Mapping[str, Floats], *, is_named: bool) -> list[Sure]:
        """Return the columns (N,) that may be on another scale than 0 to 1."""
        sure = []
        for name, values in columns.items():
            scale = self._scale_of(name, values) if is_named or np.ptp(values) else None
            if scale is not None:
                is_sure = is_named or is_called(name, "confidence")
                sure.append(Sure(name, values, scale, is_named=is_sure))
        return sure

    def _scale_of(self, name: str, values: Floats) -> int | str | None:
        """Return what numbers (N,) of a column may be on, but 0 to 1, or None: also the total of which they count.

        A range in its name is that scale.
        """
        if are_within(values, -math.inf, 0) and has_fractions(values):
            return LOG
        low, high = range_in(name)
        if low < high > 1 and are_within(values, low, high):
            return high if low == 0 else f"{low}:{high}"
        totals = self._totals_of(name, values)
        if not totals:
            return 100 if are_percentages(values) else None
        are_one = len(totals) == 1 and np.ptp(totals[0]) == 0
        return int(totals[0][0]) if are_one else None

    def _totals_of(self, name: str, values: Floats) -> list[Floats]:
        """Return the other columns of which the numbers (N,) of a column may count some, and in a row all."""
        are_whole = not has_fractions(values)
        others = [other for one, other in self.numbers.items() if one != name and are_whole]
        whole = [other for other in others if not has_fractions(other)]
        return [one for one in whole if (values <= one).all() and (values == one).any()]

    def classes_beside(self, name: str) -> list[str]:
        """Return the columns of texts in lists, in changing order, that a column has as many numbers as."""
        row = row_of_numbers(first_of(self.sheet.column(name)))
        count = len(row) if isinstance(row, list) else 0
        others = [other for other in self.free if other != name]
        return [other for other in others if are_permuted(self.sheet.column(other), count)]

    def shares(self) -> list[str]:
        """Return the columns of numbers from 0 to 1, of which some are fractions."""
        return [name for name, values in self.numbers.items() if are_shares(values)]

    def verdicts(self) -> list[Verdict]:
        """Return the columns that have 0 and 1, or a known pair of words; and such labels."""
        names = [*self.named("label"), *self._called("correct")]
        return [verdict for verdict in map(self.verdict_known, names) if verdict is not None]

    def verdict_known(self, name: str) -> Verdict | None:
        """Return what a column of 0 and 1, or of a known pair of words, says of answers; None if it has others.

        A third word beside a pair that is of answers alone, such as "not attempted", is one for wrong.
        """
        words = np.array([text.lower() for text in self.texts(name)])
        distinct = set(words[words != ""])
        said = ""
        for right, wrong in _OF_ANSWERS if len(distinct) == 3 else ():
            if {right, wrong} < distinct:
                said = words_to_say(right, [wrong, *distinct - {right, wrong}])
        if not said and distinct not in _VERDICTS:
            return None
        is_label = name in self.named("label")
        return Verdict(name, np.isin(words, RIGHT), words != "", said, is_label)

    def verdict(self, name: str, sure: Sure) -> Verdict | None:
        """Return what a column says of answers, also by two other words: right is where confidences are surely higher.

        None if it does not.
        """
        known = self.verdict_known(name)
        texts = self.texts(name)
        pair = distinct_texts(texts)
        if known is not None or not are_two_names(pair) or "/" in "".join(pair):
            return known
        for right, wrong in (pair, pair[::-1]):
            verdict = Verdict(name, texts == right, texts != "", f"{right}/{wrong}")
            if sure.is_higher(verdict):
                return verdict
        return None


def is_called(name: str, role: str) -> bool:
    """Return whether the last word of a column's name is a name of a role: "judge.correct"."""
    words = re.split(r"[\W_]+", name.lower())
    return next(filter(None, reversed(words)), "") in NAMES[role]


def paths_of(sheet: Sheet, name: str) -> list[str]:
    """Return the dotted paths of the fields within the cells of a column, by the first of them."""
    return list(_paths_in(first_of(sheet.table[name]), name))


def _paths_in(value: object, path: str, depth: int = 0) -> Iterator[str]:
    """Yield the dotted paths of numbers, texts and lists of several parts in a nested value, also in JSON within it."""
    value = parsed_json(value)
    parts = _parts_of(value, depth)
    for key, part in parts:
        if not re.search(r"[.,=:+]", str(key)):
            yield from _paths_in(part, f"{path}.{key}", depth + 1)
    if depth and not parts:
        yield path


def _parts_of(value: object, depth: int) -> Collection[tuple[object, object]]:
    """Return the fields of an object, or the only part of a list within one; of several, those that have names."""
    if not isinstance(value, dict | list) or not value or is_vector(value) or depth >= _DEEPEST:
        return ()
    if isinstance(value, dict):
        return value.items()
    if len(value) > 1:
        return parts_by_name(value).items()
    is_within = depth > 0 or isinstance(value[0], dict | list | str)
    return list(enumerate(value)) if is_within else ()


def by_number(
    names: Mapping[str, str], pattern: re.Pattern[str]
) -> dict[tuple[str, ...], dict[int, str]]:
    """Return columns by the text around a number in their names, and by it: the second group of a pattern."""
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for text, name in names.items():
        match = pattern.fullmatch(text)
        if match:
            before, number, *after = match.groups()
            groups.setdefault((before, *after), {})[int(number)] = name
    return groups


# ---- what values say ---------------------------------------------------------------------------------------------


def distinct_texts(texts: Array) -> list[str]:
    """Return the distinct texts (N,) but an empty one, sorted."""
    return sorted(set(texts.tolist()) - {""})


def classes_among(texts: Array) -> list[str]:
    """Return the distinct texts (N,) but an empty one, sorted; numbers by their size."""
    distinct = distinct_texts(texts)
    are_numbers = all(map(str.isdecimal, distinct))
    return sorted(distinct, key=int) if are_numbers else distinct


def are_permuted(cells: pa.Array, count: int) -> bool:
    """Return whether lists of so many texts (N,) have the same texts, but not in one order."""
    if len(list_of_texts(first_of(cells))) != count:
        return False
    lists = {tuple(list_of_texts(cell)) for cell in cells.to_pylist()}
    in_order = {tuple(sorted(one)) for one in lists}
    return len(lists) > 1 == len(in_order)


def list_of_texts(cell: object) -> list[str]:
    """Return the texts in a cell that is a list of them, or nothing."""
    row = row_of_numbers(cell)
    if not isinstance(row, list) or are_numbers(row):
        return []
    return list(map(as_text, row))


def range_in(name: str) -> tuple[int, int]:
    """Return the two whole numbers that a name has, as "sure (1-5)", or 0 and 0 if it has none, or several such."""
    ranges = _RANGE.findall(name)
    if len(ranges) != 1:
        return 0, 0
    low, high = map(int, ranges[0])
    return low, high


def rows_of_systems(sheet: Sheet, name: str) -> list[int]:
    """Return how many rows each value of a column has, if they are as alike as those of systems, or nothing."""
    values, codes = encode(texts_in(sheet.column(name)))
    are_verdicts = {str(value).lower() for value in values} == {"0", "1"}
    if are_verdicts or not 2 <= len(values) <= MOST_PARTS or codes.min() < 0:
        return []
    sizes = np.bincount(codes)
    is_together = np.count_nonzero(np.diff(codes)) == len(values) - 1
    least = max(_FEWEST_ROWS, sizes.max() * (_NEARLY if is_together else 1))
    return sizes.tolist() if sizes.min() >= least else []


def are_near(sums: Array | float, whole: int = 1) -> bool:
    """Return whether sums (N,), or one, are the whole, but for what rounding each term explains."""
    errors = np.abs(np.subtract(sums, whole))
    return bool(np.all(errors <= whole * ROUNDED_SUM_TOLERANCE))


def are_shares(values: Floats) -> bool:
    """Return whether numbers (N,) are from 0 to 1, some of them fractions."""
    return are_within(values, 0, 1) and has_fractions(values)


def are_signed(values: Floats) -> bool:
    """Return whether numbers (N,) are of both signs, some of them fractions."""
    return bool(np.nanmin(values) < 0 < np.nanmax(values)) and has_fractions(values)


def are_percentages(values: Floats) -> bool:
    """Return whether numbers (N,) are from 0 to 100, some of them high, and do not count the rows."""
    if not are_within(values, 0, 100) or np.nanmax(values) <= LEAST_PER_CENT:
        return False
    return not count_up(values[~np.isnan(values)])


def are_within(values: Floats, lowest: float, highest: float) -> bool:
    """Return whether there are numbers, and all are from the lowest to the highest."""
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= lowest and known.max() <= highest)


def has_fractions(values: Floats) -> bool:
    """Return whether a number (N,) is not whole."""
    return bool((values > np.floor(values)).any())


def rises(values: Floats, right: Bools) -> bool:
    """Return whether numbers (N,) are higher where it is right, but not all of them: then one follows from another."""
    is_known = ~np.isnan(values)
    high = values[right & is_known]
    low = values[~right & is_known]
    if not high.size or not low.size or are_above(high, low):
        return False
    return bool(high.mean() > low.mean())


def are_above(high: Floats, low: Floats) -> bool:
    """Return whether there are numbers (N,), and others (M,), and all of the first are above all of the others."""
    return bool(high.size and low.size and high.min() > low.max())


def rises_surely(values: Floats, right: Bools) -> bool:
    """Return whether numbers (N,) are so by more than chance explains."""
    return rises(values, right) and deviations(values, right) > _SURELY


def tells_apart(values: Floats, texts: Array) -> bool:
    """Return whether numbers (N,) and one of two texts have a correlation above 1/2: of class 1, they choose it."""
    shares = deviations(values, texts == texts[0]) / math.sqrt(len(texts))
    return abs(shares) > 0.5


def deviations(values: Floats, right: Bools) -> float:
    """Return the correlation of finite numbers (N,) and truths in deviations by chance; 0 if one is constant."""
    is_known = np.isfinite(values)
    known = np.array([values[is_known], right[is_known]])
    if not known.size or not np.ptp(known, axis=1).all():
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers whose squares are too large
        correlation = np.nan_to_num(np.corrcoef(known)[0, 1])
    return float(correlation * math.sqrt(known.shape[1]))


def are_no_worse(first: Array, second: Array) -> bool:
    """Return whether two columns (N,) are the same in as many rows as by chance, or in more."""
    return beyond_chance(first, second) >= 0


def agree(first: Array, second: Array) -> bool:
    """Return whether two columns (N,) are the same in more rows than by chance, but not in all."""
    is_all = bool((first == second).all())
    return not is_all and beyond_chance(first, second) * math.sqrt(len(first)) > _SURELY / 2


def beyond_chance(first: Array, second: Array) -> float:
    """Return by how much the share of rows in which two columns (N,) are the same exceeds that of chance."""
    shared = set(first.tolist()) & set(second.tolist())
    both = ((first == value, second == value) for value in shared)
    expected = sum(np.mean(one) * np.mean(other) for one, other in both)
    return float(np.mean(first == second) - expected)


def are_two_names(classes: Sequence[str]) -> bool:
    """Return whether classes are two, and not 0 and 1."""
    return len(classes) == 2 and classes != ["0", "1"]
