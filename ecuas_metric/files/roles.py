"""The first rows of a table -> its recipe: which column has which role, by exact names or as the user says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError
from ..inputs import ROUNDED_SUM_TOLERANCE
from .cells import classes_of, parse_cells, row_of_numbers
from .recipe import (
    COLUMNS_SHOWN,
    FORMS,
    HEAD,
    NAMES,
    NUMBERED,
    SEVERAL,
    Reading,
    Recipe,
    column_in,
    complement_of,
    name_of,
)
from .values import (
    TEXT,
    as_text,
    count_distinct,
    encode,
    first_of,
    floats_in,
    from_values,
    is_numeric,
    join_texts,
    plain,
    value_at,
)

Roles = dict[str, list[str]]  # -> their columns
DIFFERENT = ", all different"  # in each system, as ids are
_OF_FORMS = {role for roles in FORMS.values() for role in roles}
_WITH_NAMES = {role for role in _OF_FORMS if NAMES[role]}  # that need not be said
_KNOWN = {name for names in NAMES.values() for name in names if not NUMBERED.fullmatch(name)}
_PREFIXES = ("", "prob_", "p_")  # before the name of a class
_EMPTY = "empty"
_EXAMPLES = 3  # values of a column
_LONGEST_EXAMPLE = 30  # characters
_MOST_VALUES = 20  # distinct numbers that are counted; of more, the range says what they are
_MOST_COUNTED = 1000  # distinct texts; there may be more below the head of a file


def resolve(head: pa.Table, reading: Reading, *, source: str, rows: int, format: str = "", path: str = "") -> Recipe:
    """Return how rows are read, by the first of them: the one place that decides it, for every reader and engine.

    `head` has all columns, those in nested cells that the reading names too, see `with_nested`; and `HEAD` rows.
    """
    names = _Names(head, source)
    roles = names.said(reading.columns)
    for role in NAMES:
        if role not in roles:
            roles[role] = names.named(role, roles)
    form = _form_of(names, roles, reading.columns)
    for option in ("correct_from", "right"):
        if getattr(reading, option) is not None and form != "confidences":
            raise InputError(option, "requires_confidences", value=getattr(reading, option))
    used = names.used(form, roles, reading.labels)
    return Recipe(
        source=source,
        format=format,
        rows=rows,
        form=form,
        columns=used,
        unused=names.unused(used),
        classes=names.classes(form, used, reading.labels),
        scale=reading.scale,
        correct_from=reading.correct_from,
        right=reading.right,
        unlabelled=reading.unlabelled,
        path=path,
    )


def with_nested(table: pa.Table, columns: Mapping[str, str]) -> pa.Table:
    """Return a table with further columns of the fields that are named by dots, such as ``doc.id``."""
    for role, text in columns.items():
        for part in text.split("+") if role in SEVERAL else [text]:
            name = column_in(part).strip()
            outer, _, inner = name.partition(".")
            if inner and name not in table.column_names and outer in table.column_names:
                values = [value_at(value, inner) for value in plain(table[outer]).to_pylist()]
                is_there = any(value is not None for value in values)
                table = table.append_column(name, from_values(values)) if is_there else table
    return table


def contents(table: pa.Table, name: str) -> str:
    """Return what a column holds, e.g. "812 texts", "3 values", "numbers from 0 to 1"; by the head of a table."""
    cells = parse_cells(plain(table[name].slice(0, HEAD)))
    if cells.null_count == len(cells):
        return _EMPTY
    is_number = is_numeric(cells.type)
    if not is_number and cells.type != TEXT:
        return "lists" if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type) else str(cells.type)[:20]
    count = len(cells.unique())
    different = DIFFERENT if count == len(cells) > 1 else ""
    if is_number and count > _MOST_VALUES:
        values = floats_in(cells)
        return f"numbers from {np.nanmin(values):.6g} to {np.nanmax(values):.6g}{different}"
    number = f"{count:,}" if count <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    noun = "value" if is_number else "text"
    return f"{number} {noun if count == 1 else noun + 's'}{different}"


def describe(table: pa.Table, name: str) -> str:
    """Return a column's name, what it holds, and three of its values."""
    what = contents(table, name)
    if what == _EMPTY:
        return f"{name} ({what})"
    examples = []
    for value in plain(table[name].slice(0, _EXAMPLES)).to_pylist():
        text = " ".join(as_text(value).split())
        examples.append(text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}..")
    return f"{name} ({what}: {', '.join(examples)})"


def list_columns(table: pa.Table) -> str:
    """Return all columns of a table, each by `describe`."""
    shown = [describe(table, name) for name in table.column_names[:COLUMNS_SHOWN]]
    count = table.num_columns - len(shown)
    return "; ".join(shown) + (f"; and {count:,} others" if count else "")


class _Names:
    """The columns of a table, by their names in lower case."""

    def __init__(self, table: pa.Table, source: str) -> None:
        self.table = table
        self.source = source
        self.by_name: dict[str, list[str]] = {}
        for name in table.column_names:
            self.by_name.setdefault(name.strip().lower(), []).append(name)

    def said(self, columns: Mapping[str, str]) -> Roles:
        """Return the columns of the roles that the user named."""
        for role, name in columns.items():
            if not isinstance(name, str):
                raise InputError("columns", "side_by_side", value=role, advice="score_in_memory")
            if role not in NAMES:
                raise InputError("columns", "unknown_role", value=role, roles=list(NAMES))
        return {role: self._said(role, text.strip()) for role, text in columns.items() if role != "rows"}

    def named(self, role: str, roles: Roles) -> list[str]:
        """Return the column of a role by the first of its names that is there, and is nothing else."""
        taken = {part for names in roles.values() for name in names for part in (name, complement_of(name))}
        matches = [self._only(known) for known in NAMES[role] if known in self.by_name]
        free = [name for name in matches if name not in taken]
        if role == "posteriors":
            free = [name for name in free if self._may_be_lists(name)]
            return free[:1] or self._numbered(taken) or self._named_by_class(roles["label"], taken)
        if role == "positive":
            free = [name for name in free if not self._is_one_of_several(name)]
        if role == "id":
            free.sort(key=lambda name: not self.is_unique([*roles["system"], *roles.get("part", ()), name]))
        return free[:1]

    def used(self, form: str, roles: Roles, labels: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
        """Return the columns of the roles of a form, and of all that stand beside each form."""
        used = {role: tuple(roles[role]) for role in FORMS[form]}
        used |= {role: tuple(names) for role, names in roles.items() if names and role not in _OF_FORMS}
        ids = used.get("id", ())
        if len(ids) > 1 and "group" not in used and not self.is_unique([*_systems(used), ids[0]]):
            used["group"] = ids[:1]  # answers to one question depend on each other
        if form == "posteriors":
            by_class = {_class_in(name): name for name in used["posteriors"]}
            wanted = [label.strip() for label in labels or ()]
            if set(wanted) == by_class.keys():
                used["posteriors"] = tuple(by_class[label] for label in wanted)
        return used

    def classes(
        self, form: str, used: Mapping[str, Sequence[str]], labels: Sequence[str] | None
    ) -> tuple[str, ...] | None:
        """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
        if labels is not None and form in ("posteriors", "positive"):
            return tuple(label.strip() for label in labels)
        if form != "posteriors":
            return None
        names = used["posteriors"]
        if len(names) == 1:
            by_class = classes_of(first_of(self.table, names[0]))
            return None if by_class is None else tuple(sorted(by_class))
        (label,) = used["label"]
        classes = tuple(map(_class_in, names))
        is_counted = is_numeric(self._kind(label)) and classes == tuple(map(str, range(len(names))))
        return None if is_counted or not self._texts(label) <= set(classes) else classes

    def unused(self, used: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        """Return all columns that no role has, and what the first of them hold."""
        taken = {column_in(name) for names in used.values() for name in names}
        taken |= {name.partition(".")[0] for name in taken}
        names = [name for name in self.table.column_names if name not in taken]
        shown = {name: contents(self.table, name) for name in names[:COLUMNS_SHOWN]}
        systems = _systems(used)
        for name in shown if systems else ():
            if self.is_unique([*systems, name]):
                shown[name] += DIFFERENT
        return tuple((name, shown.get(name, "")) for name in names)

    def is_unique(self, names: Sequence[str]) -> bool:
        """Return whether no row repeats the values of the columns."""
        texts = join_texts([plain(self.table[name]) for name in names], "\0")
        return count_distinct(texts) == len(texts)

    def error(self, rule: str, **fields: object) -> FileError:
        """Return an error about the columns, all of which it describes."""
        return FileError(self.source, rule, listed=list_columns(self.table), **fields)  # type: ignore[arg-type]

    def _said(self, role: str, text: str) -> list[str]:
        is_name = text.lower() in self.by_name
        if role == "posteriors" and not is_name:
            numbered = self._numbered((), re.escape(text.rstrip("_").lower()))
            if numbered:
                return numbered
        parts = text.split("+") if role in SEVERAL and not is_name else [text]
        return [self._find(part.strip()) for part in parts]

    def _find(self, text: str) -> str:
        name = complement_of(text)
        if text in self.table.column_names or not name:
            return self._only(text)
        return f"1-{self._only(name)}"

    def _only(self, text: str) -> str:
        """Return the one column of a name, in upper or lower case."""
        if text in self.table.column_names:
            return text
        names = self.by_name.get(text.lower(), [])
        if len(names) > 1:
            raise FileError(self.source, "columns_differ_in_case", got=" and ".join(map(repr, names)))
        if not names:
            raise self.error("no_column", wanted=text)
        return names[0]

    def _numbered(self, taken: Collection[str], prefix: str = "") -> list[str]:
        """Return the columns of a prefix that are numbered from 0 without a gap."""
        pattern = re.compile(rf"({prefix})_?(\d+)") if prefix else NUMBERED
        groups: dict[str, dict[int, str]] = {}
        for known, names in self.by_name.items():
            match = pattern.fullmatch(known)
            if match and names[0] not in taken:
                groups.setdefault(match[1], {})[int(match[2])] = names[0]
        whole = [group for group in groups.values() if sorted(group) == list(range(max(2, len(group))))]
        if len(whole) > 1:
            sets = " and ".join(name_of(list(group.values())) for group in whole)
            raise FileError(self.source, "several_posteriors", got=sets, advice="name_one_role")
        return [group[number] for group in whole for number in sorted(group)]

    def _named_by_class(self, label: Sequence[str], taken: Collection[str]) -> list[str]:
        """Return the columns that are named by the classes in the column of labels, exactly or after a prefix."""
        classes = self._texts(label[0]) if label else set()
        if len(classes) < 2:
            return []
        free = [name for known, (name, *_) in self.by_name.items() if name not in taken and known not in _KNOWN]
        for prefix in _PREFIXES:
            by_class = {name.strip().removeprefix(prefix): name for name in free if name.strip().startswith(prefix)}
            if classes <= by_class.keys():
                numeric = [name for name in by_class.values() if is_numeric(self._kind(name))]
                exact = [name for name in numeric if name.strip().removeprefix(prefix) in classes]
                return numeric if self._sum_to_one(numeric) else exact  # a class that is never true has a column too
        return []

    def _sum_to_one(self, names: Sequence[str]) -> bool:
        sums = sum(floats_in(parse_cells(plain(self.table[name]))) for name in names)
        return bool((np.abs(sums - 1) <= ROUNDED_SUM_TOLERANCE).all())

    def _is_one_of_several(self, name: str) -> bool:
        """Return whether a column is one of those of several classes by its number: prob_1 beside prob_2."""
        match = NUMBERED.fullmatch(name.strip().lower())
        groups = [other[1] for other in map(NUMBERED.fullmatch, self.by_name) if other]
        return match is not None and groups.count(match[1]) > 1

    def _may_be_lists(self, name: str) -> bool:
        """Return whether cells may hold several numbers each."""
        return isinstance(row_of_numbers(first_of(self.table, name)), list) and not is_numeric(self._kind(name))

    def _kind(self, name: str) -> pa.DataType:
        """Return the type of a column; of text, that of the values in it."""
        return parse_cells(plain(self.table[name])).type

    def _texts(self, name: str) -> set[str]:
        """Return the distinct values of a column as text."""
        values, _ = encode(parse_cells(plain(self.table[name])))
        return {as_text(value) for value in values}


def _systems(used: Mapping[str, Sequence[str]]) -> list[str]:
    return [*used.get("system", ()), *used.get("part", ())]


def _class_in(name: str) -> str:
    """Return the class in the name of a column of its probabilities: "spam" of "p_spam", "0" of "prob_0"."""
    match = NUMBERED.fullmatch(name.strip().lower())
    if match:
        return match[2]
    prefix = next((prefix for prefix in _PREFIXES if prefix and name.strip().startswith(prefix)), "")
    return name.strip().removeprefix(prefix)


def _form_of(names: _Names, roles: Roles, said: Collection[str]) -> str:
    """Return the form of input that the columns make up and that uses all that was said."""
    wanted = _OF_FORMS & set(said)
    complete = [form for form, needed in FORMS.items() if all(roles[role] for role in needed)]
    fitting = [form for form in complete if wanted <= set(FORMS[form])]
    if "confidences" in fitting and not wanted and {"posteriors", "positive"} & set(fitting):
        got = f"confidence={roles['confidence'][0]} or label={roles['label'][0]}"
        raise FileError(names.source, "two_forms", got=got, advice="name_one_role")
    if not fitting:
        raise _no_form(names, roles, wanted)
    return fitting[0]


def _no_form(names: _Names, roles: Roles, wanted: set[str]) -> FileError:
    """Return the error about columns that make up no form: what is there, and what is not."""
    header = [name.strip() for name in names.table.column_names]
    if all(re.fullmatch(r"-?[\d.,]+|Unnamed: .*|[{\[].*", name) for name in header):
        return FileError(names.source, "no_header", got=", ".join(header[:_EXAMPLES]), advice="name_header")
    candidates = [set(needed) for needed in FORMS.values() if wanted <= set(needed)]
    if not wanted:
        candidates = [needed for needed in candidates if needed & _WITH_NAMES]
    if not candidates:
        return names.error("roles_do_not_fit", roles=sorted(wanted))
    present = {role for role in _OF_FORMS if roles[role]}
    lacking = min((needed - present for needed in candidates), key=len)
    if len(lacking) > 1:
        return names.error("roles_missing", advice="name_columns")
    (role,) = lacking
    has = [f"{known} = {name_of(roles[known])}" for known in sorted(present)]
    advice = "name_posteriors" if role in ("posteriors", "positive") else "name_role"
    return names.error("one_role_missing", has=has, role=role, advice=advice, columns={role: "NAME"})
