"""How the cells of a file become arrays: a record that is said in one line, hashed and taken back.

Names of columns are exact, or the user says them; whatever is read is said, and what is not used is named.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ..errors import InputError, Note

# a role -> its column, or a system -> its columns by role
ColumnNames = Mapping[str, str | Mapping[str, str]]
HEAD = 10_000  # rows that a recipe is resolved on, wherever they come from: memory, out of core or Spark
NAMES = {  # a role -> the names that it is known by, lower case, the first of which counts; without one it must be said
    role: tuple(names.split())
    for role, names in {
        "confidence": "confidence conf",
        "correct": "correct is_correct",
        "label": "y_true y_test true_label true_class gold_label label labels target targets label_ids",
        "predicted": "predicted prediction y_pred predicted_label predicted_class pred",
        "posteriors": "posteriors probabilities probs log_probabilities logits scores",
        "positive": "positive prob_1 p_1 proba_1 y_prob y_proba y_score prob proba",
        "system": "system model llm model_name",
        "id": "id question_id sample_id doc_id qid example_id item_id instance_id custom_id uid question idx index",
        "judge": "judge judge_correct judge_verdict",
        "audit_probability": "audit_probability",
        "abstained": "abstained is_abstained not_attempted is_not_attempted",
        "weight": "",
        "group": "",
        "stratum": "",
        "part": "",
        "rows": "",  # the list of rows in a JSON document, which is no column
        "skip": "",  # which rows are none of samples, by numbers or COLUMN=VALUE, which is no column either
        "scale": "",  # what 1 is in the confidences of one file or system, which is no column either
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
}
LAYOUTS = (  # what files may hold, for the help and the documentation: columns, what they are
    ("confidence, correct", "a system that answers: how sure it is, and 1 or 0"),
    (
        "label, prob_0, prob_1, ..",
        "a classifier: the true class, from 0, and the probability of each",
    ),
    (
        "label, cat, dog, ..",
        "the same, the columns named by the classes, or prob_cat, prob_dog, ..",
    ),
    ("label, posteriors", "the same, as lists, or as mappings of classes to probabilities"),
    ("label, prob", "two classes, 0 and 1: the probability of class 1"),
    ("label, predicted, confidence", "the class that was chosen, and how sure the classifier was"),
)

LOGARITHMS = {"log": 1.0, "nll": -1.0}  # scales of logarithms of probabilities -> their sign
SHARE_DIGITS = (
    15  # of a rating between its limits: 4.6 from 1 to 5 is 0.9, and not 0.8999999999999999
)
_IN_WORDS = {"log": "natural logarithms", "nll": "negative natural logarithms"}
OF_FILES = ("rows", "skip")  # roles that say which rows of a file are read, and are no columns
JOINED = ("system", "part", "id", "group", "stratum")  # several columns, joined by +, are one
SEVERAL = (*JOINED, "posteriors")
NUMBERED = re.compile(
    r"(probas?|probs?|p|posteriors?|logits?|probabilities|predictions|scores?)_?(\d+)"
)
# the commas that are in no column's name
_BEFORE_ROLES = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")
# what no role is may still have been meant as one, but for a number, as in "right (1=yes, 0=no)"
OTHER_ROLES = re.compile(r",\s*([^\W\d]\w*)\s*=")
COLUMNS_SHOWN = 20
_FILES_SHOWN = 4
_SAID = {  # what a line says of values, where it is not the default -> the field of the recipe
    "classes": "classes",
    "scale": "scale",
    "correct_from": "correct_from",
    "right": "right",
    "abstained": "abstained",
    "unlabelled": "unlabelled",
    "rows": "path",
    "skip": "skip",
    "tasks": "tasks",
    "filter": "filter",
    "choice_length": "length",
}
# fields on which no number of the same rows depends
_NOT_OF_NUMBERS = ("source", "format", "rows", "unused", "head", "skip", "system", "notes")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says of a file."""

    unlabelled: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float | str = 1
    predictions_are: str | None = None
    right: str | None = None
    abstained: str | None = None  # the word in place of an answer
    are_verdicts: bool = (
        False  # correctness is what a judge says: people label some answers elsewhere
    )
    # a role -> its column, several joined by +
    columns: Mapping[str, str] = field(default_factory=dict)
    # side by side -> columns of their own
    systems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InputError if there is no such role."""
        for columns in (self.columns, *self.systems.values()):
            for role in columns:
                require_role(role)

    def with_columns(self, columns: ColumnNames) -> Reading:
        """Return it with other columns, and the scale that stands among them; a mapping has those of a system."""
        common = {role: name for role, name in columns.items() if isinstance(name, str)}
        systems = {name: own for name, own in columns.items() if not isinstance(own, str)}
        said = common.pop("scale", None)
        scale = self.scale if said is None else scale_of(said)
        return replace(self, columns=common, systems=systems, scale=scale)

    def of_file(self) -> dict[str, str]:
        """Return what says which rows of a file are read, by its role."""
        return {role: self.columns[role] for role in OF_FILES if role in self.columns}

    def changed(self, said: Reading) -> Reading:
        """Return it with what was said instead of what was before."""
        values = {one.name: (getattr(said, one.name), one.default) for one in fields(self)[:-2]}
        changes = {name: value for name, (value, default) in values.items() if value != default}
        columns: dict[str, Any] = {
            **self.columns,
            **self.systems,
            **said.columns,
            **said.systems,
        }
        return replace(self, **changes).with_columns(columns)


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
    head : int
        How many of the first rows that was told by, if not by all.
    classes : tuple of str or None
        Their names in the order of the posteriors; None where labels are their numbers.
    scale : float or str
        What a confidence of 1 is in the file, or "LOW:HIGH" for what 0 and 1 are.
    correct_from, right, abstained, unlabelled : float, and str, or None
        The lowest grade that is right, the word for right, that in place of an answer, and the rule for answers that
        are not judged.
    path : str
        Of the list of rows in a JSON document.
    skip : str
        The rows that were left out, by their numbers or COLUMN=VALUE, joined by +.
    tasks, filter, length : str
        What was read of a run of an evaluation tool.
    system : str
        The name of the system, of several side by side in the columns of one table.
    notes : tuple of Note
        What the rows that it was resolved on leave open, where they are not all in memory.

    Examples
    --------
    >>> columns = {"confidence": ("conf",), "correct": ("correct",)}
    >>> recipe = Recipe("long.csv", "csv", 900, "confidences", columns, (("seed", "3 values"),))
    >>> str(recipe)
    'read long.csv: 900 rows; confidence = conf, correct = correct; not used: seed (3 values)'
    >>> Recipe.from_fields(recipe.to_fields()) == recipe
    True
    """

    source: str
    format: str
    rows: int
    form: str
    columns: Mapping[str, tuple[str, ...]]
    unused: tuple[tuple[str, str], ...] = ()
    head: int = 0
    classes: tuple[str, ...] | None = None
    scale: float | str = 1
    correct_from: float | None = None
    right: str | None = None
    abstained: str | None = None
    unlabelled: str | None = None
    path: str = ""
    skip: str = ""
    tasks: str = ""
    filter: str = ""
    length: str = ""
    system: str = ""
    notes: tuple[Note, ...] = field(default=(), compare=False)

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
        columns = [*self.of("system"), *self.of("part")]
        return tuple(dict.fromkeys(columns))

    @property
    def parts(self) -> tuple[str, ...]:
        """Those of them whose values name a part of the data: not one that is called as the only column of systems."""
        if self.of("system"):
            return tuple(name for name in self.of("part") if name not in self.of("system"))
        return tuple(
            name for name in self.of("part") if name.strip().lower() not in NAMES["system"]
        )

    def of(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role: none, one, or several."""
        return self.columns.get(role, ())

    def __str__(self) -> str:
        return lines_of([self])[0]

    def said(self) -> str:
        """Return what is read and what is not, without the file's name and size."""
        of_system = f"{self.system}: " if self.system else ""
        used = [
            f"{self._title(role)} = {name_of(names)}"
            for role, names in self.columns.items()
            if not self._is_of_reader(role)
        ]
        options = [f"{name} = {_IN_WORDS.get(value, value)}" for name, value in self._options()]
        unused = [f"{name} ({what})" for name, what in self.unused[:COLUMNS_SHOWN]]
        if len(self.unused) > COLUMNS_SHOWN:
            unused.append(f"and {len(self.unused) - COLUMNS_SHOWN:,} others")
        by_head = f", by the first {self.head:,} rows" if self.head else ""
        not_used = f"not used{by_head}: {', '.join(unused)}" if unused else ""
        parts = [of_system + ", ".join(used), ", ".join(options), not_used]
        return "; ".join(filter(None, parts))

    @property
    def is_of_mappings(self) -> bool:
        """Whether cells of posteriors name the classes."""
        is_one = self.form == "posteriors" and len(self.predictions) == 1
        return is_one and self.classes is not None

    @property
    def are_by_place(self) -> bool:
        """Whether columns of posteriors are of classes 0, 1, .. by their places alone."""
        numbers = [NUMBERED.fullmatch(name.strip().lower()) for name in self.predictions]
        places = [match and int(match[2]) for match in numbers]
        return self.classes is None and len(places) > 1 and places != list(range(len(places)))

    def _is_of_reader(self, role: str) -> bool:
        """Return whether the columns of a role are those that the reader of a run makes."""
        first = self.columns[role][0]
        return self.format == "run" and (first == role or first.startswith("choice_"))

    def _title(self, role: str) -> str:
        """Return what a line calls the columns of a role, with the classes that probabilities are of."""
        if role == "positive":
            return f"P({(self.classes or ('0', '1'))[1]})"
        if role == "posteriors" and self.are_by_place:
            return name_of([f"P({place})" for place in range(len(self.predictions))])
        return role

    def _options(self) -> list[tuple[str, str]]:
        """Return what was said of the values, where it is not the default."""
        defaults = {field.name: field.default for field in fields(self)}
        values = {name: getattr(self, field) for name, field in _SAID.items()}
        return [
            (name, _text_of(value))
            for name, value in values.items()
            if value != defaults[_SAID[name]]
        ]

    def rules(self) -> tuple[tuple[str, str], ...]:
        """Return names and values of all that changes numbers, given the same columns, but for unlabelled answers."""
        complements = [
            (role, "complement")
            for role, names in self.columns.items()
            if any(map(complement_of, names))
        ]
        options = (rule for rule in self._options() if rule[0] != "unlabelled")
        return (*complements, *options)

    def without(self, columns: Collection[str]) -> Recipe:
        """Return it without columns that another system uses among those that are not used."""
        names = set(map(column_in, columns))
        unused = tuple(one for one in self.unused if one[0] not in names)
        return replace(self, unused=unused)

    def digest(self) -> str:
        """Return a short hash of all that the numbers depend on, but for the rows themselves."""
        names = [field.name for field in fields(self) if field.name not in _NOT_OF_NUMBERS]
        values = {name: getattr(self, name) for name in names}
        text = json.dumps(values, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def to_fields(self) -> dict[str, Any]:
        """Return what JSON has of it, which `from_fields` takes."""
        return {name: value for name, value in asdict(self).items() if name != "notes"}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Recipe:
        """Return the record of what JSON has of it."""
        known = {name: value for name, value in fields.items() if name != "digest"}
        known["columns"] = {role: tuple(names) for role, names in fields["columns"].items()}
        known["unused"] = tuple(map(tuple, fields["unused"]))
        known["classes"] = None if fields["classes"] is None else tuple(fields["classes"])
        return cls(**known)

    def reading(self) -> Reading:
        """Return what a user would have to say to read another file in the same way."""
        columns = {role: "+".join(names) for role, names in self.columns.items()}
        if self.path:
            columns["rows"] = self.path
        return Reading(
            unlabelled=self.unlabelled,
            labels=self.classes,
            correct_from=self.correct_from,
            scale=self.scale,
            right=self.right,
            abstained=self.abstained,
            columns=columns,
        )


def require_role(role: str, advice: str = "") -> None:
    """Raise InputError if there is no such role."""
    if role not in NAMES:
        raise InputError("columns", "unknown_role", value=role, advice=advice, roles=list(NAMES))


def pairs_in(text: str, argument: str) -> Iterator[tuple[str, str, str]]:
    """Yield the pairs of a text: of which file or system, or of all, a role, and its column; see `pairs_of`.

    InputError on the argument that has this text, if it is no such list.
    """
    of = ""
    for pair in filter(str.strip, _BEFORE_ROLES.split(text)):
        subject, equals, column = pair.partition("=")
        if not equals or not column.strip():
            raise InputError(argument, "wrong_pairs", value=pair)
        named, colon, role = subject.strip().rpartition(":")
        # in the order in which they stand, also of those that separate nothing: a=NAME,b=NAME
        require_role(role)
        for one in OTHER_ROLES.findall(column):
            require_role(one, "rename_column")
        of = named if colon else of
        yield of, role, column.strip()


def labels_in(text: str) -> list[str]:
    """Return the classes of a text as `--labels` takes it, a line of CSV."""
    return next(csv.reader([text], skipinitialspace=True))


def json_of(recipes: Sequence[Recipe]) -> str:
    """Return one record, or those of systems side by side, as JSON."""
    records = [recipe.to_fields() for recipe in recipes]
    document = records if len(records) > 1 else records[0]
    return json.dumps(document, indent=2, ensure_ascii=False)


def distinct_fields(recipes: Iterable[Recipe]) -> list[dict[str, Any]]:
    """Return the fields of records that differ, with their digests."""
    distinct: list[dict[str, Any]] = []
    for recipe in recipes:
        fields = {"digest": recipe.digest(), **recipe.to_fields()}
        if fields not in distinct:
            distinct.append(fields)
    return distinct


def _recipes_in(text: str) -> list[Recipe]:
    """Return the recipes in JSON; InputError if it has none."""
    try:
        document = json.loads(text)
        records = document.get("recipes", [document]) if isinstance(document, dict) else document
        recipes = [Recipe.from_fields(record) for record in records]
    except (ValueError, KeyError, TypeError, AttributeError):
        recipes = []
    if not recipes:
        raise InputError("recipe", "no_recipe")
    return recipes


def reading_in(text: str) -> Reading:
    """Return what the JSON of `json_of` says of a file, or that of a table that the command wrote."""
    recipes = _recipes_in(text)
    if len(recipes) > 1 and not all(recipe.system for recipe in recipes):
        raise InputError(
            "recipe", "several_recipes", got=", ".join(recipe.source for recipe in recipes)
        )
    first = recipes[0].reading()
    if not recipes[0].system:
        return first
    return first.with_columns(
        {
            recipe.system: {**recipe.reading().columns, "scale": str(recipe.scale)}
            for recipe in recipes
        }
    )


def lines_of(recipes: Iterable[Recipe]) -> list[str]:
    """Return a line for each way of reading, with all files and tasks that are read so."""
    sources: dict[str, dict[str, int]] = {}
    tasks: dict[str, dict[str, None]] = {}
    for recipe in recipes:
        said = replace(recipe, tasks="").said()
        sources.setdefault(said, {})[recipe.source] = recipe.rows
        tasks.setdefault(said, {})[recipe.tasks] = None
    lines = []
    for said, files in sources.items():
        names = ", ".join(list(files)[:_FILES_SHOWN])
        count = len(files) - _FILES_SHOWN
        others = f" and {count:,} others" if count > 0 else ""
        of_tasks = ", ".join(filter(None, tasks[said]))
        parts = [f"{sum(files.values()):,} rows", of_tasks and f"tasks = {of_tasks}", said]
        lines.append(f"read {names}{others}: {'; '.join(filter(None, parts))}")
    return lines


def limits_of(scale: float | str) -> tuple[float, float]:
    """Return what 0 and 1 are on a scale, a number or "LOW:HIGH"; of logarithms, what they are of."""
    if scale in LOGARITHMS:
        return 0.0, 1.0
    low, colon, high = str(scale).partition(":")
    try:
        return (float(low), float(high)) if colon else (0.0, float(low))
    except ValueError:
        raise InputError("scale", "no_scale", value=scale) from None


def on_unit_scale(values: Any, scale: float | str) -> Any:
    """Return numbers, or an expression of them, with what 0 and 1 are on a scale at 0 and 1."""
    if scale in LOGARITHMS:
        import numpy as np

        logarithms = values * LOGARITHMS[str(scale)]
        return logarithms.exp() if hasattr(values, "exp") else np.exp(logarithms)
    low, high = limits_of(scale)
    shares = (values - low) / (high - low)
    return shares if low == 0 else shares.round(SHARE_DIGITS)


def scale_of(text: str) -> float | str:
    """Return the number that a scale is, or "LOW:HIGH", "log" or "nll"."""
    if text in LOGARITHMS:
        return text
    low, high = limits_of(text)
    return f"{low:g}:{high:g}" if ":" in text else high


def holds_numbers(name: str) -> bool:
    """Return whether a column is one of numbers by its name: confidences, probabilities, correctness."""
    name = name.strip().lower()
    names = (*NAMES["confidence"], *NAMES["correct"], *NAMES["positive"])
    return name in names or NUMBERED.fullmatch(name) is not None


def complement_of(name: str) -> str:
    """Return the column of which "1-NAME" is the complement, or nothing."""
    match = re.fullmatch(r"1\s*-\s*(.+)", name.strip())
    return match[1] if match else ""


def column_in(name: str) -> str:
    """Return the column that a name is of: of "1-NAME" it is NAME."""
    return complement_of(name) or name


def name_of(columns: Sequence[str]) -> str:
    """Return columns in the words of a line, e.g. ``prob_0..prob_9``."""
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 2 else "+".join(columns)


def _text_of(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
