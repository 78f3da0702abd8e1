"""How a file becomes arrays: the recipe, a record that is printed in one line, hashed, written as JSON and read back.

Columns have exact names, or the user names them. The line says what is read, and names what is not used.
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
# rows that decide a recipe; two columns of one role are compared in all rows that are in memory
HEAD = 10_000
NAMES = {  # a role -> the names of its columns, in lower case, preferred first; if there are none, the user names it
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
        "rows": "",  # no column: the path of the list of rows in a JSON document
        "skip": "",  # no column: rows to leave out
        "scale": "",  # no column: the scale of the confidences of one file or system
        "uncertainty": "",
        "cost": "",
    }.items()
}
FORMS = {  # a form of input, preferred first -> the roles that it needs, those of predictions and truth first
    "confidences": ("confidence", "correct"),
    "posteriors": ("posteriors", "label"),
    "positive": ("positive", "label"),
    "predicted": ("confidence", "label", "predicted"),
    "costs": ("uncertainty", "cost"),
}
CLASS_FORMS = ("posteriors", "positive")  # whose truth is a class
FORM_ROLES = {role for roles in FORMS.values() for role in roles}
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
# digits of ratings on the unit scale: 4.6 from 1 to 5 is 0.9, and not 0.8999999999999999
SHARE_DIGITS = 15
_SCALE_WORDS = {"log": "natural logarithms", "nll": "negative natural logarithms"}
FILE_ROLES = ("rows", "skip")  # roles that are no columns, but say which rows of a file are read
JOINED = (
    "system",
    "part",
    "id",
    "group",
    "stratum",
)  # roles of which several columns, joined by +, are one
SEVERAL = (*JOINED, "posteriors")
NUMBERED = re.compile(
    r"(probas?|probs?|p|posteriors?|logits?|probabilities|predictions|scores?)_?(\d+)"
)
# commas before a role, which are in no name of a column
_BEFORE_ROLES = re.compile(rf",(?=\s*(?:[^,=]*:)?\s*(?:{'|'.join(NAMES)})\s*=)")
# what may have been meant as a role, though it is none; no numbers, as in "right (1=yes, 0=no)"
OTHER_ROLES = re.compile(r",\s*([^\W\d]\w*)\s*=")
COLUMNS_SHOWN = 20
_FILES_SHOWN = 4
_DESCRIBED = {  # options in the line of a recipe, if they are not the default -> its field
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
# fields that change no number of the same rows
_IRRELEVANT_FIELDS = ("source", "format", "rows", "unused", "head", "skip", "system", "notes")


@dataclass(frozen=True, slots=True)
class Reading:
    """How the user wants a file to be read."""

    unlabelled: str | None = None
    labels: Sequence[str] | None = None
    correct_from: float | None = None
    scale: float | str = 1
    predictions_are: str | None = None
    right: str | None = None
    abstained: str | None = None  # the word in place of an answer
    are_verdicts: bool = (
        False  # correctness is a judge's: people label some answers in another file
    )
    # a role -> its column, or several joined by +
    columns: Mapping[str, str] = field(default_factory=dict)
    # a system side by side with others -> its own columns by role
    systems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InputError if there is no such role."""
        for columns in (self.columns, *self.systems.values()):
            for role in columns:
                require_role(role)

    def with_columns(self, columns: ColumnNames) -> Reading:
        """Return the reading with other columns, common and by system, and with the scale if that is among them."""
        require_mapping(columns)
        common = {role: name for role, name in columns.items() if isinstance(name, str)}
        systems = {name: own for name, own in columns.items() if not isinstance(own, str)}
        own_scale = common.pop("scale", None)
        scale = self.scale if own_scale is None else parse_scale(own_scale)
        return replace(self, columns=common, systems=systems, scale=scale)

    def of_file(self) -> dict[str, str]:
        """Return the columns of `FILE_ROLES`."""
        return {role: self.columns[role] for role in FILE_ROLES if role in self.columns}

    def override(self, other: Reading) -> Reading:
        """Return the reading with all that another one sets in place of its own."""
        values = {one.name: (getattr(other, one.name), one.default) for one in fields(self)[:-2]}
        changes = {name: value for name, (value, default) in values.items() if value != default}
        columns: dict[str, Any] = {
            **self.columns,
            **self.systems,
            **other.columns,
            **other.systems,
        }
        return replace(self, **changes).with_columns(columns)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a file, or a run, became arrays.

    Attributes
    ----------
    source, format : str
        The name of the file in errors, and its format.
    rows : int
        Number of rows.
    form : str
        A key of `FORMS`.
    columns : mapping of str to tuple of str
        The columns of each role that is used, e.g. ``{"confidence": ("1-error",), "id": ("question", "seed")}``.
    unused : tuple of (str, str)
        All other columns, with what they hold, e.g. ``("answer", "812 texts")``.
    head : int
        Number of first rows that decided it; 0 if all did.
    classes : tuple of str or None
        Names of the classes in the order of the posteriors; None if labels are their numbers.
    scale : float or str
        The number in the file that means a confidence of 1; "LOW:HIGH" for those that mean 0 and 1; "log" or "nll".
    correct_from, right, abstained, unlabelled : float, and str, or None
        The lowest right grade, the word for right, the word for an abstention, and the treatment of answers without a
        label.
    path : str
        Path of the list of rows in a JSON document.
    skip : str
        The rows that were left out: numbers or "copies", joined by +.
    tasks, filter, length : str
        What was read of the run of an evaluation tool.
    system : str
        Name of the system, if several stand side by side in the columns of one table.
    notes : tuple of Note
        Notes on the rows that decided it.

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
        """The columns of the predictions: confidences, posteriors, probabilities of class 1, or uncertainties."""
        return self.columns[FORMS[self.form][0]]

    @property
    def truth(self) -> str:
        """The column of correctness, true classes, costs or numbers of wrong answers."""
        return self.columns[FORMS[self.form][1]][0]

    @property
    def systems(self) -> tuple[str, ...]:
        """The columns whose values, joined by a space, name the system of a row."""
        columns = [*self.of("system"), *self.of("part")]
        return tuple(dict.fromkeys(columns))

    @property
    def parts(self) -> tuple[str, ...]:
        """Those of `systems` whose values name a part of the data.

        Without columns of systems, a column of parts with a name such as "model" is one of systems.
        """
        if self.of("system"):
            return tuple(name for name in self.of("part") if name not in self.of("system"))
        return tuple(
            name for name in self.of("part") if name.strip().lower() not in NAMES["system"]
        )

    def of(self, role: str) -> tuple[str, ...]:
        """Return the columns of a role, none, one or several."""
        return self.columns.get(role, ())

    def __str__(self) -> str:
        return describe_recipes([self])[0]

    def describe(self) -> str:
        """Return the line of the recipe without the file and its number of rows."""
        of_system = f"{self.system}: " if self.system else ""
        used = [
            f"{self._title(role)} = {format_names(names)}"
            for role, names in self.columns.items()
            if not self._is_of_reader(role)
        ]
        options = [f"{name} = {_SCALE_WORDS.get(value, value)}" for name, value in self._options()]
        unused = [f"{name} ({what})" for name, what in self.unused[:COLUMNS_SHOWN]]
        if len(self.unused) > COLUMNS_SHOWN:
            unused.append(f"and {len(self.unused) - COLUMNS_SHOWN:,} others")
        by_head = f", by the first {self.head:,} rows" if self.head else ""
        not_used = f"not used{by_head}: {', '.join(unused)}" if unused else ""
        parts = [of_system + ", ".join(used), ", ".join(options), not_used]
        return "; ".join(filter(None, parts))

    @property
    def has_mappings(self) -> bool:
        """Whether posteriors are mappings of classes to probabilities in one column."""
        is_one = self.form == "posteriors" and len(self.predictions) == 1
        return is_one and self.classes is not None

    @property
    def are_by_place(self) -> bool:
        """Whether posteriors are of classes 0, 1, .. by the order of columns, and not by the numbers in their names."""
        numbers = [NUMBERED.fullmatch(name.strip().lower()) for name in self.predictions]
        places = [match and int(match[2]) for match in numbers]
        return self.classes is None and len(places) > 1 and places != list(range(len(places)))

    def _is_of_reader(self, role: str) -> bool:
        """Return whether the columns of a role are those that the reader of a run makes."""
        first = self.columns[role][0]
        return self.format == "run" and (first == role or first.startswith("choice_"))

    def _title(self, role: str) -> str:
        """Return what a line calls the columns of a role: for probabilities the classes they are of, P(1)."""
        if role == "positive":
            return f"P({(self.classes or ('0', '1'))[1]})"
        if role == "posteriors" and self.are_by_place:
            return format_names([f"P({place})" for place in range(len(self.predictions))])
        return role

    def _options(self) -> list[tuple[str, str]]:
        """Return the names and values of options that are not the default."""
        defaults = {field.name: field.default for field in fields(self)}
        values = {name: getattr(self, field) for name, field in _DESCRIBED.items()}
        return [
            (name, _format_option(value))
            for name, value in values.items()
            if value != defaults[_DESCRIBED[name]]
        ]

    def rules(self) -> tuple[tuple[str, str], ...]:
        """Return names and values of all but columns that changes numbers; not the treatment of unlabelled answers."""
        complements = [
            (role, "complement")
            for role, names in self.columns.items()
            if any(map(complemented_column, names))
        ]
        options = (rule for rule in self._options() if rule[0] != "unlabelled")
        return (*complements, *options)

    def without(self, columns: Collection[str]) -> Recipe:
        """Return the recipe with these columns, which another system uses, no longer among the unused ones."""
        names = set(map(source_column, columns))
        unused = tuple(one for one in self.unused if one[0] not in names)
        return replace(self, unused=unused)

    def digest(self) -> str:
        """Return a short hash of all fields that change numbers of the same rows."""
        names = [field.name for field in fields(self) if field.name not in _IRRELEVANT_FIELDS]
        values = {name: getattr(self, name) for name in names}
        text = json.dumps(values, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def to_fields(self) -> dict[str, Any]:
        """Return the fields for JSON, see `from_fields`."""
        return {name: value for name, value in asdict(self).items() if name != "notes"}

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> Recipe:
        """Return the recipe from what `to_fields` returned, maybe through JSON."""
        known = {name: value for name, value in fields.items() if name != "digest"}
        known["columns"] = {role: tuple(names) for role, names in fields["columns"].items()}
        known["unused"] = tuple(map(tuple, fields["unused"]))
        known["classes"] = None if fields["classes"] is None else tuple(fields["classes"])
        return cls(**known)

    def reading(self) -> Reading:
        """Return the reading by which another file is read in the same way."""
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


def require_mapping(columns: object) -> None:
    """Raise InputError if columns are not named by their roles."""
    names = columns.values() if isinstance(columns, Mapping) else [None]
    if not all(isinstance(name, str | Mapping) for name in names):
        rule = "must be a mapping of roles to names of columns, such as {{'confidence': 'p'}}"
        raise InputError("columns", rule, value=columns)


def require_role(role: str, advice: str = "") -> None:
    """Raise InputError if there is no such role."""
    if role not in NAMES:
        raise InputError("columns", "unknown_role", value=role, advice=advice, roles=list(NAMES))


def parse_pairs(text: str, argument: str) -> Iterator[tuple[str, str, str]]:
    """Yield file or system (or ""), role, and column from the syntax of `--columns`, see `errors.format_columns`.

    InputError on `argument` for other text.
    """
    of = ""
    for pair in filter(str.strip, _BEFORE_ROLES.split(text)):
        subject, equals, column = pair.partition("=")
        if not equals or not column.strip():
            raise InputError(argument, "wrong_pairs", value=pair)
        named, colon, role = subject.strip().rpartition(":")
        # roles from left to right, so that the first unknown one is named
        require_role(role)
        for one in OTHER_ROLES.findall(column):
            require_role(one, "rename_column")
        of = named if colon else of
        yield of, role, column.strip()


def parse_labels(text: str) -> list[str]:
    """Return the classes in a text of `--labels`, a line of CSV."""
    return next(csv.reader([text], skipinitialspace=True))


def recipes_to_json(recipes: Sequence[Recipe]) -> str:
    """Return one recipe, or those of systems side by side, as JSON."""
    records = [recipe.to_fields() for recipe in recipes]
    document = records if len(records) > 1 else records[0]
    return json.dumps(document, indent=2, ensure_ascii=False)


def distinct_fields(recipes: Iterable[Recipe]) -> list[dict[str, Any]]:
    """Return the fields of the distinct recipes, with their digests."""
    distinct: list[dict[str, Any]] = []
    for recipe in recipes:
        fields = {"digest": recipe.digest(), **recipe.to_fields()}
        if fields not in distinct:
            distinct.append(fields)
    return distinct


def _parse_recipes(text: str) -> list[Recipe]:
    """Return the recipes in JSON of `recipes_to_json`, or of a table of the command; InputError if there are none."""
    try:
        document = json.loads(text)
        records = document.get("recipes", [document]) if isinstance(document, dict) else document
        recipes = [Recipe.from_fields(record) for record in records]
    except (ValueError, KeyError, TypeError, AttributeError):
        recipes = []
    if not recipes:
        raise InputError("recipe", "no_recipe")
    return recipes


def parse_reading(text: str) -> Reading:
    """Return the reading by the recipe, or the recipes of systems side by side, in JSON; see `_parse_recipes`."""
    recipes = _parse_recipes(text)
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


def describe_recipes(recipes: Iterable[Recipe]) -> list[str]:
    """Return a line for each distinct description, with all files and tasks that it holds for."""
    sources: dict[str, dict[str, int]] = {}
    tasks: dict[str, dict[str, None]] = {}
    for recipe in recipes:
        description = replace(recipe, tasks="").describe()
        sources.setdefault(description, {})[recipe.source] = recipe.rows
        tasks.setdefault(description, {})[recipe.tasks] = None
    lines = []
    for description, files in sources.items():
        names = ", ".join(list(files)[:_FILES_SHOWN])
        count = len(files) - _FILES_SHOWN
        others = f" and {count:,} others" if count > 0 else ""
        of_tasks = ", ".join(filter(None, tasks[description]))
        parts = [f"{sum(files.values()):,} rows", of_tasks and f"tasks = {of_tasks}", description]
        lines.append(f"read {names}{others}: {'; '.join(filter(None, parts))}")
    return lines


def scale_limits(scale: float | str) -> tuple[float, float]:
    """Return the numbers that mean 0 and 1 on a scale, a number or "LOW:HIGH"; 0 and 1 for logarithms."""
    if scale in LOGARITHMS:
        return 0.0, 1.0
    low, colon, high = str(scale).partition(":")
    try:
        return (float(low), float(high)) if colon else (0.0, float(low))
    except ValueError:
        raise InputError("scale", "no_scale", value=scale) from None


def on_unit_scale(values: Any, scale: float | str) -> Any:
    """Return numbers on a scale, or an expression of a data frame, as numbers in [0, 1]."""
    if scale in LOGARITHMS:
        import numpy as np

        logarithms = values * LOGARITHMS[str(scale)]
        return logarithms.exp() if hasattr(values, "exp") else np.exp(logarithms)
    low, high = scale_limits(scale)
    shares = (values - low) / (high - low)
    return shares if low == 0 else shares.round(SHARE_DIGITS)


def parse_scale(text: str) -> float | str:
    """Return a scale from its text: a number, "LOW:HIGH", "log" or "nll"."""
    if text in LOGARITHMS:
        return text
    low, high = scale_limits(text)
    return f"{low:g}:{high:g}" if ":" in text else high


def complemented_column(name: str) -> str:
    """Return NAME of "1-NAME", and nothing of other names."""
    match = re.fullmatch(r"1\s*-\s*(.+)", name.strip())
    return match[1] if match else ""


def source_column(name: str) -> str:
    """Return NAME of "1-NAME", and other names unchanged."""
    return complemented_column(name) or name


def format_names(columns: Sequence[str]) -> str:
    """Return the names of columns in short, e.g. ``prob_0..prob_9``."""
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 2 else "+".join(columns)


def _format_option(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
