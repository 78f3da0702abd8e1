"""When two answers count as the same text: the normal form, its hash, and the exact match."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset import answer_sha256, exact_match, normalize_answer
from triviaqa_subset.matching import RULES


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
    if normalize_answer(answer):
        assert exact_match(answer, [*aliases, answer])
    equal, held = (exact_match(answer, aliases, rule=rule) for rule in RULES)
    assert held or not equal
    assert held == any(normalize_answer(a) and normalize_answer(a) in normalize_answer(answer) for a in aliases)


def test_an_alias_of_nothing_matches_nothing():
    assert not exact_match("", ["(band)"])
    assert not exact_match("anything", ["(band)"], rule="containment")


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match=r"^rule must be one of equality, containment; got 'fuzzy'\.$"):
        exact_match("a", ["a"], rule="fuzzy")


def test_the_key_of_the_bank_is_the_hash_of_the_normal_form():
    assert answer_sha256(" “Où”. (fr) ") == hashlib.sha256("“où”".encode()).hexdigest()
