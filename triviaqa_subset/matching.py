"""When two answers count as the same text: the normal form, its hash, and the exact match."""

import hashlib
import re
from collections.abc import Iterable
from typing import TypedDict

RULES = ("equality", "containment")


class Gold(TypedDict):
    """The gold answer of a question; `value` is None where a source has aliases only."""

    value: str | None
    aliases: list[str]
    normalized_aliases: list[str]


def normalize_answer(text: str) -> str:
    """Return the normal form of an answer or an alias, in which two of them are compared.

    In lower case, without ` (...)` groups, `'`, `-` and `**`, without quotes at the ends and full stops
    at the end, and stripped.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        May be empty.

    Examples
    --------
    >>> normalize_answer("**The Hitch-Hiker's Guide** (novel).")
    'the hitchhikers guide'
    """
    text = re.sub(r"\s*\([^)]*\)", "", text.lower().strip())
    text = text.replace("'", "").replace("-", "").replace("**", "")
    return text.strip("\"'").strip().rstrip(".").strip()


def answer_sha256(answer: str) -> str:
    """Return the SHA-256, in hex, of the normalised answer's UTF-8 bytes: the key of the label bank.

    Parameters
    ----------
    answer : str
        As the system gave it.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> answer_sha256("Paris (France)") == answer_sha256("paris")
    True
    """
    return sha256(normalize_answer(answer))


def exact_match(answer: str, aliases: Iterable[str], *, rule: str = "equality") -> bool:
    """Return whether the normalised answer equals, or contains, a normalised alias.

    Parameters
    ----------
    answer : str
    aliases : iterable of str
        Gold answers, normalised here; those that normalise to nothing are ignored.
    rule : {"equality", "containment"}
        `equality`: the two are equal, the rule of this dataset's `exact_match` column.
        `containment`: the answer contains an alias, the rule that the paper describes; it also accepts
        "1914" where the gold answer is "19".

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `rule` is neither.

    Examples
    --------
    >>> exact_match("It is Paris.", ["Paris"])
    False
    >>> exact_match("It is Paris.", ["Paris"], rule="containment")
    True
    """
    return matches(normalize_answer(answer), normalized(aliases), rule)


def sha256(text: str) -> str:
    """Return the SHA-256, in hex, of the UTF-8 bytes of a text as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def normalized(aliases: Iterable[str]) -> set[str]:
    """Return the normal forms of all aliases but those that normalise to nothing, which match nothing."""
    return {normalize_answer(alias) for alias in aliases} - {""}


def matches(answer: str, aliases: set[str], rule: str) -> bool:
    """Return `exact_match` of an answer and aliases that are normalised already."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")
    return answer in aliases if rule == "equality" else any(alias in answer for alias in aliases)
