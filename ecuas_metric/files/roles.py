"""The columns of a table -> its recipe: which column has which role, by exact names, the user's choice, and types."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain, filterfalse
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError, Way
from ..inputs import Array, grouped
from .arrays import ABSTAINING_FORMS
from .asking import (
    are_near,
    describe_column,
    expand_objects,
    has_fractions,
    list_columns,
    ways_to_read,
)
from .cells import (
    is_number,
    numbers_if_any,
    parse_cells,
    parse_class_scores,
    parse_number_list,
    read_names,
    read_number_lists,
    read_truths,
)
from .recipe import (
    CLASS_FORMS,
    COLUMNS_SHOWN,
    FILE_ROLES,
    FORM_ROLES,
    FORMS,
    HEAD,
    NAMES,
    NUMBERED,
    SEVERAL,
    Reading,
    Recipe,
    complemented_column,
    format_names,
    source_column,
)
from .values import (
    UNNAMED,
    Sheet,
    add_nested_columns,
    are_null,
    are_unique,
    as_text,
    distinct_texts,
    encode,
    first_value,
    is_numeric,
    match_any,
    parts_by_name,
    plain,
    to_texts,
)

ROLES_LACKING = ("one_role_missing", "roles_missing")  # rules of errors with ways by types alone
_NAMED_ROLES = {role for role in FORM_ROLES if NAMES[role]}  # that names of columns can give
_ROLE_NAMES = {name for names in NAMES.values() for name in names if not NUMBERED.fullmatch(name)}
_NO_NAME = re.compile(
    rf"-?[\d.,]+|{UNNAMED}.*|[{{\[].*"
)  # in place of names: a row of numbers, or of JSON
_PREFIXES = ("", "prob_", "p_")  # of columns before the name of a class
_VERDICTS = ("correct", "judge", "abstained")  # roles of cells that are 1 or 0, or words for these
_OF_JUDGE = {"judge", "audit_probability"}  # roles
_OF_ANSWERS = _OF_JUDGE | {"abstained"}  # roles that posteriors and costs do not have
_EXAMPLES = 3  # names shown of a header


def resolve(sheet: Sheet, reading: Reading, *, rows: int) -> Recipe:
    """Return the recipe by which a table of `rows` rows is read: decided here alone, for all readers and engines.

    The sheet has at least its first rows, and all columns, also nested ones that the reading names, see `add_nested`.
    FileError if the columns do not make up a form of input; InputError if the reading has options without effect.
    """
    _require_skips_and_rows(sheet, reading)
    labels = None if reading.labels is None else tuple(label.strip() for label in reading.labels)
    column_roles = _ColumnRoles(sheet, labels or ())
    column_roles.assign(reading.columns)
    column_roles.assign_by_names()
    if reading.are_verdicts:
        column_roles.use_judge_as_truth()
    form = column_roles.form(FORM_ROLES & set(reading.columns))
    used = column_roles.used_columns(form)
    column_roles.require_one_column(used)
    column_roles.refuse_idle_columns(form, used)
    _refuse_idle(reading, form)
    head = min(len(sheet.rows), HEAD)
    classes = labels if form in CLASS_FORMS else None
    if form == "posteriors":
        column_roles.require_all_classes()
        classes = column_roles.classes(used[form]) if labels is None else labels
    return Recipe(
        source=sheet.source,
        format=sheet.format,
        rows=rows,
        form=form,
        columns=used,
        unused=(
            *sheet.beside,
            *column_roles.unused_columns(used),
        ),  # a line shows only the first of them
        head=head if head < rows else 0,
        classes=classes,
        scale=reading.scale,
        correct_from=reading.correct_from,
        right=reading.right,
        abstained=reading.abstained,
        unlabelled=reading.unlabelled,
        path=sheet.path,
        skip=sheet.skipped,
    )


def _require_skips_and_rows(sheet: Sheet, reading: Reading) -> None:
    """Raise an error if rows are to be skipped, or to be found in JSON, and whoever read the sheet could not do so."""
    skip = reading.columns.get("skip", "")
    if skip != sheet.skipped:  # an engine that does not read whole files cannot skip rows
        raise InputError("columns", "skips_rows", value=skip, advice="score_in_memory")
    path = reading.columns.get("rows", sheet.path)
    if path != sheet.path:  # as of a frame, which no reader of files has read
        raise FileError(sheet.source, "rows_of_no_json", value=path)


def _refuse_idle(reading: Reading, form: str) -> None:
    """Raise InputError for options on correctness, confidences or abstentions that a form of input does not have."""
    if form == "costs" and reading.scale != 1:
        raise InputError("scale", "requires_form", forms="confidences or posteriors", form=form)
    for option in ("correct_from", "right"):
        value = getattr(reading, option)
        if value is not None and form != "confidences":
            raise InputError(option, "requires_confidences", value=value)
    if reading.abstained is not None and form not in ABSTAINING_FORMS:
        raise InputError("abstained", "requires_confidences", value=reading.abstained)


def add_nested(
    table: pa.Table,
    columns: Mapping[str, str],
) -> pa.Table:
    """Return a table with further columns that the user's columns, by role, refer to.

    These are fields within cells, such as ``doc.id``, and posteriors in two columns of lists, of classes and of
    numbers, joined into one.
    """
    names = []
    for role, text in columns.items():
        parts = text.split("+") if role in SEVERAL else [text]
        names += [source_column(part).strip() for part in parts]
    table = add_nested_columns(table, names)
    joined = columns.get("posteriors", "").strip()
    cells = _join_class_lists(table, list(map(str.strip, joined.split("+"))))
    return table if cells is None else table.append_column(joined, cells)


def _join_class_lists(table: pa.Table, names: Sequence[str]) -> pa.Array | None:
    """Return two columns of lists, of classes and of numbers, as one column (N,) of both; None for other columns."""
    if len(names) != 2 or not set(table.column_names).issuperset(names):
        return None
    cells = [plain(table[name]) for name in names]
    are_lists = all(isinstance(parse_number_list(first_value(one)), list) for one in cells)
    return pa.StructArray.from_arrays(cells, names) if are_lists else None


class _ColumnRoles:
    """The roles of a table's columns: those that the user named, then those that exact names give."""

    def __init__(self, whole: Sheet, labels: Collection[str]) -> None:
        self.whole = whole
        self.sheet = sheet = whole.head(HEAD)  # by which types are told
        self.labels = labels
        self.user_roles: list[str] = []
        self.doubtful: list[str] = []  # columns that may be of classes that never occur
        self.roles: dict[str, list[str]] = {}
        self.candidates: dict[str, list[str]] = {}  # role -> all columns with one of its names
        self.by_name = grouped(sheet.names, lambda name: name.strip().lower())

    def assign(self, columns: Mapping[str, str]) -> None:
        """Assign the roles that the user named."""
        for role, text in columns.items():
            if role not in FILE_ROLES:
                self.roles[role] = self._user_columns(role, text.strip())
                self.user_roles.append(role)

    def assign_by_names(self) -> None:
        """Assign each other role to the free column with the first of its names."""
        for role in NAMES:
            if role not in self.roles:
                self.candidates[role] = self._fitting_columns(role)
                self.roles[role] = self.candidates[role][:1]
                if role == "posteriors" and not self.candidates[role]:
                    self.roles[role] = self._numbered() or self._named_by_class()

    def use_judge_as_truth(self) -> None:
        """Assign the judge's column to correctness, unless the user named that; people's labels are in another file."""
        verdicts = self.roles.pop("judge")
        if verdicts and "correct" not in self.user_roles:
            self.roles["correct"] = verdicts
            self.candidates["correct"] = verdicts

    def form(self, user_roles: set[str]) -> str:
        """Return the form of input that the columns make up and that has all `user_roles`; else FileError.

        Probabilities of all classes win over a confidence beside them.
        """
        complete = {
            form: needed
            for form, needed in FORMS.items()
            if all(self.roles[role] for role in needed) and user_roles <= set(needed)
        }
        if not complete:
            raise self._no_form_error(user_roles)
        if not user_roles and "posteriors" in complete:
            return "posteriors"
        if not user_roles and {"confidences", "positive"} <= complete.keys():
            raise self._two_forms_error()
        return next(iter(complete))

    def _two_forms_error(self) -> FileError:
        confidence, positive = (self.roles[role][0] for role in ("confidence", "positive"))
        ways = [
            Way(f"{confidence}: how sure each answer was", {"confidence": confidence}),
            Way(f"{positive}: the probability of class 1", {"positive": positive}),
        ]
        return FileError(self.sheet.source, "two_forms", ways=ways)

    def require_one_column(self, used: Collection[str]) -> None:
        """Raise FileError if two columns have names of one of the roles `used` and differ in a row; ids may."""
        for role in used:
            names = [] if role == "id" else self.candidates.get(role, [])
            first, *others = names[:COLUMNS_SHOWN] or [""]
            for other in others:
                values = [_comparable_values(role, self.whole, name) for name in (first, other)]
                count = int(np.count_nonzero(values[0] != values[1]))
                if count:
                    raise _two_columns_error(role, self.whole, [first, other], count)

    def refuse_idle_columns(self, form: str, used: Collection[str]) -> None:
        """Raise FileError if the user named a column of a role that has no use in a form, or beside roles `used`."""
        named = {role: self.roles[role][0] for role in self.user_roles if role in self.roles}
        for role, name in named.items():
            if role in _OF_ANSWERS and form not in ABSTAINING_FORMS:
                raise self.sheet.error(name, "requires_form", forms="confidences", form=form)
            if role == "audit_probability" and "judge" not in used:
                needed = "a judge's verdicts, and answers without a label"
                raise self.sheet.error(name, "changes nothing without {needed}", needed=needed)

    def used_columns(self, form: str) -> dict[str, tuple[str, ...]]:
        """Return the columns of the roles of a form, and of further roles such as ids and weights."""
        left_out = FORM_ROLES | (self._idle_roles(form) - set(self.user_roles))
        beside = [role for role, names in self.roles.items() if names and role not in left_out]
        used = {role: tuple(self.roles[role]) for role in (*FORMS[form], *beside)}
        ids = used.get("id", ())
        if len(ids) > 1 and "group" not in used and not self._is_unique(ids[0]):
            used["group"] = ids[:1]  # answers to one question depend on each other
        if form == "posteriors":
            used[form] = self._order_by_labels(used[form])
        return used

    def _idle_roles(self, form: str) -> set[str]:
        """Return the roles that have no use in a form, and are ignored unless the user named them."""
        idle = set() if form in ABSTAINING_FORMS else _OF_ANSWERS
        return idle if self._is_audited(form) else idle | _OF_JUDGE

    def _is_audited(self, form: str) -> bool:
        """Return whether some answers lack a person's label, so that a judge's labels are used."""
        if form != "confidences" or not self.roles.get("judge"):
            return False
        cells = to_texts(self.whole.column(self.roles["correct"][0]))
        return bool((are_null(cells) | match_any(cells, [""])).any())

    def _order_by_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of posteriors in the order of the user's labels, if these are their classes."""
        by_class = {class_name(name): name for name in names}
        are_labelled = set(self.labels) == by_class.keys()
        return tuple(by_class[label] for label in self.labels) if are_labelled else names

    def require_all_classes(self) -> None:
        """Raise FileError if posteriors lack classes of the user's labels, or, without labels, may lack some."""
        columns = self.roles["posteriors"]
        if self.labels and 1 < len(columns) != len(self.labels):
            got = f"{len(self.labels)} labels and {format_names(columns)}"
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
        """Return the names of the classes in the order of the posteriors; None if labels are their numbers."""
        if len(names) == 1:
            if parse_class_scores(first_value(self.sheet.table[names[0]])) is None:
                return None
            cells = self.sheet.column(names[0]).to_pylist()
            known = set(chain.from_iterable(parse_class_scores(cell) or () for cell in cells))
            return tuple(sorted(known, key=float if all(map(is_number, known)) else str))
        (label,) = self.roles["label"]
        classes = tuple(map(class_name, names))
        are_numbers = classes == tuple(map(str, range(len(names))))
        is_counted = are_numbers and is_numeric(self._cells(label).type)
        return None if is_counted or not self._distinct_texts(label) <= set(classes) else classes

    def unused_columns(
        self,
        used: Mapping[str, Sequence[str]],
    ) -> tuple[tuple[str, str], ...]:
        """Return the columns without a role, the first ones with their descriptions."""
        columns = set(map(source_column, chain.from_iterable(used.values())))
        columns.update(*(name.split("+") for name in columns))  # two that were joined into one
        columns |= {name.partition(".")[0] for name in columns}  # of fields
        names = [name for name in self.sheet.names if name not in columns]
        shown = {name: describe_column(self.sheet.table, name) for name in names[:COLUMNS_SHOWN]}
        return tuple((name, shown.get(name, "")) for name in names)

    def _user_columns(self, role: str, text: str) -> list[str]:
        """Return the columns in the user's text for a role, which may be joined by +."""
        is_name = text.lower() in self.by_name
        parts = text.split("+") if role in SEVERAL and not is_name else [text]
        return [self._match_user_name(part.strip()) for part in parts]

    def _match_user_name(self, text: str) -> str:
        """Return the column of a name, "1-NAME" with its NAME matched."""
        name = self.sheet.stored(text)
        return self._match_name(text) if name == text else f"1-{self._match_name(name)}"

    def _match_name(self, text: str) -> str:
        """Return the only column with this name, whatever its case; else FileError."""
        names = self.by_name.get(text.lower(), [])
        if text in names:
            return text
        if len(names) > 1:
            got = " and ".join(map(repr, names))
            raise FileError(self.sheet.source, "columns_differ_in_case", got=got)
        if not names:
            raise self._error("no_column", wanted=text)
        return names[0]

    def _columns_by_name(self, role: str) -> list[str]:
        """Return the columns with the names of a role that have no role yet."""
        names = [self._match_name(known) for known in NAMES[role] if known in self.by_name]
        return [name for name in names if self._is_free(name)]

    def _fitting_columns(self, role: str) -> list[str]:
        """Return the columns with the names of a role whose cells may have it, preferred first.

        Predicted classes are neither numbers by class nor fractions; lists of fractions are posteriors, and those of
        names their classes, not true ones.
        """
        named = self._columns_by_name(role)
        if role == "id":
            return self._several_valued(named)
        if role == "posteriors":
            named += filter(self._have_fractions, self._columns_by_name("predicted"))
            return list(filter(self._may_be_lists, named))
        if role == "predicted":
            return list(filterfalse(self._may_be_probabilities, named))
        if role in ("label", "positive"):
            named = list(filterfalse(self._may_be_lists, named))
        return list(filter(self._is_alone, named)) if role == "positive" else named

    def _several_valued(self, names: Sequence[str]) -> list[str]:
        """Return the columns that have several values, or one of one row, those without repetition first."""
        fewest = min(2, len(self.sheet.rows))
        filled = [name for name in names if len(encode(self._cells(name))[0]) >= fewest]
        return sorted(filled, key=self._is_unique, reverse=True)

    def _may_be_probabilities(self, name: str) -> bool:
        """Return whether cells are numbers by class, or fractions."""
        scores = parse_class_scores(first_value(self.sheet.table[name]))
        return scores is not None or self._have_fractions(name)

    def _is_alone(self, name: str) -> bool:
        """Return whether a name has no number, or no other one beside it: not prob_1 beside prob_2."""
        groups = [match[1] for match in map(NUMBERED.fullmatch, self.by_name) if match]
        match = NUMBERED.fullmatch(name.strip().lower())
        return match is None or groups.count(match[1]) == 1

    def _have_fractions(self, name: str) -> bool:
        """Return whether cells are numbers, or lists of numbers, that are not all whole."""
        if not self._may_be_lists(name):
            return has_fractions(numbers_if_any(self.sheet, name))
        values = read_number_lists(self.sheet, name)
        return values is not None and has_fractions(values)

    def _numbered(self) -> list[str]:
        """Return the columns prob_0, prob_1, .. of one prefix, without a gap; FileError for several prefixes."""
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
        """Return the columns named by the classes in the column of labels, maybe after a prefix; all or none."""
        texts = map(self._distinct_texts, self.roles["label"])
        classes = set(self.labels).union(*texts)
        for prefix in _PREFIXES:
            names = self._columns_after(prefix, classes)
            if classes <= names.keys() and len(classes) > 1:
                return self._class_columns(names, classes)
        return []

    def _class_columns(self, names: Mapping[str, str], classes: Collection[str]) -> list[str]:
        """Return the columns of the classes; if they do not sum to 1, other columns of fractions are `doubtful`."""
        true = [name for known, name in names.items() if known in classes]
        values = {name: numbers_if_any(self.sheet, name) for name in names.values()}
        if not are_near(np.sum([values.pop(name) for name in true], axis=0)):
            self.doubtful = [name for name in values if has_fractions(values[name])]
        return true

    def _columns_after(self, prefix: str, classes: Collection[str]) -> dict[str, str]:
        """Return the free columns of numbers by their names without a prefix.

        A name of a role, such as positive, counts only if there is a class of this name.
        """
        names = {}
        for lower, (name, *_) in self.by_name.items():
            known = name.strip().removeprefix(prefix)
            may_be_class = known in classes or lower not in _ROLE_NAMES
            may_be_class &= name.strip().startswith(prefix) and self._is_free(name)
            if may_be_class and not np.isnan(numbers_if_any(self.sheet, name)).all():
                names[known] = name
        return names

    def _no_form_error(self, user_roles: set[str]) -> FileError:
        """Return the error about columns that make up no form: which roles there are, and which are missing."""
        if self._strange_header():
            return self._no_header_error()
        forms = [
            needed
            for needed in map(set, FORMS.values())
            if user_roles <= needed and needed & (user_roles or _NAMED_ROLES)
        ]
        if not forms:
            return self._error("roles_do_not_fit", roles=sorted(user_roles))
        present = {role for role in FORM_ROLES if self.roles[role]}
        lacking = min((needed - present for needed in forms), key=len)
        return self._lacking_error(lacking, sorted(present))

    def _no_header_error(self) -> FileError:
        """Return the error about a first row without names, with the way to skip it if it is a title."""
        got = ", ".join(self.sheet.names[:_EXAMPLES])
        row = self.sheet.header
        ways = [Way(f"row {row} is a title", {"skip": str(row)})] if row else []
        return FileError(self.sheet.source, "no_header", got=got, advice="name_header", ways=ways)

    def _strange_header(self) -> bool:
        """Return whether the first row has no names of columns: numbers and the like, or a single title."""
        header = [name.strip() for name in self.sheet.names]
        named = [name for name in header if not _NO_NAME.fullmatch(name)]
        unnamed = [name for name in header if name.startswith(UNNAMED)]
        is_title = len(named) == 1 and len(unnamed) == len(header) - 1 > 0
        return not named or (
            is_title and unnamed != header[:1]
        )  # the index of pandas has no name either

    def _lacking_error(self, roles: set[str], present: Sequence[str]) -> FileError:
        ways = ways_to_read(self.sheet, self._unambiguous_roles(), self.user_roles)
        nested = [name for name in self.sheet.names if self._holds_rows(name)]
        if len(roles) > 1 and nested:
            path = ".".join(filter(None, [self.sheet.path, nested[0]]))
            ways = [Way(f"the rows are within those of {nested[0]}", {"rows": path})]
        if len(roles) > 1:
            return self._error("roles_missing", ways=ways)
        has = [f"{known} = {format_names(self.roles[known])}" for known in present]
        return self._error("one_role_missing", has=has, role=next(iter(roles)), ways=ways)

    def _unambiguous_roles(self) -> dict[str, list[str]]:
        """Return the columns of the roles of forms, without roles for which there are several candidates."""
        return {
            role: self.roles[role] for role in FORM_ROLES if len(self.candidates.get(role, "")) < 2
        }

    def _error(self, rule: str, **fields: Any) -> FileError:
        """Return an error that describes all columns, and other parts of the file."""
        beside = [f"{name} ({what})" for name, what in self.sheet.beside[:COLUMNS_SHOWN]]
        listed = list_columns(expand_objects(self.sheet).table)
        if beside:
            listed.append(f"beside them: {', '.join(beside)}")
        return FileError(self.sheet.source, rule, listed=listed, **fields)

    def _systems(self) -> list[str]:
        return [*self.roles["system"], *self.roles.get("part", ())]

    def _is_free(self, name: str) -> bool:
        """Return whether neither the column nor its complement has a role, nor one that it is joined into."""
        return all(
            name not in (taken, complemented_column(taken), *taken.split("+"))
            for names in self.roles.values()
            for taken in names
        )

    def _is_unique(self, name: str) -> bool:
        """Return whether a column has no value twice within a system."""
        names = (*self._systems(), name)
        return are_unique([self.sheet.column(one) for one in names])

    def _may_be_lists(self, name: str) -> bool:
        """Return whether cells may be lists of numbers, by the first one; not if it has objects."""
        row = parse_number_list(first_value(self.sheet.table[name]))
        if not isinstance(row, list) or any(isinstance(part, dict) for part in row):
            return False
        return not is_numeric(self._cells(name).type)

    def _holds_rows(self, name: str) -> bool:
        """Return whether cells are lists of objects of JSON, which may be rows unless their parts have names."""
        kind = self.sheet.table[name].type
        are_objects = pa.types.is_large_list(kind) and pa.types.is_struct(kind.value_type)
        if not are_objects or "json" not in self.sheet.format:
            return False
        parts: Any = first_value(self.sheet.table[name])
        return not parts_by_name(parts or [])

    def _cells(self, name: str) -> pa.Array:
        """Return a column (N,) as numbers, booleans or text, see `parse_cells`."""
        return parse_cells(self.sheet.column(name))

    def _distinct_texts(self, name: str) -> set[str]:
        """Return the distinct names in a column; a word such as "none" is one if a column is of that class."""
        classes = set(map(class_name, self.sheet.names))
        texts = read_names(self.sheet.column(name), classes)
        return set(distinct_texts(texts))


def _comparable_values(role: str, sheet: Sheet, name: str) -> Array:
    """Return a column (N,) for comparison with another of its role: as verdicts if it has these, else as text.

    Of systems only matters which rows are of one, so these are numbered.
    """
    if role in _VERDICTS:
        with suppress(FileError):
            return np.nan_to_num(read_truths(sheet, name), nan=-1).astype(str)
    known, codes = encode(to_texts(parse_cells(sheet.column(name))))
    return codes if role == "system" else np.array([*map(as_text, known), ""])[codes]


def _two_columns_error(role: str, sheet: Sheet, names: Sequence[str], count: int) -> FileError:
    ways = [Way("", {role: name}) for name in names]
    if role == "system":
        ways.append(Way("", {role: "+".join(names)}))
    listed = list_columns(sheet.table.select(names))
    got = f"{names[0]} and {names[1]}, which differ in {count} of {len(sheet.rows)} rows"
    return FileError(sheet.source, "two_columns", role=role, got=got, listed=listed, ways=ways)


def class_name(name: str) -> str:
    """Return the class that a column of probabilities is named by: "spam" of p_spam, "0" of prob_0."""
    name = name.strip()
    match = NUMBERED.fullmatch(name.lower())
    if match:
        return match[2]
    *_, prefix = (prefix for prefix in _PREFIXES if name.startswith(prefix))
    return name.removeprefix(prefix)
