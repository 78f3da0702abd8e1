"""Parsing of replies: an answer and its probability, yes or no, the letter of a choice."""

import json
import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from ..matching import normalize_answer

# Possessive (`?+`), so that no part of a number is taken for the number.
PERCENT = r"(?P<percent>[ \t]*+(?:[%\uff05]|per[ -]?cent\b))?+"
NUMBER = rf"(?P<number>\d++(?:\.\d*+)?+|\.\d++)(?:[ \t]+(?:in|out[ ]of)[ \t]+(?P<total>\d++))?+{PERCENT}"
DASH = r"[-\u2010-\u2015\u2212/~\u2026]|\.\."
NOT_A_PART = rf"(?![.,]?\d|\w|[ \t]*(?:{DASH})[ \t]*\.?\d|[ \t]*\b(?:to|or|and|of|in|through|out)\b[ \t]*\.?\d)"
OPEN, CLOSE = r"[\s*_~<\"'(\[]*+", r"[\s*_>\"')\].`]*\Z"
WORD = r"(?:\bwith\s+(?:an?\s+)?)?\b(?:probability|confidence)\b"
STATED = (
    re.compile(rf"{WORD}[^:=\n\d]{{0,40}}?(?::|=|\bis\b|\bof\b){OPEN}{NUMBER}{NOT_A_PART}", re.IGNORECASE),
    re.compile(rf"[,;(\n]{OPEN}{WORD}[ \t]+{NUMBER}{NOT_A_PART}{CLOSE}", re.IGNORECASE),
    re.compile(rf"\n{OPEN}{NUMBER}{NOT_A_PART}{CLOSE}", re.IGNORECASE),
    re.compile(rf"[,;(]\s*(?=[\d.]*\.|\d+\s*%){NUMBER}{NOT_A_PART}{CLOSE}", re.IGNORECASE),
)
UNREADABLE = re.compile(rf"{WORD}[\s*_]*[:=]", re.IGNORECASE)
INVERTED = re.compile(
    r"(?i)\b(?:wrong|incorrect|inaccurate|mistaken|false|untrue|errors?|failure"
    r"|(?:not|\w+n['\u2019]t)\s+(?:\w+\s+)?(?:right|correct|true))\b"
)
CONDITIONAL = re.compile(r"(?i)\b(?:if|otherwise|unless|assuming|provided|given|depending|when|else)\b")
BOUND = re.compile(r"(?i)\b(?:at (?:most|least)|\w+er than|(?:less|more) than|below|above|under|over|up to|bound)\b")
_JSON = re.compile(r"(?:```\w*\s*)?(?P<json>\{.*\})\s*(?:```)?\s*", re.DOTALL)
UNREAD = "no probability can be read"
_CUT = "the reply was cut by --max-tokens"


class Outcome(NamedTuple):
    """An answer, None without a usable reply; its confidence in [0, 1], None if missing; and why, or how exact."""

    answer: str | None
    confidence: float | None
    explanation: str | None = None
    posteriors: list[float] | None = None


def answer_and_probability(reply: str, *, cut: bool = False) -> Outcome:
    """Return the answer, the first line that is not blank, and the probability that a reply states; guess nothing."""
    text = reply.strip()
    if text.startswith(("{", "```{", "```json")):
        return _from_json(text, _CUT if cut else UNREAD)
    found = next((match for match in (pattern.search(text) for pattern in STATED) if match), None)
    end = found or UNREADABLE.search(text)
    lines = [_unwrap(line) for line in text[: end.start() if end else None].split("\n")]
    answer = next((line for line in lines if line and not line.startswith("```")), "")
    if not found or (cut and not _is_whole(found)):
        return Outcome(answer, None, _CUT if cut else UNREAD)
    reason, value = _other_meaning(found), _probability(found)
    return Outcome(answer, None if reason else value, reason or (UNREAD if value is None else None))


def yes_or_no(reply: str) -> bool | None:
    """Return a judge's verdict: True for "Yes.", False for "No.", in any case and punctuation, else None."""
    word = re.fullmatch(r"\W*(yes|no)\W*", reply.lower())
    return None if word is None else word[1] == "yes"


def choice_letter(reply: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the choice that a reply names: by it at the start of the answer, else by its exact text."""
    letters = ascii_uppercase[: len(choices)]
    start = r"\W*(?:(?:the\s+)?(?:(?:correct|right|best)\s+)?(?:answer|choice)\b\s*(?:is\b)?\W*)?"
    named = re.match(rf"{start}([{letters}])(?:\W*\Z|\s*[).:,\]*\n])", reply, re.IGNORECASE)
    if named:
        return named[1].upper()
    texts = [normalize_answer(choice) for choice in choices]
    same = [letter for letter, text in zip(letters, texts, strict=True) if text == normalize_answer(reply)]
    return same[0] if len(same) == 1 else None


def _other_meaning(found: re.Match[str]) -> str | None:
    """Return what a stated number is, if it is not the probability that the answer is right."""
    word_before = re.search(r"\w* ?\Z", found.string[: found.start()])
    lead = (word_before[0] if word_before else "") + found.string[found.start() : found.start("number")]
    after = found.string[found.end() :].partition("\n")[0]
    if INVERTED.search(lead) or INVERTED.search(after):
        return "the probability is that of being wrong"
    if CONDITIONAL.search(lead) or CONDITIONAL.search(after):
        return "the probability has a condition"
    if BOUND.search(lead) or ("<" in lead and ">" not in found.string[found.end("number") :]):
        return "a bound is stated instead of a probability"
    return None


def _unwrap(line: str) -> str:
    """Return a line without surrounding markup; an opening bracket or a star that belongs to a name stays."""
    bare = " ".join(line.split()).rstrip(" ,;-")
    bare = bare.removesuffix("(").rstrip(" ,;-") if bare.count("(") > bare.count(")") else bare
    bare = bare.lstrip(" ,;")
    bare = bare.removeprefix("- ") if bare.startswith("- ") else bare
    while len(bare) > 1 and bare.startswith("*") and bare.endswith("*"):
        bare = bare[1:-1].strip()
    return bare.removeprefix("** ").removesuffix("**" if bare.count("**") % 2 else "").strip(" ")


def _is_whole(found: re.Match[str]) -> bool:
    """Return whether a probability in a reply that was cut stands on a line of its own, which ends."""
    before = found.string[: found.start()].rpartition("\n")
    return not before[2].strip(" *_`") and bool(before[1]) and "\n" in found.string[found.end("number") :]


def _from_json(text: str, missing: str) -> Outcome:
    """Return the answer and the probability of a JSON object; an answer that cannot be read is empty."""
    whole = _JSON.fullmatch(text)
    try:
        given = json.loads(whole["json"]) if whole else {}
    except (ValueError, RecursionError):
        given = {}
    fields = {str(name).lower(): value for name, value in given.items()}
    answer = next((fields[name] for name in ("guess", "answer") if isinstance(fields.get(name), str)), "")
    stated = next((fields[name] for name in ("probability", "confidence") if name in fields), None)
    found = re.fullmatch(NUMBER, str(stated).strip()) if type(stated) in (int, float, str) else None
    value = _probability(found) if found else None
    return Outcome(" ".join(answer.split()), value, missing if value is None else None)


def _probability(found: re.Match[str]) -> float | None:
    total = 100.0 if found["percent"] else float(found["total"] or 1)
    if (found["percent"] and found["total"]) or total == 0:
        return None
    value = float(found["number"]) / total
    return value if value <= 1 else None
