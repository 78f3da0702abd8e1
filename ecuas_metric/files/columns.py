"""What is in which column: the roles of columns, and one matching for tables in memory, out of core and in Spark."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import FileError, InputError, Note
from ..inputs import ROUNDED_SUM_TOLERANCE, Floats
from .values import (
    as_text,
    encode,
    first_of,
    floats_in,
    is_numeric,
    is_word_for_nothing,
    number_in,
    parse_cells,
    plain,
    texts_in,
)

NAMES = {  # the role of a column -> the names it is known by, lower case
    role: tuple(names.split())
    for role, names in {
        "confidence": "confidence confidences conf q_e",
        "correct": "correct is_correct correctness",
        "label": "label labels target true_label y_true label_ids true_class gold_label true actual truth ground_truth "
        "gold references",
        "predicted": "predicted prediction pred y_pred predicted_label predicted_class pred_label",
        "posteriors": "posteriors probabilities probs logits log_probabilities scores",
        "positive": "positive prob proba y_prob y_proba y_score prob_positive p_positive margin decision_function "
        "logit",
        "system": "system model",
        "id": "id question_id sample_id doc_id qid example_id item_id instance_id",
        "weight": "",
        "group": "",
        "stratum": "stratum",
        "part": "",
        "rows": "",  # the list of rows in a JSON document, which is no column
        "count": "",  # how many rows a row stands for, beside how many of them are wrong: of aggregated rows
        "wrong": "",
        "uncertainty": "",
        "cost": "",
    }.items()
}
ROLES_OF_FORM = {  # a form of input -> the roles of its predictions and its truth, and what else it needs
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
    ("label, cat, dog, ..", "the same, the columns named by the classes"),
    ("label, posteriors", "the same, as lists, or as mappings of classes to probabilities"),
    ("label, prob", "two classes: the probability of class 1"),
    ("label, predicted, confidence", "the class that was chosen, and how sure the classifier was"),
    ("NAME_confidence, NAME_correct, ..", "several systems side by side"),
)
_GIVEN_ONLY = ("count", "wrong", "uncertainty", "cost")
JOINED = ("system", "part", "id", "group", "stratum")  # several columns, joined by +, are one
_SEVERAL = (*JOINED, "posteriors", "confidence", "correct", "positive")  # of several classes or systems
_IDS_IF_UNIQUE = ("index", "idx", "question")  # an id where no other column is, and no value is there twice
_WEIGHTS = ("weight", "weights", "sample_weight", "sample_weights")  # which are used only if they are asked for
_MEANING = {  # of words in names of columns
    meaning: set(words.split())
    for meaning, words in {
        "wrong": "error errors err incorrect wrong false hallucination hallucinations hallucinated mistake mistakes "
        "fail fails failed failure misclassified inaccurate",
        "unsure": "uncertainty uncertain unsure doubt risk unc u",
        "unbounded": "entropy perplexity ppl nll loss surprisal variance",
        "right": "correct right true pass passed success accurate confidence confident conf certain certainty sure",
        "not": "not no non without free",
        "probability": "prob probs proba p probability probabilities posterior posteriors logit logits score scores",
        "minus": "neg negative",
        "log": "log logprob loglikelihood",
    }.items()
}
_HINTS = {  # words in a name that mean a role, and words that may do so
    "confidence": ("confidence conf certainty sure", "p prob proba probability likelihood score q"),
    "correct": ("correct acc accuracy right", "em match hit ok grade verdict judge pass passed success solved y"),
    "positive": (
        "p prob proba probability logit margin",
        "score scores logits y_hat hat pred preds predictions output",
    ),
}
_LACKING = {  # a role that a file has -> what is not there beside it, and its role
    "correct": ("no confidence", "confidence"),
    "confidence": ("nothing says which answers are correct: neither correct, nor label and predicted", "correct"),
    "label": ("no probabilities, and no confidence of what was predicted", ""),
    "posteriors": ("no label", "label"),
    "positive": ("no label", "label"),
}
_PREFIX = (
    "(probs?|proba|p|probability|probabilities|posteriors?|logits?|scores?|predictions|y_prob|y_proba|y_score|"
    "log_probs?|log_probabilities)"
)
_POSTERIOR_COLUMN = re.compile(rf"{_PREFIX}_?(\d+)")
_CLASS_COLUMN = re.compile(rf"{_PREFIX}_(.+)", flags=re.IGNORECASE)
_ONE_SYSTEM = re.compile(r"(?i)(?P<system>.+)[ _.-](?P<role>confidence|conf|correct|is_correct)")
ColumnsByRole = Mapping[str, Sequence[str]]  # role -> its columns: none, one, or several


class Roles(NamedTuple):
    """Which columns of a table are read, and as what."""

    form: str  # a key of `ROLES_OF_FORM`
    used: ColumnsByRole
    notes: tuple[Note, ...] = ()  # e.g. of a column of weights that is not used

    @property
    def predictions(self) -> tuple[str, ...]:
        """Columns of confidences, posteriors, the probability of class 1, or uncertainties."""
        return tuple(self.used[ROLES_OF_FORM[self.form][0]])

    @property
    def references(self) -> tuple[str, ...]:
        """The column of the truth; several where several systems have columns of their own."""
        return tuple(self.used[ROLES_OF_FORM[self.form][1]])

    @property
    def systems(self) -> tuple[str, ...]:
        """Columns whose values name the system of a row, joined by a space."""
        return tuple(dict.fromkeys([*self.used["system"], *self.used["part"]]))


class TableSchema(NamedTuple):
    """The names and types of columns to match, with rows as far as there are any."""

    schema: pa.Schema
    rows: pa.Table | None
    source: str

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column; of text, that of the values in it."""
        kind, first = self.schema.field(name).type, first_of(self.rows, name)
        if self.rows is None or not isinstance(first, str) or number_in(first) is None:
            return kind
        return parse_cells(plain(self.rows[name])).type

    def values(self, name: str) -> set[str]:
        """Return the distinct values of a column as text; none without rows."""
        if self.rows is None:
            return set()
        found = encode(parse_cells(plain(self.rows[name])))[0]
        return {text for text in map(as_text, found) if not is_word_for_nothing(text)}

    def is_unique(self, name: str) -> bool:
        """Return whether no value is repeated; true without rows."""
        texts = None if self.rows is None else texts_in(plain(self.rows[name]))
        return texts is None or len(texts.unique()) == len(texts)


def match_columns(
    schema: pa.Schema,
    given: Mapping[str, str] | None = None,
    *,
    source: str,
    rows: pa.Table | None = None,
    out_of_core: bool = False,
) -> Roles:
    """Return which columns of tables with a schema are read, and as what: in memory, out of core and in Spark.

    `given` maps roles to columns. `rows`, some or all, decide what names leave open, e.g. the classes of posteriors.
    """
    given = {role: name for role, name in (given or {}).items() if role != "rows"}
    table = TableSchema(schema, rows, source)
    if out_of_core:
        _refuse_derived(table, given)
    used = find_columns(table, given)
    form = form_of(table, used, given)
    roles = Roles(form, used, _notes(table, used, given))
    if out_of_core and (form == "predicted" or (form != "posteriors" and len(roles.predictions) > 1)):
        what = "a predicted and a true class" if form == "predicted" else "several systems side by side"
        raise FileError(source, f"has {what}, which are not read out of core", advice="score_in_memory")
    for role, what in (("stratum", "strata"), ("group", "groups")):
        if out_of_core and used[role]:
            rule = f"has {what}, which are not read out of core"
            raise FileError(source, rule, column=used[role][0], advice="score_in_memory")
    if not out_of_core and form in ("costs", "counts"):
        raise FileError(source, f"has {form}, which are read out of core only", advice="score_out_of_core")
    return roles


def find_columns(table: TableSchema, given: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the columns of each role of `NAMES`: none, one, or several; classes in the order of their numbers."""
    if unknown := [role for role in given if role not in NAMES]:
        raise InputError("columns", f"must be among {', '.join(NAMES)}", value=unknown[0])
    by_name: dict[str, list[str]] = {}
    for name in table.names:
        by_name.setdefault(name.strip().lower(), []).append(name)
    used: dict[str, list[str]] = {}
    for role, names in NAMES.items():
        if role in given:
            used[role] = _named_columns(table, given[role], role, by_name)
        else:
            found = [name for known in names for name in by_name.get(known, [])]
            used[role] = [name for name in found if role != "posteriors" or _may_be_rows(table, name)]
            if role not in ("label", "predicted"):
                _only(used[role], role, table.source)
    is_judged, numbered = bool(used["confidence"] and used["correct"]), _numbers_in_names(by_name)
    if len(used["label"]) > 1 and "label" not in given:  # which matters only where it is needed
        is_needed = used["posteriors"] or used["positive"] or numbered or not is_judged
        used["label"] = _only(used["label"], "label", table.source) if is_needed else []
    if not used["id"] and "id" not in given:
        used["id"] = [name for known in _IDS_IF_UNIQUE for name in by_name.get(known, []) if table.is_unique(name)][:1]
    if not used["posteriors"] and not (used["positive"] and "positive" in given):
        _find_posteriors(table, used, numbered)
    if len(used["predicted"]) > 1 and "predicted" not in given:
        has_form = is_judged or used["posteriors"] or used["positive"] or not used["confidence"] or not used["label"]
        used["predicted"] = [] if has_form else _only(used["predicted"], "predicted", table.source)
    if not used["confidence"] and not used["correct"] and not used["label"]:
        used |= _columns_of_systems(table.names)
    return used


def form_of(table: TableSchema, used: ColumnsByRole, given: Mapping[str, str]) -> str:
    """Return the form of input that the columns make up; where they make up two, `given` decides."""
    found = [form for form, roles in ROLES_OF_FORM.items() if all(used[role] for role in roles)]
    for form in ("costs", "counts"):
        if (lonely := set(ROLES_OF_FORM[form]) & set(given) & {*_GIVEN_ONLY}) and form not in found:
            rule = f"must name {', '.join(ROLES_OF_FORM[form])} together"
            raise InputError("columns", rule, value=min(lonely), got=f"only {', '.join(sorted(lonely))}")
    for form in ("costs", "counts", "predicted"):  # named, not found
        if form in found and set(ROLES_OF_FORM[form]) & set(given) & {*_GIVEN_ONLY, "predicted"}:
            return form
    found = [form for form in found if form != "positive" or "posteriors" not in found]
    found = [form for form in found if form != "predicted"] or found
    named = [form for form in found if set(ROLES_OF_FORM[form]) & set(given)]
    if len(found) > 1 and len(named) != 1:
        rule = f"holds confidences and posteriors: confidence={used['confidence'][0]} or label={used['label'][0]}"
        raise FileError(table.source, rule, advice="name_one_role")
    if not found:
        raise _no_form(table, used)
    return (named or found)[0]


def is_known(name: str) -> bool:
    """Return whether a column's role follows from its name."""
    return any(name.strip().lower() in names for names in NAMES.values()) or is_of_numbers(name)


def is_of_numbers(name: str) -> bool:
    """Return whether a column is one of confidences or probabilities by its name."""
    name = name.strip().lower()
    return name in (*NAMES["confidence"], *NAMES["positive"]) or _POSTERIOR_COLUMN.fullmatch(name) is not None


def class_in_name(column: str, default: str = "") -> str:
    """Return the class in the name of a column of its probabilities: "spam" of "p_spam", "0" of "prob_0"."""
    match = _POSTERIOR_COLUMN.fullmatch(column.strip().lower()) or _CLASS_COLUMN.fullmatch(column.strip())
    return match[2].strip() if match else default.strip()


def are_numbered(columns: Sequence[str]) -> bool:
    """Return whether columns of posteriors are numbered from 0, in this order."""
    matches = [re.fullmatch(r"(.*?)_?(\d+)", name.strip().lower()) for name in columns]
    found = [(match[1], int(match[2])) for match in matches if match]
    return found == [(found[0][0] if found else "", k) for k in range(len(columns))]


def system_in_name(column: str) -> str:
    """Return the system that a column of confidences is named after: "GPT-4" of "GPT-4_confidence"."""
    match = _ONE_SYSTEM.fullmatch(column.strip())
    return match["system"] if match else column.strip()


def complement_of(name: str) -> str:
    """Return the column of which "1-NAME" is the complement, or nothing."""
    match = re.fullmatch(r"1\s*-\s*(.+)", name.strip())
    return match[1] if match else ""


def name_of(columns: Sequence[str]) -> str:
    """Return columns in the words of an error, e.g. ``prob_0..prob_9``."""
    return f"{columns[0]}..{columns[-1]}" if len(columns) > 1 else columns[0]


def _notes(table: TableSchema, used: ColumnsByRole, given: Mapping[str, str]) -> tuple[Note, ...]:
    notes = []
    unused = [name for name in table.names if name.strip().lower() in _WEIGHTS and name not in used["weight"]]
    if unused and "weight" not in given:
        notes.append(Note("columns", f"Column {unused[0]!r} is not used.", "name_weight"))
    if used["stratum"] and "stratum" not in given:
        fact = f"Column {used['stratum'][0]!r} is used: its values name parts of the sample of a size fixed in advance."
        notes.append(Note("columns", fact, "rename_stratum"))
    return tuple(notes)


def _refuse_derived(table: TableSchema, given: Mapping[str, str]) -> None:
    """Raise FileError for roles that are computed from the columns that they name."""
    for role, name in given.items():
        several = "+" in name and role in JOINED and role not in ("system", "part")
        nested = name.partition(".")[0] in table.names and "." in name
        if name not in table.names and (several or nested or complement_of(name)):
            rule = f"has no column {name!r}, and none is computed out of core"
            raise FileError(table.source, rule, advice="score_in_memory")


def _no_form(table: TableSchema, used: ColumnsByRole) -> FileError:
    """Return the error about columns that make up no form: what is there, what is not, and what may be it."""
    names = [name.strip() for name in table.names]
    found = f"found {_list_columns(table)}"
    are_values = any(re.fullmatch(r"-?\d*[.,]\d+([eE][+-]?\d+)?", name) for name in names)
    if (are_values or all(re.fullmatch(r"\d+|Unnamed: .*", name) for name in names)) and not used["label"]:
        return FileError(table.source, f"there are no names of columns; {found}", advice="name_header")
    if any(name.startswith(("{", "[")) for name in names):
        return FileError(table.source, f"there are no names of columns; {found}", advice="give_suffix")
    has = {role: used[role][0] for role in _LACKING if used[role]}
    if used["label"] and used["predicted"] and _are_fractions(table, used["predicted"][0]):
        rule = f"column {used['predicted'][0]!r} holds no classes, but numbers between them"
        meant = {"label": used["label"][0], "positive": used["predicted"][0]}
        return FileError(table.source, rule, advice="name_probabilities", columns=meant)
    if not has:
        rule = f"there must be columns confidence and correct, or label and prob_0, prob_1, ..; {found}"
        guesses = {role: _guess(table, role, used) for role in ("confidence", "correct")}
        advice = "name_guesses" if all(guesses.values()) else "name_columns"
        return FileError(table.source, rule, advice=advice, columns=guesses if all(guesses.values()) else None)
    lacking, role = _LACKING[next(iter(has))]
    role = role or ("confidence" if used["predicted"] else "positive")
    guess = _guess(table, role, used) if role in _HINTS else ""
    rule = f"has {' and '.join(f'{name!r} for {role}' for role, name in has.items())}, but {lacking}; {found}"
    advice = "name_guesses" if guess else "name_role"
    return FileError(table.source, rule, advice=advice, columns={role: guess or "NAME"})


def _guess(table: TableSchema, role: str, used: ColumnsByRole) -> str:
    """Return the one column whose name is most like those of a role, or its complement, or nothing."""
    used = {**used, "positive": ()} if role == "confidence" else used
    free = [name for name in _free(table, used) if not _is_unbounded(name, role)]
    opposite = [name for name in free if _is_opposite(name, role)]
    for hints in _HINTS[role]:
        likely = [name for name in free if name not in opposite and _words(name) & set(hints.split())]
        likely = [name for name in likely if is_numeric(table.kind(name))] or likely
        if likely:
            return likely[0] if len(likely) == 1 else ""
    close = difflib.get_close_matches(role, [name.lower() for name in free], 1, 0.75)
    return f"1-{opposite[0]}" if opposite else next((name for name in free if name.lower() in close), "")


def _are_fractions(table: TableSchema, name: str) -> bool:
    if table.rows is None or not is_numeric(table.kind(name)):
        return False
    values = _floats(table.rows, name)
    return bool((values[~np.isnan(values)] % 1 != 0).any())


def _named_columns(table: TableSchema, text: str, role: str, by_name: Mapping[str, list[str]]) -> list[str]:
    """Return the columns that a text names: one, several joined by +, or those numbered after it."""
    whole = text.strip()
    is_one = whole in table.names or whole.lower() in by_name
    if role == "posteriors" and not is_one:
        pattern = re.compile(rf"{re.escape(whole.rstrip('_'))}_?(\d+)", re.IGNORECASE)
        matches = [match for name in table.names if (match := pattern.fullmatch(name))]
        if matches:
            return [match[0] for match in sorted(matches, key=lambda match: int(match[1]))]
    found = [_find_column(table, part.strip(), by_name) for part in ([whole] if is_one else whole.split("+"))]
    if len(found) > 1 and role not in _SEVERAL:
        raise FileError(table.source, f"the role {role} takes one column", got=" and ".join(map(repr, found)))
    if role in ("confidence", "correct"):
        _refuse_opposites(table, role, found)
    return found


def _refuse_opposites(table: TableSchema, role: str, names: Sequence[str]) -> None:
    """Raise FileError if the name of a column means the opposite of the role, unless the column was derived."""
    given = [name for name in names if complement_of(name) not in table.names]
    for name in (name for name in given if _is_unbounded(name, role)):
        rule = f"column {name!r} is not the probability that an answer is correct"
        raise FileError(table.source, rule, advice="recalibrate_first")
    opposite = [name for name in given if _is_opposite(name, role)]
    if opposite:
        rule = f"column {opposite[0]!r} says the opposite of {role}"
        meant = {role: "+".join(f"1-{name}" if name in opposite else name for name in names)}
        raise FileError(table.source, rule, advice="name_complement", columns=meant)


def _words(name: str) -> set[str]:
    """Return the words of a name: of "IsIncorrect" and of "is_incorrect" they are is and incorrect."""
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", name)
    return {word for word in re.split(r"[\W_]+", spaced.lower()) if word}


def _is_opposite(name: str, role: str) -> bool:
    if of := complement_of(name):
        return not _is_opposite(of, role)
    words = _words(name)
    is_wrong = bool(words & (_MEANING["wrong"] | (_MEANING["unsure"] if role == "confidence" else {"loss"})))
    return is_wrong != bool(words & _MEANING["right"]) and is_wrong != bool(words & _MEANING["not"])


def _is_unbounded(name: str, role: str) -> bool:
    words = _words(name)
    is_surprisal = words & _MEANING["minus"] and words & _MEANING["log"]
    return bool(is_surprisal or words & (_MEANING["unbounded"] - ({"loss"} if role == "correct" else set())))


def _find_column(table: TableSchema, part: str, by_name: Mapping[str, list[str]]) -> str:
    if part in table.names:
        return part
    found = by_name.get(part.strip().lower(), [])
    if not found:
        close = difflib.get_close_matches(part.lower(), list(by_name), 1)
        rule = f"there is no column {part!r}; found {_list_columns(table)}"
        raise FileError(table.source, rule, advice=f"Did you mean {by_name[close[0]][0]!r}?" if close else "")
    return _only(found, part, table.source)[0]


def _only(found: list[str], role: str, file: str) -> list[str]:
    if len(found) > 1:
        both = f"{role}={found[0]} or {role}={found[1]}"
        rule = f"columns {found[0]!r} and {found[1]!r} may both be the {role}: {both}"
        raise FileError(file, rule, advice="name_one_role")
    return found


def _may_be_rows(table: TableSchema, name: str) -> bool:
    """Return whether cells may hold several numbers each: not one number, and not the scores of several graders."""
    if is_numeric(table.kind(name)):
        return False
    cell = first_of(table.rows, name)
    return not isinstance(cell, Mapping) or not any(isinstance(part, Mapping) for part in cell.values())


def _find_posteriors(table: TableSchema, used: dict[str, list[str]], numbered: Mapping[str, Mapping[int, str]]) -> None:
    """Add the columns of posteriors, or of the probability of one class, to those that are used."""
    used["posteriors"] = _from_zero(numbered, table.source) or _columns_of_classes(table, used)
    if used["posteriors"] or used["positive"]:
        return
    single = [column for group in numbered.values() if list(group) in ([0], [1]) for column in group.values()]
    classes = set() if single else _classes(table, used)
    if len(classes) == 2:
        single = [name for name in table.names if class_in_name(name) in classes]
    used["positive"] = single if len(single) == 1 else []
    if numbered and not used["positive"]:
        prefix, group = next(iter(numbered.items()))
        rule = "columns of posteriors must be numbered from 0 without a gap"
        rule += f", {prefix}_0 to {prefix}_{max(1, len(group) - 1)}; found "
        rule += ", ".join(group[k] for k in sorted(group)[:20])
        raise FileError(table.source, rule, advice="keep_all_classes")


def _numbers_in_names(by_name: Mapping[str, list[str]]) -> dict[str, dict[int, str]]:
    """Return the columns of each prefix that are numbered, by their numbers."""
    numbered: dict[str, dict[int, str]] = {}
    for name, columns in by_name.items():
        if match := _POSTERIOR_COLUMN.fullmatch(name):
            numbered.setdefault(match[1], {})[int(match[2])] = columns[0]
    return numbered


def _from_zero(numbered: Mapping[str, Mapping[int, str]], file: str) -> list[str]:
    """Return the columns that are numbered from 0 without a gap, of the one prefix that has such."""
    whole = {of: group for of, group in numbered.items() if sorted(group) == list(range(max(2, len(group))))}
    if len(whole) > 1:
        one, two, *_ = whole
        rule = f"columns {one}_.. and {two}_.. may both be the posteriors: posteriors={one} or posteriors={two}"
        raise FileError(file, rule, advice="name_one_role")
    return [group[k] for group in whole.values() for k in sorted(group)]


def _classes(table: TableSchema, used: ColumnsByRole) -> set[str]:
    """Return the classes in the column of labels, if there is one."""
    return table.values(used["label"][0]) if len(used["label"]) == 1 else set()


def _free(table: TableSchema, used: ColumnsByRole) -> list[str]:
    """Return the columns with a name that no role uses."""
    in_use = {name for names in used.values() for name in names}
    return [name for name in table.names if name not in in_use and not name.startswith("Unnamed: ")]


def _columns_of_classes(table: TableSchema, used: ColumnsByRole) -> list[str]:
    """Return the columns that are named by the classes in the column of labels, with or without a prefix or suffix."""
    classes = _classes(table, used)
    free = [name for name in _free(table, used) if is_numeric(table.kind(name))] if classes else []
    for before, after in _affixes(free, classes):
        of_class = _without(free, before, after)
        affix, numbers = before + after, {int(text) for text in of_class if text.isdecimal()}
        if affix and len(numbers) == len(of_class) and numbers != set(range(1, len(of_class) + 1)):
            continue  # a class is missing
        if len(of_class) > 1 and classes <= set(of_class):
            is_named = _words(affix) & _MEANING["probability"] or (not affix and set(of_class) == classes)
            for chosen in ([*of_class.values()], [name for text, name in of_class.items() if text in classes]):
                if len(chosen) > 1 and (is_named or _sum_to_one(table, chosen)):
                    return chosen
    return []


def class_names(columns: Sequence[str], classes: Collection[str]) -> list[str] | None:
    """Return the class that each column is named after, "cat" of "p(cat)", or None if some class has no column."""
    for before, after in _affixes(columns, classes):
        of_class = _without(columns, before, after)
        if len(of_class) == len(columns) and set(classes) <= set(of_class):
            return list(of_class)
    return None


def _affixes(names: Sequence[str], classes: Collection[str]) -> list[tuple[str, str]]:
    """Return what is before and after a class in names of columns: nothing, "prob_", "_prob", "p(" and ")"."""
    longest = max(sorted(classes), key=len, default="")
    split = [name.strip().partition(longest) for name in names if longest and longest in name]
    found = [(before, after) for before, _, after in split if not before[-1:].isalnum() and not after[:1].isalnum()]
    return list(dict.fromkeys([("", ""), *found]))


def _without(names: Sequence[str], before: str, after: str) -> dict[str, str]:
    """Return the names that have a prefix and a suffix, by what is left of them."""
    stripped = {name.strip(): name for name in names}
    having = [text for text in stripped if text.startswith(before) and text.endswith(after)]
    return {text.removeprefix(before).removesuffix(after).strip(): stripped[text] for text in having}


def _sum_to_one(table: TableSchema, columns: Iterable[str]) -> bool:
    head = table.schema.empty_table() if table.rows is None else table.rows.slice(0, 1000)
    sums = np.sum([_floats(head, name) for name in columns], axis=0)
    return bool((np.abs(sums - 1) <= ROUNDED_SUM_TOLERANCE).all())


def _floats(table: pa.Table, name: str) -> Floats:
    return floats_in(parse_cells(plain(table[name])))


def _columns_of_systems(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns of several systems: SYSTEM_confidence and SYSTEM_correct of each."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _ONE_SYSTEM.fullmatch(name.strip()):
            role = "confidence" if match["role"].lower().startswith("conf") else "correct"
            found.setdefault(match["system"], {})[role] = name
    whole = [roles for roles in found.values() if len(roles) == 2]
    return {role: [roles[role] for roles in whole] for role in ("confidence", "correct")}


def _list_columns(table: TableSchema) -> str:
    shown = [part for name in table.names[:20] for part in _with_parts(name, table.schema.field(name).type)]
    return ", ".join(shown[:20]) + (", .." if max(len(shown), len(table.names)) > 20 else "")


def _with_parts(name: str, kind: pa.DataType) -> list[str]:
    """Return the dotted names of the fields nested in a column, or the column's name."""
    if not pa.types.is_struct(kind) or not kind.num_fields:
        return [name]
    fields = [kind.field(k) for k in range(kind.num_fields)]
    return [part for field in fields for part in _with_parts(f"{name}.{field.name}", field.type)]
