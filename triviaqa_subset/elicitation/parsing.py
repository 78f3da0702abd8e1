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
NUMBER_OR_WORD = re.compile(rf"{DIGITS}|(?P<word>[^\W\d_][^\W_]*)")
# A number that only these separate from another is its alternative, the end of its range, or a part of its fraction.
JOINING = re.compile(
    r"to|or|and|of|in|through|out|about|around|roughly|approximately|nearly|almost|maybe|perhaps|possibly|even|rather"
    r"|probability|confidence",
    re.IGNORECASE,
)

KEYWORD = r"(?:\bwith\s+(?:an?\s+)?)?\b(?:probability|confidence)\b"
ABOUT = r"(?:(?:about|around|roughly|approximately|nearly|almost)\s+)?"
OPENING = rf"[\s*_~<\"'(\[`]*{ABOUT}"
CLOSING = re.compile(r"[\s*_>\"')\].`]*")
LABELLED = re.compile(
    rf"{KEYWORD}[^:=\n\d]{{0,40}}?(?::|=|\bis\b|\bof\b){OPENING}{DIGITS}", re.IGNORECASE
)
AT_THE_END = (
    re.compile(rf"[,;(\n]{OPENING}{KEYWORD}[ \t]+{DIGITS}", re.IGNORECASE),
    re.compile(rf"\n{OPENING}{DIGITS}"),
    # "Boeing (747)" states nothing, nor does the comma of "85,5 %"
    re.compile(r"(?:[;(]|,(?!\d))\s*(?P<number>\d*\.\d+|\d+(?=\s*[%\uff05]))"),
)
UNREADABLE = re.compile(rf"{KEYWORD}[\s*_]*[:=]", re.IGNORECASE)
# Where the probability may be stated once more: on its line, and on the next ones while they are labelled too.
REMAINDER = re.compile(rf"[^\n]*(?:\n[\s*_]*{KEYWORD}[^\n]*)*", re.IGNORECASE)

# What a stated number is, if not the probability of being right; NUL stands for the number in its line.
UNSURE = r"\s+(?:\w+\s+)?(?:sure|certain|confident|positive)\b"
OTHER_MEANINGS = {
    "the probability is that of being wrong": re.compile(
        r"(?i)\b(?:wrong|incorrect|inaccurate|mistaken|false|untrue|errors?|failure|other|another"
        rf"|(?:not|never|cannot|\w+n['\u2019]t)\b(?!{UNSURE}))\b"
    ),
    "the probability has a condition": re.compile(
        r"(?i)\b(?:if|otherwise|unless|assuming|provided|given|depending|when|else)\b"
    ),
    "a bound is stated instead of a probability": re.compile(
        r"(?is)\b(?:at (?:most|least)|\w+er than|(?:less|more) than|below|above|under|over|up to|bound)\b.*\0"
        r"|\0\s*(?:\+|at (?:most|least)\b|or (?:more|less|higher|lower|above|below)\b)|<.*\0[^>]*\Z"
    ),
}

WORD = re.compile(r"[^\W\d_]+")
# Words that may stand beside the number, or be of the answer: what else is said may give it another meaning.
PLAIN = frozenset(
    WORD.findall(
        """a about accuracy accurate almost am an and answer approximately are around as at be being believe ca
        certain certainty chance circa confidence confident correct correctness d estimate estimated fairly final for
        guess i in is it its level likelihood likely m maybe my nearly of opinion or out overall perhaps
        possibly pretty probability put quite rather reply response right roughly s say score so stated subjective sure
        that the think this to total true very view with would"""
    )
)
SIGNS = re.compile(r"[\s.,;:=!()\[\]{}*_\"'\u2019`<>~]*")  # signs that mean nothing for a number
# What takes an answer or its number back, or says on which scale it is; an explanation may stand there too.
CORRECTION = re.compile(
    rf"(?i){KEYWORD}|\b(?:wrong|incorrect|mistaken|inverse|correction|actually|wait|sorry|instead|scale|alternativ\w*"
    r"|runner|reconsider\w*|second (?:guess|thoughts?)|take \w+ back)\b|\bno[,.]"
    r"|\b(?:answer|guess)(?:\s+(?:is|was)\b|\s*:)|(?<![\d.])0?\.\d|\d\s*[=%\uff05]"
)
SEVERAL_ANSWERS = re.compile(r"(?i);|\b(?:or|second|alternatively)\b")

UNREAD = "no probability can be read"
UNKNOWN = "what is said of the number is not known to mean the probability of being right"
SEVERAL = "several numbers are stated"
_CUT = "the reply was cut by --max-tokens"
_JSON = re.compile(r"(?:```\w*\s*)?(?P<json>\{.*\})\s*(?:```)?\s*", re.DOTALL)


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


@dataclass(frozen=True, slots=True)
class Statement:
    """A passage that may state the probability, up to its digits, and its number."""

    passage: re.Match[str]
    number: Number

    @property
    def context(self) -> str:
        """The word before the passage, the passage, and the end of its line, with NUL for the number."""
        text = self.passage.string
        word = re.search(r"\w* ?\Z", text[: self.passage.start()])
        lead = text[word.start() if word else 0 : self.passage.start("number")]
        after = text[self.number.end :].partition("\n")[0]
        return f"{lead}\0{after}"

    @property
    def above(self) -> str:
        """The lines above that of the number, the first of which is the answer."""
        text = self.passage.string[: self.passage.start("number")]
        return text.rpartition("\n")[0].strip()

    @property
    def explanation(self) -> str:
        """The lines between the answer and the number."""
        return self.above.partition("\n")[2].strip(" `\n")

    @property
    def lead(self) -> str:
        """What stands before the number on its line, without an answer there."""
        text = self.passage.string[: self.passage.start("number")]
        return text.rpartition("\n")[2] if self.above else text[self.passage.start() :]

    @property
    def below(self) -> str:
        """The lines below that of the number, and below those that state it once more."""
        remainder = REMAINDER.match(self.passage.string, self.number.end)
        return self.passage.string[remainder.end() if remainder else self.number.end :]


def answer_and_probability(reply: str, *, cut: bool = False) -> Outcome:
    """Return the answer, the first line that is not blank, and the probability that a reply states; guess nothing."""
    text = reply.strip()
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
    answer = _first_line(text[: stated.passage.start()])
    reason = _CUT if cut and not _is_whole(stated) else _why_missing(statements, answer)
    return Outcome(answer, None if reason else stated.number.value, reason)


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
    """Return the letter of the choice that a reply names: by it at the start of the answer, else by its exact text."""
    letters = ascii_uppercase[: len(choices)]
    start = r"\W*(?:(?:the\s+)?(?:(?:correct|right|best)\s+)?(?:answer|choice)\b\s*(?:is\b)?\W*)?"
    named = re.match(rf"{start}([{letters}])(?:\W*\Z|\s*[).:,\]*\n])", reply, re.IGNORECASE)
    if named:
        return named[1].upper()
    texts = [normalize_answer(choice) for choice in choices]
    same = [
        letter
        for letter, text in zip(letters, texts, strict=True)
        if text == normalize_answer(reply)
    ]
    return same[0] if len(same) == 1 else None


def _statements(text: str) -> list[Statement]:
    """Return what may state the probability: a labelled passage, or one at the end after others; the last counts."""
    labelled = LABELLED.search(text)
    if labelled:
        return [Statement(labelled, read_number(labelled))]
    passages = [passage for pattern in AT_THE_END for passage in pattern.finditer(text)]
    statements = [Statement(passage, read_number(passage)) for passage in passages]
    statements.sort(key=lambda each: each.passage.start("number"))
    if not statements or not CLOSING.fullmatch(text, statements[-1].number.end):
        return []
    return [each for each in statements[:-1] if each.number.value is not None] + statements[-1:]


def _why_missing(statements: Sequence[Statement], answer: str) -> str | None:
    """Return why the number of the last statement is not the probability that the answer is right, if it is not."""
    stated = statements[-1]
    for reason, pattern in OTHER_MEANINGS.items():
        if pattern.search(stated.context):
            return reason
    if _has_rival(stated) or any(
        _differ(stated.number, earlier.number) for earlier in statements[:-1]
    ):
        return SEVERAL
    if stated.number.value is None:
        return UNREAD
    return None if _is_plain(stated, answer) else UNKNOWN


def _is_plain(stated: Statement, answer: str) -> bool:
    """Return whether all that is said of a number, on its line and around it, is known to leave its meaning."""
    before = stated.lead.removeprefix("- ")  # of a list
    after = stated.passage.string[stated.number.end :].partition("\n")[0]
    known = PLAIN.union(WORD.findall(answer.lower()))
    said = f"{before} {_without_numbers(after)}"
    if not known.issuperset(WORD.findall(said.lower())) or not SIGNS.fullmatch(WORD.sub("", said)):
        return False
    around = f"{stated.explanation}\n{stated.below}"
    return _is_of_the_answer(stated, answer) and CORRECTION.search(around) is None


def _is_of_the_answer(stated: Statement, answer: str) -> bool:
    """Return whether a number is of the whole answer: beside it, of one answer; without a label, on the next line."""
    if answer.count("(") > answer.count(")"):
        return False
    if not stated.above:
        return SEVERAL_ANSWERS.search(answer) is None
    return (
        re.search(KEYWORD, stated.passage[0], re.IGNORECASE) is not None or not stated.explanation
    )


def _without_numbers(text: str) -> str:
    """Return a text without its numbers, which `_has_rival` compares."""
    for digits in reversed(list(DECIMAL.finditer(text))):
        text = text[: digits.start()] + text[read_number(digits).end :]
    return text


def _has_rival(stated: Statement) -> bool:
    """Return whether another number behind the stated one could be meant instead of it, or belongs to it."""
    text = stated.passage.string
    place = stated.number.end
    remainder = REMAINDER.match(text, place)
    stop = remainder.end() if remainder else place
    is_joined = True
    while token := NUMBER_OR_WORD.search(text, place, stop):
        place = token.end()
        if token["word"]:
            is_joined = is_joined and JOINING.fullmatch(token["word"]) is not None
            continue
        other = read_number(token)
        place = other.end
        are_probabilities = None not in (stated.number.value, other.value)
        if (is_joined or are_probabilities) and _differ(stated.number, other):
            return True
    return False


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
    text = stated.passage.string
    before = text[: stated.passage.start()].rpartition("\n")
    if "\n" not in text[stated.number.end :] or not before[1]:
        return False
    return not before[2].strip(" *_`")


def _from_json(text: str, missing: str) -> Outcome:
    """Return the answer and the probability of a JSON object; an answer that cannot be read is empty."""
    fields = _json_fields(text)
    values = [value for name, value in fields if name in ("guess", "answer")]
    answers = list(
        dict.fromkeys(" ".join(value.split()) for value in values if isinstance(value, str))
    )
    numbers = {
        _json_number(value) for name, value in fields if name in ("probability", "confidence")
    }
    answer = answers[0] if answers else ""
    if len(numbers) > 1 or len(answers) > 1:
        return Outcome(answer, None, SEVERAL)
    confidence = numbers.pop() if numbers else None
    return Outcome(answer, confidence, missing if confidence is None else None)


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
