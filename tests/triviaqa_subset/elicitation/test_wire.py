"""Single replies in the ways in which servers write them: what is read is right, or missing and says why."""

import math
import re

import pytest

from tests.triviaqa_subset.elicitation.servers import choice, listed, row, serving, spelled

pytest.importorskip("inspect_ai")
from tests.triviaqa_subset.elicitation.test_servers import asked

ANSWER = [(" New", 0.9), (" York", 0.5)]
ALONE = "nothing shows whether the logarithms are natural"  # as no other token is listed
RIGHT = ("New York", 0.45, ALONE)
AFTER_BLANK = ("New York", 0.99 * 0.45, ALONE)  # the blank line before the answer was generated too
UNSPELLED = ("New York", None, "the tokens do not spell the text of the reply")
NO_TOKENS = ("New York", None, "the reply has no log-probabilities")
THOUGHTS = [("Okay", 0.6), (", the user asks.\n\nNew York?", 0.5)]
CLOSED = [*THOUGHTS, ("</think>", 0.9), ("\n\n", 0.99)]
MARKED = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>"
HARMONY = [(piece, 0.9) for piece in re.findall(r"<.*?>|[^<]+", MARKED)]
LONG = {"finish_reason": "length"}
BASE = 1 / math.log(10)
CERTAIN = [(" New", 1.0), (" York", 1.0)]
ALL_0 = ("New York", None, "the log-probabilities are all 0")


def in_bytes(text, *pieces):
    """Return a reply of which the tokens have the bytes of a part of a character."""
    return choice(
        text, [listed(piece, p, {}, "bytes") | {"bytes": own} for piece, p, own in pieces]
    )


ANSWERS = {  # a reply -> the answer, its posterior, and why that is missing
    "prefill repeated in both": (spelled([("Guess:", 0.9), *ANSWER]), *RIGHT),
    "reasoning in the text": (spelled([("<think>", 1.0), *CLOSED, *ANSWER]), *AFTER_BLANK),
    "reasoning opened by the template": (spelled([*CLOSED, *ANSWER]), *AFTER_BLANK),
    "reasoning parser of vLLM and SGLang": (
        spelled([*CLOSED, *ANSWER, ("<|im_end|>", 0.9)], "New York", reasoning_content="Okay, ..."), *AFTER_BLANK),
    "reasoning parser that keeps its reasoning": (spelled([*CLOSED, *ANSWER], "New York"), *AFTER_BLANK),
    "reasoning parser without the mark": (spelled([*THOUGHTS, *ANSWER], " New York", reasoning="Okay"), *RIGHT),
    "tokens of something else": (spelled([*THOUGHTS, *ANSWER], "New York"), *UNSPELLED),
    "gpt-oss with a parser": (spelled([*HARMONY, *ANSWER, ("<|return|>", 0.9)], "New York"), *RIGHT),
    "gpt-oss without a parser": (spelled([*HARMONY, *ANSWER]), *RIGHT),
    "gpt-oss, special tokens dropped": (choice("analysisWe need a town.assistantfinalNew York"), *NO_TOKENS),
    "Mistral's marks": (choice("[THINK]Hm.[/THINK]New York"), *NO_TOKENS),
    "token ids": (spelled([("token_id:17", 0.9), ("token_id:5", 0.5)], "New York"), *UNSPELLED),
    "escaped bytes": (
        spelled([("bytes:\\xe6\\x9d", 0.9), ("bytes:\\xb1", 0.5)], "東", style="plain"), "東", 0.45, ALONE),
    "bytes of one character in two tokens": (
        in_bytes("東", ("\ufffd", 0.9, [0xE6, 0x9D]), ("\ufffd", 0.5, [0xB1])), "東", 0.45, ALONE),
    "llama.cpp, which leaves out all but the end of a character": (
        in_bytes("東 3", ("", 0.5, [0xB1]), (" 3", 0.9, [0x20, 0x33])), "東 3", *UNSPELLED[1:]),
    "log-probabilities after a temperature of 0": (spelled(CERTAIN), *ALL_0),
    "rounded to certainty": (spelled(CERTAIN, top={"x": 1e-9}), "New York", 1.0, None),
    "an answer with a label": (choice("Answer: New York"), *NO_TOKENS),
    "a preamble": (choice("Sure! Here is my answer:\n\nGuess: New York"), *NO_TOKENS),
    "a code fence": (choice("```\nGuess: New York\n```"), *NO_TOKENS),
}  # fmt: skip
UNUSABLE = {  # a reply -> why there is no answer in it
    "a think that does not end": (choice("<think>Okay, the user", **LONG), "the reply must not be empty"),
    "a think that the template opened": (
        choice("Okay, the user asks for a town.\n\nNew York", **LONG), "the answer must end within --max-tokens"),
    "nothing but reasoning": (choice(None, reasoning_content="Okay, ...", **LONG), "got nothing but reasoning"),
    "channels": (choice("<|channel|>analysis<|message|>We need a town.\n", **LONG), "the reply must not be empty"),
    "an answer that was cut": (choice(" New Yo", **LONG), "the answer must end within --max-tokens; got 'New Yo'"),
    "JSON": (choice('{"guess": "New York"}'), "the reply must be the answer alone; got JSON"),
    "refusal": (choice(None, refusal="I can't help  with that."), "the model refused: I can't help with that."),
    "filter": (choice("", finish_reason="content_filter"), "the server withheld the reply"),
    "safety": (choice(None, finish_reason="SAFETY"), "the reply must not be empty"),
    "no choice": ({"choices": []}, "the reply must have a choice"),
}  # fmt: skip
LIKELY = {"True": 0.6, "False": 0.2, "Yes": 0.2}
BEGUN = {"Tr": 0.5, "False": 0.3, "Yes": 0.2}

CUT = "the reply was cut by --max-tokens"
CASES = {
    "sequence_posterior": ANSWERS | {name: (reply, "", None, why) for name, (reply, why) in UNUSABLE.items()},
    "is_true": {  # more in test_confidences
        "the chosen one rounded": (spelled([("True", 0.6000001)], top=LIKELY), "New York", 0.75, None),
        "after reasoning": (
            spelled([("Hm", 0.5), ("</think>", 0.9), ("True", 0.6)], "True", top=LIKELY), "New York", 0.75, None),
        "split over two tokens": (spelled([("Tr", 0.5), ("ue", 0.999)], top=BEGUN), "New York", 0.4995 / 0.7995, None),
        "all 0": (spelled([("True", 1.0)]), *ALL_0),
        "to base 10": (
            spelled([("True", 0.6**BASE)], top=[(word, p**BASE) for word, p in LIKELY.items()]),
            "New York", None, "of base 10"),
        "cut within the reasoning": (choice("<think>Is it", **LONG), "New York", None, "Allow more --max-tokens"),
        "token ids": (spelled([("token_id:7", 0.6)], "True", top=LIKELY), *UNSPELLED),
        "refusal": (choice(None, refusal="I can't help."), "New York", None, "the model refused: I can't help."),
        "no likely tokens": (spelled([("True", 0.6)]), "New York", None, "among the likeliest tokens"),
    },
    "verbalized": {
        **{more: (choice(f" New York\nProb{more}", **LONG), "New York", None, CUT) for more in ("", "ability: 0.9")},
        "whole": (choice(" New York\nProbability: 0.95\nI", **LONG), "New York", 0.95, None),
        "goes on": (choice(" New York\nProbability: 0.95\n\nQuestion: Wh", **LONG), "New York", 0.95, None),
    },
}  # fmt: skip


@pytest.mark.e2e
@pytest.mark.parametrize("method", CASES)
def test_a_reply_is_read_right_or_missing_with_a_reason(method, tmp_path):
    replies = [reply for reply, *_ in CASES[method].values()]
    rows = [row(i, question=f"Case {i}?", answer="New York") for i in range(len(replies))]

    def reply(payload):
        said = " ".join(message["content"] for message in payload["messages"])
        first = method == "is_true" and "Is this answer right?" not in said
        return choice("New York") if first else replies[int(re.search(r"Case (\d+)", said)[1])]

    with serving() as server:
        server.reply = reply
        log = asked(server, rows, tmp_path, methods=[method])
    assert log.status == "success", log.error
    scores = {sample.id: sample.scores[method] for sample in log.samples}
    for number, (name, (_, answer, confidence, why)) in enumerate(CASES[method].items()):
        score = scores[number]
        expected = confidence and pytest.approx(confidence, rel=1e-12)
        assert (score.answer, score.metadata["confidence"]) == (answer, expected), name
        assert (why in score.explanation) if why else score.explanation is None, name
        assert (score.metadata["decided_by"] == "no reply" and math.isnan(score.value)) == (
            not answer
        ), name
