"""The columns of a table -> its recipe: which has which role, by exact names, what the user said, and types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError, Way
from ..inputs import Array, grouped
from .arrays import OF_FORMS
from .asking import (
    are_near,
    contents,
    has_fractions,
    list_columns,
    ways_to_read,
    with_leaves,
)
from .cells import (
    classes_of,
    is_number,
    lists_of_numbers,
    numbers_if_any,
    parse_cells,
    row_of_numbers,
    texts_of_names,
    truths_in,
)
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
    UNNAMED,
    Sheet,
    are_unique,
    as_text,
    encode,
    first_of,
    is_in,
    is_numeric,
    nulls_in,
    plain,
    texts_in,
    with_fields,
)

_OF_FORMS = {role for roles in FORMS.values() for role in roles}
_WITH_NAMES = {role for role in _OF_FORMS if NAMES[role]}  # that need not be said
_KNOWN = {name for names in NAMES.values() for name in names if not NUMBERED.fullmatch(name)}
_NO_NAME = re.compile(rf"-?[\d.,]+|{UNNAMED}.*|[{{\[].*")  # but a row of numbers, or of JSON
_PREFIXES = ("", "prob_", "p_")  # before the name of a class
_EXAMPLES = 3  # names of a header


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
    if reading.are_verdicts:
        matching.take_verdicts()
    form = matching.form(_OF_FORMS & set(reading.columns))
    matching.require_one_column(form)
    _refuse_idle(reading, form)
    used = matching.used(form)
    classes = labels if form in ("posteriors", "positive") else None
    if form == "posteriors":
        matching.require_all_classes()
        classes = matching.classes(used[form]) if labels is None else labels
    return Recipe(
        source=sheet.source,
        format=sheet.format,
        rows=rows,
        form=form,
        columns=used,
        unused=(*sheet.beside, *matching.unused(used)),  # of which a line shows no more than some
        head=min(len(sheet.rows), HEAD) if min(len(sheet.rows), HEAD) < rows else 0,
        classes=classes,
        scale=reading.scale,
        correct_from=reading.correct_from,
        right=reading.right,
        abstained=reading.abstained,
        unlabelled=reading.unlabelled,
        path=sheet.path,
        skip=sheet.skipped,
    )


def _refuse_idle(reading: Reading, form: str) -> None:
    """Raise InputError for what is said of correctness, or of confidences, where there is none."""
    if form == "costs" and reading.scale != 1:
        raise InputError("scale", "requires_form", forms="confidences or posteriors", form=form)
    for option in ("correct_from", "right"):
        value = getattr(reading, option)
        if value is not None and form != "confidences":
            raise InputError(option, "requires_confidences", value=value)
    if reading.abstained is not None and form not in OF_FORMS:
        raise InputError("abstained", "requires_confidences", value=reading.abstained)


def with_nested(
    table: pa.Table,
    columns: Mapping[str, str],
) -> pa.Table:
    """Return a table with further columns of the fields that are named by dots, such as ``doc.id``.

    Posteriors in two columns of lists, of classes and of their numbers, are one column of both.
    """
    names = []
    for role, text in columns.items():
        parts = text.split("+") if role in SEVERAL else [text]
        names += [column_in(part).strip() for part in parts]
    table = with_fields(table, names)
    joined = columns.get("posteriors", "").strip()
    cells = _numbers_by_class(table, list(map(str.strip, joined.split("+"))))
    return table if cells is None else table.append_column(joined, cells)


def _numbers_by_class(table: pa.Table, names: Sequence[str]) -> pa.Array | None:
    """Return two columns of lists (N,), of classes and of their numbers, as one of both; None of others."""
    if len(names) != 2 or not set(table.column_names).issuperset(names):
        return None
    cells = [plain(table[name]) for name in names]
    are_lists = all(isinstance(row_of_numbers(first_of(one)), list) for one in cells)
    return pa.StructArray.from_arrays(cells, names) if are_lists else None


class _Matching:
    """The columns of a table by their names in lower case, and the roles that they have."""

    def __init__(self, sheet: Sheet, labels: Collection[str]) -> None:
        self.sheet = sheet
        self.labels = labels
        self.said: list[str] = []
        self.doubtful: list[str] = []  # columns that may be of classes that are never true
        self.roles: dict[str, list[str]] = {}
        self.alike: dict[str, list[str]] = {}  # roles -> all columns with one of their names
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
            "predicted": self._predicted,
            "posteriors": self._posteriors,
            "positive": self._positive,
            "id": self._ids,
        }
        for role in NAMES:
            if role not in self.roles:
                self.alike[role] = finders.get(role, lambda role=role: self._named(role))()
                self.roles[role] = self.alike[role][:1]
                if role == "posteriors" and not self.alike[role]:
                    self.roles[role] = self._numbered() or self._named_by_class()

    def take_verdicts(self) -> None:
        """Let the judge's column be that of correctness, if none was said."""
        verdicts = self.roles.pop("judge")
        if verdicts and "correct" not in self.said:
            self.roles["correct"] = verdicts
            self.alike["correct"] = verdicts

    def form(self, said: set[str]) -> str:
        """Return the form of input that the columns make up and that uses all that was said.

        Probabilities of all classes win over a confidence beside them.
        """
        complete = {
            form: needed
            for form, needed in FORMS.items()
            if all(self.roles[role] for role in needed) and said <= set(needed)
        }
        if not complete:
            raise self._no_form(said)
        if not said and "posteriors" in complete:
            return "posteriors"
        if not said and {"confidences", "positive"} <= complete.keys():
            raise self._two_forms()
        return next(iter(complete))

    def _two_forms(self) -> FileError:
        confidence, positive = (self.roles[role][0] for role in ("confidence", "positive"))
        ways = [
            Way(f"{confidence}: how sure each answer was", {"confidence": confidence}),
            Way(f"{positive}: the probability of class 1", {"positive": positive}),
        ]
        return FileError(self.sheet.source, "two_forms", ways=ways)

    def require_one_column(self, form: str) -> None:
        """Raise FileError if two columns have names of one role that is used, and differ."""
        for role in (*FORMS[form], "system"):
            first, *others = self.alike.get(role, [])[:COLUMNS_SHOWN] or [""]
            for other in others:
                values = [self._values(role, name) for name in (first, other)]
                count = int(np.count_nonzero(values[0] != values[1]))
                if count:
                    raise self._two_columns(role, [first, other], count)

    def _values(self, role: str, name: str) -> Array:
        """Return what a column says (N,): as truths, if it has such, or as texts; of systems which rows are of one."""
        if role == "correct":
            with suppress(FileError):
                return np.nan_to_num(truths_in(self.sheet, name), nan=-1).astype(str)
        known, codes = encode(texts_in(self._cells(name)))
        return codes if role == "system" else np.array([*map(as_text, known), ""])[codes]

    def _two_columns(self, role: str, names: Sequence[str], count: int) -> FileError:
        ways = [Way("", {role: name}) for name in names]
        if role == "system":
            ways.append(Way("", {role: "+".join(names)}))
        listed = list_columns(self.sheet.table.select(names))
        got = f"{names[0]} and {names[1]}, which differ in {count} of {len(self.sheet.rows)} rows"
        return FileError(
            self.sheet.source, "two_columns", role=role, got=got, listed=listed, ways=ways
        )

    def used(self, form: str) -> dict[str, tuple[str, ...]]:
        """Return the columns of the roles of a form, and of all that stand beside each form."""
        left_out = _OF_FORMS | (self._idle(form) - set(self.said))
        beside = [role for role, names in self.roles.items() if names and role not in left_out]
        used = {role: tuple(self.roles[role]) for role in (*FORMS[form], *beside)}
        ids = used.get("id", ())
        if len(ids) > 1 and "group" not in used and not self._is_unique(ids[0]):
            used["group"] = ids[:1]  # answers to one question depend on each other
        if form == "posteriors":
            used[form] = self._in_order(used[form])
        return used

    def _idle(self, form: str) -> set[str]:
        """Return roles that are of no use to a form, unless the user names them."""
        idle = set() if form in OF_FORMS else {"abstained"}
        return idle if self._is_audited(form) else idle | {"judge", "audit_probability"}

    def _is_audited(self, form: str) -> bool:
        """Return whether people labelled some answers only, so that a judge's verdicts on all count."""
        if form != "confidences":
            return False
        cells = texts_in(self.sheet.column(self.roles["correct"][0]))
        return bool((nulls_in(cells) | is_in(cells, [""])).any())

    def _in_order(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of posteriors in the order of the labels that were said, if these are their names."""
        by_class = {class_in(name): name for name in names}
        is_said = set(self.labels) == by_class.keys()
        return tuple(by_class[label] for label in self.labels) if is_said else names

    def require_all_classes(self) -> None:
        """Raise FileError if posteriors are not of all classes that there are, or may be."""
        columns = self.roles["posteriors"]
        if self.labels and 1 < len(columns) != len(self.labels):
            got = f"{len(self.labels)} labels and {name_of(columns)}"
            raise FileError(self.sheet.source, "labels_do_not_fit", got=got)
        if self.doubtful and not self.labels:
            raise FileError(
                self.sheet.source,
                "classes_unsure",
                advice="list_labels",
                got=", ".join(columns),
                others=", ".join(sorted(self.doubtful)),
            )

    def classes(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
        if len(names) == 1:
            if classes_of(first_of(self.sheet.table[names[0]])) is None:
                return None
            cells = self.sheet.column(names[0]).to_pylist()
            known = set(chain.from_iterable(classes_of(cell) or () for cell in cells))
            return tuple(sorted(known, key=float if all(map(is_number, known)) else str))
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
        return tuple((name, shown.get(name, "")) for name in names)

    def _said(self, role: str, text: str) -> list[str]:
        is_name = text.lower() in self.by_name
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

    def _predicted(self) -> list[str]:
        """Return the columns of predicted classes, no fields and no posteriors."""
        named = self._named("predicted")
        classes = [name for name in named if classes_of(first_of(self.sheet.table[name])) is None]
        return [name for name in classes if not self._have_fractions(name)]

    def _have_fractions(self, name: str) -> bool:
        """Return whether cells are numbers with fractions, or lists of such."""
        if not self._may_be_lists(name):
            return has_fractions(numbers_if_any(self.sheet, name))
        values = lists_of_numbers(self.sheet, name)
        return values is not None and has_fractions(values)

    def _posteriors(self) -> list[str]:
        """Return the columns of lists or mappings."""
        lists = [
            *self._named("posteriors"),
            *filter(self._have_fractions, self._named("predicted")),
        ]
        return [*filter(self._may_be_lists, lists)]

    def _positive(self) -> list[str]:
        """Return the columns of the probability of class 1, but not prob_1 beside prob_2."""
        groups = [match[1] for match in map(NUMBERED.fullmatch, self.by_name) if match]
        names = []
        for name in self._named("positive"):
            match = NUMBERED.fullmatch(name.strip().lower())
            is_alone = match is None or groups.count(match[1]) == 1
            if is_alone and not self._may_be_lists(name):
                names.append(name)
        return names

    def _ids(self) -> list[str]:
        """Return the column of ids: the first one of which none repeats, or else that has several values."""
        named = self._named("id")
        filled = [name for name in named if len(encode(self._cells(name))[0]) > 1]
        return sorted(filled, key=lambda name: not self._is_unique(name))

    def _numbered(self) -> list[str]:
        """Return the columns of one prefix, at least two, that are numbered from 0 without a gap."""
        groups: dict[str, dict[int, str]] = {}
        for known, (name, *_) in self.by_name.items():
            match = NUMBERED.fullmatch(known)
            if match and self._is_free(name):
                groups.setdefault(match[1], {})[int(match[2])] = name
        whole = [
            [name for _, name in sorted(group.items())]
            for group in groups.values()
            if 0 < max(group) == len(group) - 1
        ]
        if len(whole) > 1:
            ways = [Way("", {"posteriors": "+".join(names)}) for names in whole]
            raise FileError(self.sheet.source, "several_posteriors", ways=ways)
        return whole[0] if whole else []

    def _named_by_class(self) -> list[str]:
        """Return the columns that are named by the classes in the column of labels, exactly or after a prefix."""
        texts = map(self._texts, self.roles["label"])
        classes = set(self.labels).union(*texts)
        for prefix in _PREFIXES:
            names = self._after(prefix, classes)
            if classes <= names.keys() and len(classes) > 1:
                return self._of_classes(names, classes)
        return []

    def _of_classes(self, names: Mapping[str, str], classes: Collection[str]) -> list[str]:
        """Return the columns of the classes; if these do not sum to 1, others of fractions are doubtful."""
        true = [name for known, name in names.items() if known in classes]
        values = {name: numbers_if_any(self.sheet, name) for name in names.values()}
        if not are_near(np.sum([values.pop(name) for name in true], axis=0)):
            self.doubtful = [name for name in values if has_fractions(values[name])]
        return true

    def _after(self, prefix: str, classes: Collection[str]) -> dict[str, str]:
        """Return the columns of numbers that have no role by what stands after a prefix in their names.

        A role's name is that of a class only if there is such a class: positive, beside negative.
        """
        names = {}
        for lower, (name, *_) in self.by_name.items():
            known = name.strip().removeprefix(prefix)
            may_be_class = known in classes or lower not in _KNOWN
            may_be_class &= name.strip().startswith(prefix) and self._is_free(name)
            if may_be_class and not np.isnan(numbers_if_any(self.sheet, name)).all():
                names[known] = name
        return names

    def _no_form(self, said: set[str]) -> FileError:
        """Return the error about columns that make up no form: what is there, and what is not."""
        if self._strange_header():
            return self._no_header()
        forms = [
            needed
            for needed in map(set, FORMS.values())
            if said <= needed and needed & (said or _WITH_NAMES)
        ]
        if not forms:
            return self._error("roles_do_not_fit", roles=sorted(said))
        present = {role for role in _OF_FORMS if self.roles[role]}
        lacking = min((needed - present for needed in forms), key=len)
        return self._lacking(lacking, sorted(present))

    def _no_header(self) -> FileError:
        """Return the error about a first row that has no names, which may be a title."""
        got = ", ".join(self.sheet.names[:_EXAMPLES])
        row = self.sheet.header
        ways = [Way(f"row {row} is a title", {"skip": str(row)})] if row else []
        return FileError(self.sheet.source, "no_header", got=got, advice="name_header", ways=ways)

    def _strange_header(self) -> bool:
        """Return whether the names of the columns are numbers and the like, or a title above the table."""
        header = [name.strip() for name in self.sheet.names]
        named = [name for name in header if not _NO_NAME.fullmatch(name)]
        unnamed = [name for name in header if name.startswith(UNNAMED)]
        is_title = len(named) == 1 and len(unnamed) == len(header) - 1 > 0
        return not named or (is_title and unnamed != header[:1])  # which pandas' index has

    def _lacking(self, roles: set[str], present: Sequence[str]) -> FileError:
        ways = ways_to_read(self.sheet, self._plausible(), self.said)
        nested = [name for name in self.sheet.names if self._holds_rows(name)]
        if len(roles) > 1 and nested:
            path = ".".join(filter(None, [self.sheet.path, nested[0]]))
            ways = [Way(f"the rows are within those of {nested[0]}", {"rows": path})]
        if len(roles) > 1:
            return self._error("roles_missing", ways=ways)
        has = [f"{known} = {name_of(self.roles[known])}" for known in present]
        return self._error("one_role_missing", has=has, role=next(iter(roles)), ways=ways)

    def _plausible(self) -> dict[str, list[str]]:
        """Return the columns of the roles of forms, but for two names of one role, each of which may be the one."""
        return {role: self.roles[role] for role in _OF_FORMS if len(self.alike.get(role, "")) < 2}

    def _error(self, rule: str, **fields: Any) -> FileError:
        """Return an error about the columns, all of which it describes, with what else is in the file."""
        beside = [f"{name} ({what})" for name, what in self.sheet.beside[:COLUMNS_SHOWN]]
        listed = list_columns(with_leaves(self.sheet).table)
        if beside:
            listed.append(f"beside them: {', '.join(beside)}")
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
        return not is_numeric(self._cells(name).type)

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


def class_in(name: str) -> str:
    """Return the class in the name of a column of its probabilities: "spam" of "p_spam", "0" of "prob_0"."""
    name = name.strip()
    match = NUMBERED.fullmatch(name.lower())
    if match:
        return match[2]
    *_, prefix = (prefix for prefix in _PREFIXES if name.startswith(prefix))
    return name.removeprefix(prefix)
