"""What a reply states in words: a guess and its probability, yes or no, the letter of a choice."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from .matching import normalize_answer

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


def verbalized(reply: str) -> tuple[str, float | None]:
    r"""Read guess and probability, as the reply states them.

    Read are a number after "Probability" or "Confidence", else one alone on the last line, else one with
    a point or a per cent sign that ends the line after a comma or in brackets: 0.85, .85, 1, 85 %.
    Nothing is guessed: no number, a range, or more than 1 without a per cent sign is a missing confidence.

    Parameters
    ----------
    reply : str
        Without the given start of the reply ("Guess:").

    Returns
    -------
    answer : str
        The first line with something on it, before the probability.
    confidence : float or None
        In [0, 1], or None: missing.

    Examples
    --------
    >>> verbalized(" Paris\nProbability: 0.85")
    ('Paris', 0.85)
    >>> verbalized("Paris (probability: 85 %)")
    ('Paris', 0.85)
    >>> verbalized("Paris\nProbability: rather high")
    ('Paris', None)
    """
    text = reply.strip()
    found = next((match for match in (pattern.search(text) for pattern in STATED) if match), None)
    cut = found or UNREADABLE.search(text)
    lines = [" ".join(line.split()).strip(" *,;-(") for line in text[: cut.start() if cut else None].split("\n")]
    return next((line for line in lines if line), ""), _probability(found) if found else None


def yes_or_no(reply: str) -> bool | None:
    """Read what a judge said: True for "Yes.", False for "No.", in any case and punctuation, else None.

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
    """Read which choice was taken: its letter at the start of the answer, else its very text.

    Parameters
    ----------
    reply : str
    choices : sequence of str

    Returns
    -------
    str or None
        A letter, A for the first choice; None if the reply names none of them.

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


def _probability(found: re.Match) -> float | None:
    value = float(found["number"]) / (100 if found["percent"] else 1)
    return value if value <= 1 else None
