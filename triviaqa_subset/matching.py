"""When two answers are the same text: the normal form, its hash, and the exact match."""

import hashlib
import re
from collections.abc import Iterable

RULES = ("equality", "containment")


def normalize_answer(text: str) -> str:
    """Bring an answer or an alias into the form in which two of them are compared.

    Lower case; without ` (...)` groups, `'`, `-` and `**`; without quotes at the ends and full stops
    at the end; stripped.

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
    """SHA-256, in hex, of the normalised answer's UTF-8 bytes: the key of the label bank.

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
    """Tell whether the normalised answer is a normalised alias, or holds one.

    Parameters
    ----------
    answer : str
    aliases : iterable of str
        Gold answers, normalised here; those that normalise to nothing are passed over.
    rule : {"equality", "containment"}
        `equality`: the two are equal, the rule of this dataset's `exact_match` column.
        `containment`: an alias stands somewhere inside the answer, the rule the paper describes;
        it also accepts "1914" where the gold answer is "19".

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
    """SHA-256, in hex, of the UTF-8 bytes of a text taken as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def normalized(aliases: Iterable[str]) -> set[str]:
    """Normalise all aliases; those that normalise to nothing match nothing and are left out."""
    return {normalize_answer(alias) for alias in aliases} - {""}


def matches(answer: str, aliases: set[str], rule: str) -> bool:
    """`exact_match` for an answer and aliases that are normalised already."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; it is {rule!r}")
    return answer in aliases if rule == "equality" else any(alias in answer for alias in aliases)
