"""Confidences: the laws of products, of mass ratios and of classes."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.confidences import is_true, same_answer, semantic_confidence, sequence_posterior

PROBABILITY = st.floats(1e-6, 1.0)
TOKENS = st.lists(
    st.tuples(st.sampled_from(["True", " true", "False", "FALSE.", "▁False", "x"]), PROBABILITY), max_size=8
)
SAMPLES = st.lists(st.sampled_from(["Rome", "rome.", "Paris", "**Paris**", "Oslo"]), min_size=1, max_size=12)


@given(st.lists(PROBABILITY, min_size=1, max_size=30))
def test_the_product_over_tokens_is_the_exponent_of_the_summed_logprobs(probabilities):
    product = math.prod(probabilities)
    assert sequence_posterior([math.log(p) for p in probabilities]) == pytest.approx(product, rel=1e-12, abs=1e-300)


@given(st.lists(PROBABILITY, min_size=1, max_size=10), st.lists(PROBABILITY, min_size=1, max_size=10))
def test_a_sequence_is_its_parts_one_after_the_other(first, second):
    parts = [[math.log(p) for p in part] for part in (first, second)]
    assert sequence_posterior(parts[0] + parts[1]) == pytest.approx(
        sequence_posterior(parts[0]) * sequence_posterior(parts[1]), rel=1e-12, abs=1e-300
    )


def test_rounding_above_0_is_taken_for_certainty_and_no_more():
    assert sequence_posterior([5e-7]) == 1.0
    with pytest.raises(ValueError, match=r"^logprobs must be at most 0; got 0\.1 at index 1 \(2 of 3\)\.$"):
        sequence_posterior([-1.0, 0.1, math.nan])
    with pytest.raises(ValueError, match=r"^logprobs must not be empty; got no token\.$"):
        sequence_posterior([])


@given(TOKENS)
def test_is_true_is_the_share_of_true(tokens):
    logs = [(token, math.log(p)) for token, p in tokens]
    true = math.fsum(p for token, p in tokens if "true" in token.lower())
    false = math.fsum(p for token, p in tokens if "false" in token.lower())
    if true + false == 0:
        assert is_true(logs) is None
    else:
        assert is_true(logs) == pytest.approx(true / (true + false), rel=1e-12)


@given(TOKENS, st.floats(-2000, -700))
def test_tiny_masses_keep_their_ratio(tokens, shift):
    logs = [(token, math.log(p)) for token, p in tokens]
    expected = is_true(logs)
    found = is_true([(token, logprob + shift) for token, logprob in logs])
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-300))


@pytest.mark.parametrize("around", ["{}", " {}", "{}.", '"{}"', "**{}**", "Ġ{}", "▁{}", "\n{}"])
def test_spellings_of_the_two_words(around):
    for spell in (str.title, str.lower, str.upper):
        assert is_true([(around.format(spell("true")), -0.5)]) == 1.0
        assert is_true([(around.format(spell("false")), -0.5)]) == 0.0


@pytest.mark.parametrize("token", ["Tr", "untrue", "Truely", "Yes", "", "T"])
def test_other_words_are_no_true(token):
    assert is_true([(token, -0.5)]) is None


@given(SAMPLES, st.data())
def test_classes_part_the_samples_and_sum_to_1(samples, data):
    weights = data.draw(
        st.none() | st.lists(st.floats(1e-3, 1.0), min_size=len(samples), max_size=len(samples)), label="weights"
    )
    found = semantic_confidence(samples, weights)
    assert math.fsum(found.probabilities) == pytest.approx(1.0, rel=1e-12)
    assert sorted(place for members in found.classes for place in members) == list(range(len(samples)))
    for members in found.classes:
        assert all(same_answer(samples[members[0]], samples[place]) for place in members)
    assert found.confidence == max(found.probabilities)
    assert found.answer in [samples[p] for p in found.classes[found.probabilities.index(found.confidence)]]


@given(SAMPLES, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(samples, random):
    shuffled = random.sample(samples, len(samples))
    assert semantic_confidence(shuffled).confidence == pytest.approx(semantic_confidence(samples).confidence)


@given(SAMPLES)
def test_uniform_weights_count(samples):
    counts = [sum(same_answer(sample, other) for other in samples) for sample in samples]
    assert semantic_confidence(samples).confidence == pytest.approx(max(counts) / len(samples))
    assert semantic_confidence(samples, [0.25] * len(samples)) == semantic_confidence(samples)


def test_the_class_counts_and_not_the_wording():
    # "NYC" is the commonest wording, but New York the commonest meaning.
    samples = ["Oslo", "Oslo", "Oslo", "NYC", "NYC", "New York", "New York City"]
    plain = semantic_confidence(samples)
    by_meaning = semantic_confidence(samples, same=lambda a, b: a[0] == b[0])
    assert (plain.answer, plain.confidence) == ("Oslo", pytest.approx(3 / 7))
    assert (by_meaning.answer, by_meaning.confidence) == ("NYC", pytest.approx(4 / 7))


@pytest.mark.parametrize(
    ("samples", "weights", "message"),
    [
        ([], None, "samples must not be empty; got no sample."),
        (["a"], [0.5, 0.5], "weights and samples must have the same length; got 2 and 1."),
        (["a", "b"], [0.5, -1.0], "weights must be finite and non-negative; got -1.0 at index 1 (1 of 2)."),
        (["a"], [math.nan], "weights must be finite and non-negative; got nan at index 0 (1 of 1)."),
        (["a"], [math.inf], "weights must be finite and non-negative; got inf at index 0 (1 of 1)."),
        (["a", "b"], [0, 0], "weights must not be all zero; got 2 zeros."),
    ],
)
def test_what_is_no_sample_of_answers_is_refused(samples, weights, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        semantic_confidence(samples, weights)
