"""When two answers count as the same text: the normal form, its hash, and the exact match."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset import answer_sha256, exact_match, normalize_answer
from triviaqa_subset.matching import (
    RULES,
    contains,
    gold_forms,
    normalize_officially,
)
from triviaqa_subset.readings import readings

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
def test_equality_is_contained_and_an_alias_in_its_own_markup_is_equal(answer, aliases):
    equal, held = (exact_match(answer, aliases, rule=rule) for rule in RULES)
    assert held or not equal
    if normalize_officially(answer):
        assert exact_match(answer, [*aliases, answer])
        # it has no markup of its own, nor is one
        if readings(answer) == [answer] and any(map(str.isalnum, answer)):
            assert exact_match(f"**{answer}**\u200b", [answer])


ALIASES = ["Paris", "Lutetia"]


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
