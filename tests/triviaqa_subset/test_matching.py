"""When two answers count as the same text: the normal form, its hash, and the exact match."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset import answer_sha256, exact_match, normalize_answer
from triviaqa_subset.matching import (
    REFUSALS,
    RULES,
    equals_officially,
    gold_forms,
    hedges,
    is_refusal,
    normalize_officially,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  PARIS ", "paris"),
        ("Paris (France) (city)", "paris"),
        ("Paris(France), Texas", "paris, texas"),
        ("(all of it)", ""),
        ("unclosed (bracket", "unclosed (bracket"),
        ("rock 'n' roll", "rock n roll"),
        ("Jean-Paul", "jeanpaul"),
        ("**bold** word", "bold word"),
        ("* one star", "* one star"),
        ('"quoted"', "quoted"),
        ('say "so" twice', 'say "so" twice'),
        ("the end...", "the end"),
        ("the end. .", "the end."),
        ("J.R.R.", "j.r.r"),
        ("“curly”", "“curly”"),
    ],
)
def test_the_normal_form_rule_by_rule(text, expected):
    assert normalize_answer(text) == expected


@given(st.text())
def test_case_bold_and_outer_space_never_matter(text):
    assert normalize_answer(f" {text}\t") == normalize_answer(text)
    assert normalize_answer(f"**{text}**") == normalize_answer(text.strip())


@given(st.text(), st.lists(st.text(), max_size=3))
def test_exact_match_laws(answer, aliases):
    if normalize_answer(answer) and not hedges(answer):
        assert exact_match(answer, [*aliases, answer])
    equal, held = (exact_match(answer, aliases, rule=rule) for rule in RULES)
    assert held or not equal
    words = f" {normalize_officially(answer)} "
    inside = [f" {normalize_officially(alias)} " for alias in aliases if normalize_officially(alias)]
    assert held == (equal or any(alias in words for alias in inside))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Paris!", "paris"),
        ("*Paris*,", "paris"),
        ("“Paris”", "paris"),
        ("Rock \u2019n\u2019 Roll", "rock n roll"),
        ("Jean-Paul  II", "jean paul ii"),
        ("(Paris)", "paris"),
        ("Paris (or Lyon)", "paris or lyon"),
        ("another_day", "another day"),
        ("The", ""),
    ],
)
def test_the_official_form_rule_by_rule(text, expected):
    assert normalize_officially(text) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "The Orl\u00e9ans",
        "Orl\u00e9ans!",
        "Orle\u0301ans,",
        "*Orl\u00e9ans*",
        "(Orl\u00e9ans)",
        "\u2018Orl\u00e9ans\u2019",
        "ORL\u00c9ANS",
    ],
)
def test_the_official_form_forgives_how_an_answer_is_written(answer):
    for alias in ("Orl\u00e9ans", "Orle\u0301ans"):
        assert equals_officially(answer, gold_forms([alias]))
    assert not equals_officially(answer, gold_forms(["Orleans"]))


@given(st.text())
def test_the_official_form_is_final(text):
    assert normalize_officially(normalize_officially(text)) == normalize_officially(text)


@pytest.mark.parametrize("bracket", ["or Lyon", "via Lyon or Nice", "probably", "OR Lyon", "Lyon?", "not Lyon"])
def test_a_hedge_is_no_exact_match_but_a_note_in_brackets_is(bracket):
    assert not exact_match(f"Paris ({bracket})", ["Paris"])
    assert not equals_officially(f"Paris ({bracket})", gold_forms(["Paris"]))
    assert equals_officially(f"Paris ({bracket})", gold_forms([f"Paris ({bracket})"]))
    assert exact_match("Paris (France)", ["Paris"])
    assert exact_match("Paris (Orly)", ["Paris"])


def test_containment_goes_by_words():
    assert not exact_match("1914", ["19"], rule="containment")
    assert not exact_match("parish", ["Paris"], rule="containment")
    assert exact_match("In “Paris”, of course", ["Paris!"], rule="containment")


@pytest.mark.parametrize(
    "text",
    ["", " \n", "...", "-", "?", "“”", "I don't know", "I DON\u2019T KNOW!", "Unknown.", "N/A", "*No idea*", "idk"],
)
def test_silence_and_refusals(text):
    assert is_refusal(text)


@pytest.mark.parametrize("text", ["None", "Na", "&", "+", "$", "42", "π", "I don't know why", "The Unknown", "Pass"])
def test_what_may_be_an_answer_is_no_refusal(text):
    assert not is_refusal(text)


def test_the_refusals_are_written_in_the_form_in_which_they_are_looked_up():
    assert len(REFUSALS) > 30
    assert all(is_refusal(text) and text == text.strip().lower() for text in REFUSALS)


def test_an_alias_of_nothing_matches_nothing():
    assert not exact_match("", ["(band)"])
    assert not exact_match("anything", ["(band)"], rule="containment")


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match=r"^rule must be one of equality, containment; got 'fuzzy'\.$"):
        exact_match("a", ["a"], rule="fuzzy")


def test_the_key_of_the_bank_is_the_hash_of_the_normal_form():
    assert answer_sha256(" “Où”. (fr) ") == hashlib.sha256("“où”".encode()).hexdigest()
