"""What of a reply is its answer: words that name nothing are taken off its ends, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset import exact_match
from triviaqa_subset.readings import DENIALS, NAMELESS, REFUSING, is_refusal, readings

REFUSALS = (  # and silence
    "", " \n", "...", "-", "?", "“”", "I don't know", "I DON\u2019T KNOW!", "Unknown.", "*No idea*", "idk",
    "I'm sorry, but I can't help with that.", "As an AI, I do not know.", "Unable to determine", "I'm not sure.",
    "I do not have enough information to answer.", "The answer is unknown.", "I must decline to say", "idk, sorry",
    "Unfortunately, I cannot provide an answer.", "<think>Paris?</think>", "**Unknown** (low confidence)",
)  # fmt: skip
NO_REFUSALS = (  # they may be an answer
    "None", "No one", "Na", "&", "+", "$", "42", "π", "I don't know why", "Pass", "I Can't Help Myself", "<Paris>",
    "I don't know, perhaps Paris", "Not Paris", "Sorry", "I Know", "Who", "The Answer", "95%",
)  # fmt: skip
RIGHT = [
    # reasoning, markup and marks of lists
    "<think>Rome? Lyon?</think>X", "<seed:think>Rome?</seed:think>X", "[THINK]Rome?[/THINK]X", "◁think▷Rome?◁/think▷X",
    "$\\boxed{\\textbf{X}}$", "<p class='x'><b>X</b></p>", "X<br/>", "<|begin_of_text|>X<|eot_id|>", "X</s>", "X<eos>",
    "1. X", "> X", "__X__", "«X».", "**(X)**", "| Answer | X |", "- **Answer** → X",
    # a probability is of the answer, however low
    "X (5%)", "X, 95 %", "X\nConfidence: 0%", "probability = .9\n\nX.", "Answer (5%): X", "X (confidence: low)",
    "X (I'm 95% sure)", '{"guess": "X", "confidence": 0.9}', "X \u2014 95% confident",
    # in any order
    "I think the answer is X", "My best guess would be X.", "I'd go with X", "X, I believe.", "So X it is, of course!",
    "The final answer would be: X.", "Here's my answer: \u201cX\u201d", "Yes, X is right, I'm very certain of that.",
]  # fmt: skip
OTHER = [
    "I think not X", "X, I think not", "I'm not sure it is X", "The wrong guess is X", "nicht X", "Hardly X",
    "X et al.", "1. X 2. Rome", "X (or Lyon) (95%)", "I think X or Lyon", "X. Wait, no: Rome", "X [sic]",
    "| X | Rome |",
    "I guess X?", "Is it? It is X", "It is X :-(", "!X is right", "X (5)", "X 95", "X ❌", "X \U0001f44e", "X (guess)",
    "<think>X", "<|begin_of_thought|>X", "<think>X</think>Rome", "<s>X</s>", "<del>X</del>", "<answer>X", "[X](no)",
    "\\boxed{\\neg X}", "\\cancel{X}", '{"answer": ["X", "Rome"]}', '{"answer": "Rome", "not": "X"}',
    "not X (5%)", "X (95% unsure)", "X (30% Rome)", "X (30%) or Rome (20%)", "Confidence: 0\u201395%\nX",
]  # fmt: skip
WORDS = st.lists(st.sampled_from(sorted(NAMELESS)), max_size=4).map(" ".join)


@given(WORDS, WORDS, st.sampled_from(["Paris", "New York", "Ōsaka", "1,296", "J.R.R. Tolkien"]))
def test_words_that_name_nothing_are_taken_off_both_ends_in_any_order(before, behind, alias):
    answer = f"{before}: **{alias}**, {behind}."
    assert exact_match(answer, [alias])
    assert not exact_match(f"no {answer}", [alias])
    assert not exact_match(f"{answer} Lyon", [alias])
    assert not exact_match(f"{answer}?", [alias])


@given(st.text())
def test_the_first_reading_is_the_answer_and_none_is_empty_but_it(answer):
    first, *others = readings(answer)
    assert first == answer
    assert all(others)


def test_what_names_nothing_is_taken_off_and_no_more():
    assert [form for form in RIGHT if not exact_match(form.replace("X", "Paris"), ["Paris"])] == []
    assert [form for form in OTHER if exact_match(form.replace("X", "Paris"), ["Paris"])] == []


def test_a_refusal_denies_and_names_nothing():
    assert [text for text in REFUSALS if not is_refusal(text)] == []
    assert [text for text in NO_REFUSALS if is_refusal(text)] == []
    assert DENIALS.isdisjoint(NAMELESS)
    assert REFUSING > DENIALS | NAMELESS


@pytest.mark.parametrize("part", ["a", "\n", "It is ", "a_", "<a", "(", "5% ", "1", "1 "])
def test_a_long_answer_is_read_in_time_that_grows_with_its_length(part):
    """Of an answer of 20,000 characters, where a square of them would take many seconds."""
    assert readings("<" + part * (20_000 // len(part)))
