"""Single replies in the ways in which servers write them: what is read is right, or missing and says why."""

import math
import re

import pytest

from tests.triviaqa_subset.elicitation.servers import listed, serving, write

pytest.importorskip("inspect_ai")
from tests.triviaqa_subset.elicitation.test_servers import asked

UNSPELLED = "the tokens do not spell the text of the reply"
NO_TOKENS = "the reply has no log-probabilities"
END = "<|im_end|>"
ANSWER, TRUTH = [(" New", 0.9), (" York", 0.5)], 0.45
UNKNOWN = ("New York", None)
RIGHT = ("New York", TRUTH)


def entry(piece, probability, *, top=(), style="bytes"):
    """One token as servers list it."""
    return listed(piece, probability, dict(top), style)


def choice(text, entries=None, **message):
    finish = message.pop("finish_reason", "stop")
    made = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text} | message}
    return {"choices": [made | ({"logprobs": {"content": entries}} if entries is not None else {})]}


def tokens(pieces, **options):
    return [entry(piece, probability, **options) for piece, probability in pieces]


THOUGHTS = [("Okay", 0.6), (", the user asks.\n\nNew York?", 0.5)]
CLOSED = [*THOUGHTS, ("</think>", 0.9), ("\n\n", 0.99)]
AFTER_BLANK = 0.99 * TRUTH  # the blank line before the answer was generated too
HARMONY = [("<|channel|>", 0.9), ("analysis", 0.9), ("<|message|>", 0.9), ("Hm.", 0.5), ("<|end|>", 0.9),
           ("<|start|>", 0.9), ("assistant", 0.9), ("<|channel|>", 0.9), ("final", 0.9),
           ("<|message|>", 0.9)]  # fmt: skip
SPOKEN = "".join(piece for piece, _ in CLOSED)

STYLES = {
    "prefill repeated in both": (choice("Guess: New York", tokens([("Guess:", 0.9), *ANSWER])), RIGHT, None),
    "reasoning in the text": (choice(f"<think>{SPOKEN} New York", tokens([("<think>", 1.0), *CLOSED, *ANSWER])),
                              ("New York", AFTER_BLANK), None),
    "reasoning opened by the template": (choice(f"{SPOKEN} New York", tokens([*CLOSED, *ANSWER])),
                                         ("New York", AFTER_BLANK), None),
    "reasoning parser of vLLM and SGLang": (choice("New York", tokens([*CLOSED, *ANSWER, (END, 0.9)]),
                                                   reasoning_content="Okay, ..."), ("New York", AFTER_BLANK), None),
    "reasoning parser that keeps its reasoning": (choice("New York", tokens([*CLOSED, *ANSWER])),
                                                  ("New York", AFTER_BLANK), None),
    "reasoning parser without the mark": (choice(" New York", tokens([*THOUGHTS, *ANSWER]), reasoning="Okay"),
                                          RIGHT, None),
    "tokens of something else": (choice("New York", tokens([*THOUGHTS, *ANSWER])), UNKNOWN, UNSPELLED),
    "gpt-oss with a parser": (choice("New York", tokens([*HARMONY, *ANSWER, ("<|return|>", 0.9)])), RIGHT, None),
    "gpt-oss without a parser": (choice("".join(p for p, _ in HARMONY) + " New York", tokens([*HARMONY, *ANSWER])),
                                 RIGHT, None),
    "gpt-oss, special tokens dropped": (choice("analysisWe need a town.assistantfinalNew York"), UNKNOWN, NO_TOKENS),
    "Mistral's marks": (choice("[THINK]Hm.[/THINK]New York"), UNKNOWN, NO_TOKENS),
    "token ids": (choice("New York", tokens([("token_id:17", 0.9), ("token_id:5", 0.5)])), UNKNOWN, UNSPELLED),
    "escaped bytes": (choice("東", tokens([("bytes:\\xe6\\x9d", 0.9), ("bytes:\\xb1", 0.5)], style="plain")),
                      ("東", TRUTH), None),
    "bytes of one character in two tokens": (choice("東", [entry("\ufffd", 0.9) | {"bytes": [0xE6, 0x9D]},
                                                          entry("\ufffd", 0.5) | {"bytes": [0xB1]}]),
                                             ("東", TRUTH), None),
    "llama.cpp, which leaves out all but the end of a character": (
        choice("東 3", [entry("", 0.5) | {"bytes": [0xB1]}, entry(" 3", 0.9)]), ("東 3", None), UNSPELLED),
    "an answer with a label": (choice("Answer: New York"), UNKNOWN, NO_TOKENS),
    "a preamble": (choice("Sure! Here is my answer:\n\nGuess: New York"), UNKNOWN, NO_TOKENS),
    "a code fence": (choice("```\nGuess: New York\n```"), UNKNOWN, NO_TOKENS),
}  # fmt: skip


NO_ANSWER = "answer|empty"
UNUSABLE = {
    "a think that does not end": (choice("<think>Okay, the user", finish_reason="length"), NO_ANSWER),
    "a think that the template opened":
        (choice("Okay, the user asks for a town.\n\nNew York", finish_reason="length"), NO_ANSWER),
    "nothing but reasoning": (choice(None, reasoning_content="Okay, ...", finish_reason="length"), NO_ANSWER),
    "channels": (choice("<|channel|>analysis<|message|>We need a town.\n", finish_reason="length"), NO_ANSWER),
    "an answer that was cut": (choice(" New Yo", finish_reason="length"), NO_ANSWER),
    "JSON": (choice('{"guess": "New York"}'), NO_ANSWER),
    "refusal": (choice(None, refusal="I can't help  with that."), "the model refused: I can't help with that."),
    "filter": (choice("", finish_reason="content_filter"), "the server withheld the reply"),
    "safety": (choice(None, finish_reason="SAFETY"), "the reply must not be empty"),
    "no choice": ({"choices": []}, "the reply must have a choice"),
}  # fmt: skip


TOP = [("True", 0.6), ("False", 0.2), ("Yes", 0.1)]
SPLIT = [entry("Tr", 0.5, top=[("Tr", 0.5), ("False", 0.3), ("Yes", 0.05)]), entry("ue", 0.8)]
TRUTHS = {
    "both listed": ([entry("True", 0.6, top=TOP)], 0.75, None),
    "the chosen one rounded": ([entry("True", 0.6000001, top=TOP)], 0.75, None),
    "after reasoning": ([*tokens([("Hm", 0.5), ("</think>", 0.9)]), entry("True", 0.6, top=TOP)], 0.75, None),
    "split over two tokens": (SPLIT, 0.4 / 0.7, None),
    "the other one split": (
        [entry("False", 0.5, top=[("False", 0.5), ("Tr", 0.3), ("Yes", 0.01)])], None, "must both be among the 3"),
    "not listed, and little is left": (
        [entry("True", 0.999, top=[("True", 0.999), ("Yes", 0.0005), ("No", 0.0001)])], 0.999 / 0.9991, "lower bound"),
    "False alone, and little is left": (
        [entry("False", 0.999, top=[("False", 0.999), ("Yes", 0.0005), ("No", 0.0001)])], 0.0001 / 0.9991,
        "upper bound"),
    "not listed, and much may be": ([entry("True", 0.6, top=[("True", 0.6), ("Yes", 0.2)])], None, "from 0.750 to 1"),
    "token ids": ([entry("token_id:7", 0.6, top=TOP)], None, UNSPELLED),
    "no likely tokens": ([entry("True", 0.6)], None, "among the likeliest tokens"),
}  # fmt: skip


CUT = {f" New York\nProb{more}": None for more in ("", "ability: 0.9", "ability: 0.")}
CUT |= {" New York\nProbability: 0.95\nI": 0.95}


@pytest.fixture
def ask(tmp_path):
    """Ask one question for each reply, all in one task, and return the scores of a method."""

    def scores(method, replies, answer=None):
        cases = range(len(replies))
        rows = [{"question_id": f"q-{case}", "question": f"Case {case}?", "answer": "New York"} for case in cases]
        file = write(tmp_path / "questions.jsonl", rows)

        def reply(payload):
            said = " ".join(message["content"] for message in payload["messages"])
            first = answer is not None and "Is this answer right?" not in said
            made = answer if first else replies[int(re.search(r"Case (\d+)", said)[1])]
            return {"id": "1", "object": "chat.completion", "created": 1, "model": "m"} | made

        with serving() as server:
            server.reply = reply
            log = asked(server, file, tmp_path, methods=[method])
        assert log.status == "success", log.error
        found = {int(sample.id.removeprefix("q-")): sample.scores[method] for sample in log.samples}
        return [found[case] for case in cases]

    return scores


@pytest.mark.e2e
def test_a_posterior_is_right_or_missing_with_a_reason(ask):
    scores = ask("sequence_posterior", [made for made, *_ in STYLES.values()])
    for (name, (_, (answer, confidence), why)), score in zip(STYLES.items(), scores, strict=True):
        expected = confidence and pytest.approx(confidence, rel=1e-12)
        assert (score.answer, score.metadata["confidence"], score.explanation) == (answer, expected, why), name


@pytest.mark.e2e
def test_what_is_no_answer_is_unlabelled_and_says_why(ask):
    scores = ask("sequence_posterior", [made for made, _ in UNUSABLE.values()])
    for (name, (_, why)), score in zip(UNUSABLE.items(), scores, strict=True):
        assert re.search(why, score.explanation), name
        found = (score.answer, score.metadata["confidence"], score.metadata["decided_by"])
        assert found == ("", None, "no reply"), name
        assert math.isnan(score.value)


@pytest.mark.e2e
def test_is_true_knows_both_words_or_says_what_it_does_not(ask):
    texts = ["".join(token["token"] for token in entries).rpartition("</think>")[2] for entries, *_ in TRUTHS.values()]
    pairs = zip(texts, TRUTHS.values(), strict=True)
    replies = [choice(text.replace("token_id:7", "True"), entries) for text, (entries, *_) in pairs]
    scores = ask("is_true", replies, choice("New York"))
    for (name, (_, confidence, why)), score in zip(TRUTHS.items(), scores, strict=True):
        assert score.metadata["confidence"] == (confidence and pytest.approx(confidence, rel=1e-6)), name
        assert (score.explanation is None) if why is None else (why in score.explanation), name


@pytest.mark.e2e
def test_a_number_that_may_have_been_cut_is_not_read(ask):
    scores = ask("verbalized", [choice(text, finish_reason="length") for text in CUT])
    for confidence, score in zip(CUT.values(), scores, strict=True):
        assert (score.answer, score.metadata["confidence"]) == ("New York", confidence)
        assert (score.explanation is None) == (confidence is not None)
