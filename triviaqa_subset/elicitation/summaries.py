"""What became of the questions of a run, in lines: errors with the server's own words, and missing confidences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from .judging import GradedRow
from .runs import Row

Prices = tuple[float, float] | None

KINDS = {
    "transport": "the server or the way to it; the same command asks again",
    "request": "the server does not take the request",
    "refusal": "the model refused",
    "reply": "no answer in the reply",
}


def summarize_rows(rows: Iterable[Row]) -> list[str]:
    """Return lines on the errors, the missing confidences and the replies that were cut; none if there are none.

    Parameters
    ----------
    rows : iterable of Row

    Returns
    -------
    list of str

    Examples
    --------
    >>> row = {"question_id": "q1", "answer": None, "confidence": None, "error": "401 no key", "kind": "transport"}
    >>> summarize_rows([row | {"replies": []}])[1]
    '  transport 1 (the server or the way to it; the same command asks again), e.g. q1: 401 no key'
    """
    all_rows = list(rows)
    return [*_errors(all_rows), *_remarks(all_rows), *_suspicious(all_rows)]


def summarize_usage(rows: Iterable[Row], seconds: float, prices: Prices = None) -> list[str]:
    """Return a line on the tokens of all replies, as the servers count them, and on the models that answered.

    Parameters
    ----------
    rows : iterable of Row
    seconds : float
        Of this start.
    prices : tuple of two floats, optional
        Of a million tokens read and of a million tokens written.

    Returns
    -------
    list of str
    """
    replies = [reply for row in rows for reply in row["replies"]]
    usage = _usage(replies)
    served = sorted({reply["model"] for reply in replies if "model" in reply})
    tokens = f", {usage.read} tokens read and {usage.written} written" if usage.counted else ""
    by = f", served by {', '.join(served)}" if served else ""
    lines = [f"{len(replies)} replies{tokens}{by}; {seconds:.0f} s"]
    if prices:
        uncounted = len(replies) - usage.counted
        without = f", without the {uncounted} replies whose tokens are not known" if uncounted else ""
        lines.append(f"cost: {_cost(usage, prices):.4f} at {prices[0]:g} and {prices[1]:g} per million tokens{without}")
    return lines


class RunLine(NamedTuple):
    """What a table of several runs says of one."""

    system: str
    asked: int
    answers: int
    errors: int
    no_confidence: int
    wrong: int
    right: int
    unknown: int
    read: int
    written: int
    cost: float | None


def run_line(
    system: str, graded: Sequence[GradedRow], rows: Sequence[Row], questions: int, prices: Prices = None
) -> RunLine:
    """Return the line of a run.

    Parameters
    ----------
    system : str
    graded : sequence of GradedRow
    rows : sequence of Row
        Of the same questions.
    questions : int
        How many there are; those without a row are not asked.
    prices : tuple of two floats, optional
        Of a million tokens read and of a million tokens written.
    """
    answered = [row for row in graded if row["decided_by"] != "error"]
    verdicts = Counter(row["correct"] for row in answered)
    usage = _usage([reply for row in rows for reply in row["replies"]])
    return RunLine(
        system,
        asked=questions,
        answers=len(answered),
        errors=len(graded) - len(answered),
        no_confidence=sum(row["confidence"] is None for row in answered),
        wrong=verdicts[False],
        right=verdicts[True],
        unknown=verdicts[None],
        read=usage.read,
        written=usage.written,
        cost=_cost(usage, prices) if prices else None,
    )


def table(lines: Sequence[RunLine]) -> str:
    """Return the lines of several runs as text in columns; what is nowhere known has none."""
    frame = pd.DataFrame(lines).dropna(axis="columns", how="all").rename(columns=lambda name: name.replace("_", " "))
    return str(frame.to_string(index=False, float_format=lambda cost: f"{cost:.4f}", na_rep="-"))


class _Usage(NamedTuple):
    counted: int  # replies
    read: int  # tokens
    written: int


def _usage(replies: Sequence[Mapping[str, Any]]) -> _Usage:
    counts = [reply["usage"] for reply in replies if "usage" in reply]
    read, written = (sum(count.get(name, 0) for count in counts) for name in ("prompt_tokens", "completion_tokens"))
    return _Usage(len(counts), read, written)


def _cost(usage: _Usage, prices: tuple[float, float]) -> float:
    return (usage.read * prices[0] + usage.written * prices[1]) / 1e6


def _errors(rows: Sequence[Row]) -> list[str]:
    failed = [row for row in rows if row["error"]]
    kinds: dict[str, list[Row]] = {}
    for row in failed:
        kinds.setdefault(row.get("kind") or "reply", []).append(row)
    lines = [
        f"  {kind} {len(found)} ({KINDS[kind]}), e.g. {found[0]['question_id']}: {found[0]['error']}"
        for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1]))
    ]
    return [f"errors: {len(failed)}; --retry-errors asks all of them again", *lines] if failed else []


def _remarks(rows: Sequence[Row]) -> list[str]:
    """Count the reasons; those of single questions, which have numbers in them, by their beginning."""
    answered = [row for row in rows if not row["error"] and row.get("remark")]
    missing = Counter(_kind_of(row) for row in answered if row["confidence"] is None)
    bounds = Counter(_kind_of(row) for row in answered if row["confidence"] is not None)
    lines = [f"  {count}: {remark}" for remark, count in missing.most_common()]
    return [
        *(["confidences are missing since"] if lines else []),
        *lines,
        *(f"{count} confidences: {remark}" for remark, count in bounds.most_common()),
    ]


def _kind_of(row: Row) -> str:
    return (row.get("remark") or "").partition(";")[0].partition(", at most")[0]


def _suspicious(rows: Sequence[Row]) -> list[str]:
    cut = sum(any(reply["finish_reason"] == "length" for reply in row["replies"][:1]) for row in rows)
    confidences = {row["confidence"] for row in rows if row["confidence"] is not None}
    known = sum(row["confidence"] is not None for row in rows)
    lines = [f"replies cut by --max-tokens: {cut}"] if cut else []
    if known >= 10 and confidences == {1.0}:
        lines.append(f"all {known} confidences are 1: the server may not return real log-probabilities")
    return lines
