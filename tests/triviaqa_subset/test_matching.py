"""When two answers count as the same text: the normal form, its hash, and the exact match."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset import answer_sha256, exact_match, normalize_answer
from triviaqa_subset.matching import (
    RULES,
    contains,
    equals_officially,
    gold_forms,
    is_refusal,
    normalize_officially,
    undress,
)

REFUSALS = (  # and silence
    "", " \n", "...", "-", "?", "“”", "I don't know", "I DON\u2019T KNOW!", "Unknown.", "N/A", "*No idea*", "idk",
    "I'm sorry, but I can't help with that.", "As an AI, I do not know.", "Unable to determine", "I'm not sure.",
    "I don't know the answer to this question.", "I do not have enough information to answer.",
    "The answer is unknown.", "Unfortunately, I cannot provide an answer.", "I'm afraid I don't recall",
    "I must decline to say", "It is not possible to determine this.", "I couldn't find that information",
    "No one knows for certain.", "I'd rather not guess.", "I won't guess.", "idk, sorry", "None known",
    "Information not available.", "I lack the knowledge to answer this.", "My knowledge does not cover this.",
)  # fmt: skip
NO_REFUSALS = (  # they may be an answer
    "None", "I guess not", "Na", "&", "+", "$", "42", "π", "I don't know why", "The Unknown", "Pass",
    "I Can't Help Myself", "I don't know, perhaps Paris", "I'm not sure, but Paris",
    "Not Paris", "Sorry", "I Know", "Who", "The Answer",
)  # fmt: skip
FORMS = {
    normalize_answer: {
        "  PARIS ": "paris", "Paris (France) (city)": "paris", "Paris(France), Texas": "paris, texas",
        "(all of it)": "", "unclosed (bracket": "unclosed (bracket", "rock 'n' roll": "rock n roll",
        "Jean-Paul": "jeanpaul", "**bold** word": "bold word", "* one star": "* one star", '"quoted"': "quoted",
        'say "so" twice': 'say "so" twice', "the end...": "the end", "the end. .": "the end.", "J.R.R": "j.r.r",
        "“curly”": "“curly”",
    },
    normalize_officially: {
        "The Paris!": "paris", "*Paris*,": "paris", "“Paris”": "paris", "Rock \u2019n\u2019 Roll": "rock n roll",
        "Jean-Paul  II": "jean paul ii", "(Paris)": "paris", "Paris (or Lyon)": "paris or lyon",
        "another_day": "another day", "The": "",
    },
    answer_sha256: {" “Où”. (fr) ": hashlib.sha256("“où”".encode()).hexdigest()},
    undress: {
        "It's not Paris": "not Paris", "\uff30aris": "Paris", '{"answer": "Paris"}': "Paris",
        "**Final answer:** It is *Paris*.": "Paris", "\\(\\boxed{\\text{Paris}}\\)": "Paris",
        "<p>Paris<sup>[2]</sup></p>": "Paris", "<s>Paris</s>": "<s>Paris</s>", "~~Paris~~": "~~Paris~~",
        "$5": "$5", "-5": "-5", "J.R.R. Tolkien": "J.R.R. Tolkien", "Answering machine": "Answering machine", "": "",
    },
    is_refusal: dict.fromkeys(REFUSALS, True) | dict.fromkeys(NO_REFUSALS, False),
}  # fmt: skip


@pytest.mark.parametrize("function", FORMS)
def test_the_forms_of_an_answer_rule_by_rule(function):
    assert {text: function(text) for text in FORMS[function]} == FORMS[function]


@pytest.mark.long
@given(st.text())
def test_bold_and_outer_space_never_matter_and_the_official_form_is_final(text):
    assert normalize_answer(f" {text}\t") == normalize_answer(text)
    assert normalize_answer(f"**{text}**") == normalize_answer(text.strip())
    assert normalize_officially(normalize_officially(text)) == normalize_officially(text)


@given(st.text(), st.lists(st.text(), max_size=3))
def test_equality_is_contained_and_an_alias_in_its_own_dress_is_equal(answer, aliases):
    equal, held = (exact_match(answer, aliases, rule=rule) for rule in RULES)
    assert held or not equal
    if normalize_officially(answer):
        assert exact_match(answer, [*aliases, answer])
        # it has no dress of its own, nor is one
        if undress(answer) == answer and any(map(str.isalnum, answer)):
            assert exact_match(f"**{answer}**\u200b", [answer])


@pytest.mark.parametrize(
    "dress", ["The {}", "{}!", "Orle\u0301ans,", "*{}*", "({})", "\u2018{}\u2019", "ORL\u00c9ANS"]
)
def test_the_official_form_forgives_how_an_answer_is_written(dress):
    answer = dress.format("Orl\u00e9ans")
    for alias in ("Orl\u00e9ans", "Orle\u0301ans", "Orleans"):
        assert equals_officially(answer, gold_forms([alias]))


ALIASES = ["Paris", "Lutetia"]
DRESSES = [  # of another hand than those of the card
    "<think>Rome? Lyon?</think>X", "<seed:think>Rome?</seed:think>X", "[THINK]Rome?[/THINK]X", "◁think▷Rome?◁/think▷X",
    "I think the answer is X", "I believe it is X", "I think X", "Best guess: X",
    "My best guess is X.", "1. X", "X (95%)", "X, 95 %", "X\nConfidence: 95%", "X (confidence: 0.95)", "X, 0.9", "> X",
    '{"answer": "X"}', '{"guess": "X", "confidence": 0.9}', "X<|im_end|>",
    "| answer |\n| --- |\n| X |", "| Answer | X |", "<final_answer>X</final_answer>", "[X](https://a.org/b)", "__X__",
    "I'd say X.", "I would say that it is X", "X (confidence: high)", "Answer (95%): X", "«X».",
    "$\\boxed{\\textbf{X}}$",
    # how sure a system is does not change what it answers
    "X (5%)", "X, 49%", "X\nConfidence: 0%", "X, 0.1", "X (probability: 5)", "Answer (5%): X", "X (confidence: low)",
    '{"answer": "X", "confidence": 0.05}', '{"guess": "X", "probability": "5%"}', "I think it is X (30%)",
    "X (high confidence)", "X \u2014 95% confident", "X (I'm 95% sure)",
    # a view before or after it, and what leads up to it
    "My guess is X.", "My best guess would be X", "I'd go with X.", "I would guess X.", "I'm fairly confident it's X.",
    "I am absolutely certain that the answer is X", "X, I believe.", "The answer is X, I'd say.",
    "Good question! It is X.", "Here's my answer: X", "Assistant: X", '{"final_answer": "X"}', "X<end_of_turn>",
    "X<eos>", "X</s>", "<|begin_of_text|>X<|eot_id|>", "<bos>X", "Confidence: 95%\nX", "probability = .9\n\nX.",
    "X \U0001f389", "X! \U0001f60a", "<p class='x' id=y>X</p>", "X<br/>",
]  # fmt: skip
OTHERS = [
    "I think not X", "I do not think X", "1. X 2. Rome", "X (or Lyon) (95%)", "I think X or Lyon", "<think>X",
    "I guess X?", "X (5)", "<think>X</think>Rome", '{"answer": "Rome", "not": "X"}', "<s>X</s>", "X 95", "X; Rome 95%",
    "| X | Rome |", "| answer |\n| --- |\n| not X |", "| X |\n| Rome |", "[X](no)", "I'd not say X",
    "\\boxed{\\neg X}",
    "\\cancel{X}", "\\boxed{X} or \\boxed{Rome}", '{"answer": ["X", "Rome"]}', "<s>X</s>", "X ❌",
    "probably not X (95%)", "not X (5%)", "perhaps X (30%)", "X? (30%)", "X (30% Rome)", "X (30%) or Rome (20%)",
    "I'm not sure it is X", "I am less sure that it is X", "I'd not go with X", "My guess is not X",
    "Here is not the answer: X", "The wrong guess is X", "X, I think not", "X, I'm not sure", "X (95% unsure)",
    "X, I would say Rome", "I'm sure that it's not X", "X (95% sure) or Rome", "X, 95% wrong",
    "<p not>X</p>", "<b is='no' not>X</b>", "<s>X</s>\n", "X \U0001f44e", "X \U0001f914", "<|begin_of_thought|>X",
    "Confidence: 0\u201395%\nX", "Confidence: 95% Rome\nX",
    "X. Wait, no: Rome", "X, alternatively Rome", "X [sic]", "It can't be X", "Hardly X", "X et al.", "nicht X",
]  # fmt: skip


def test_what_says_nothing_of_the_answer_is_taken_off_and_no_more():
    assert [
        dress for dress in DRESSES if not exact_match(dress.replace("X", "Paris"), ALIASES)
    ] == []
    assert [other for other in OTHERS if exact_match(other.replace("X", "Paris"), ALIASES)] == []


@pytest.mark.parametrize("part", ["a", "\n", "It is ", "a_"])
def test_a_long_answer_is_undressed_in_time_that_grows_with_its_length(part):
    """Of an answer of 100,000 characters, where a square of them would take minutes."""
    assert undress(part * (100_000 // len(part))) is not None


def test_numbers_are_compared_as_numbers():
    same = (
        "1296",
        "1,296",
        "1296.",
        "**1,296**",
        "The answer is 1,296.",
        "(1296)",
        "1. 1296",
        "1296 (95%)",
        "'1296'",
        "\u201c1296\u201d",
    )
    other = (
        "1-296",
        "1296%",
        "1296 %",
        ">1296",
        "<1296",
        "1296+",
        "$1296",
        "-1296",
        "1,2,96",
        "12,96",
        "1296 (5)",
        *(
            "12'96",
            "12'96\"",
            "1296'",
            '1296"',
            "It is 1296\u2032.",
            "12\u201996",
            "12**96",
            "1296\u2030",
            "12_96",
            "12\u00b796",
        ),
    )
    assert [answer for answer in same if not exact_match(answer, ["1296"])] == []
    assert [answer for answer in other if exact_match(answer, ["1296"])] == []
    for alias in ("4-0", "100%", "9/11", "$5", "10:04", "6'2", "6**2", "62\u2030"):
        assert exact_match(f"It is {alias}.", [alias])


@pytest.mark.parametrize(
    "doubt",
    ["X (or Lyon)", "X (no, Lyon)", "X (OR Lyon)", "X (Lyon?)", "X (Lyon)", "X (sic!)", "X (\u200b?)",
     "X (the French city)", "!X", "**!X**", "It is !X", "X\uff1f", "X\ufe56", "X⁇", "X⁉", "X⁈", "X⸮", "X ՞", "X\uff5e",
     "X :/", "X :-("],
)  # fmt: skip
def test_a_denial_or_a_doubt_is_no_match_unless_it_is_an_aliass_own(doubt):
    answer = doubt.replace("X", "Paris")
    assert not exact_match(answer, ALIASES)
    assert exact_match(answer, [*ALIASES, answer])


@pytest.mark.parametrize(
    "answer",
    ["Paris!", "¡Paris!", "**Paris!**", "Answer: Paris",
     *(f"Paris ({inside})" for inside in ("city", "1871\u20131940", "Lutetia", "LUTETIA!"))],
)  # fmt: skip
def test_a_mark_that_doubts_nothing_a_kind_years_or_another_alias_is_dress(answer):
    assert exact_match(answer, ALIASES)


@pytest.mark.parametrize(
    "answer, alias", [("-40", "40"), ("Paris?", "Paris"), ("~Paris", "Paris"), ("≠5", "5")]
)
@pytest.mark.parametrize("wide", [False, True])
def test_a_sign_of_doubt_or_a_minus_is_part_of_the_answer(answer, alias, wide):
    given = "".join(
        chr(ord(char) + 0xFEE0) if wide and "!" <= char <= "~" else char for char in answer
    )
    assert not exact_match(given, [alias])
    assert exact_match(f"It is {given}", [answer])


def test_containment_goes_by_words_and_an_alias_of_nothing_matches_nothing():
    assert contains("It is 19!", gold_forms(["19"]))
    assert exact_match("In “Paris”, of course", ["Paris!"], rule="containment")
    for answer, alias in (
        ("1914", "19"),
        ("parish", "Paris"),
        ("anything", "(band)"),
        ("", "(band)"),
    ):
        for rule in RULES:
            assert not exact_match(answer, [alias], rule=rule)


@pytest.mark.parametrize("frame", ["Answer -5", "answer\u20135", "So, -5", "ok -5"])
def test_a_minus_behind_a_frame_belongs_to_the_number(frame):
    assert not exact_match(frame, ["5"])
    assert exact_match("Answer - 5", ["5"])
