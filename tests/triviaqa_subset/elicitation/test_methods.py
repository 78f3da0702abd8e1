"""Methods as dialogues: what is asked after what, and what is made of the replies."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.asking import ask_batch
from triviaqa_subset.elicitation.methods import DIALOGUES, Setup
from triviaqa_subset.elicitation.prompts import json_sha256, task_prompts
from triviaqa_subset.elicitation.replies import Failure, Reply, Token

QUESTION = {"question_id": "q1", "question": "Capital of Elbonia?"}
MMLU = QUESTION | {"choices": ["Mudville", "Bog End"], "answer": "A"}


def setup(task="triviaqa", **options):
    return Setup(prompts=task_prompts(task), **options)


def spoken(text, *logprobs, top=()):
    tokens = [
        Token(piece, logprob, list(top)) for piece, logprob in zip([text, "</s>"], [*logprobs, 0.0], strict=False)
    ]
    return Reply(text, tokens if logprobs else None, "stop")


class Script:
    """Says one reply after the other, for any number of questions, and keeps the requests."""

    def __init__(self, *replies):
        self.replies, self.requests = replies, []

    def __call__(self, requests):
        self.requests.append(requests)
        return [self.replies[len(self.requests) - 1]] * len(requests)


def run(method, script, question=QUESTION, **options):
    (row,) = ask_batch(
        [question], script, method, setup(task="mmlu" if "choices" in question else "triviaqa", **options)
    )
    return row


def result(row):
    return row["answer"], row["confidence"], row["error"]


def test_sequence_posterior_is_the_probability_of_the_answer():
    script = Script(spoken(" Mudville", math.log(0.4)))
    row = run("sequence_posterior", script)
    assert result(row) == ("Mudville", pytest.approx(0.4), None)
    ((request,),) = script.requests
    assert (request.top_logprobs, request.temperature, request.max_tokens) == (0, 0.0, 64)
    assert request.messages[-1] == {"role": "assistant", "content": "Guess:"}
    assert row["messages_sha256"] == row["replies"][0]["messages_sha256"] == json_sha256(request.messages)


def test_only_the_answers_line_counts():
    tokens = [Token(" Mud", -0.5, []), Token("ville", -0.25, []), Token("\n", -9.0, []), Token("as", -9.0, [])]
    row = run("sequence_posterior", Script(Reply(" Mudville\nas", tokens, "length")))
    assert result(row) == ("Mudville", pytest.approx(math.exp(-0.75)), None)


def test_a_reply_without_logprobs_keeps_its_answer():
    assert result(run("sequence_posterior", Script(spoken("Mudville")))) == ("Mudville", None, None)


TOP = (("True", math.log(0.6)), (" False", math.log(0.2)), ("x", -5.0))


def test_is_true_asks_about_the_answer_of_sequence_posterior():
    script = Script(spoken(" Mudville", -1.0), spoken("True", math.log(0.6), top=TOP))
    assert result(run("is_true", script)) == ("Mudville", pytest.approx(0.75), None)
    (first,), (second,) = script.requests
    asked = Script(spoken("x", -1.0))
    run("sequence_posterior", asked)
    assert first == asked.requests[0][0]
    assert "Proposed Answer: Mudville" in second.messages[1]["content"]
    assert second.top_logprobs == 20


def test_is_true_asks_about_a_given_answer_at_once():
    script = Script(spoken("True", math.log(0.6), top=TOP))
    assert result(run("is_true", script, answers={"q1": "Bog End"})) == ("Bog End", pytest.approx(0.75), None)
    assert "Proposed Answer: Bog End" in script.requests[0][0].messages[1]["content"]


@pytest.mark.parametrize(
    "said", [spoken("Perhaps", -0.1, top=[("Perhaps", -0.1), ("No", -3.0)]), spoken("True"), Reply("", [], "stop")]
)
def test_is_true_without_either_word_is_missing(said):
    assert result(run("is_true", Script(spoken("Mudville", -1.0), said))) == ("Mudville", None, None)


def test_is_true_looks_past_blank_tokens():
    tokens = [Token("\n", -0.1, [("True", -5.0)]), Token("True", math.log(0.6), list(TOP))]
    assert run("is_true", Script(spoken("Mudville", -1.0), Reply("\nTrue", tokens, "stop")))[
        "confidence"
    ] == pytest.approx(0.75)


def test_the_chosen_token_counts_where_it_is_not_among_the_likely_ones():
    said = spoken("True", math.log(0.1), top=[("False", math.log(0.3))])
    assert run("is_true", Script(spoken("Mudville", -1.0), said))["confidence"] == pytest.approx(0.25)


def test_verbalized():
    script = Script(spoken(" Mudville\nProbability: 0.85"))
    assert result(run("verbalized", script)) == ("Mudville", 0.85, None)
    assert script.requests[0][0].top_logprobs is None
    assert result(run("verbalized", Script(spoken(" Mudville, surely")))) == ("Mudville, surely", None, None)
    error = run("verbalized", Script(spoken("Probability: 0.9")))["error"]
    assert error == "the reply must state an answer; got 'Probability: 0.9'."


@pytest.mark.parametrize("method", DIALOGUES)
def test_an_empty_reply_is_an_error(method):
    row = run(method, Script(*[Reply(" \n", [], "length")] * 10))
    assert row["answer"] is row["confidence"] is None
    assert row["error"] == (
        "the reply must not be empty; got finish_reason length. Allow more --max-tokens, or turn reasoning off."
    )


@pytest.mark.parametrize("method", DIALOGUES)
def test_a_failure_ends_the_dialogue(method):
    script = Script(Failure("nobody there"))
    assert result(run(method, script)) == (None, None, "nobody there")
    assert len(script.requests) == 1


def test_choices_are_shown_with_their_letters():
    script = Script(spoken(" A", -0.5))
    assert result(run("sequence_posterior", script, MMLU)) == ("A", pytest.approx(math.exp(-0.5)), None)
    assert script.requests[0][0].messages[1]["content"] == "Question: Capital of Elbonia?\n\nA. Mudville\nB. Bog End"


@pytest.mark.parametrize("method", ["sequence_posterior", "verbalized"])
def test_without_prefill_the_reply_begins_where_it_likes(method):
    script = Script(spoken("Guess: Mudville", -1.0))
    assert run(method, script, prefill=False)["answer"] == "Mudville"
    assert script.requests[0][0].messages[-1]["role"] == "user"


def test_semantic_confidence_counts_meanings():
    script = Script(*[spoken(text, -1.0) for text in ("Bog End", "Mudville", "mudville.", "Oslo")])
    row = run("semantic_confidence", script, samples=4, temperature=1.0, seed=7)
    assert result(row) == ("Mudville", 0.5, None)
    assert [request.seed for (request,) in script.requests] == [7, 8, 9, 10]
    assert {request.temperature for (request,) in script.requests} == {1.0}


def test_semantic_confidence_by_sequence_counts_each_wording_once():
    likely = spoken("Mudville", math.log(0.2))
    script = Script(likely, spoken("Oslo", math.log(0.3)), likely, spoken("mudville", math.log(0.2)))
    row = run("semantic_confidence", script, samples=4, weights="sequence")
    assert result(row) == ("Mudville", pytest.approx(0.4 / 0.7), None)
    row = run("semantic_confidence", Script(spoken("Mudville")), samples=1, weights="sequence")
    assert row["error"] == "the reply must have log-probabilities; got none."


def test_semantic_confidence_asks_the_model_what_is_the_same():
    said = ["Mudville", "Oslo", "Mudville City", "Oslo"]
    script = Script(*[spoken(text) for text in (*said, "No.", "Yes.")])
    row = run("semantic_confidence", script, samples=4, same="judge", temperature=1.0)
    assert result(row) == ("Mudville", 0.5, None)
    asked = [request.messages[0]["content"] for (request,) in script.requests[4:]]
    assert [
        "Given answer: Oslo\nAccepted answers: Mudville" in asked[0],
        "Given answer: Mudville City" in asked[1],
    ] == [True] * 2
    assert [request.temperature for (request,) in script.requests] == [1.0] * 4 + [0.0] * 2


def test_questions_side_by_side_are_asked_as_one_by_one():
    questions = [QUESTION | {"question_id": f"q{i}", "question": f"Capital of {i}?"} for i in range(3)]
    replies = [spoken(" Mudville", -1.0), spoken("True", math.log(0.6), top=TOP)]
    together = Script(*replies)
    rows = ask_batch(questions, together, "is_true", setup())
    assert [len(requests) for requests in together.requests] == [3, 3]
    assert rows == [ask_batch([question], Script(*replies), "is_true", setup())[0] for question in questions]


@given(st.text(), st.sampled_from(list(DIALOGUES)))
def test_whatever_is_said_ends_in_a_row(text, method):
    row = run(method, Script(*[Reply(text, [Token(text, -1.0, [])], "stop")] * 20), same="judge")
    assert (row["answer"] is None) == (row["error"] is not None)
    assert row["confidence"] is None or 0 <= row["confidence"] <= 1
