"""The part of a reply that is the answer, whatever servers put around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.replies import Reply, Token, body, first_line


def tokens(*texts):
    return [Token(text, -1.0 - place, []) for place, text in enumerate(texts)]


def texts(found):
    return [token.text for token in found]


@pytest.mark.parametrize(
    "pieces, text, kept",
    [  # what was generated, with | between tokens; the answer; the tokens that spell it
        # the start of the reply, repeated
        ("Guess|:| Rome", "Rome", " Rome"), ("guess:|Rome", "Rome", "Rome"),
        ("**|Guess|:**| Rome", "Rome", " Rome"), ("Guess|: Ro|me", "Rome", ": Ro|me"),
        ("Guess|work", "Guesswork", "Guess|work"),
        # reasoning
        ("<think>|\n\n|</think>|\n\n|Rome", "Rome", "\n\n|Rome"),
        ("<think>|Rome?|</think>|Guess|:| Oslo", "Oslo", " Oslo"), ("<think>|and so on", "", ""),
        ("<seed:think>|Oslo?|</seed:think>|Rome", "Rome", "Rome"), ("◁think▷|Oslo?|◁/think▷|Rome", "Rome", "Rome"),
        ("<thinking_process>|Oslo?|</thinking_process>|\n|Rome", "Rome", "\n|Rome"), ("<analysis>|Rome", "", ""),
        ("Hm.\n|</reasoning>|\n|Oslo", "Oslo", "\n|Oslo"),
        ("the| </thought>| tag", "the </thought> tag", "the| </thought>| tag"),
        # the end of turn, and characters of several tokens
        ("Rome|", "Rome", "Rome"), ("Use| |<br>", "Use <br>", "Use| |<br>"),
        ("||東", "東", "||東"), ("Guess|:||東", "東", "|東"),
    ],
)  # fmt: skip
def test_body(pieces, text, kept):
    listed = tokens(*pieces.split("|"))
    whole = "".join(texts(listed))
    found = body(Reply(whole, listed), "Guess:")
    assert found.text == text
    assert texts(found.tokens) == (kept.split("|") if kept else [])
    assert body(Reply(whole), "Guess:") == Reply(text)


@pytest.mark.parametrize(
    "text, pieces, kept",
    [("Guess: Rome", [" Rome"], [" Rome"]), ("é", ["<0xC3>", "<0xA9>"], ["", "é"])],
)
def test_tokens_that_are_written_in_another_way_than_the_text(text, pieces, kept):
    assert texts(body(Reply(text, tokens(*pieces)), "Guess:").tokens) == kept


def test_without_a_prefill_nothing_is_taken_for_its_echo():
    reply = Reply("Guess: Rome", tokens("Guess", ":", " Rome"))
    found = body(reply)
    assert (found.text, found.tokens) == (reply.text, reply.tokens)


@given(st.lists(st.sampled_from(["a", " b", "\n", "", " ", "Guess:", "<", "é"]), max_size=8))
def test_the_tokens_of_the_body_make_its_text(pieces):
    text = "".join(pieces)
    found = body(Reply(text, tokens(*pieces)), "Guess:")
    assert "".join(texts(found.tokens)).strip() == found.text
    repeated = "Guess:" + text
    assert (
        body(Reply(repeated, tokens("Guess:", *pieces)), "Guess:").text
        == body(Reply(repeated), "Guess:").text
    )


@pytest.mark.parametrize(
    "pieces, length",
    [(["Rome"], 1), ([" Ro", "me", "\n", "Why"], 2), (["Rome", ".\n\n", "Why"], 2), (["\n", " ", "Rome", "\nWhy"], 3),
     (["\n\nRome\nWhy", "?"], 1), (["Rome", " \n", "Why"], 1), ([], 0), (["\n"], 1)],
)  # fmt: skip
def test_first_line(pieces, length):
    assert texts(first_line(tokens(*pieces))) == pieces[:length]
