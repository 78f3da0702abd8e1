"""Errors about inputs and notes on results: sentences with fields, or ids of sentences that interfaces reword."""

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

LONGEST_VALUE = 100  # characters of an offending value in a message
# name of an argument, or id of a rule, an advice or a note -> the words of an interface (Python, command, page)
Words = Mapping[str, str]
_NOTHING = object()
_PLAIN = re.compile(r"[\w.,:=+/-]*\w")  # text that a shell takes as it is


def fill_sentence(
    identifier: str,
    fields: Mapping[str, object],
    words: Words,
) -> str:
    """Return the sentence of an id, or a sentence itself, with its fields filled in.

    `words` has the sentences that an interface words differently, by id.
    """
    template = words.get(identifier, SENTENCES.get(identifier, identifier))
    return template.format_map({name: _join_items(value) for name, value in fields.items()})


def _join_items(value: object) -> object:
    """Return a list as one text, its items separated by commas; other values unchanged."""
    return ", ".join(map(str, value)) if isinstance(value, list) else value


class InputError(ValueError):
    """An input that cannot be used; its attributes say what is wrong with it.

    Attributes
    ----------
    argument : str
        Name of the argument or option, e.g. "predictions".
    rule : str
        What it must be: a sentence, or the id of one that surfaces reword, e.g. "out_of_unit_interval", a key of
        `messages.INPUT_RULES`.
    got : str
        The first offending value in words, or empty.
    value : object
        The first offending value itself, or None.
    index : int, tuple of int or None
        Its place: the sample, or row and column.
    count, total : int or None
        How many of how many values break the rule.
    advice : str
        What to do: a sentence, or the id of one, a key of `messages.ADVICE`; or empty.
    fields : dict
        What fills the placeholders in the sentences of rule and advice.

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
        """Return the place of the first offending value, with a leading space, or nothing."""
        return "" if self.index is None else f" at index {self.index}"

    def reword(self, words: Words) -> InputError:
        """Return a copy with argument and advice replaced by those in `words`."""
        reworded = copy(self)
        reworded.argument = words.get(self.argument, self.argument)
        reworded.advice = words.get(self.advice, self.advice)
        return reworded

    def in_file(
        self,
        file: object,
        *,
        column: str | None = None,
        row: int | None = None,
        argument: str = "",
    ) -> FileError:
        """Return the same error about a file, and a place in it."""
        located = FileError(file, self.rule, columns=self.fields.get("columns"))
        vars(located).update(vars(self), column=column, row=row, argument=argument)
        return located

    def render(self, words: Words) -> str:
        """Return the message, one line, in the words of an interface."""
        fields = self.sentence_fields()
        rule = fill_sentence(self.rule, fields, words)
        got = f"; got {self.got}" if self.got else ""
        share = "" if self.count is None else f" ({self.count} of {self.total})"
        advice = fill_sentence(self.advice, fields, words)
        return join_lines(f"{self.subject(words)} {rule}{got}{self.place()}{share}. {advice}")

    def sentence_fields(self) -> Mapping[str, object]:
        """Return what fills the placeholders of the sentences."""
        return self.fields


def _short_repr(value: object) -> str:
    """Return the repr of a value, shortened, and of a NumPy scalar that of the Python number."""
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    text = repr(value.item() if is_scalar else value)  # type: ignore[attr-defined]
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def join_lines(text: str) -> str:
    """Return text, such as a name of the user's, with line breaks replaced by spaces."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def quote_for_shell(text: str) -> str:
    """Return text quoted for a shell: in double quotes, which every shell knows, unless these would change it."""
    if _PLAIN.fullmatch(text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\]', text) else f'"{text}"'


def format_columns(columns: Mapping[str, str], system: str = "") -> str:
    """Return columns by role in the syntax of `--columns`, quoted for a shell: system:role=name,role=name."""
    pairs = ",".join(f"{role}={name}" for role, name in columns.items())
    return quote_for_shell(f"{system}:{pairs}" if system else pairs)


def format_labels(labels: Sequence[str]) -> str:
    """Return classes in the syntax of `--labels`, a line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(labels)
    return buffer.getvalue()


def missing_package_error(who_needs: str, *packages: str) -> ImportError:
    """Return the error that `who_needs`, e.g. "figures need", missing packages, with the command that installs them."""
    return ImportError(f"{who_needs} {' and '.join(packages)}: pip install {shlex.join(packages)}")


UNLABELLED = "unlabelled_answers"  # id of the note that counts answers without a label


def unlabelled_fields(count: int, total: int, share: float) -> dict[str, Any]:
    """Return the fields of the note UNLABELLED: how many of all answers, and their share, maybe by weight."""
    by_weight = " by weight" if abs(share - count / total) >= 5e-4 else ""
    return {"count": count, "total": total, "share": share, "by_weight": by_weight}


@dataclass(frozen=True, slots=True)
class Note:
    """What a reader of results must know besides the numbers; `str` gives its sentences.

    Attributes
    ----------
    id : str
        A sentence, or the id of one.
    fields : mapping
        What its braces hold.
    advice : str
        What to do: a sentence, or the id of one; or empty.

    Examples
    --------
    >>> print(Note("{rows} rows are copies.", {"rows": 3}, "Leave them out."))
    3 rows are copies. Leave them out.
    """

    id: str
    fields: Mapping[str, object] = field(default_factory=dict)
    advice: str = ""

    def __str__(self) -> str:
        return self.render({})

    def __hash__(self) -> int:
        return hash((self.id, self.advice))

    @property
    def fact(self) -> str:
        """The sentence in the words of Python, without the advice."""
        return fill_sentence(self.id, self.fields, {})

    def render(self, words: Words) -> str:
        """Return sentence and advice, in the words of an interface."""
        fact = fill_sentence(self.id, self.fields, words)
        advice = fill_sentence(self.advice, self.fields, words)
        return f"{fact} {advice}".rstrip()


def issue_warnings(notes: Iterable[Note], *, stacklevel: int) -> None:
    """Issue notes as warnings, with the `stacklevel` that `warnings.warn` would take in the calling function.

    All but the note that a biased metric has no interval: its limits are nan.
    """
    for note in notes:
        if note.id != "biased":
            warnings.warn(str(note), stacklevel=stacklevel + 1)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to read a file that the user may choose: what it means for the file, and the options that choose it."""

    meaning: str
    columns: Mapping[str, str]
    # others; labels are a list
    options: Mapping[str, str | list[str]] = field(default_factory=dict)
    file: str = ""  # whose columns these are, if the command reads several

    def render(self, words: Words) -> list[str]:
        """Return lines in the words of an interface: the meaning as a comment, and below it what to write."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        flags = [f"--columns {format_columns(self.columns, self.file)}"] if columns else []
        for name, value in self.options.items():
            text = value if isinstance(value, str) else format_labels(value)
            flag = f"--{name.replace('_', '-')}"
            flags.append(f"{flag}{'=' if text.startswith('-') else ' '}{quote_for_shell(text)}")
        fields = {
            "flags": " ".join(flags),
            "arguments": ", ".join(
                f"{name}={value!r}" for name, value in {**columns, **self.options}.items()
            ),
            "pairs": format_columns(self.columns),
        }
        comment = [f"  # {join_lines(self.meaning)}"] if self.meaning else []
        return [*comment, f"  {fill_sentence('write_way', fields, words)}"]


class FileError(InputError):
    """An input in a file that cannot be used: an `InputError` with the file and the place in it.

    `column` stands for the argument and `row`, as an editor numbers it, for the index; `columns` are the columns by
    role that an advice mentions. Further lines of the message are `listed`, what the file has, and `ways` to read it.
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
        """Return the message: one line, and below it what is there and the ways to go on."""
        lines = [super().render(words)]
        if self.listed:
            lines[0] += fill_sentence("there_are", {}, words)
            lines += [f"  {line}" for line in self.listed]
        if self.ways:
            lines.append(fill_sentence("choose_way", {}, words))
        for way in self.ways:
            lines += way.render(words)
        return "\n".join(lines)

    def subject(self, words: Words) -> str:
        """Return the file, and the column or argument that the error is about."""
        what = super().subject(words) if self.column is None else f"column {self.column!r}"
        file = f"{self.file}:" if self.file else ""
        return f"{file} {what}".strip()

    def sentence_fields(self) -> Mapping[str, object]:
        """Return the fields, with `columns` in the syntax of Python and, as `pairs`, of the command."""
        if self.columns is None:
            return self.fields
        return {
            **self.fields,
            "columns": dict(self.columns),
            "pairs": format_columns(self.columns),
        }

    def place(self) -> str:
        """Return the row, with a leading space, or nothing."""
        return super().place() if self.row is None else f" in row {self.row}"
