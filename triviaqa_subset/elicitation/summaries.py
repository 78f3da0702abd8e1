"""What became of the questions of a run, in lines: errors with the server's own words, and missing confidences."""

from collections import Counter
from collections.abc import Iterable, Sequence

from .runs import Row

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


def summarize_usage(rows: Iterable[Row], seconds: float) -> list[str]:
    """Return a line on the tokens of all replies, as the servers count them, and on the models that answered.

    Parameters
    ----------
    rows : iterable of Row
    seconds : float
        Of this start.

    Returns
    -------
    list of str
    """
    replies = [reply for row in rows for reply in row["replies"]]
    counts = [reply["usage"] for reply in replies if "usage" in reply]
    read, written = (sum(count.get(name, 0) for count in counts) for name in ("prompt_tokens", "completion_tokens"))
    served = sorted({reply["model"] for reply in replies if "model" in reply})
    tokens = (
        f"{len(replies)} replies, {read} tokens read and {written} written" if counts else f"{len(replies)} replies"
    )
    by = f", served by {', '.join(served)}" if served else ""
    return [f"{tokens}{by}; {seconds:.0f} s"]


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
