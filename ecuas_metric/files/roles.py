"""The first rows of a table -> its recipe: which column has which role, by exact names or as the user says."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import FileError, InputError
from ..inputs import grouped
from .candidates import are_near, are_permuted, by_number, has_fractions, list_of_texts
from .cells import (
    are_one_hot,
    classes_of,
    lists_of_numbers,
    parse_cells,
    row_of_numbers,
    texts_of_names,
)
from .proposals import Proposal, propose
from .recipe import (
    COLUMNS_SHOWN,
    FORMS,
    HEAD,
    NAMES,
    NUMBERED,
    OF_FILES,
    SEVERAL,
    Reading,
    Recipe,
    column_in,
    complement_of,
    name_of,
)
from .values import (
    MOST_SKIPPED,
    TEXT,
    UNNAMED,
    Sheet,
    are_unique,
    as_text,
    encode,
    first_of,
    floats_in,
    from_numpy,
    is_numeric,
    join_texts,
    plain,
    texts_in,
    with_fields,
)

DIFFERENT = ", all different"  # in each system, as ids are
_OF_FORMS = {role for roles in FORMS.values() for role in roles}
_WITH_NAMES = {role for role in _OF_FORMS if NAMES[role]}  # that need not be said
_KNOWN = {name for names in NAMES.values() for name in names if not NUMBERED.fullmatch(name)}
_ADVICE = {
    "posteriors": "name_posteriors",
    "positive": "name_posteriors",
    "predicted": "name_predicted",
    "correct": "name_truth",
    "label": "name_truth",
}
_NO_NAME = re.compile(rf"-?[\d.,]+|{UNNAMED}.*|[{{\[].*")  # but a row of numbers, or of JSON
_PREFIXES = ("", "prob_", "p_")  # before the name of a class
_EMPTY = "empty"
_ROWS_OF_LISTS = 100  # that tell whether mappings have one class each
_EXAMPLES = 3  # values of a column
_LONGEST_EXAMPLE = 30  # characters
_MOST_VALUES = 20  # distinct numbers that are counted; of more, the range says what they are
_MOST_COUNTED = 1000  # distinct texts; there may be more below the head of a file


def resolve(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return how rows are read, by the first of them: the one place that decides it, for every reader and engine.

    The sheet has all columns, those in nested cells that the reading names too, see `with_nested`.
    """
    skip = reading.columns.get("skip", "")
    if skip != sheet.skipped:  # by an engine that has not all of a file
        raise InputError("columns", "skips_rows", value=skip, advice="score_in_memory")
    labels = None if reading.labels is None else tuple(label.strip() for label in reading.labels)
    matching = _Matching(sheet.head(HEAD), labels or ())
    matching.say(reading.columns)
    matching.find()
    form = matching.form(_OF_FORMS & set(reading.columns))
    _refuse_idle(reading, form)
    used = matching.used(form)
    classes = labels if form in ("posteriors", "positive") else None
    if form == "posteriors":
        matching.require_all_classes()
        matching.refuse_lists_of_classes()
        classes = matching.classes(used[form]) if labels is None else labels
    return Recipe(
        source=sheet.source,
        format=sheet.format,
        rows=rows,
        form=form,
        columns=used,
        unused=matching.unused(used),
        classes=classes,
        scale=reading.scale,
        correct_from=reading.correct_from,
        right=reading.right,
        unlabelled=reading.unlabelled,
        path=sheet.path,
    )


def _is_name(cell: object) -> bool:
    """Return whether a cell may be the name of a column."""
    name = cell.strip() if isinstance(cell, str) else ""
    return bool(name) and not _NO_NAME.fullmatch(name)


def _refuse_idle(reading: Reading, form: str) -> None:
    """Raise InputError for what is said of correctness, or of confidences, where there is none."""
    if form == "costs" and reading.scale != 1:
        raise InputError("scale", "requires_form", forms="confidences or posteriors", form=form)
    for option in ("correct_from", "right"):
        value = getattr(reading, option)
        if value is not None and form != "confidences":
            raise InputError(option, "requires_confidences", value=value)


def with_nested(
    table: pa.Table,
    columns: Mapping[str, str],
) -> pa.Table:
    """Return a table with further columns of the fields that are named by dots, such as ``doc.id``.

    Posteriors in two columns of lists, of classes and of their numbers, are one column of both; labels in columns of
    1 for the true class, and 0 for the others, are one column of its number.
    """
    names = []
    for role, text in columns.items():
        parts = text.split("+") if role in (*SEVERAL, "label") else [text]
        names += [column_in(part).strip() for part in parts]
    table = with_fields(table, names)
    for role, join in (("posteriors", _numbers_by_class), ("label", _numbers_of_ones)):
        joined = columns.get(role, "").strip()
        parts = columns_joined(joined, table.column_names)
        if parts and joined not in table.column_names:
            cells = join(table, parts)
            table = table if cells is None else table.append_column(joined, cells)
    return table


def _numbers_by_class(table: pa.Table, names: Sequence[str]) -> pa.Array | None:
    """Return two columns of lists (N,), of classes and of their numbers, as one of both; None of others."""
    if len(names) != 2:
        return None
    cells = [plain(table[name]) for name in names]
    are_lists = all(isinstance(row_of_numbers(first_of(one)), list) for one in cells)
    return pa.StructArray.from_arrays(cells, names) if are_lists else None


def _numbers_of_ones(table: pa.Table, names: Sequence[str]) -> pa.Array | None:
    """Return the number, from 0, of the column that has 1 in each row (N,) where the others have 0; None of texts.

    Elsewhere all that they have, which is no number of a class, and nothing if one has nothing.
    """
    cells = [parse_cells(plain(table[name])) for name in names]
    if not all(is_numeric(one.type) or pa.types.is_boolean(one.type) for one in cells):
        return None
    values = np.stack(list(map(floats_in, cells)), axis=1)
    numbers = texts_in(from_numpy((values == 1).argmax(axis=1)))
    return pc.if_else(from_numpy(are_one_hot(values)), numbers, join_texts(cells, "+"))


def contents(table: pa.Table, name: str) -> str:
    """Return what a column holds, e.g. "812 texts", "3 values", "numbers from 0 to 1"; by the head of a table."""
    cells = parse_cells(plain(table[name].slice(0, HEAD)))
    if cells.null_count == len(cells):
        return _EMPTY
    if pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type):
        return "lists"
    if cells.type != TEXT and not is_numeric(cells.type):
        return str(cells.type)[:20]
    count = len(cells.drop_null().unique())
    different = DIFFERENT if count == len(cells) > 1 else ""
    return _contents(cells, count) + different


def _contents(cells: pa.Array, count: int) -> str:
    """Return how many distinct numbers or texts a column has, or the range of many numbers."""
    is_number = is_numeric(cells.type)
    if is_number and count > _MOST_VALUES:
        values = floats_in(cells)
        return f"numbers from {np.nanmin(values):.6g} to {np.nanmax(values):.6g}"
    number = f"{count:,}" if count <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    noun = "value" if is_number else "text"
    return f"{number} {noun if count == 1 else noun + 's'}"


def describe(table: pa.Table, name: str) -> str:
    """Return a column's name, what it holds, and the first three values that differ."""
    what = contents(table, name)
    if what == _EMPTY:
        return f"{name} ({what})"
    examples: list[str] = []
    for value in plain(table[name].slice(0, HEAD)).drop_null().to_pylist():
        text = " ".join(as_text(value).split())
        example = text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}.."
        if example and example not in examples:
            examples.append(example)
        if len(examples) == _EXAMPLES:
            break
    return f"{name} ({what}: {', '.join(examples)})"


def list_columns(table: pa.Table) -> str:
    """Return all columns of a table, each by `describe`."""
    shown = [describe(table, name) for name in table.column_names[:COLUMNS_SHOWN]]
    count = table.num_columns - len(shown)
    return "; ".join(shown) + (f"; and {count:,} others" if count else "")


class _Matching:
    """The columns of a table by their names in lower case, and the roles that they have."""

    def __init__(self, sheet: Sheet, labels: Collection[str], *, is_trial: bool = False) -> None:
        self.sheet = sheet
        self.labels = labels
        self.is_trial = is_trial  # of a proposal, which needs no other one
        self.said: list[str] = []
        self.doubtful: list[str] = []  # columns that may be of classes that are never true
        self.columnless: Collection[str] = ()  # classes of labels, beside others that have columns
        self.roles: dict[str, list[str]] = {}
        self.by_name = grouped(sheet.names, lambda name: name.strip().lower())

    def say(self, columns: Mapping[str, str]) -> None:
        """Give columns the roles that the user named."""
        for role, text in columns.items():
            if not isinstance(text, str):
                raise InputError("columns", "side_by_side", value=role, advice="score_in_memory")
            if role not in OF_FILES:
                self.roles[role] = self._said(role, text.strip())
                self.said.append(role)

    def find(self) -> None:
        """Give each other role the column with the first of its names that is there, and is nothing else."""
        finders = {
            "label": self._label,
            "predicted": self._predicted,
            "posteriors": self._posteriors,
            "positive": self._positive,
            "id": self._ids,
        }
        for role in NAMES:
            if role not in self.roles:
                find = finders.get(role)
                self.roles[role] = find() if find else self._named(role)[:1]

    def form(self, said: set[str]) -> str:
        """Return the form of input that the columns make up and that uses all that was said."""
        complete = [
            form for form, needed in FORMS.items() if all(self.roles[role] for role in needed)
        ]
        fitting = [form for form in complete if said <= set(FORMS[form])]
        if not fitting:
            raise self._no_form(said)
        if "confidences" in fitting and not said and {"posteriors", "positive"} & set(fitting):
            got = f"confidence={self.roles['confidence'][0]} or label={self.roles['label'][0]}"
            raise FileError(self.sheet.source, "two_forms", got=got, advice="name_one_role")
        return fitting[0]

    def used(self, form: str) -> dict[str, tuple[str, ...]]:
        """Return the columns of the roles of a form, and of all that stand beside each form."""
        beside = [role for role in self.roles if role not in _OF_FORMS and self.roles[role]]
        roles = (*FORMS[form], *beside)
        used = {role: tuple(self.roles[role]) for role in roles}
        ids = used.get("id", ())
        if len(ids) > 1 and "group" not in used and not self._is_unique(ids[0]):
            used["group"] = ids[:1]  # answers to one question depend on each other
        if form == "posteriors":
            used[form] = self._in_order(used[form])
        return used

    def _in_order(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of posteriors in the order of the labels that were said, if these are their names."""
        by_class = {class_in(name): name for name in names}
        is_said = set(self.labels) == by_class.keys()
        return tuple(by_class[label] for label in self.labels) if is_said else names

    def require_all_classes(self) -> None:
        """Raise FileError if posteriors are not of all classes that there are, or may be."""
        columns = self.roles["posteriors"]
        labels = self.labels or columns_joined(self.roles["label"][0], self.sheet.names)
        if labels and 1 < len(columns) != len(labels):
            got = f"{len(labels)} labels and {name_of(columns)}"
            raise FileError(
                self.sheet.source, "labels_do_not_fit", got=got, advice="name_posteriors"
            )
        if self.doubtful and not self.labels:
            raise FileError(
                self.sheet.source,
                "classes_unsure",
                got=", ".join(columns),
                others=", ".join(sorted(self.doubtful)[:COLUMNS_SHOWN]),
                advice="name_posteriors",
            )

    def refuse_lists_of_classes(self) -> None:
        """Raise FileError if lists of texts say what posteriors are of: in place of labels, or in changing order."""
        labels = self.roles["label"]
        posteriors = self.roles["posteriors"][0]
        values = row_of_numbers(first_of(self.sheet.table[posteriors]))
        if not isinstance(values, list) or self._texts_of_first(posteriors):
            return
        for name in [*labels, *filter(self._is_free, self.sheet.names)]:
            is_label = name in labels and len(self._texts_of_first(name)) == len(values)
            if is_label or are_permuted(self.sheet.column(name), len(values)):
                advice = self._as_mapping(name, posteriors)
                raise self.sheet.error(name, "lists_of_classes", other=posteriors, **advice)

    def _texts_of_first(self, name: str) -> list[str]:
        """Return the texts in the first cell of a column, or the names of classes."""
        first = first_of(self.sheet.table[name])
        return list_of_texts(first) or list(classes_of(first) or ())

    def _as_mapping(self, classes: str, posteriors: str) -> dict[str, Any]:
        """Return the fields of an error on which column has the classes of lists, and which may have the labels."""
        named = {"posteriors": "+".join([classes, posteriors])}
        sheet = replace(self.sheet, table=with_nested(self.sheet.table, named))
        labels = [name for name in self.roles["label"] if name != classes]
        roles = {**self.roles, "label": labels, "posteriors": list(named.values())}
        label = {} if labels else {"label": "NAME"}
        proposal = next(propose(sheet, roles, named.keys()), None)
        columns = label if proposal is None else proposal.columns
        return Proposal("name_seeming", {**named, **columns}).to_fields({})

    def classes(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
        if len(names) == 1:
            if classes_of(first_of(self.sheet.table[names[0]])) is None:
                return None
            cells = self.sheet.column(names[0]).to_pylist()
            known = chain.from_iterable(classes_of(cell) or () for cell in cells)
            return tuple(sorted(set(known)))
        (label,) = self.roles["label"]
        classes = tuple(map(class_in, names))
        are_numbers = classes == tuple(map(str, range(len(names))))
        is_counted = are_numbers and is_numeric(self._cells(label).type)
        return None if is_counted or not self._texts(label) <= set(classes) else classes

    def unused(
        self,
        used: Mapping[str, Sequence[str]],
    ) -> tuple[tuple[str, str], ...]:
        """Return all columns that no role has, and what the first of them hold."""
        columns = set(map(column_in, chain.from_iterable(used.values())))
        columns.update(*(name.split("+") for name in columns))  # which are read together as one
        columns |= {name.partition(".")[0] for name in columns}  # of fields
        names = [name for name in self.sheet.names if name not in columns]
        shown = {name: contents(self.sheet.table, name) for name in names[:COLUMNS_SHOWN]}
        for name in filter(self._is_unique, shown if self._systems() else ()):
            shown[name] = shown[name].removesuffix(DIFFERENT) + DIFFERENT
        return tuple((name, shown.get(name, "")) for name in names)

    def _said(self, role: str, text: str) -> list[str]:
        is_name = text.lower() in self.by_name
        if role == "posteriors" and not is_name:
            prefix = re.escape(text.rstrip("_").lower())
            numbered = self._numbered(re.compile(rf"({prefix})_?(\d+)"))
            if numbered:
                return numbered
        parts = text.split("+") if role in SEVERAL and not is_name else [text]
        return [self._find(part.strip()) for part in parts]

    def _find(self, text: str) -> str:
        name = self.sheet.stored(text)
        return self._only(text) if name == text else f"1-{self._only(name)}"

    def _only(self, text: str) -> str:
        """Return the one column of a name, in upper or lower case."""
        names = self.by_name.get(text.lower(), [])
        if text in names:
            return text
        if len(names) > 1:
            got = " and ".join(map(repr, names))
            raise FileError(self.sheet.source, "columns_differ_in_case", got=got)
        if not names:
            raise self._error("no_column", wanted=text)
        return names[0]

    def _named(self, role: str) -> list[str]:
        """Return the columns with the names of a role that have no other one."""
        names = [self._only(known) for known in NAMES[role] if known in self.by_name]
        return [name for name in names if self._is_free(name)]

    def _label(self) -> list[str]:
        """Return the column of true classes, no fractions that differ from row to row."""
        return [name for name in self._named("label") if not self._are_shares(name)][:1]

    def _are_shares(self, name: str) -> bool:
        cells = self._cells(name)
        num_distinct = len(encode(cells)[0])
        return self._has_fractions(name) and num_distinct > len(cells) / 2

    def _predicted(self) -> list[str]:
        """Return the column of predicted classes, no fractions and no fields, as probabilities by that name are."""
        named = self._named("predicted")
        first = {name: first_of(self.sheet.table[name]) for name in named}
        classes = [name for name in named if classes_of(first[name]) is None]
        return [name for name in classes if not self._has_fractions(name)][:1]

    def _has_fractions(self, name: str) -> bool:
        """Return whether cells are numbers with fractions, or lists of such that sum to 1."""
        cells = self._cells(name)
        if is_numeric(cells.type):
            return has_fractions(floats_in(cells))
        values = lists_of_numbers(self.sheet, name) if self._may_be_lists(name) else None
        return values is not None and has_fractions(values) and are_near(values.sum(axis=1))

    def _posteriors(self) -> list[str]:
        lists = [*self._named("posteriors"), *filter(self._has_fractions, self._named("predicted"))]
        lists = [*filter(self._may_be_lists, lists)]
        return lists[:1] or self._numbered(NUMBERED) or self._named_by_class()

    def _positive(self) -> list[str]:
        """Return the column of the probability of class 1, but not prob_1 beside prob_2."""
        groups = [match[1] for match in map(NUMBERED.fullmatch, self.by_name) if match]
        names = []
        for name in self._named("positive"):
            if self._may_be_lists(name):
                continue
            match = NUMBERED.fullmatch(name.strip().lower())
            if match is None or groups.count(match[1]) == 1:
                names.append(name)
        return names[:1]

    def _ids(self) -> list[str]:
        """Return the column of ids: the first one of which none repeats, or else that has several values."""
        named = self._named("id")
        filled = [name for name in named if len(encode(self._cells(name))[0]) > 1]
        return sorted(filled, key=lambda name: not self._is_unique(name))[:1]

    def _numbered(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the columns of a pattern's prefix, at least two, that are numbered from 0 without a gap."""
        free = {known: name for known, (name, *_) in self.by_name.items() if self._is_free(name)}
        groups = by_number(free, pattern).values()
        whole = [group for group in groups if sorted(group) == list(range(max(2, len(group))))]
        if len(whole) > 1:
            sets = " and ".join(name_of(list(group.values())) for group in whole)
            raise FileError(
                self.sheet.source, "several_posteriors", got=sets, advice="name_one_role"
            )
        return [group[number] for group in whole for number in sorted(group)]

    def _named_by_class(self) -> list[str]:
        """Return the columns that are named by the classes in the column of labels, exactly or after a prefix."""
        texts = map(self._texts, self.roles["label"])
        classes = set(self.labels).union(*texts)
        if len(classes) < 2:
            return []
        for prefix in _PREFIXES:
            names = self._after(prefix, classes)
            there = {
                known
                for known in classes & names.keys()
                if is_numeric(self._cells(names[known]).type)
            }
            if there == classes:
                return self._of_classes(names, classes)
            if len(there) > 1:
                self.columnless = classes - there
        return []

    def _after(self, prefix: str, classes: Collection[str]) -> dict[str, str]:
        """Return the columns that have no role by what stands after a prefix in their names.

        A role's name is that of a class only if there is such a class: positive, beside negative.
        """
        names = {}
        for lower, (name, *_) in self.by_name.items():
            known = name.strip().removeprefix(prefix)
            may_be_class = known in classes or lower not in _KNOWN
            if name.strip().startswith(prefix) and may_be_class and self._is_free(name):
                names[known] = name
        return names

    def _of_classes(
        self,
        names: Mapping[str, str],
        classes: Collection[str],
    ) -> list[str]:
        """Return the columns of the classes; if only so they sum to 1, also those of numbers of others, never true."""
        cells = {name: self._cells(name) for name in names.values()}
        numbers = {name: floats_in(one) for name, one in cells.items() if is_numeric(one.type)}
        true = {name: numbers[name] for known, name in names.items() if known in classes}
        for columns in (true, numbers):
            if are_near(np.sum(list(columns.values()), axis=0)):
                return list(columns)
        further = numbers.keys() - true.keys()
        self.doubtful = [name for name in further if pa.types.is_floating(cells[name].type)]
        return list(true)

    def _no_form(self, said: set[str]) -> FileError:
        """Return the error about columns that make up no form: what is there, and what is not."""
        header = self._strange_header()
        if header:
            got = ", ".join(header[:_EXAMPLES])
            return FileError(self.sheet.source, "no_header", got=got, **self._advice_on_names())
        forms = [
            needed
            for needed in map(set, FORMS.values())
            if said <= needed and needed & (said or _WITH_NAMES)
        ]
        if not forms:
            return self._error("roles_do_not_fit", roles=sorted(said))
        present = {role for role in _OF_FORMS if self.roles[role]}
        nearest = min(forms, key=lambda needed: (len(needed - present), -len(needed)))
        return self._lacking(nearest - present, sorted(present))

    def _strange_header(self) -> list[str]:
        """Return the names of the columns if they are numbers and the like, or a title above the table."""
        header = [name.strip() for name in self.sheet.names]
        named = [name for name in header if not _NO_NAME.fullmatch(name)]
        unnamed = [name for name in header if name.startswith(UNNAMED)]
        is_title = len(named) == 1 and len(unnamed) == len(header) - 1 > 0
        is_index = unnamed == header[:1]  # as pandas writes it
        return header if not named or (is_title and not is_index) else []

    def _advice_on_names(self) -> dict[str, Any]:
        """Return the advice to leave out what is above the first row of names, if there is one below the header."""
        head = self.sheet.head(MOST_SKIPPED if self.sheet.header else 0)
        cells = [head.column(name).to_pylist() for name in head.names]
        rows = zip(*cells, strict=True)
        are_names = [all(map(_is_name, row)) for row in rows]
        if True not in are_names:
            return {"advice": "name_header"}
        rows_above = head.rows[: are_names.index(True)]
        above = [self.sheet.header, *rows_above.tolist()]
        return {"advice": "skip_rows", **head.fields_of_skipped(above)}

    def _lacking(
        self,
        roles: set[str],
        present: Sequence[str],
    ) -> FileError:
        proposed = self._proposed()
        nested = [name for name in self.sheet.names if self._holds_rows(name)]
        if len(roles) > 1 and nested and not proposed:
            path = ".".join(filter(None, [self.sheet.path, nested[0]]))
            return self._error("roles_missing", advice="name_rows", columns={"rows": path})
        if len(roles) > 1:
            return self._error("roles_missing", **(proposed or {"advice": "name_columns"}))
        (role,) = roles
        return self._error(
            "one_role_missing",
            has=[f"{known} = {name_of(self.roles[known])}" for known in present],
            role=role,
            **(proposed or self._advice_on(role)),
        )

    def _advice_on(self, role: str) -> dict[str, Any]:
        """Return the advice to name the column of a role, or why there is none."""
        if role == "posteriors" and self.columnless:
            return {
                "advice": "add_column_of_class",
                "names": sorted(self.columnless)[:COLUMNS_SHOWN],
            }
        return {"advice": _ADVICE.get(role, "name_role"), "columns": {role: "NAME"}}

    def _proposed(self) -> dict[str, Any]:
        """Return the fields of an error that name columns which may have the roles that are missing, or nothing."""
        said = {role: "+".join(self.roles[role]) for role in self.said}
        if self.is_trial or self.labels:
            return {}
        for proposal in propose(self.sheet, self._plausible_roles(), said.keys()):
            trial = self._tried(proposal, said)
            if trial is not None:
                return self._without_posteriors(proposal, said, trial).to_fields(said)
        return {}

    def _plausible_roles(self) -> dict[str, list[str]]:
        """Return the columns of roles but true classes all alike, and verdicts in the words of predicted classes."""
        texts = {
            role: set.union(set(), *map(self._texts, self.roles[role]))
            for role in ("label", "correct", "predicted")
            if role not in self.said
        }
        refuted = set()
        if len(texts.get("label", ())) == 1:
            refuted.add("label")
        words = texts.get("correct", set()) - {"0", "1"}
        if words and words <= texts.get("predicted", set()):
            refuted.add("correct")
        return {role: [] if role in refuted else names for role, names in self.roles.items()}

    def _tried(self, proposal: Proposal, said: Mapping[str, str]) -> _Matching | None:
        """Return the roles that columns have by a proposal, or None if these make up no form."""
        columns = {**said, **proposal.columns}
        sheet = replace(self.sheet, table=with_nested(self.sheet.table, columns))
        trial = _Matching(sheet, proposal.labels, is_trial=True)
        try:
            trial.say(columns)
            trial.find()
            trial.form(_OF_FORMS & columns.keys())
        except InputError:
            return None if proposal.columns else trial
        return trial

    def _without_posteriors(
        self, proposal: Proposal, said: Mapping[str, str], trial: _Matching
    ) -> Proposal:
        """Return a proposal that names labels alone, if posteriors are found by the classes in these."""
        columns = {role: name for role, name in proposal.columns.items() if role != "posteriors"}
        shorter = replace(proposal, advice="name_found", columns=columns, labels=())
        if "label" not in columns or columns == proposal.columns:
            return proposal
        other = self._tried(shorter, said)
        is_same = other is not None and other.names_of_roles == trial.names_of_roles
        return shorter if is_same else proposal

    @property
    def names_of_roles(self) -> dict[str, set[str]]:
        """The columns of each role, in any order."""
        return {role: {*names} for role, names in self.roles.items()}

    def _error(self, rule: str, **fields: Any) -> FileError:
        """Return an error about the columns, all of which it describes, with what else is in the file."""
        beside = [f"{name} ({what})" for name, what in self.sheet.beside[:COLUMNS_SHOWN]]
        listed = list_columns(self.sheet.table)
        if beside:
            listed += f"; beside them: {', '.join(beside)}"
        return FileError(self.sheet.source, rule, listed=listed, **fields)

    def _systems(self) -> list[str]:
        return [*self.roles["system"], *self.roles.get("part", ())]

    def _is_free(self, name: str) -> bool:
        """Return whether neither a column nor its complement has a role."""
        return all(
            name not in (taken, complement_of(taken))
            for names in self.roles.values()
            for taken in names
        )

    def _is_unique(self, name: str) -> bool:
        """Return whether no row of a system repeats the values of a column."""
        names = (*self._systems(), name)
        return are_unique([self.sheet.column(one) for one in names])

    def _may_be_lists(self, name: str) -> bool:
        """Return whether cells may hold several numbers each, or in some of the first rows, and no objects."""
        row = row_of_numbers(first_of(self.sheet.table[name]))
        if not isinstance(row, list) or any(isinstance(part, dict) for part in row):
            return False
        if len(row) == 1 and not self._have_several(name):
            return False
        return not is_numeric(self._cells(name).type)

    def _have_several(self, name: str) -> bool:
        """Return whether some of the first lists or mappings in a column have several parts."""
        cells = self.sheet.head(_ROWS_OF_LISTS).column(name).to_pylist()
        rows = map(row_of_numbers, cells)
        return any(len(row) > 1 for row in rows if isinstance(row, list))

    def _holds_rows(self, name: str) -> bool:
        """Return whether cells are lists of objects in a document of JSON, of which these may be the rows."""
        kind = self.sheet.table[name].type
        are_objects = pa.types.is_large_list(kind) and pa.types.is_struct(kind.value_type)
        return bool(are_objects and "json" in self.sheet.format)

    def _cells(self, name: str) -> pa.Array:
        """Return a column (N,) as the values that its texts stand for."""
        return parse_cells(self.sheet.column(name))

    def _texts(self, name: str) -> set[str]:
        """Return the distinct values of a column as text, also "none" if a column has the name of such a class."""
        classes = set(map(class_in, self.sheet.names))
        texts = texts_of_names(self.sheet.column(name), classes)
        return set(map(as_text, encode(texts)[0]))


def columns_joined(name: str, names: Collection[str]) -> list[str]:
    """Return the columns that one stands for whose name has all of theirs, joined by +; nothing of another."""
    parts = [part.strip() for part in name.split("+")]
    return parts if len(parts) > 1 and set(names).issuperset(parts) else []


def class_in(name: str) -> str:
    """Return the class in the name of a column of its probabilities: "spam" of "p_spam", "0" of "prob_0"."""
    name = name.strip()
    match = NUMBERED.fullmatch(name.lower())
    if match:
        return match[2]
    *_, prefix = (prefix for prefix in _PREFIXES if name.startswith(prefix))
    return name.removeprefix(prefix)
