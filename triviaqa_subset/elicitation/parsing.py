"""Parsing of replies: an answer and its probability, yes or no, the letter of a choice.

A pattern says where a number may stand, `read_number` reads it, and what stands around it says what it means. None
forbids its engine to back up: Python 3.11.2 takes such patterns for something else than later versions do.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from ..matching import normalize_answer

DIGITS = r"(?P<number>\d+(?:\.\d*)?|\.\d+)"
DECIMAL = re.compile(DIGITS)
TOTAL = re.compile(r"[ \t]+(?:in|out[ ]of)[ \t]+(\d+)")
PERCENT = re.compile(r"[ \t]*(?:[%\uff05]|per[ -]?cent\b)", re.IGNORECASE)
# What makes digits a part of something else: "0.8x", "0.5*0.5", "0.14159...".
CONTINUED = re.compile(r"[^\W_]|[*^]\d|\.\.")

KEYWORD = r"(?:\bwith\s+(?:an?\s+)?)?\b(?:probability|confidence)\b"
ABOUT = r"(?:(?:about|around|roughly|approximately|nearly|almost)\s+)?"
# Bounded, as each of these signs may also begin a statement: a long run of them is read once.
OPENING = rf"[\s*_~<\"'(\[`]{{0,20}}{ABOUT}"
CLOSING = re.compile(r"[\s*_>\"')\].`]*")
LABELLED = re.compile(
    rf"{KEYWORD}[^:=\n\d]{{0,40}}?(?::|=|\bis\b|\bof\b){OPENING}{DIGITS}", re.IGNORECASE
)
AT_THE_END = (
    re.compile(rf"[,;(\n]{OPENING}{KEYWORD}[ \t]+{DIGITS}", re.IGNORECASE),
    re.compile(rf"\n{OPENING}{DIGITS}"),
    # "Boeing (747)" states nothing, nor does "Vodka, 40%"
    re.compile(r"(?:[;(]|,(?!\d))\s*(?P<number>\d*\.\d+)(?!\d|\s*[%\uff05])"),
)
NEXT_QUESTION = re.compile(
    r"\n[^\S\n]*Question:"
)  # with which a model goes on that only completes texts
UNREADABLE = re.compile(rf"{KEYWORD}[\s*_]*[:=]", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+")
# Words that may stand beside the number: what else is said may give it another meaning.
PLAIN = frozenset(
    WORD.findall(
        """a about accuracy accurate almost am an and answer approximately are around as at be being believe ca
        certain certainty chance circa confidence confident correct correctness d estimate estimated fairly final for
        guess i in is it its level likelihood likely m maybe my nearly of opinion or out overall perhaps
        possibly pretty probability put quite rather reply response right roughly s say score so stated subjective sure
        that the think this to total true very view with would"""
    )
)
SIGNS = re.compile(
    r"[\s.,;:=!()\[\]{}*_\"'\u2014\u2019`<>~]*"
)  # signs that mean nothing for a number
# What an explanation below does not speak of: how sure the answer is, another one, or a correction.
CORRECTION = re.compile(
    rf"(?i){KEYWORD}|\b(?:wrong|incorrect|mistaken|inverse|correction|actually|wait|sorry|instead|scale|alternativ\w*"
    r"|runner|reconsider\w*|second (?:guess|thoughts?)|take \w+ back|low\w*"
    r"|high\w*|likel\w*|(?:un)?sure|(?:un)?certain\w*"
    r"|doubt\w*|maybe|perhaps)\b|\bno[,.]|\b(?:answer|guess)(?:\s+(?:is|was)\b|\s*:)"
)
# Answers beside which a number may be of a part of them, or of something else.
LIST = re.compile(r"(?i);|\b(?:or|second|alternatively|uncertainty|doubt|risk|error)\b")
GREATEST = 100  # a number below that is at most this may be on a scale of probabilities

NAMED = r"\W*(?:(?:(?:the|my)\s+)?(?:(?:correct|right|best|final)\s+)?(?:answer|choice|option|guess)\b\s*(?:is\b)?\W*)?"

UNREAD = "no probability can be read"
UNKNOWN = "what is said of the number is not known to mean the probability of being right"
SEVERAL = "several numbers are stated"
_CUT = "the reply was cut by --max-tokens"
Statement = re.Match[str]  # a passage that may state the probability, up to its digits
_JSON = re.compile(r"(?:```\w*\s*)?(?P<json>\{.*\})\s*(?:```\s*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, None without a usable reply; its confidence in [0, 1], None if missing; and why, or how exact."""

    answer: str | None
    confidence: float | None
    explanation: str | None = None
    posteriors: list[float] | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: its value, None where it cannot be a probability, and the place where it ends."""

    value: float | None
    end: int


def answer_and_probability(reply: str, *, cut: bool = False) -> Outcome:
    """Return the answer, the first line that is not blank, and the probability that a reply states; guess nothing."""
    text = reply.strip()
    following = NEXT_QUESTION.search(text)
    text = text[: following.start() if following else None].strip()
    cut = cut and following is None
    missing = _CUT if cut else UNREAD
    if text.startswith(("{", "```{", "```json")):
        return _from_json(text, missing)
    statements = _statements(text)
    if not statements:
        label = UNREADABLE.search(text)
        return Outcome(
            _first_line(text[: label.start()] if label else text),
            None,
            missing,
        )
    stated = statements[-1]
    answer = _first_line(text[: stated.start()])
    reason = _CUT if cut and not _is_whole(stated) else _why_missing(statements, answer)
    return Outcome(answer, None if reason else read_number(stated).value, reason)


def read_number(digits: re.Match[str]) -> Number:
    """Return the number that starts with the group `number` of a match, such as 0.85, 85 %, or 1 in 10."""
    text = digits.string
    end = digits.end("number")
    divisor = 1.0
    total = TOTAL.match(text, end) if digits["number"].isdigit() else None
    if total:
        end = total.end()
        divisor = float(total[1])
    percent = PERCENT.match(text, end)
    if percent:
        end = percent.end()
        divisor = 0 if total else 100  # 1 in 10 % is neither
    is_whole = CONTINUED.match(text, end) is None
    value = float(digits["number"]) / divisor if divisor and is_whole else math.inf
    return Number(value if value <= 1 else None, end)


def yes_or_no(reply: str) -> bool | None:
    """Return a judge's verdict: True for "Yes.", False for "No.", in any case and punctuation, else None."""
    word = re.fullmatch(r"\W*(yes|no)\W*", reply.lower())
    return None if word is None else word[1] == "yes"


def choice_letter(reply: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the choice that a reply names: by it at the start of the answer, or by its exact text.

    What stands behind a letter may be its text, or anything that names no other choice.
    """
    letters = ascii_uppercase[: len(choices)]
    named = re.match(rf"{NAMED}([{letters}])(?:\W*\Z|\s*[).:,\]*\n](.*))", reply, re.I | re.S)
    if named is None:
        same = _letters_of(reply, choices)
        return same[0] if len(same) == 1 else None
    letter = named[1].upper()
    behind = named[2] or ""
    others = _letters_of(behind, choices) or re.findall(rf"\b[{letters}]\b", behind)
    return letter if letter in others or not others else None


def _letters_of(text: str, choices: Sequence[str]) -> list[str]:
    """Return the letters of the choices that a text is."""
    same = normalize_answer(text)
    pairs = zip(ascii_uppercase, choices, strict=False)
    return [letter for letter, choice in pairs if normalize_answer(choice) == same]


def _statements(text: str) -> list[Statement]:
    """Return what may state the probability: a labelled passage, or one at the end after others; the last counts."""
    labelled = LABELLED.search(text)
    if labelled:
        return [labelled]
    statements = [passage for pattern in AT_THE_END for passage in pattern.finditer(text)]
    statements.sort(key=lambda each: each.start("number"))
    if not statements or not CLOSING.fullmatch(text, read_number(statements[-1]).end):
        return []
    *earlier, last = statements
    return [each for each in earlier if read_number(each).value is not None] + [last]


def _why_missing(statements: Sequence[Statement], answer: str) -> str | None:
    """Return why the number of the last statement is not the probability that the answer is right, if it is not."""
    stated = statements[-1]
    number = read_number(stated)
    after, _, below = stated.string[number.end :].partition("\n")
    numbers, words = _numbers(after)
    numbers += map(read_number, statements[:-1])
    if any(_differ(number, other) for other in numbers):
        return SEVERAL
    if number.value is None:
        return UNREAD
    above = _above(stated)
    before = stated.string[: stated.start("number")]
    lead = before.rpartition("\n")[2] if above else before[stated.start() :]
    said = f"{lead.removeprefix('- ')} {words}"  # of a list
    is_known = _is_plain(said) and _is_of_the_answer(stated, answer) and _only_explains(below)
    return None if is_known else UNKNOWN


def _numbers(text: str) -> tuple[list[Number], str]:
    """Return the numbers of a text, and the text without them."""
    numbers = []
    place = 0
    words = ""
    while digits := DECIMAL.search(text, place):
        words += text[place : digits.start()]
        numbers.append(read_number(digits))
        place = numbers[-1].end
    return numbers, words + text[place:]


def _is_plain(text: str) -> bool:
    """Return whether all that is said beside a number is known to leave its meaning."""
    has_pairs = text.count("<") == text.count(">")  # else a bound
    is_known = PLAIN.issuperset(WORD.findall(text.lower()))
    return has_pairs and is_known and SIGNS.fullmatch(WORD.sub("", text)) is not None


def _is_of_the_answer(stated: Statement, answer: str) -> bool:
    """Return whether a number is of the whole answer: on the next line, or beside it and set off, of one answer."""
    above = _above(stated)
    if above:
        return "\n" not in above
    before = stated.string[: stated.start()].rstrip(" *_`\"'")
    starts_so = stated[0].lower().startswith((",", ";", "(", "\n", "with"))
    is_set_off = starts_so or before.endswith((".", ",", ";", "("))
    has_open_bracket = answer.count("(") > answer.count(")")
    return is_set_off and not has_open_bracket and not LIST.search(answer)


def _above(stated: Statement) -> str:
    """Return the lines above that of the number: the answer."""
    return stated.string[: stated.start("number")].rpartition("\n")[0].strip(" `\n")


def _only_explains(below: str) -> bool:
    """Return whether lines are sentences of their own, and speak neither of certainty nor of numbers on its scale."""
    text = below.strip(" `*\n")
    is_set_off = not text or text[0].isupper() or below.startswith("\n")
    are_elsewhere = all(float(digits["number"]) > GREATEST for digits in DECIMAL.finditer(text))
    return is_set_off and are_elsewhere and not CORRECTION.search(text)


def _differ(number: Number, other: Number) -> bool:
    if number.value is None or other.value is None:
        return True
    return not math.isclose(number.value, other.value)


def _first_line(text: str) -> str:
    """Return the first line that is not blank or a fence."""
    lines = (_unwrap(line) for line in text.split("\n"))
    return next((line for line in lines if line and not line.startswith("```")), "")


def _unwrap(line: str) -> str:
    """Return a line without surrounding markup; an opening bracket or a star that belongs to a name stays."""
    bare = " ".join(line.split()).rstrip(" ,;-")
    if bare.count("(") > bare.count(")"):
        bare = bare.removesuffix("(").rstrip(" ,;-")
    bare = bare.lstrip(" ,;").removeprefix("- ")
    while len(bare) > 1 and bare.startswith("*") and bare.endswith("*"):
        bare = bare[1:-1].strip()
    if bare.count("**") % 2:
        bare = bare.removesuffix("**")
    return bare.removeprefix("** ").strip(" ")


def _is_whole(stated: Statement) -> bool:
    """Return whether a statement in a reply that was cut stands on a line of its own, which ends."""
    _, newline, before = stated.string[: stated.start()].rpartition("\n")
    ends = "\n" in stated.string[read_number(stated).end :]
    return newline != "" and ends and not before.strip(" *_`")


def _from_json(text: str, missing: str) -> Outcome:
    """Return the answer and the probability of a JSON object; an answer that cannot be read is empty."""
    fields = _json_fields(text)
    answers = [_json_text(value) for name, value in fields if name in ("guess", "answer")]
    numbers = [
        _json_number(value) for name, value in fields if name in ("probability", "confidence")
    ]
    answer = answers[0] if answers else ""
    confidence = numbers[0] if numbers else None
    if len(set(answers)) > 1 or len(set(numbers)) > 1:
        return Outcome(answer, None, SEVERAL)
    return Outcome(answer, confidence, missing if confidence is None else None)


def _json_text(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _json_fields(text: str) -> list[tuple[str, object]]:
    """Return names and values of a JSON object, also of a name that stands there twice."""
    whole = _JSON.fullmatch(text)
    try:
        pairs = json.loads(whole["json"], object_pairs_hook=list) if whole else []
    except (ValueError, RecursionError):
        return []
    return [(name.lower(), value) for name, value in pairs]


def _json_number(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 <= value <= 1 else None
    text = value.strip() if isinstance(value, str) else ""
    digits = DECIMAL.match(text)
    number = read_number(digits) if digits else None
    return number.value if number and number.end == len(text) else None
