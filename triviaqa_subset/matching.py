"""When two answers count as the same text: the normal forms, the hash, the exact match; and what is no answer."""

import hashlib
import re
import string
import unicodedata
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TypedDict

from .readings import MARK, QUOTES, readings, without_markup

RULES = ("equality", "containment")
KINDS = ("normal", "official", "signed")  # forms of gold aliases
LONGEST = 40  # words of an alias that an answer may contain
BRACKET = re.compile(r"(?<!\s)\s*\(([^)]*)\)")  # what the authors' normal form deletes
YEARS = re.compile(r"(?:\d{4}s?\b[\s,;\u2013-]*)+")  # what a bracket may hold without being a doubt
PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + QUOTES, " "))
LETTERS = str.maketrans(
    {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae", "\u0153": "oe", "\u00df": "ss"}
)
ACCENTS = re.compile("[\u0300-\u036f]")
NUMERAL = re.compile(  # digits, and around them what says nothing of a number
    r"[\s(*_]*(?:the\s+)*\d+(?:,?\s+\d+|,\d{3})*[\s.,!)*_]*", re.I
)
SIGNED = re.compile(r"[-\u2010-\u2015\u2212<>$\u00a3\u20ac+/:]\s*\d|\d\s*[%<>+]")


class Gold(TypedDict):
    """The gold answer of a question; `value` is None where a source has aliases only."""

    value: str | None
    aliases: list[str]
    normalized_aliases: list[str]


def distinct_aliases(gold: Gold) -> list[str]:
    """Return the gold aliases of both lists, each once."""
    return list(dict.fromkeys([*gold["aliases"], *gold["normalized_aliases"]]))


@dataclass(frozen=True, slots=True)
class Forms:
    """The gold aliases of a question in the authors' form and in the official ones; empty ones match nothing."""

    normal: Container[str]
    official: Container[str]
    # those whose number has a sign that a form leaves out, as they are
    signed: Container[str]


@dataclass(frozen=True, slots=True)
class HashedForms:
    """Forms of one kind of a question's aliases, of which only the salted hashes are known."""

    question_id: str
    kind: str
    hashes: frozenset[str]

    def __contains__(self, form: object) -> bool:
        """Return whether a form has one of the hashes."""
        # the question is the salt: no other shares a hash, and no alias can be read
        return sha256(f"{self.question_id}\n{self.kind}\n{form}")[:16] in self.hashes


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
    text = BRACKET.sub("", text.lower().strip())
    text = text.replace("'", "").replace("-", "").replace("**", "")
    return text.strip("\"'").strip().rstrip(".").strip()


def normalize_officially(text: str) -> str:
    """Return the form of TriviaQA's own evaluation (Joshi et al. 2017): lower case, no punctuation, no articles."""
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


def exact_match(
    answer: str,
    aliases: Iterable[str],
    *,
    rule: str = "equality",
) -> bool:
    """Return whether an answer, as it is or without what names nothing, equals an alias, or contains one.

    Parameters
    ----------
    answer : str
    aliases : iterable of str
        Gold answers, normalised here; those that normalise to nothing are ignored.
    rule : {"equality", "containment"}
        `equality`: the two are equal in the form of `normalize_answer` or of TriviaQA's own evaluation, unless the
        answer hedges, see `hedges`. `containment`: or the words of an alias follow each other in the answer. Denials
        and lists that name the alias are accepted too.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `rule` is neither.

    Examples
    --------
    >>> exact_match("It is **Paris**.", ["Paris"]), exact_match("Paris (or Lyon)", ["Paris"])
    (True, False)
    >>> exact_match("In Paris.", ["Paris"], rule="containment"), exact_match("1914", ["19"], rule="containment")
    (True, False)
    """
    check_rule(rule)
    gold = gold_forms(aliases)
    texts = readings(answer)
    if any(equals(text, gold) or equals_officially(text, gold) for text in texts):
        return True
    return rule == "containment" and contains(without_markup(answer), gold)


def aliases_sha256(aliases: Iterable[str]) -> str:
    """Return the SHA-256, in hex, of the distinct official forms of aliases, sorted, one per line; "" if none.

    >>> aliases_sha256(["The Paris", "Lutetia"]) == aliases_sha256(["lutetia", "paris", "Paris!"])
    True
    """
    forms = sorted({normalize_officially(alias) for alias in aliases} - {""})
    return sha256("\n".join(forms)) if forms else ""


def sha256(text: str) -> str:
    """Return the SHA-256, in hex, of the UTF-8 bytes of a text as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def hashed_forms(question_id: str, hashes: Iterable[str]) -> Forms:
    """Return the forms of a question's gold aliases from their salted hashes."""
    known = frozenset(hashes)
    return Forms(*(HashedForms(question_id, kind, known) for kind in KINDS))


def check_rule(rule: str) -> None:
    """Raise a ValueError unless the rule is one of `RULES`."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")


def gold_forms(aliases: Iterable[str]) -> Forms:
    """Return the forms of all aliases."""
    texts = list(aliases)
    return Forms(
        normal=set(map(normalize_answer, texts)) - {""},
        official={*map(normalize_officially, texts), *map(plain, texts)} - {""},
        signed={text.strip().lower() for text in texts if _is_signed(text)},
    )


def _is_signed(alias: str) -> bool:
    forms = (normalize_answer(alias), plain(alias))
    return SIGNED.search(alias) is not None or any(omits_sign(alias, form) for form in forms)


def omits_sign(text: str, form: str) -> bool:
    """Return whether a form of digits leaves out more of a text than space and a bracket: 62 does of 6'2 and of 62%."""
    if not form.replace(" ", "").isdigit():
        return False
    return not any(map(NUMERAL.fullmatch, (text, BRACKET.sub("", text))))


def plain(text: str) -> str:
    """Return the official form without accents, `&` written out, and with marks of doubt and minus signs as words."""
    # a full-width mark is a mark
    composed = unicodedata.normalize("NFKC", text).lower().replace("&", " and ")
    marked = MARK.sub(lambda mark: f" mark{ord(mark[0][0])} ", composed)
    letters = ACCENTS.sub("", unicodedata.normalize("NFKD", marked.translate(LETTERS)))
    spaced = (" " if unicodedata.category(char)[0] == "P" else char for char in letters)
    return normalize_officially("".join(spaced))


def equals(answer: str, gold: Forms) -> bool:
    """Return whether an answer that does not hedge has the normal form of an alias."""
    form = normalize_answer(answer)
    has_form = form in gold.normal and _is_that_number(answer, form, gold)
    return has_form and not hedges(answer, gold)


def equals_officially(answer: str, gold: Forms) -> bool:
    """Return whether answer and alias are equal in the form of TriviaQA's own evaluation, accents aside."""
    form = plain(answer)
    return form in gold.official and _is_that_number(answer, form, gold)


def _is_that_number(answer: str, form: str, gold: Forms) -> bool:
    """Return whether a form of digits leaves no sign out, unless an alias has the same one."""
    return not omits_sign(answer, form) or answer.strip().lower() in gold.signed


def contains(answer: str, gold: Forms) -> bool:
    """Return whether the words of an alias follow each other in the answer."""
    words = plain(answer).split()
    return any(
        " ".join(words[start:end]) in gold.official
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1)
    )


def hedges(answer: str, gold: Forms) -> bool:
    """Return whether an answer has a mark of doubt, or a bracket that may be a doubt or an alternative.

    >>> gold = gold_forms(["Paris", "City of Light"])
    >>> [hedges(answer, gold) for answer in ("Paris (or Lyon)", "Paris?", "Paris (1900)", "Paris (City of Light)")]
    [True, True, False, False]
    """
    has_mark = MARK.search(unicodedata.normalize("NFKC", answer)) is not None
    return (has_mark or has_open_bracket(answer, gold)) and not equals_officially(answer, gold)


def has_open_bracket(answer: str, gold: Forms) -> bool:
    """Return whether an answer has a bracket that holds neither years nor an alias."""
    return not all(
        YEARS.fullmatch(inside.strip()) or plain(inside) in gold.official
        for inside in BRACKET.findall(answer)
    )
