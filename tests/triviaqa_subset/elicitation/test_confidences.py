"""Confidences: the laws of products, of mass ratios and of classes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.confidences import (
    is_true,
    letter_posteriors,
    semantic_confidence,
    sequence_posterior,
)
from triviaqa_subset.matching import normalize_answer

PROBABILITY = st.floats(1e-6, 1.0)
SAMPLES = st.lists(
    st.sampled_from(["Rome", "rome.", "Paris", "**Paris**", "Oslo"]), min_size=1, max_size=12
)


def logs(probabilities):
    return [(token, math.log(p)) for token, p in probabilities.items()]


@given(st.lists(PROBABILITY, min_size=1, max_size=30), st.integers(0, 30))
def test_the_posterior_of_a_sequence_is_the_product_of_those_of_its_parts(probabilities, cut):
    logprobs = [math.log(p) for p in probabilities]
    parts = [sequence_posterior(part) for part in (logprobs[:cut], logprobs[cut:]) if part]
    for expected in (math.prod(probabilities), math.prod(parts)):
        assert sequence_posterior(logprobs) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_rounding_above_0_is_taken_for_certainty():
    assert sequence_posterior([5e-7]) == 1.0


@given(
    st.dictionaries(
        st.sampled_from(["True", " true", "False", "FALSE.", "▁False", "x", "Tr"]), PROBABILITY
    ),
    st.data(),
)
def test_is_true_is_missing_or_within_what_any_completion_of_the_list_allows(listed, data):
    """What is not listed may be a spelling of either word, whether or not another spelling is listed."""
    total = math.fsum(listed.values())
    listed = {token: p / max(1.0, total * 1.0001) for token, p in listed.items()}
    true, false = (
        math.fsum(p for t, p in listed.items() if word in t.lower()) for word in ("true", "false")
    )
    known, _ = is_true(logs(listed))
    rest = max(0.0, 1 - math.fsum(listed.values()))
    to_true, to_false = data.draw(
        st.sampled_from([(0, 0), (0, 1), (1, 0), (0.5, 0.5), (0.2, 0.1)]), label="of the rest"
    )
    split = data.draw(st.floats(0, 1), label="how often Tr becomes True")
    more_true = to_true * rest + split * listed.get("Tr", 0.0)
    if known is not None:
        whole = true + more_true + false + to_false * rest
        assert known == pytest.approx((true + more_true) / whole, abs=0.0101)
        assert true + false > 0
    if true and false and rest < 1e-4 and "Tr" not in listed:
        assert known == pytest.approx(true / (true + false), rel=1e-12) or true + false < 0.02


@pytest.mark.parametrize("around", ["{}", " {}", "{}.", '"{}"', "**{}**", "Ġ{}", "▁{}", "\n{}"])
def test_spellings_of_the_two_words(around):
    for spell in (str.title, str.lower, str.upper):
        listed = {around.format(spell("true")): 0.6, around.format(spell("false")): 0.2, "Yes": 0.2}
        assert is_true(logs(listed)) == (pytest.approx(0.75), None)


@pytest.mark.parametrize(
    "first, generated, confidence, remark",
    [
        ({"Tr": 0.5, "False": 0.3, "Yes": 0.2}, {"Tr": 0.5, "ue": 0.999}, 0.4995 / 0.7995, None),
        (
            {"Tr": 0.5, "False": 0.3, "Yes": 0.2},
            {"Tr": 0.5, "ue": 0.8},
            None,
            "from 0.500 to 0.625",
        ),
        ({"False": 0.5, "Tr": 0.3, "Yes": 0.2}, {"False": 0.5}, None, "must both be among the 3"),
        (
            {"True": 0.999, "Yes": 0.0005, "No": 0.0001},
            {"Yes": 0.1},
            0.999 / 0.9994,
            "a lower bound",
        ),
        ({"False": 0.999, "Yes": 0.0005, "No": 0.0001}, {}, 0.0004 / 0.9994, "an upper bound"),
        ({"True": 0.6, "Yes": 0.2}, {}, None, "from 0.750 to 1"),
        ({"True": 0.4, "False": 0.3, "Yes": 0.2}, {}, None, "from 0.500 to 0.625"),
    ],
)
def test_a_word_that_is_split_or_not_listed_leaves_a_range(first, generated, confidence, remark):
    found, said = is_true(logs(first), logs(generated))
    assert found == (confidence and pytest.approx(confidence, rel=1e-6))
    assert (remark in said) if remark else said is None


@given(st.lists(PROBABILITY, min_size=2, max_size=6))
def test_letters_share_their_mass_or_are_not_known(masses):
    letters = "ABCDEF"[: len(masses)]
    listed = dict(zip(letters, (p / math.fsum(masses) for p in masses), strict=True))
    assert letter_posteriors(logs(listed), letters) == pytest.approx(list(listed.values()))
    assert letter_posteriors(logs({"A": 0.5, "x": 0.2}), letters) is None
    assert letter_posteriors(logs({"x": 0.2}), letters) is None


@given(SAMPLES, st.randoms(use_true_random=False))
def test_meanings_are_counted_in_any_order(samples, random):
    meanings = [normalize_answer(sample) for sample in samples]
    answer, share = semantic_confidence(samples, meanings)
    assert share == max(map(meanings.count, meanings)) / len(samples)
    assert meanings.count(normalize_answer(answer)) == share * len(samples)
    shuffled = random.sample(samples, len(samples))
    assert semantic_confidence(shuffled, [normalize_answer(each) for each in shuffled])[1] == share
