"""How the cells of a file become arrays: a record that is resolved on rows, said in one line, hashed and taken back.

Names of columns are exact, or the user says them; whatever is read is said, and what is not used is named.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError
from ..inputs import ROUNDED_SUM_TOLERANCE
from .cells import classes_of, parse_cells, row_of_numbers
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

ColumnNames = Mapping[str, str | Mapping[str, str]]  # a role -> its column, or a system -> its columns by role
HEAD = 10_000  # rows that a recipe is resolved on, wherever they come from: memory, out of core or Spark
NAMES = {  # a role -> the names that it is known by, lower case, the first of which counts; without one it must be said
    role: tuple(names.split())
    for role, names in {
        "confidence": "confidence conf",
        "correct": "correct is_correct",
        "label": "y_true true_label true_class gold_label label labels target label_ids",
        "predicted": "predicted prediction y_pred predicted_label predicted_class pred",
        "posteriors": "posteriors probabilities probs log_probabilities logits scores",
        "positive": "positive prob_1 p_1 y_prob y_score prob proba",
        "system": "system model llm model_name",
        "id": "id question_id sample_id doc_id qid example_id item_id instance_id custom_id uid question idx index",
        "weight": "",
        "group": "",
        "stratum": "",
        "part": "",
        "rows": "",  # the list of rows in a JSON document, which is no column
        "count": "",  # how many rows a row stands for, beside how many of them are wrong: of aggregated rows
        "wrong": "",
        "uncertainty": "",
        "cost": "",
    }.items()
}
FORMS = {  # a form of input, the preferred first -> the roles of its predictions and its truth, and what else it needs
    "confidences": ("confidence", "correct"),
    "posteriors": ("posteriors", "label"),
    "positive": ("positive", "label"),
    "predicted": ("confidence", "label", "predicted"),
    "costs": ("uncertainty", "cost"),
    "counts": ("confidence", "wrong", "count"),
}
LAYOUTS = (  # what files may hold, for the help and the documentation: columns, what they are
    ("confidence, correct", "a system that answers: how sure it is, and 1 or 0"),
    ("label, prob_0, prob_1, ..", "a classifier: the true class, from 0, and the probability of each"),
    ("label, cat, dog, ..", "the same, the columns named by the classes, or prob_cat, prob_dog, .."),
    ("label, posteriors", "the same, as lists, or as mappings of classes to probabilities"),
    ("label, prob", "two classes, 0 and 1: the probability of class 1"),
    ("label, predicted, confidence", "the class that was chosen, and how sure the classifier was"),
)
JOINED = ("system", "part", "id", "group", "stratum")  # several columns, joined by +, are one
_SEVERAL = (*JOINED, "posteriors")
_OF_FORMS = {role for roles in FORMS.values() for role in roles}
_NUMBERED = re.compile(r"(probs?|p|posteriors?|logits?|probabilities|predictions|scores?)_?(\d+)")
_PREFIXES = ("", "prob_", "p_")  # before the name of a class
_FOUND = {role for role in _OF_FORMS if NAMES[role]}  # that need not be said
_FILES_SHOWN = 4
_COLUMNS_SHOWN = 20
DIFFERENT = ", all different"  # in each system, as ids are
_EMPTY = "empty"
_EXAMPLES = 3  # values of a column
_LONGEST_EXAMPLE = 30  # characters
_MOST_VALUES = 20  # distinct numbers that are counted; of more, the range says what they are
_MOST_COUNTED = 1000  # distinct texts; there may be more below the head of a file


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says of a file."""

    unlabelled: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float | str = 1
    predictions_are: str | None = None
    right: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # a role -> its column, several joined by +
    systems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # side by side -> columns of their own

    def with_columns(self, columns: ColumnNames) -> Reading:
        """Return it with other columns; a mapping among them has those of a system."""
        common = {role: name for role, name in columns.items() if isinstance(name, str)}
        systems = {name: own for name, own in columns.items() if not isinstance(own, str)}
        return replace(self, columns=common, systems=systems)

    def changed(self, said: Reading) -> Reading:
        """Return it with what was said instead of what was before."""
        names = ("unlabelled", "labels", "correct_from", "predictions_are", "right")
        fields = {name: getattr(said, name) for name in names if getattr(said, name) is not None}
        if said.scale != 1:
            fields["scale"] = said.scale
        columns: dict[str, Any] = {**self.columns, **self.systems, **said.columns, **said.systems}
        return replace(self, **fields).with_columns(columns)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How something became arrays.

    Attributes
    ----------
    source, format : str
        The file as errors call it, and what it was read as.
    rows : int
        How many there are.
    form : str
        A key of `FORMS`.
    columns : mapping of str to tuple of str
        The columns of each role that is used, e.g. ``{"confidence": ("1-error",), "id": ("question", "seed")}``.
    unused : tuple of (str, str)
        All other columns, with what they hold, e.g. ``("answer", "812 texts")``.
    classes : tuple of str or None
        Their names in the order of the posteriors; None where labels are their numbers.
    scale : float or str
        What a confidence of 1 is in the file, or "LOW:HIGH" for what 0 and 1 are.
    correct_from, right, unlabelled : float, str and str, or None
        The lowest grade that is right, the word for right, and the rule for answers that are not judged.
    path : str
        Of the list of rows in a JSON document.
    tasks, filter, length : str
        What was read of a run of an evaluation tool.
    system : str
        The name of the system, of several side by side in the columns of one table.

    Examples
    --------
    >>> columns = {"confidence": ("conf",), "correct": ("correct",)}
    >>> recipe = Recipe("long.csv", "csv", 900, "confidences", columns, (("seed", "3 values"),))
    >>> str(recipe)
    'read long.csv: 900 rows; confidence = conf, correct = correct; not used: seed (3 values)'
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    source: str
    format: str
    rows: int
    form: str
    columns: Mapping[str, tuple[str, ...]]
    unused: tuple[tuple[str, str], ...] = ()
    classes: tuple[str, ...] | None = None
    scale: float | str = 1
    correct_from: float | None = None
    right: str | None = None
    unlabelled: str | None = None
    path: str = ""
    tasks: str = ""
    filter: str = ""
    length: str = ""
    system: str = ""

    @property
    def predictions(self) -> tuple[str, ...]:
        """Columns of confidences, posteriors, the probability of class 1, or uncertainties."""
        return self.columns[FORMS[self.form][0]]

    @property
    def truth(self) -> str:
        """The column of the correctness, the classes or the costs."""
        return self.columns[FORMS[self.form][1]][0]

    @property
    def systems(self) -> tuple[str, ...]:
        """Columns whose values name the system of a row, joined by a space."""
        return tuple(dict.fromkeys([*self.of("system"), *self.of("part")]))

    def of(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role: none, one, or several."""
        return self.columns.get(role, ())

    def __str__(self) -> str:
        return lines_of([self])[0]

    def said(self) -> str:
        """Return what is read and what is not, without the file's name and size."""
        used = [f"{self._title(role)} = {name_of(names)}" for role, names in self.columns.items()]
        of_system = f"{self.system}: " if self.system else ""
        parts = [of_system + ", ".join(used), ", ".join(f"{name} = {value}" for name, value in self._options())]
        shown = [f"{name} ({what})" for name, what in self.unused[:_COLUMNS_SHOWN]]
        if len(self.unused) > _COLUMNS_SHOWN:
            shown.append(f"and {len(self.unused) - _COLUMNS_SHOWN:,} others")
        if shown:
            parts.append(f"not used: {', '.join(shown)}")
        return "; ".join(part for part in parts if part)

    def _title(self, role: str) -> str:
        return f"P({(self.classes or ('0', '1'))[1]})" if role == "positive" else role

    def _options(self) -> list[tuple[str, str]]:
        """Return what was said of the values, where it is not the default."""
        named = {
            "classes": None if self.classes is None else ",".join(self.classes),
            "scale": None if self.scale == 1 else self.scale,
            "correct_from": self.correct_from,
            "right": self.right,
            "unlabelled": self.unlabelled,
            "rows": self.path or None,
            "tasks": self.tasks or None,
            "filter": self.filter or None,
            "choice_length": self.length or None,
        }
        said = {name: value for name, value in named.items() if value is not None}
        return [(name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in said.items()]

    def rules(self) -> tuple[tuple[str, str], ...]:
        """Return names and values of all that changes numbers, given the same columns, but for unlabelled answers."""
        complements = [(role, "complement") for role, names in self.columns.items() if any(map(complement_of, names))]
        return (*complements, *(rule for rule in self._options() if rule[0] != "unlabelled"))

    def without(self, columns: Collection[str]) -> Recipe:
        """Return it without columns that another system uses among those that are not used."""
        names = {complement_of(name) or name for name in columns}
        return replace(self, unused=tuple(one for one in self.unused if one[0] not in names))

    def digest(self) -> str:
        """Return a short hash of all that the numbers depend on, but for the rows themselves."""
        others = ("source", "format", "rows", "unused", "system")
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in others}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:8]

    def to_json(self) -> str:
        """Return the record as JSON."""
        return json_of([self])

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Return the record of `to_json`."""
        return cls.from_fields(json.loads(text))

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Recipe:
        """Return the record of what JSON has of it."""
        known = {name: value for name, value in fields.items() if name != "digest"}
        known["columns"] = {role: tuple(names) for role, names in fields["columns"].items()}
        known["unused"] = tuple((name, what) for name, what in fields["unused"])
        known["classes"] = None if fields["classes"] is None else tuple(fields["classes"])
        return cls(**known)

    def reading(self) -> Reading:
        """Return what a user would have to say to read another file in the same way."""
        columns = {role: "+".join(names) for role, names in self.columns.items()}
        if self.path:
            columns["rows"] = self.path
        labels = None if self.classes is None else list(self.classes)
        return Reading(self.unlabelled, labels, self.correct_from, self.scale, None, self.right, columns)


def resolve(head: pa.Table, reading: Reading, *, source: str, rows: int, format: str = "", path: str = "") -> Recipe:
    """Return how rows are read, by the first of them: the one place that decides it, for every reader and engine.

    `head` has all columns, those in nested cells that the reading names too, see `with_nested`; and `HEAD` rows.
    """
    matching = _Matching(head, source)
    columns = matching.said(reading.columns)
    taken = {part for names in columns.values() for name in names for part in (name, complement_of(name))}
    for role in NAMES:
        if role not in columns:
            columns[role] = matching.named(role, columns, taken)
            taken |= set(columns[role])
    form = _form_of(matching, columns, reading.columns)
    for option in ("correct_from", "right"):
        if getattr(reading, option) is not None and form != "confidences":
            raise InputError(option, "requires_confidences", value=getattr(reading, option))
    used = {role: tuple(columns[role]) for role in FORMS[form]}
    used |= {role: tuple(names) for role, names in columns.items() if names and role not in _OF_FORMS}
    if len(used.get("id", ())) > 1 and "group" not in used:
        used |= matching.repeated(used)
    if form == "posteriors":
        used["posteriors"] = matching.in_order(used, reading.labels)
    return Recipe(
        source,
        format,
        rows,
        form,
        used,
        matching.unused(used),
        matching.classes(form, used, reading.labels),
        scale=reading.scale,
        correct_from=reading.correct_from,
        right=reading.right,
        unlabelled=reading.unlabelled,
        path=path,
    )


def json_of(recipes: Sequence[Recipe]) -> str:
    """Return one record, or those of systems side by side, as JSON."""
    records = [asdict(recipe) for recipe in recipes]
    return json.dumps(records if len(records) > 1 else records[0], indent=2, ensure_ascii=False)


def distinct_fields(recipes: Iterable[Recipe]) -> list[dict[str, Any]]:
    """Return the fields of records that differ, with their digests."""
    distinct: list[dict[str, Any]] = []
    for recipe in recipes:
        fields = {"digest": recipe.digest(), **asdict(recipe)}
        if fields not in distinct:
            distinct.append(fields)
    return distinct


def reading_in(text: str) -> Reading:
    """Return what the JSON of `json_of` says of a file, or that of a table that the command wrote."""
    document = json.loads(text)
    records = document.get("recipes", [document]) if isinstance(document, dict) else document
    recipes = [Recipe.from_fields(record) for record in records]
    if len(recipes) > 1 and not all(recipe.system for recipe in recipes):
        raise InputError("recipe", "several_recipes", got=", ".join(recipe.source for recipe in recipes))
    first = recipes[0].reading()
    if not recipes[0].system:
        return first
    return first.with_columns({recipe.system: recipe.reading().columns for recipe in recipes})


def scale_of(text: str) -> float | str:
    """Return the number that a scale is, or "LOW:HIGH"."""
    low, colon, high = text.partition(":")
    try:
        number = float(low)
        return f"{number:g}:{float(high):g}" if colon else number
    except ValueError:
        raise InputError("scale", "no_scale", value=text) from None


def with_nested(table: pa.Table, columns: Mapping[str, str]) -> pa.Table:
    """Return a table with further columns of the fields that are named by dots, such as ``doc.id``."""
    for role, text in columns.items():
        for part in text.split("+") if role in _SEVERAL else [text]:
            name = complement_of(part) or part.strip()
            outer, _, inner = name.partition(".")
            if name not in table.column_names and inner and outer in table.column_names:
                values = [value_at(value, inner) for value in plain(table[outer]).to_pylist()]
                if any(value is not None for value in values):
                    table = table.append_column(name, from_values(values))
    return table


def lines_of(recipes: Iterable[Recipe | None]) -> list[str]:
    """Return a line for each way of reading, with all files that are read so."""
    sources: dict[str, dict[str, int]] = {}
    for recipe in recipes:
        if recipe is not None:
            sources.setdefault(recipe.said(), {})[recipe.source] = recipe.rows
    lines = []
    for said, files in sources.items():
        names = list(files)[:_FILES_SHOWN]
        others = f" and {len(files) - len(names):,} others" if len(files) > len(names) else ""
        lines.append(f"read {', '.join(names)}{others}: {sum(files.values()):,} rows; {said}")
    return lines


def holds_numbers(name: str) -> bool:
    """Return whether a column is one of numbers by its name: confidences, probabilities, correctness."""
    name = name.strip().lower()
    names = (*NAMES["confidence"], *NAMES["correct"], *NAMES["positive"])
    return name in names or _NUMBERED.fullmatch(name) is not None


def complement_of(name: str) -> str:
    """Return the column of which "1-NAME" is the complement, or nothing."""
    match = re.fullmatch(r"1\s*-\s*(.+)", name.strip())
    return match[1] if match else ""


def name_of(columns: Sequence[str]) -> str:
    """Return columns in the words of a line, e.g. ``prob_0..prob_9``."""
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 2 else "+".join(columns)


def contents(table: pa.Table, name: str) -> str:
    """Return what a column holds, e.g. "812 texts", "3 values", "numbers from 0 to 1"; by the head of a table."""
    cells = parse_cells(plain(table[name].slice(0, HEAD)))
    if cells.null_count == len(cells):
        return _EMPTY
    if not is_numeric(cells.type) and cells.type != TEXT:
        return (
            "lists" if pa.types.is_nested(cells.type) and not pa.types.is_struct(cells.type) else f"{cells.type}"[:20]
        )
    count = len(cells.unique())
    different = DIFFERENT if count == len(cells) > 1 else ""
    if is_numeric(cells.type) and count > _MOST_VALUES:
        values = floats_in(cells)
        return f"numbers from {np.nanmin(values):.6g} to {np.nanmax(values):.6g}{different}"
    number = f"{count:,}" if count <= _MOST_COUNTED else f"over {_MOST_COUNTED:,}"
    what = "value" if is_numeric(cells.type) else "text"
    return f"{number} {what}{'s' if count > 1 else ''}{different}"


def describe(table: pa.Table, name: str) -> str:
    """Return a column's name, what it holds, and three of its values."""
    what = contents(table, name)
    if what == _EMPTY:
        return f"{name} ({what})"
    values = [as_text(value) for value in plain(table[name].slice(0, _EXAMPLES)).to_pylist()]
    examples = ", ".join(
        value if len(value) <= _LONGEST_EXAMPLE else f"{value[:_LONGEST_EXAMPLE]}.." for value in values
    )
    return f"{name} ({what}: {' '.join(examples.split())})"


def list_columns(table: pa.Table) -> str:
    """Return all columns of a table, each by `describe`."""
    shown = [describe(table, name) for name in table.column_names[:_COLUMNS_SHOWN]]
    count = table.num_columns - len(shown)
    return "; ".join(shown) + (f"; and {count:,} others" if count else "")


class _Matching:
    """The columns of a table, by their names and roles."""

    def __init__(self, table: pa.Table, source: str) -> None:
        self.table = table
        self.source = source
        self.by_name: dict[str, list[str]] = {}
        for name in table.column_names:
            self.by_name.setdefault(name.strip().lower(), []).append(name)

    def said(self, columns: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the columns of the roles that the user named."""
        for role, name in columns.items():
            if not isinstance(name, str):
                raise InputError("columns", "side_by_side", value=role, advice="score_in_memory")
            if role not in NAMES:
                raise InputError("columns", "unknown_role", value=role, roles=list(NAMES))
        return {role: self._said(role, text.strip()) for role, text in columns.items() if role != "rows"}

    def named(self, role: str, columns: Mapping[str, Sequence[str]], taken: Collection[str]) -> list[str]:
        """Return the column of a role by the first of its names that is there, and is nothing else."""
        matches = [self._only(known) for known in NAMES[role] if known in self.by_name]
        free = [name for name in matches if name not in taken]
        if role == "posteriors":
            free = [name for name in free if self._may_be_lists(name)]
            return free[:1] or self._numbered(taken) or self._of_classes(columns, taken)
        if role == "positive":
            free = [name for name in free if not self._is_one_of_several(name)]
        if role == "id":
            free.sort(key=lambda name: not self.is_unique([*columns["system"], *columns.get("part", ()), name]))
        return free[:1]

    def in_order(self, used: Mapping[str, Sequence[str]], labels: Sequence[str] | None) -> tuple[str, ...]:
        """Return the columns of posteriors in the order of the labels that were said, if these are their names."""
        names = used["posteriors"]
        by_class = {_class_in(name): name for name in names}
        wanted = [label.strip() for label in labels or ()]
        return tuple(by_class[label] for label in wanted) if set(wanted) == set(by_class) else tuple(names)

    def classes(
        self, form: str, used: Mapping[str, Sequence[str]], labels: Sequence[str] | None
    ) -> tuple[str, ...] | None:
        """Return the names of the classes in the order of the posteriors, or None where labels are their numbers."""
        if form not in ("posteriors", "positive"):
            return None
        if labels is not None:
            return tuple(label.strip() for label in labels)
        names = used[form]
        if form == "positive":
            return None
        if len(names) == 1:
            by_class = classes_of(first_of(self.table, names[0]))
            return None if by_class is None else tuple(sorted(by_class))
        labels_true = self.texts(used["label"][0])
        of_columns = tuple(map(_class_in, names))
        if is_numeric(self.kind(used["label"][0])) and of_columns == tuple(map(str, range(len(names)))):
            return None
        prefix = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False)))
        for classes in (of_columns, tuple(name[prefix:].strip() for name in names)):
            if labels_true <= set(classes):
                return classes
        return None

    def repeated(self, used: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the first part of an id as the group, if it repeats: answers to one question depend on each other."""
        systems = [*used.get("system", ()), *used.get("part", ())]
        first = used["id"][:1]
        return {} if self.is_unique([*systems, *first]) else {"group": first}

    def unused(self, used: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
        """Return all columns that no role has, and what the first of them hold."""
        taken = {complement_of(name) or name for names in used.values() for name in names}
        taken |= {name.partition(".")[0] for name in taken}
        names = [name for name in self.table.column_names if name not in taken]
        systems = [*used.get("system", ()), *used.get("part", ())]
        shown = {name: contents(self.table, name) for name in names[:_COLUMNS_SHOWN]}
        for name in shown if systems else ():
            if self.is_unique([*systems, name]):
                shown[name] += DIFFERENT
        return tuple((name, shown.get(name, "")) for name in names)

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column; of text, that of the values in it."""
        return parse_cells(plain(self.table[name])).type

    def texts(self, name: str) -> set[str]:
        """Return the distinct values of a column as text."""
        values, _ = encode(parse_cells(plain(self.table[name])))
        return {as_text(value) for value in values}

    def is_unique(self, names: Sequence[str]) -> bool:
        """Return whether no row repeats the values of the columns."""
        texts = join_texts([plain(self.table[name]) for name in names], "\0")
        return count_distinct(texts) == len(texts)

    def error(self, rule: str, **fields: Any) -> FileError:
        """Return an error about the columns, all of which it describes."""
        return FileError(self.source, rule, listed=list_columns(self.table), **fields)

    def _said(self, role: str, text: str) -> list[str]:
        if role == "posteriors" and text.lower() not in self.by_name:
            numbered = self._numbered(set(), text.rstrip("_").lower())
            if numbered:
                return numbered
        parts = text.split("+") if role in _SEVERAL and text.lower() not in self.by_name else [text]
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
        groups: dict[str, dict[int, str]] = {}
        for known, names in self.by_name.items():
            match = re.fullmatch(rf"({re.escape(prefix)})_?(\d+)", known) if prefix else _NUMBERED.fullmatch(known)
            if match and names[0] not in taken:
                groups.setdefault(match[1], {})[int(match[2])] = names[0]
        whole = [group for group in groups.values() if sorted(group) == list(range(max(2, len(group))))]
        if len(whole) > 1:
            sets = " and ".join(name_of(list(group.values())) for group in whole)
            raise FileError(self.source, "several_posteriors", got=sets, advice="name_one_role")
        return [group[number] for group in whole for number in sorted(group)]

    def _of_classes(self, columns: Mapping[str, Sequence[str]], taken: Collection[str]) -> list[str]:
        """Return the columns that are named by the classes in the column of labels, exactly or after a prefix."""
        classes = self.texts(columns["label"][0]) if columns["label"] else set()
        known = {name for names in NAMES.values() for name in names if not _NUMBERED.fullmatch(name)}
        free = [name for names in self.by_name.values() for name in names if name not in taken]
        for prefix in _PREFIXES if len(classes) > 1 else ():
            names = [name for name in free if name.strip().startswith(prefix) and name.strip().lower() not in known]
            if not classes <= {name.strip().removeprefix(prefix) for name in names}:
                continue
            numeric = [name for name in names if is_numeric(self.kind(name))]
            exact = [name for name in numeric if name.strip().removeprefix(prefix) in classes]
            return numeric if self._sum_to_one(numeric) else exact  # a class that is never true has a column too
        return []

    def _sum_to_one(self, names: Sequence[str]) -> bool:
        sums = sum(floats_in(parse_cells(plain(self.table[name]))) for name in names)
        return bool((np.abs(sums - 1) <= ROUNDED_SUM_TOLERANCE).all())

    def _is_one_of_several(self, name: str) -> bool:
        """Return whether a column is one of those of several classes by its number: prob_1 beside prob_2."""
        match = _NUMBERED.fullmatch(name.strip().lower())
        others = map(_NUMBERED.fullmatch, self.by_name)
        return match is not None and sum(other is not None and other[1] == match[1] for other in others) > 1

    def _may_be_lists(self, name: str) -> bool:
        """Return whether cells may hold several numbers each."""
        cell = first_of(self.table, name)
        return not is_numeric(self.kind(name)) and isinstance(row_of_numbers(cell), list)


def _class_in(name: str) -> str:
    """Return the class in the name of a column of its probabilities: "spam" of "p_spam", "0" of "prob_0"."""
    match = _NUMBERED.fullmatch(name.strip().lower())
    prefix = next((prefix for prefix in _PREFIXES if prefix and name.strip().startswith(prefix)), "")
    return match[2] if match else name.strip().removeprefix(prefix)


def _form_of(matching: _Matching, columns: Mapping[str, Sequence[str]], said: Collection[str]) -> str:
    """Return the form of input that the columns make up and that uses all that was said."""
    wanted = {role for role in said if role in _OF_FORMS}
    complete = [form for form, roles in FORMS.items() if all(columns[role] for role in roles)]
    fitting = [form for form in complete if wanted <= set(FORMS[form])]
    if "confidences" in fitting and not wanted and {"posteriors", "positive"} & set(fitting):
        names = f"confidence={columns['confidence'][0]} or label={columns['label'][0]}"
        raise FileError(matching.source, "two_forms", got=names, advice="name_one_role")
    if fitting:
        return fitting[0]
    raise _no_form(matching, columns, wanted)


def _no_form(matching: _Matching, columns: Mapping[str, Sequence[str]], wanted: set[str]) -> FileError:
    """Return the error about columns that make up no form: what is there, and what is not."""
    names = [name.strip() for name in matching.table.column_names]
    if all(re.fullmatch(r"-?[\d.,]+|Unnamed: .*|[{\[].*", name) for name in names):
        return FileError(matching.source, "no_header", got=", ".join(names[:_EXAMPLES]), advice="name_header")
    candidates = [set(roles) for roles in FORMS.values() if wanted <= set(roles) and (wanted or set(roles) & _FOUND)]
    if wanted and not candidates:
        return matching.error("roles_do_not_fit", roles=sorted(wanted))
    present = {role for role in _OF_FORMS if columns[role]}
    lacking = min((roles - present for roles in candidates), key=len)
    if len(lacking) == 1:
        (role,) = lacking
        has = [f"{known} = {name_of(columns[known])}" for known in sorted(present)]
        advice = "name_posteriors" if role in ("posteriors", "positive") else "name_role"
        return matching.error("one_role_missing", has=has, role=role, advice=advice, columns={role: "NAME"})
    return matching.error("roles_missing", advice="name_columns")
