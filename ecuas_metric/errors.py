"""Errors about an input and notes about a result, as values that each interface puts into its own words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from copy import copy
from enum import StrEnum
from typing import Any, NamedTuple

LONGEST_VALUE = 100  # characters of an offender in a message
Words = Mapping[str, str]  # an argument or an advice -> what a surface calls it
_NOTHING = object()


class Advice(StrEnum):
    """What to do about an error or a note, worded for Python; the command and the page have their own words."""

    COUNT_FROM_0 = "Count from 0."
    IGNORED_ROWS = "Does it mark rows that do not count? Leave these out."
    CLASS_LABELS = "Class labels? Pass posteriors of shape (N, K) as predictions."
    CONFIDENCES = "Confidences? Pass them as a flat list."
    EXPONENTIALS = "Logits? This is the sum of their exponentials; predictions_are='logits' accepts any sum."
    FLOOR = "A probability of 0? Its logarithm needs a floor."
    INTERVALS_OF_FEW = "Use interval_method='analytic' instead."
    INVERTED = "Does it say how sure the answer is right, and is correct 1 for right? Else pass 1 - confidence."
    MARGINS = "Margins, as of decision_function? They are logits: predictions_are='logits'."
    LOG_PROBABILITIES = "Log-probabilities? Take their exponential."
    LOGITS = "Logits? Use predictions_are='logits', which accepts rows with any sum."
    HARD_DECISIONS = (
        "Are they class labels? Then pass probabilities instead: of each class, or that of class 1 with "
        "predictions_are='positive_probabilities'."
    )
    MISSING_CONFIDENCES = "Missing confidences? Set missing_confidence to a number in [0, 1] to replace them."
    PARTLY_CORRECT = "Partly correct? Choose the lowest grade that counts as correct."
    OTHER_SCALE = "On another scale? Divide by its largest value."
    PERCENTAGES = "Percentages? Divide by 100."
    PREDICTIONS_ARE = "Logits or log-probabilities? Specify them with predictions_are."
    RENORMALIZE = "Rounded probabilities? renormalize=True divides each row by its sum."
    SWAPPED = "Swapped? The predictions are all 0 or 1."
    WRONG_COST = "The uncertainties do not fit this cost, or num_classes is too small."


class InputError(ValueError):
    """An input that cannot be used: what is wrong with it, as fields.

    Attributes
    ----------
    argument : str
        Name of the argument or option, e.g. "predictions".
    rule : str
        What it must be, e.g. "must lie in [0, 1]".
    got : str
        The first offender in words, or empty.
    value : object
        The first offender itself, or None.
    index : int, tuple of int or None
        Where it is: the sample, or row and column.
    count, total : int or None
        How many of how many values break the rule.
    advice : str
        What to do: one of `Advice`, a sentence of its own, or empty.

    Examples
    --------
    >>> error = InputError("predictions", "must lie in [0, 1]", value=87.0, index=3, count=2, total=5,
    ...                    advice=Advice.PERCENTAGES)
    >>> str(error)
    'predictions must lie in [0, 1]; got 87.0 at index 3 (2 of 5). Percentages? Divide by 100.'
    >>> error.render({"predictions": "The column 'p'", Advice.PERCENTAGES: "Divide the column by 100."})
    "The column 'p' must lie in [0, 1]; got 87.0 at index 3 (2 of 5). Divide the column by 100."
    """

    def __init__(
        self,
        argument: str,
        rule: str = "",
        *,
        value: object = _NOTHING,
        got: str | None = None,
        index: int | tuple[int, ...] | None = None,
        count: int | None = None,
        total: int | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(argument, rule)
        self.argument, self.rule, self.advice = argument, rule, advice
        self.value = None if value is _NOTHING else value
        self.got = got if got is not None else "" if value is _NOTHING else _short_repr(value)
        self.index, self.count, self.total = index, count, total

    def __str__(self) -> str:
        return self.render({})

    def subject(self, words: Words) -> str:
        """Return the name of the argument, in the words of an interface."""
        return words.get(self.argument, self.argument)

    def place(self) -> str:
        """Return the position of the first offender, with a leading space, or nothing."""
        return "" if self.index is None else f" at index {self.index}"

    def reword(self, words: Words) -> InputError:
        """Return a copy with argument and advice in the words of an interface."""
        found = copy(self)
        found.argument, found.advice = self.subject(words), words.get(self.advice, self.advice)
        found.args = (found.argument, *self.args[1:])
        return found

    def render(self, words: Words) -> str:
        """Return one line in the words of an interface: `words` maps names of arguments and advice to its own."""
        got = f"; got {self.got}" if self.got else ""
        share = "" if self.count is None else f" ({self.count} of {self.total})"
        advice = self.fill(words.get(self.advice, self.advice))
        return f"{self.subject(words)} {self.rule}{got}{self.place()}{share}. {advice}".rstrip()

    def fill(self, advice: str) -> str:
        """Return advice with its placeholders filled."""
        return advice


def _short_repr(value: object) -> str:
    """Return the repr of a value, shortened, and of a NumPy scalar that of the Python number."""
    text = repr(value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def missing_package(who_needs: str, *packages: str) -> ImportError:
    """Return the error that names missing packages and how to install them."""
    return ImportError(f"{who_needs} {' and '.join(packages)}: pip install {shlex.join(packages)}")


class Note(NamedTuple):
    """What a reader of a result must know besides its numbers."""

    kind: str  # e.g. "missing", "clipped", "few_errors", "no_interval", "unlabelled"
    fact: str  # a sentence
    advice: str = ""  # one of `Advice`, a sentence, or empty

    def __str__(self) -> str:
        return self.render({})

    def render(self, words: Words) -> str:
        """Return fact and advice, in the words of an interface."""
        return f"{self.fact} {words.get(self.advice, self.advice)}".rstrip()


class FileAdvice(StrEnum):
    """What to do about an error in a file, worded for Python; the command and the page have their own words."""

    COUNT_AS_WRONG = "Label them, or count them as wrong with unlabelled='wrong'."
    UNLABELLED = "Label them, count them as wrong with unlabelled='wrong', or get bounds with unlabelled='bounds'."
    NAME_COLUMNS = "Name them with columns={'confidence': NAME, 'correct': NAME}, or 'label' and 'posteriors': 'A+B'."
    NAME_ROLE = "Name it with columns={columns}."
    NAME_GUESSES = "Perhaps columns={columns}?"
    PROBABILITIES = "Probabilities of one of two classes? columns={columns} reads them as such."
    OTHER_CLASS = "Of the other class? Name the column as {'positive': '1-NAME'}."
    LABEL_COLUMNS = "Give all labels in the words of the columns."
    SAME_CASE = "Write each class in one way."
    SAY_K = "If a confidence is of one of these classes, set num_classes to their number."
    COMPLEMENT = "columns={columns} reads its complement."
    RECALIBRATE = "Map it to a probability in [0, 1] first, e.g. by a calibration method fitted on other answers."
    IN_MEMORY = "Score it in memory."
    OUT_OF_CORE = "Score it out of core."
    USE_WEIGHT = "Name it as the role weight to use it."
    RENAME_STRATUM = "Rename it if they do not."
    LEAVE_ROWS_OUT = "Leave such rows out."
    GROUP_REPEATED = "Samples of one id depend on each other: without groups, intervals and tests are too sure."
    SAY_NUM_CLASSES = "For free text, set num_classes=math.inf."
    MIXED_SCALES = "Write all of them as numbers in [0, 1]."
    NAME_WHOLE_ID = "Name all columns of the id with columns={'id': 'A+B'}, or what makes several systems with part."
    OTHER_IDS = "Other ids? Name their columns with columns={'id': NAME}, or pair the samples by row without ids."
    COMMON = "Keep only the common ones with in_common."
    BY_POSITION = "Add ids to all files, or to none to pair the samples by row."
    NAME_HEADER = "The first row must contain the names of the columns, e.g. confidence,correct."
    NAME_FILE = "Give it the suffix of its format: .csv, .jsonl, .."
    SAY_WHICH = "Specify which with columns, e.g. {ROLE: NAME}."
    SAY_LABELS = "Names of classes? Pass labels, a list of all names in the order of the posteriors."
    EMPTY_CELL = "No number? Leave the cell empty."
    WORDS_OF_TRUTH = "Correct or not? Write 1 or 0, and leave the cell empty if the answer is not judged."
    NO_POSTERIORS = "Keep the columns of all classes, or name others: {'posteriors': 'A+B'}, {'positive': NAME}."
    SAVE_AS_UTF_8 = "Save it as UTF-8."
    NAME_ITS_FILES = "Name its files."
    PARTLY_CORRECT = "Partly correct? Set correct_from to the lowest grade that counts as correct."
    PERCENTAGES = "Percentages? Set scale=100."
    CONFIDENCE_FIELD = "Name the field that has the confidence with columns, e.g. {'confidence': 'doc.confidence'}."
    NAME_FILTER = "Specify which with run=RunOptions(filter=NAME)."
    PARTIAL = "Read what there is with run=RunOptions(partial=True)."
    OTHER_SCALE = "On another scale? Set scale to its largest value, to divide by it."


class FileError(InputError):
    """An unusable input in a file: the fields of `InputError`, its file, and where it is in that.

    `column` replaces the argument, `row` (as an editor numbers it) the index; `columns` are the roles in the advice.
    """

    def __init__(
        self,
        file: object,
        rule: str,
        *,
        argument: str = "",
        column: str | None = None,
        row: int | None = None,
        columns: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(argument, rule, **fields)
        self.args = (str(file), rule)  # what pickle calls this with; the fields follow
        self.file, self.column, self.row, self.columns = str(file), column, row, columns

    def subject(self, words: Words) -> str:
        """Return the file, and its column or what else the error is about."""
        what = super().subject(words) if self.column is None else f"column {self.column!r}"
        return f"{self.file}: {what}" if what else f"{self.file}:"

    def fill(self, advice: str) -> str:
        """Return advice with the columns that it names, in the syntax of Python or the command."""
        if self.columns is None:
            return advice
        pairs = ",".join(f"{role}={name}" for role, name in self.columns.items())
        pairs = pairs if re.fullmatch(r"[\w.,=+-]*\w", pairs) else f'"{pairs}"'
        return advice.replace("{columns}", str(dict(self.columns))).replace("{pairs}", pairs)

    def place(self) -> str:
        """Return the row, with a leading space, or nothing."""
        return super().place() if self.row is None else f" in row {self.row}"
