"""455 replies in each of 29 styles: what is read is what was meant, or nothing with a reason; whole and cut."""

import json
import random

import pytest

from triviaqa_subset.elicitation.methods import DIALOGUES, Setup
from triviaqa_subset.elicitation.prompts import task_prompts
from triviaqa_subset.elicitation.replies import Failure, Reply

ANSWERS = [
    "Paris", "1984", "Catch-22", "42", "U2", "Paris, Texas", "AC/DC", "9 to 5", "Apollo 13", "3.14", "*NSYNC", "-40",
    "(I Can't Get No) Satisfaction", "[REC]", "Boeing 747", "Henry VIII", "O'Neill", "東京 3", "Ke$ha", "50 Cent",
    "The 39 Steps", "Se7en", "Mr. & Mrs. Smith", "Wham!", "Who's Afraid of Virginia Woolf?", "100%", "E=mc2", "Nîmes",
    "St. John's", "10:04", "A.I.", "½", "007", "Blink-182",
]  # fmt: skip
STYLES = {  # a style -> whether its replies must be read, or may be missing
    " {a}\nProbability: {p}": True,
    "{a}\n\nProbability: {p}\n": True,
    "Guess: {a}\nProbability: {p}": True,
    "**Guess:** {a}\n**Probability:** {p}": True,
    "**{a}**\n**Probability: {p}**": True,
    "Answer: {a}\nConfidence: {p}": True,
    "My guess: {a}\nProbability: {p}": True,
    "Sure! Here is my answer:\n\nGuess: {a}\nProbability: {p}": True,
    "```\nGuess: {a}\nProbability: {p}\n```": True,
    "{a}\nProbability: {percent}%": True,
    "{a}\nProbability: {percent} %": True,
    "{a}\nProbability: {percent} percent": True,
    "{a}\nProbability: about {p}": False,
    "{a}\nProbability: ~{p} (rather sure)": True,
    "{a}\nProbability: {percent} out of 100": True,
    "{a}\nProbability: {percent}/100": False,
    "{a}\nProbability: {p}-{p}1": False,
    "{a}\nProbability: between {p} and 0.99": False,
    "{a}\nProbability: high": False,
    "{a}\nThe probability that this is correct is {p}.": True,
    "{a} (probability: {p})": True,
    "{a}; probability {p}": True,
    "{a}\n{p}": True,
    '{{"guess": {json}, "probability": {p}}}': True,
    '```json\n{{"guess": {json}, "probability": {p}}}\n```': True,
    "<think>Maybe 0.5? Probability: 0.5</think>\n{a}\nProbability: {p}": True,
    "Okay, the user asks. Probability: 0.1\n</think>\n\nGuess: {a}\nProbability: {p}": True,
    "{a}\nProbability: {p}\n\nThis is a probability of 0.123, I think.": True,
    "{a}\nProbability: {p}\nExplanation: it was founded in 0.7 AD with probability: 0.3": True,
}
SETUP = Setup(prompts=task_prompts("triviaqa"), prefill=True)


def read(text, finish_reason):
    dialogue = DIALOGUES["verbalized"]({"question_id": "q", "question": "Which?"}, SETUP)
    next(dialogue)
    try:
        dialogue.send(Reply(text, None, finish_reason))
    except StopIteration as end:
        return end.value
    raise AssertionError(text)


def replies(style):
    rng = random.Random(style)
    for number in range(455):
        answer, percent = ANSWERS[number % len(ANSWERS)], rng.randrange(1, 100)
        values = {"a": answer, "p": f"{percent / 100:g}", "percent": percent, "json": json.dumps(answer)}
        yield answer, percent / 100, style.format(**values)


@pytest.mark.parametrize("style", STYLES)
def test_a_reply_is_read_as_it_was_meant_or_not_at_all(style):
    for answer, confidence, text in replies(style):
        found = read(text, "stop")
        assert found.answer == answer, text
        if found.confidence is None:
            assert not STYLES[style], text
            assert found.remark
        else:
            assert found.confidence == pytest.approx(confidence, abs=1e-12), text


@pytest.mark.parametrize("style", STYLES)
def test_a_cut_reply_is_read_as_it_was_meant_or_not_at_all(style):
    rng = random.Random(style)
    for answer, confidence, text in replies(style):
        try:
            found = read(text[: rng.randrange(len(text) + 1)], "length")
        except Failure:
            continue
        if found.confidence is None:
            assert found.remark
        else:
            assert (found.answer, found.confidence) == (answer, pytest.approx(confidence, abs=1e-12)), text
