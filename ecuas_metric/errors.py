"""Errors about an input and notes about a result: sentences with fields, or ids that interfaces have words for."""

from __future__ import annotations

import csv
import io
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from .messages import SENTENCES

LONGEST_VALUE = 100  # characters of an offender in a message
# an argument, or the id of a rule, an advice or a note -> what a surface says for it
Words = Mapping[str, str]
_NOTHING = object()
_PLAIN = re.compile(r"[\w.,:=+/-]*\w")  # text that a shell takes as it is


def sentence(
    identifier: str,
    fields: Mapping[str, object],
    words: Words,
) -> str:
    """Return the sentence of an id in the words of an interface, or else in Python's, with its fields filled in.

    A text that is no id is the sentence itself.
    """
    template = words.get(identifier, SENTENCES.get(identifier, identifier))
    return template.format_map({name: _listed(value) for name, value in fields.items()})


def _listed(value: object) -> object:
    """Return the items of a list as one text, separated by commas; other values unchanged."""
    return ", ".join(map(str, value)) if isinstance(value, list) else value


class InputError(ValueError):
    """An input that cannot be used: what is wrong with it, as fields.

    Attributes
    ----------
    argument : str
        Name of the argument or option, e.g. "predictions".
    rule : str
        What it must be: a sentence, or the id of one that surfaces reword, e.g. "out_of_unit_interval", a key of
        `messages.INPUT_RULES`.
    got : str
        The first offender in words, or empty.
    value : object
        The first offender itself, or None.
    index : int, tuple of int or None
        Where it is: the sample, or row and column.
    count, total : int or None
        How many of how many values break the rule.
    advice : str
        What to do: a sentence, or the id of one, a key of `messages.ADVICE`; or empty.
    fields : dict
        The numbers and names that the sentences of rule and advice need.

    Examples
    --------
    >>> error = InputError("predictions", "out_of_unit_interval", value=87.0, index=3, count=2, total=5,
    ...                    advice="divide_by_100")
    >>> str(error)
    'predictions must lie in [0, 1]; got 87.0 at index 3 (2 of 5). Percentages? Divide by 100.'
    >>> error.render({"predictions": "The column 'p'", "divide_by_100": "Divide the column by 100."})
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
        **fields: Any,
    ) -> None:
        super().__init__(argument, rule)
        has_value = value is not _NOTHING
        if got is None:
            got = _short_repr(value) if has_value else ""
        self.argument = argument
        self.rule = rule
        self.advice = advice
        self.value = value if has_value else None
        self.got = got
        self.index = index
        self.count = count
        self.total = total
        self.fields = fields

    def __str__(self) -> str:
        return self.render({})

    def subject(self, words: Words) -> str:
        """Return the name of the argument, in the words of an interface."""
        return words.get(self.argument, self.argument)

    def place(self) -> str:
        """Return the position of the first offender, with a leading space, or nothing."""
        return "" if self.index is None else f" at index {self.index}"

    def reword(self, words: Words) -> InputError:
        """Return a copy with the argument and the id of the advice replaced by others."""
        reworded = copy(self)
        reworded.argument = words.get(self.argument, self.argument)
        reworded.advice = words.get(self.advice, self.advice)
        return reworded

    def render(self, words: Words) -> str:
        """Return one line in the words of an interface: `words` maps names of arguments, and ids, to its own."""
        fields = self.fields_of_sentences()
        rule = sentence(self.rule, fields, words)
        got = f"; got {self.got}" if self.got else ""
        share = "" if self.count is None else f" ({self.count} of {self.total})"
        advice = sentence(self.advice, fields, words)
        return in_one_line(f"{self.subject(words)} {rule}{got}{self.place()}{share}. {advice}")

    def fields_of_sentences(self) -> Mapping[str, object]:
        """Return what fills the placeholders of the sentences."""
        return self.fields


def _short_repr(value: object) -> str:
    """Return the repr of a value, shortened, and of a NumPy scalar that of the Python number."""
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    text = repr(value.item() if is_scalar else value)  # type: ignore[attr-defined]
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def in_one_line(text: str) -> str:
    """Return text whose breaks of lines, which may be in names and values, are spaces."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def quoted(text: str) -> str:
    """Return text as a shell takes it: in double quotes, which all know, unless these would change it."""
    if _PLAIN.fullmatch(text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\]', text) else f'"{text}"'


def pairs_of(columns: Mapping[str, str], system: str = "") -> str:
    """Return the columns of roles, of a system if one is named, in the syntax of the command."""
    pairs = ",".join(f"{role}={name}" for role, name in columns.items())
    return quoted(f"{system}:{pairs}" if system else pairs)


def labels_line(labels: Sequence[str]) -> str:
    """Return classes as the command takes them, a line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(labels)
    return buffer.getvalue()


def missing_package(who_needs: str, *packages: str) -> ImportError:
    """Return the error that names missing packages and how to install them."""
    return ImportError(f"{who_needs} {' and '.join(packages)}: pip install {shlex.join(packages)}")


UNLABELLED = "unlabelled_answers"  # the id of the note that counts them


def fields_of_unlabelled(count: int, total: int, share: float) -> dict[str, Any]:
    """Return the fields of that note: so many answers, and which share of all, or of their weight."""
    by_weight = " by weight" if abs(share - count / total) >= 5e-4 else ""
    return {"count": count, "total": total, "share": share, "by_weight": by_weight}


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader of a result must know besides its numbers: ids of `messages`, and the fields of their sentences."""

    id: str
    fields: Mapping[str, object] = field(default_factory=dict)
    advice: str = ""

    def __str__(self) -> str:
        return self.render({})

    def __hash__(self) -> int:
        return hash((self.id, self.advice))

    @property
    def fact(self) -> str:
        """The sentence of Python, without the advice."""
        return sentence(self.id, self.fields, {})

    def render(self, words: Words) -> str:
        """Return fact and advice, in the words of an interface."""
        fact = sentence(self.id, self.fields, words)
        advice = sentence(self.advice, self.fields, words)
        return f"{fact} {advice}".rstrip()


def issue_warnings(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Issue notes as warnings about a caller, counted as for `warnings.warn` in the function that calls this one.

    But that an interval is not known: its limits are nan.
    """
    for note in notes:
        if note.id != "biased":
            warnings.warn(str(note), stacklevel=stacklevel + 1)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read a file: what holds of the file then, in words, and what the user says."""

    meaning: str
    columns: Mapping[str, str]
    options: Mapping[str, str | list[str]] = field(default_factory=dict)  # labels are a list
    file: str = ""  # whose rows the command says that it is about

    def render(self, words: Words) -> list[str]:
        """Return the lines of an interface: the meaning, and below it what to write."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        flags = [f"--columns {pairs_of(self.columns, self.file)}"] if columns else []
        for name, value in self.options.items():
            text = value if isinstance(value, str) else labels_line(value)
            flag = f"--{name.replace('_', '-')}"
            flags.append(f"{flag}{'=' if text.startswith('-') else ' '}{quoted(text)}")
        fields = {
            "flags": " ".join(flags),
            "arguments": ", ".join(
                f"{name}={value!r}" for name, value in {**columns, **self.options}.items()
            ),
            "pairs": pairs_of(self.columns),
        }
        comment = [f"  # {in_one_line(self.meaning)}"] if self.meaning else []
        return [*comment, f"  {sentence('write_way', fields, words)}"]


class FileError(InputError):
    """An unusable input in a file: the fields of `InputError`, its file, and where it is in that.

    `column` replaces the argument, `row` (as an editor numbers it) the index; `columns` are the roles in the advice.
    `listed` has lines about what is there, and `ways` what the user may choose from: further lines of the message.
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
        listed: Sequence[str] = (),
        ways: Sequence[Way] = (),
        **fields: Any,
    ) -> None:
        super().__init__(argument, rule, **fields)
        self.args = (str(file), rule)  # what pickle calls this with; the fields follow
        self.file = str(file)
        self.column = column
        self.row = row
        self.columns = columns
        self.listed = tuple(listed)
        self.ways = tuple(ways)

    def render(self, words: Words) -> str:
        """Return a line in the words of an interface, and below it what is there, and the ways to go on."""
        lines = [super().render(words)]
        if self.listed:
            lines[0] += sentence("there_are", {}, words)
            lines += [f"  {line}" for line in self.listed]
        if self.ways:
            lines.append(sentence("choose_way", {}, words))
        for way in self.ways:
            lines += way.render(words)
        return "\n".join(lines)

    def subject(self, words: Words) -> str:
        """Return the file, and its column or what else the error is about."""
        what = super().subject(words) if self.column is None else f"column {self.column!r}"
        file = f"{self.file}:" if self.file else ""
        return f"{file} {what}".strip()

    def fields_of_sentences(self) -> Mapping[str, object]:
        """Return the fields, with the columns that advice names in the syntax of Python and of the command."""
        if self.columns is None:
            return self.fields
        return {
            **self.fields,
            "columns": dict(self.columns),
            "pairs": pairs_of(self.columns),
        }

    def place(self) -> str:
        """Return the row, with a leading space, or nothing."""
        return super().place() if self.row is None else f" in row {self.row}"
