"""What is in which column of a file: the roles of columns, and the names they are known by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from ..errors import FileAdvice, FileError, InputError, Note
from ..inputs import ROUNDED_SUM_TOLERANCE
from .values import as_text

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = {  # the role of a column -> the names it is known by, lower case
    "confidence": ("confidence", "confidences", "conf", "q_e"),
    "correct": ("correct", "is_correct", "correctness"),
    "label": (
        *("label", "labels", "target", "true_label", "y_true", "label_ids", "true_class", "gold_label", "true"),
        *("actual", "truth", "ground_truth", "gold", "references"),
    ),
    "predicted": ("predicted", "prediction", "pred", "y_pred", "predicted_label", "predicted_class", "pred_label"),
    "posteriors": ("posteriors", "probabilities", "probs", "logits", "log_probabilities", "scores"),
    "positive": ("positive", "prob", "proba", "y_prob", "y_proba", "y_score", "prob_positive", "p_positive"),
    "system": ("system", "model"),
    "id": ("id", "question_id", "sample_id", "doc_id", "qid", "example_id", "item_id", "instance_id"),
    "weight": (),
    "group": (),
    "stratum": ("stratum",),
    "part": (),
}
FORMS = {  # a form of input -> the roles of its predictions and its truth, and what else it needs
    "confidences": ("confidence", "correct"),
    "posteriors": ("posteriors", "label"),
    "positive": ("positive", "label"),
    "predicted": ("confidence", "label", "predicted"),
    "costs": ("uncertainty", "cost"),
    "counts": ("confidence", "wrong", "count"),
}
GIVEN_ONLY = ("count", "wrong", "uncertainty", "cost")  # roles of columns that no name tells
OPTIONAL = ("system", "part", "id", "weight", "group", "stratum")
IDS_IF_UNIQUE = ("index", "idx", "question")  # an id where no other column is, and no value is there twice
LACKING = {  # a role that a file has -> what is not there beside it
    "correct": "no confidence",
    "confidence": "nothing says which answers are correct: neither correct, nor label and predicted",
    "label": "no probabilities, and no confidence of what was predicted",
    "posteriors": "no label",
    "positive": "no label",
}
ARE_TEXT = ("system", "id", "group", "stratum", "part")
PREFIX = (
    "(probs?|proba|p|probability|probabilities|posteriors?|logits?|scores?|predictions|y_prob|y_proba|y_score|"
    "log_probs?|log_probabilities)"
)
POSTERIOR_COLUMN = re.compile(rf"{PREFIX}_?(\d+)")
CLASS_COLUMN = re.compile(rf"{PREFIX}_(.+)", flags=re.IGNORECASE)
ONE_SYSTEM = re.compile(r"(?i)(?P<system>.+)[ _.-](?P<role>confidence|conf|correct|is_correct)")
Columns = Mapping[str, Sequence[str]]  # role -> its columns: none, one, or several


class Roles(NamedTuple):
    """Which columns of a table are read, and as what.

    Attributes
    ----------
    form : {"confidences", "posteriors", "positive", "predicted", "costs", "counts"}
        What the columns are together; see `FORMS`.
    used : dict of str to tuple of str
        A role to its columns: none, one, or several, as posteriors of all classes or confidences of several systems.
    notes : tuple of Note
        What a reader must know, e.g. a column of weights that is not used.
    """

    form: str
    used: Mapping[str, Sequence[str]]
    notes: tuple[Note, ...] = ()

    @property
    def predictions(self) -> tuple[str, ...]:
        """Columns of confidences, posteriors, the probability of class 1, or uncertainties."""
        return tuple(self.used[FORMS[self.form][0]])

    @property
    def references(self) -> tuple[str, ...]:
        """The column of the truth; several where several systems have columns of their own."""
        return tuple(self.used[FORMS[self.form][1]])

    @property
    def systems(self) -> tuple[str, ...]:
        """Columns whose values name the system of a row, joined by a space."""
        return tuple(dict.fromkeys([*self.used["system"], *self.used["part"]]))

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        named = [*self.predictions, *self.references, *(c for role in OPTIONAL for c in self.used[role])]
        return list(dict.fromkeys(named + [c for role in FORMS[self.form][2:] for c in self.used[role]]))


def match_columns(
    schema: pa.Schema,
    given: Mapping[str, str] | None = None,
    *,
    source: str,
    rows: pa.Table | None = None,
    out_of_core: bool = False,
) -> Roles:
    """Return which columns of tables with a schema are read, and as what: for memory, out of core and Spark.

    Parameters
    ----------
    schema : pyarrow.Schema
        Names and types.
    given : mapping of str to str, optional
        The role of a column (a key of `NAMES`) to its name, where its name does not say.
    source : str
        What to call the table in errors.
    rows : pyarrow.Table, optional
        Some rows, or all: their values say what names leave open, as the classes that columns are named by.
    out_of_core : bool, default False
        Whether to refuse what needs all rows at once, with advice that works.

    Raises
    ------
    InputError
        If `given` has an unknown role.
    FileError
        If there is no such column, none that says what the rows are, or two for one role.
    """
    given = dict(given or {})
    frame = (schema.empty_table() if rows is None else rows).to_pandas()
    own = {role: given.pop(role) for role in GIVEN_ONLY if role in given}
    used = find_columns(frame, given, source) | {role: [] for role in GIVEN_ONLY}
    for role, name in own.items():
        used[role] = [name]
        if name not in schema.names:
            raise FileError(source, f"there is no column {name!r}; found {_listed(frame)}")
    form = "costs" if "uncertainty" in own else "counts" if "count" in own else form_of(frame, used, given, source)
    if out_of_core and form == "predicted":
        raise FileError(source, "a predicted and a true class are not compared out of core; write a column correct")
    roles = Roles(form, used)
    if out_of_core and form != "posteriors" and len(roles.predictions) > 1:
        rule = f"there must be one column of {form}; found {', '.join(roles.predictions)}"
        raise FileError(source, rule, advice=FileAdvice.SAY_WHICH)
    return roles


def text_columns(columns: Mapping[str, str] | None = None) -> set[str]:
    """Return the names of columns that hold names and ids, and must be read as text.

    Parameters
    ----------
    columns : mapping, optional
        See `read_submissions`.

    Returns
    -------
    set of str
        In lower case.

    Examples
    --------
    >>> "question" in text_columns({"id": "Question"}), "id" in text_columns(), "confidence" in text_columns()
    (True, True, False)
    """
    given = columns or {}
    named = {name for role in ARE_TEXT for name in (*NAMES[role], *given.get(role, "").strip().lower().split("+"))}
    return named | set(IDS_IF_UNIQUE)


def find_columns(frame: pd.DataFrame, given: Mapping[str, str], file: str) -> dict[str, list[str]]:
    """Return the columns of each role of `NAMES`.

    Parameters
    ----------
    frame : DataFrame
    given : mapping of str to str
        Role to name, where the name in the file does not say; see `read_submissions`.
    file : str
        For errors.

    Returns
    -------
    dict of str to list of str
        No column, one, or several. Posteriors are in the order of their numbers, or as they stand where they are
        named by classes; several confidences are those of as many systems.

    Raises
    ------
    InputError
        If `given` has an unknown role.
    FileError
        If it names a column that the frame does not have; or if two columns are known by the names of one role.

    Examples
    --------
    >>> used = find_columns(pd.DataFrame(columns=["p_1", "p_0", "Label"]), {}, "a.csv")
    >>> used["posteriors"], used["label"], used["id"]
    (['p_0', 'p_1'], ['Label'], [])
    """
    unknown = [role for role in given if role not in NAMES]
    if unknown:
        raise InputError("columns", f"must be among {', '.join(NAMES)}", value=unknown[0])
    by_name = _by_name(frame)
    used: dict[str, list[str]] = {}
    for role, names in NAMES.items():
        if role in given:
            used[role] = _all_named(given[role], role, by_name, frame, file)
        else:
            found = [name for known in names for name in by_name.get(known, [])]
            used[role] = [name for name in found if role != "posteriors" or _may_be_rows(frame[name])]
            if role not in ("label", "predicted"):
                _only(used[role], role, file)
    is_judged = bool(used["confidence"] and used["correct"])
    if len(used["label"]) > 1 and "label" not in given:  # which matters only where it is needed
        is_needed = used["posteriors"] or used["positive"] or _numbered(by_name) or not is_judged
        used["label"] = _only(used["label"], "label", file) if is_needed else []
    if not used["id"] and "id" not in given:
        used["id"] = [name for known in IDS_IF_UNIQUE for name in by_name.get(known, []) if frame[name].is_unique][:1]
    if not used["posteriors"] and not (used["positive"] and "positive" in given):
        numbered = _numbered(by_name)
        used["posteriors"] = _from_zero(numbered, file) or _columns_of_classes(frame, used)
        if not used["posteriors"] and not used["positive"]:
            used["positive"] = _of_one_class(numbered, frame, used)
        if not used["posteriors"] and not used["positive"]:
            _refuse_gaps(numbered, file)
    if len(used["predicted"]) > 1 and "predicted" not in given:
        has_form = is_judged or used["posteriors"] or used["positive"] or not used["confidence"] or not used["label"]
        used["predicted"] = [] if has_form else _only(used["predicted"], "predicted", file)
    if not used["confidence"] and not used["correct"] and not used["label"]:
        used |= _columns_of_systems(frame)
    return used


def form_of(frame: pd.DataFrame, used: Columns, given: Mapping[str, str], file: str) -> str:
    """Return the form of input that there are columns of.

    Parameters
    ----------
    frame : DataFrame
    used : mapping of str to sequence of str
        Of `find_columns`.
    given : mapping of str to str
        What settles which form is meant where there are columns of two.
    file : str

    Returns
    -------
    {"confidences", "posteriors", "positive", "predicted"}

    Raises
    ------
    FileError
        If there are columns of no form, or of two.
    """
    found = [form for form, roles in FORMS.items() if all(used.get(role) for role in roles)]
    if "predicted" in given and "predicted" in found:
        return "predicted"
    found = [form for form in found if form != "positive" or "posteriors" not in found]
    found = [form for form in found if form != "predicted"] or found
    told = [form for form in found if set(FORMS[form]) & set(given)]
    if len(found) > 1 and len(told) != 1:
        rule = f"holds confidences and posteriors: {_choice('confidence', used)} or {_choice('label', used)}"
        raise FileError(file, rule, advice=FileAdvice.SAY_WHICH)
    if not found:
        raise _no_form(frame, used, file)
    return told[0] if told else found[0]


def class_of(column: str) -> str:
    """Return the class that a column of posteriors is named by.

    Examples
    --------
    >>> class_of("prob_cat"), class_of("cat")
    ('cat', 'cat')
    """
    match = CLASS_COLUMN.fullmatch(column.strip())
    return match[2].strip() if match else column.strip()


def are_numbered(columns: Sequence[str]) -> bool:
    """Return whether columns of posteriors are numbered from 0, in this order."""
    matches = [re.fullmatch(r"(.*?)_?(\d+)", name.strip().lower()) for name in columns]
    found = [(match[1], int(match[2])) for match in matches if match]
    return found == [(found[0][0] if found else "", k) for k in range(len(columns))]


def class_told(column: str) -> str:
    """Return the class that a column's name says it is the probability of, or nothing.

    Examples
    --------
    >>> class_told("p_spam"), class_told("prob_0"), class_told("y_prob")
    ('spam', '0', '')
    """
    match = POSTERIOR_COLUMN.fullmatch(column.strip().lower()) or CLASS_COLUMN.fullmatch(column.strip())
    return match[2].strip() if match else ""


def system_of(column: str) -> str:
    """Return the system that a column of confidences is named by.

    Examples
    --------
    >>> system_of("GPT-4_confidence"), system_of("GPT-4")
    ('GPT-4', 'GPT-4')
    """
    match = ONE_SYSTEM.fullmatch(column.strip())
    return match["system"] if match else column.strip()


def with_nested(frame: pd.DataFrame, given: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with columns for the dotted names that were given, such as ``doc.gold_index`` or ``scores.0``.

    Examples
    --------
    >>> with_nested(pd.DataFrame({"doc": [{"gold": 1}]}), {"label": "doc.gold"})["doc.gold"].tolist()
    [1]
    """
    parts = [part for text in given.values() if text not in frame.columns for part in text.split("+")]
    for name in parts:
        first, _, rest = name.strip().partition(".")
        if rest and name.strip() not in frame.columns and first in frame.columns:
            values = [_inside(value, rest.split(".")) for value in frame[first]]
            if any(value is not None for value in values):
                frame = frame.assign(**{name.strip(): pd.Series(values, index=frame.index)})
    return frame


def _inside(value: object, path: Sequence[str]) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | np.ndarray) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _no_form(frame: pd.DataFrame, used: Columns, file: str) -> FileError:
    names = [str(name).strip() for name in frame.columns]
    advice: str = FileAdvice.NAME_COLUMNS
    are_values = any(re.fullmatch(r"-?\d*[.,]\d+([eE][+-]?\d+)?", name) for name in names)
    if (are_values or all(re.fullmatch(r"\d+|Unnamed: .*", name) for name in names)) and not used["label"]:
        advice = FileAdvice.NAME_HEADER
    elif any(name.startswith(("{", "[")) for name in names):
        advice = FileAdvice.NAME_FILE
    rule = "there must be columns confidence and correct, or label and prob_0, prob_1, .."
    has = [f"{name!r} for {role}" for role in LACKING for name in used[role][:1]]
    rule = f"has {' and '.join(has)}, but {LACKING[_first(used)]}" if has else rule
    return FileError(file, f"{rule}; found {_listed(frame)}", advice=advice)


def _first(used: Columns) -> str:
    return next(role for role in LACKING if used[role])


def _choice(role: str, used: Columns) -> str:
    return f"{role}={used[role][0]}"


def _by_name(frame: pd.DataFrame) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for name in frame.columns:
        by_name.setdefault(name.strip().lower(), []).append(name)
    return by_name


def _all_named(text: str, role: str, by_name: Mapping[str, list[str]], frame: pd.DataFrame, file: str) -> list[str]:
    """Return the columns that a text names: one, several joined by +, or those numbered after it."""
    whole = text.strip()
    if whole in frame.columns or whole.lower() in by_name:
        return [_named(whole, by_name, frame, file)]
    if role == "posteriors" and (numbered := [name for name in frame.columns if _is_numbered(name, whole)]):
        return sorted(numbered, key=lambda name: int(re.search(r"\d+$", name)[0]))  # type: ignore[index]
    return [_named(part.strip(), by_name, frame, file) for part in whole.split("+")]


def _is_numbered(name: str, prefix: str) -> bool:
    return re.fullmatch(rf"{re.escape(prefix.rstrip('_'))}_?\d+", name, flags=re.IGNORECASE) is not None


def _named(part: str, by_name: Mapping[str, list[str]], frame: pd.DataFrame, file: str) -> str:
    if part in frame.columns:
        return part
    found = by_name.get(part.strip().lower(), [])
    if not found:
        raise FileError(file, f"there is no column {part!r}; found {_listed(frame)}")
    return _only(found, part, file)[0]


def _only(found: list[str], role: str, file: str) -> list[str]:
    if len(found) > 1:
        both = f"{role}={found[0]} or {role}={found[1]}"
        rule = f"columns {found[0]!r} and {found[1]!r} may both be the {role}: {both}"
        raise FileError(file, rule, advice=FileAdvice.SAY_WHICH)
    return found


def _may_be_rows(cells: pd.Series) -> bool:
    """Return whether cells may hold several numbers each: not one number, and not the scores of several graders."""
    if pd.api.types.is_numeric_dtype(cells):
        return False
    if not len(cells):  # of a schema alone
        return True
    cell = cells.iloc[0]
    return not isinstance(cell, Mapping) or not any(isinstance(part, Mapping) for part in cell.values())


def _numbered(by_name: Mapping[str, list[str]]) -> dict[str, dict[int, str]]:
    """Return the columns of each prefix that are numbered, by their numbers."""
    numbered: dict[str, dict[int, str]] = {}
    for name, columns in by_name.items():
        if match := POSTERIOR_COLUMN.fullmatch(name):
            numbered.setdefault(match[1], {})[int(match[2])] = columns[0]
    return numbered


def _from_zero(numbered: Mapping[str, Mapping[int, str]], file: str) -> list[str]:
    """Return the columns that are numbered from 0 without a gap, of the one prefix that has such."""
    whole = {prefix: group for prefix, group in numbered.items() if sorted(group) == list(range(len(group)))}
    whole = {prefix: group for prefix, group in whole.items() if len(group) > 1}
    if len(whole) > 1:
        one, two, *_ = whole
        rule = f"columns {one}_.. and {two}_.. may both be the posteriors: posteriors={one} or posteriors={two}"
        raise FileError(file, rule, advice=FileAdvice.SAY_WHICH)
    return [group[k] for group in whole.values() for k in sorted(group)]


def _of_one_class(numbered: Mapping[str, Mapping[int, str]], frame: pd.DataFrame, used: Columns) -> list[str]:
    """Return the one column with the probability of one of two classes, which its name says."""
    found = [column for group in numbered.values() if list(group) in ([0], [1]) for column in group.values()]
    classes = _classes(frame, used)
    if not found and len(classes) == 2:
        found = [name for name in frame.columns if class_told(name) in classes]
    return found if len(found) == 1 else []


def _classes(frame: pd.DataFrame, used: Columns) -> set[str]:
    if len(used["label"]) != 1:
        return set()
    cells = frame[used["label"][0]]
    cells = cells.dropna().astype(str) if pd.api.types.is_object_dtype(cells) else cells
    return {as_text(value) for value in pd.Series(cells.unique()).dropna()}


def _refuse_gaps(numbered: Mapping[str, Mapping[int, str]], file: str) -> None:
    for prefix, group in numbered.items():
        ordered = ", ".join(group[k] for k in sorted(group)[:20])
        rule = "columns of posteriors must be numbered from 0 without a gap"
        rule += f", {prefix}_0 to {prefix}_{max(1, len(group) - 1)}; found {ordered}"
        raise FileError(file, rule, advice=FileAdvice.NO_POSTERIORS)


def _columns_of_classes(frame: pd.DataFrame, used: Columns) -> list[str]:
    """Return the columns that are named by the classes in the column of labels, with or without a prefix."""
    classes = _classes(frame, used)
    if not classes:
        return []
    taken = {name for names in used.values() for name in names}
    named: dict[str, list[str]] = {}
    for name in frame.columns:
        match = CLASS_COLUMN.fullmatch(name.strip())
        if name not in taken and pd.api.types.is_numeric_dtype(frame[name]) and not name.startswith("Unnamed: "):
            named.setdefault(match[1].lower() if match else "", []).append(name)
    for prefix, columns in named.items():
        of_class = {class_of(name) if prefix else name.strip(): name for name in columns}
        if prefix and all(map(str.isdecimal, of_class)) and {int(k) for k in of_class} != set(_from_one(columns)):
            continue  # a class is missing
        if len(of_class) > 1 and classes <= set(of_class):
            only = [name for text, name in of_class.items() if text in classes]
            for chosen in (columns, only):
                if len(chosen) > 1 and (prefix or set(of_class) == classes or _sum_to_one(frame[chosen])):
                    return chosen
    return []


def _from_one(columns: Sequence[str]) -> range:
    return range(1, len(columns) + 1)


def _sum_to_one(frame: pd.DataFrame) -> bool:
    sums = frame.head(1000).to_numpy(dtype=np.float64, na_value=np.nan).sum(axis=1)
    return bool((np.abs(sums - 1) <= ROUNDED_SUM_TOLERANCE).all())


def _columns_of_systems(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the columns of several systems: SYSTEM_confidence and SYSTEM_correct of each."""
    found: dict[str, dict[str, str]] = {}
    for name in frame.columns:
        if match := ONE_SYSTEM.fullmatch(name.strip()):
            role = "confidence" if match["role"].lower().startswith("conf") else "correct"
            found.setdefault(match["system"], {})[role] = name
    whole = [roles for roles in found.values() if len(roles) == 2]
    return {role: [roles[role] for roles in whole] for role in ("confidence", "correct")}


def _listed(frame: pd.DataFrame) -> str:
    first = [frame[column].iloc[0] if len(frame) else None for column in frame.columns[:20]]
    names = [name for column, cell in zip(frame.columns, first, strict=False) for name in _with_parts(column, cell)]
    return ", ".join(names[:20]) + (", .." if max(len(names), len(frame.columns)) > 20 else "")


def _with_parts(name: str, cell: object) -> list[str]:
    """Return the names of what is nested in a cell, as `--columns` takes them, or that of its column."""
    if not isinstance(cell, Mapping) or not cell:
        return [name]
    return [part for key, value in cell.items() for part in _with_parts(f"{name}.{key}", value)]
