"""When two answers count as the same text: the normal forms, the hash, the exact match; and what is no answer."""

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple, TypedDict

RULES = ("equality", "containment")
HEDGE = re.compile(
    r"\([^)]*(\b(or|either|via|maybe|perhaps|possibly|probably|likely|not|but|though|unless)\b|\?)[^)]*\)", re.I
)
QUOTES = "\u2018\u2019\u00b4\u201c\u201d"  # curly ones, and the acute accent
PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + QUOTES, " "))
SYMBOLS = "#$%&+<=>@^|~"  # which may be an answer
SILENCE = string.whitespace + "".join(set(string.punctuation) - set(SYMBOLS)) + QUOTES + "\u2026\u2013\u2014"
REFUSALS = {
    "i dont know", "i do not know", "dont know", "do not know", "i dont know the answer", "i do not know the answer",
    "idk", "im not sure", "i am not sure", "not sure", "unsure", "i have no idea", "no idea", "unknown", "not known",
    "no answer", "n a", "i cant answer", "i cannot answer", "cant answer", "cannot answer",
    "i cant answer this question", "i cannot answer this question", "i am unable to answer", "im unable to answer",
    "unable to answer", "cannot be determined", "unanswerable", "not enough information", "insufficient information",
    "sorry i dont know", "sorry i do not know", "im sorry i dont know", "i am sorry i do not know",
}  # fmt: skip


class Gold(TypedDict):
    """The gold answer of a question; `value` is None where a source has aliases only."""

    value: str | None
    aliases: list[str]
    normalized_aliases: list[str]


class Forms(NamedTuple):
    """The gold aliases of a question in the two normal forms, without those that are empty: they match nothing."""

    normal: frozenset[str]
    official: frozenset[str]


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


def normalize_officially(text: str) -> str:
    """Return the normal form of TriviaQA's own evaluation: lower case, no punctuation, no articles, single spaces.

    Curly double quotes are punctuation too. Words in brackets stay. Accents are composed first, so that it does not
    matter how they are encoded.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        May be empty.

    References
    ----------
    Joshi et al. 2017, the script `triviaqa_evaluation.py` of https://github.com/mandarjoshi90/triviaqa.

    Examples
    --------
    >>> normalize_officially("The “Hitch-Hiker's” Guide!")
    'hitch hiker s guide'
    """
    composed = unicodedata.normalize("NFC", text.lower())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", composed.translate(PUNCTUATION)).split())


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
        `equality`: the two are equal in the form of `normalize_answer`, unless the answer hedges: a group in
        brackets that is left out must not hold an alternative or a doubt, as "(or Lyon)" or "(probably)" do.
        `containment`: they are equal, or the words of an alias follow each other in the answer, both in
        the form of `normalize_officially`. Denials and lists that name the alias are accepted too.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `rule` is neither.

    Examples
    --------
    >>> exact_match("It is Paris.", ["Paris"]), exact_match("Paris (or Lyon)", ["Paris"])
    (False, False)
    >>> exact_match("It is Paris.", ["Paris"], rule="containment"), exact_match("1914", ["19"], rule="containment")
    (True, False)
    """
    check_rule(rule)
    gold = gold_forms(aliases)
    return equals(answer, gold) or (rule == "containment" and contains(answer, gold))


def aliases_sha256(aliases: Iterable[str]) -> str:
    """Return the SHA-256, in hex, of the distinct official forms of aliases, sorted, one per line.

    It is empty if there are none. It does not depend on case, order or repetition, nor on whether
    `normalized_aliases` are among them.

    Examples
    --------
    >>> aliases_sha256(["The Paris", "Lutetia"]) == aliases_sha256(["lutetia", "paris", "Paris!"])
    True
    """
    forms = sorted(gold_forms(aliases).official)
    return sha256("\n".join(forms)) if forms else ""


def sha256(text: str) -> str:
    """Return the SHA-256, in hex, of the UTF-8 bytes of a text as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def check_rule(rule: str) -> None:
    """Raise a ValueError unless the rule is one of `RULES`."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")


def gold_forms(aliases: Iterable[str]) -> Forms:
    """Return both normal forms of all aliases."""
    texts = list(aliases)
    forms = (frozenset(map(form, texts)) - {""} for form in (normalize_answer, normalize_officially))
    return Forms(*forms)


def equals(answer: str, gold: Forms) -> bool:
    """Return whether an answer that does not hedge has the normal form of an alias."""
    return normalize_answer(answer) in gold.normal and not hedges(answer)


def equals_officially(answer: str, gold: Forms) -> bool:
    """Return whether answer and alias are equal in the form of TriviaQA's own evaluation."""
    return normalize_officially(answer) in gold.official


def contains(answer: str, gold: Forms) -> bool:
    """Return whether the words of an alias follow each other in the answer."""
    words = f" {normalize_officially(answer)} "
    return any(f" {alias} " in words for alias in gold.official)


def hedges(answer: str) -> bool:
    """Return whether a group in brackets, which `normalize_answer` deletes, holds an alternative or a doubt.

    Examples
    --------
    >>> [hedges(answer) for answer in ("Paris (or Lyon)", "Paris (via Lyon or Nice)", "Paris (France)")]
    [True, True, False]
    """
    return HEDGE.search(answer) is not None


def is_refusal(answer: str) -> bool:
    """Return whether an answer is empty, or nothing but "I don't know" or one of its kin (`REFUSALS`).

    Examples
    --------
    >>> [is_refusal(answer) for answer in (" ", "...", "I don't know.", "N/A", "The Unknown", "None", "&")]
    [True, True, True, True, False, False, False]
    """
    words = re.findall(r"\w+", re.sub("['\u2019]", "", answer.lower()))
    return not answer.strip(SILENCE) or " ".join(words) in REFUSALS
