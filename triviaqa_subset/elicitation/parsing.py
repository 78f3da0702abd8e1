"""What a reply says in words: an answer and its probability, yes or no, the letter of a choice."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from ..matching import normalize_answer

# Possessive (`?+`), so that no part of a number is taken for the number.
NUMBER = r"(?P<number>\d++(?:\.\d*+)?+|\.\d++)(?P<percent>[ \t]*+%)?+"
NOT_A_PART = r"(?![.,]?\d|\w|[ \t]*[-\u2013/][ \t]*\.?\d|[ \t]*(?:to|or)\b)"
OPEN, CLOSE = r"[\s*_~<\"'(\[]*+", r"[\s*_>\"')\].]*\Z"
WORD = r"(?:\bwith\s+(?:an?\s+)?)?\b(?:probability|confidence)\b"
STATED = (
    re.compile(rf"{WORD}[^:=\n\d]{{0,40}}?(?::|=|\bis\b|\bof\b){OPEN}{NUMBER}{NOT_A_PART}", re.IGNORECASE),
    re.compile(rf"\n{OPEN}{NUMBER}{NOT_A_PART}{CLOSE}"),
    re.compile(rf"[,;(]\s*(?=[\d.]*\.|\d+\s*%){NUMBER}{NOT_A_PART}{CLOSE}"),
)
UNREADABLE = re.compile(rf"{WORD}[\s*_]*[:=]", re.IGNORECASE)


def answer_and_probability(reply: str) -> tuple[str, float | None]:
    r"""Return the answer and the probability that a reply states.

    The probability is a number after "Probability" or "Confidence", else a number alone on the last line,
    else one with a point or a per cent sign at the end of the reply, after a comma or in brackets: 0.85, .85,
    1, 85 %. Nothing is guessed: without a number, with a range, or with a number above 1 without a per cent
    sign the confidence is missing.

    Parameters
    ----------
    reply : str
        Without the given start of the reply ("Guess:").

    Returns
    -------
    answer : str
        The first line that is not blank, up to the probability.
    confidence : float or None
        In [0, 1], or None: missing.

    Examples
    --------
    >>> answer_and_probability(" Paris\nProbability: 0.85")
    ('Paris', 0.85)
    >>> answer_and_probability("Paris (probability: 85 %)")
    ('Paris', 0.85)
    >>> answer_and_probability("Paris\nProbability: rather high")
    ('Paris', None)
    """
    text = reply.strip()
    found = next((match for match in (pattern.search(text) for pattern in STATED) if match), None)
    cut = found or UNREADABLE.search(text)
    lines = [" ".join(line.split()).strip(" *,;-(") for line in text[: cut.start() if cut else None].split("\n")]
    return next((line for line in lines if line), ""), _probability(found) if found else None


def yes_or_no(reply: str) -> bool | None:
    """Return what a judge said: True for "Yes.", False for "No.", in any case and punctuation, else None.

    Parameters
    ----------
    reply : str

    Returns
    -------
    bool or None

    Examples
    --------
    >>> yes_or_no("Yes."), yes_or_no("**no**"), yes_or_no("No idea")
    (True, False, None)
    """
    word = re.fullmatch(r"\W*(yes|no)\W*", reply.lower())
    return None if word is None else word[1] == "yes"


def choice_letter(reply: str, choices: Sequence[str]) -> str | None:
    """Return the choice that a reply names: by its letter at the start of the answer, else by its exact text.

    Parameters
    ----------
    reply : str
    choices : sequence of str

    Returns
    -------
    str or None
        A letter, A for the first choice; None if the reply does not name one of them.

    Examples
    --------
    >>> choices = ["a cat", "a dog"]
    >>> [choice_letter(reply, choices) for reply in ("B", "(b) a dog", "The answer is B.", "A dog", "A bird", "C")]
    ['B', 'B', 'B', 'B', None, None]
    """
    letters = ascii_uppercase[: len(choices)]
    start = r"\W*(?:(?:the\s+)?(?:(?:correct|right|best)\s+)?(?:answer|choice)\b\s*(?:is\b)?\W*)?"
    named = re.match(rf"{start}([{letters}])(?:\W*\Z|\s*[).:,\]*\n])", reply, re.IGNORECASE)
    if named:
        return named[1].upper()
    texts = [normalize_answer(choice) for choice in choices]
    same = [letter for letter, text in zip(letters, texts, strict=True) if text == normalize_answer(reply)]
    return same[0] if len(same) == 1 else None


def _probability(found: re.Match[str]) -> float | None:
    value = float(found["number"]) / (100 if found["percent"] else 1)
    return value if value <= 1 else None
