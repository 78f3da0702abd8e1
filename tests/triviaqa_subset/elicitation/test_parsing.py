"""Replies in words: a probability where one is stated, and never one where none is; each style of 91 replies."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triviaqa_subset.elicitation.parsing import answer_and_probability, choice_letter, yes_or_no
from triviaqa_subset.elicitation.replies import Reply, body

ANSWERS = [
    "Paris", "1984", "Catch-22", "42", "U2", "Paris, Texas", "AC/DC", "9 to 5", "Apollo 13", "3.14", "*NSYNC", "-40",
    "(I Can't Get No) Satisfaction", "[REC]", "Boeing 747", "Henry VIII", "O'Neill", "東京 3", "Ke$ha", "50 Cent",
    "The 39 Steps", "Se7en", "Mr. & Mrs. Smith", "Wham!", "Who's Afraid of Virginia Woolf?", "100%", "E=mc2", "Nîmes",
    "St. John's", "10:04", "A.I.", "½", "007", "Blink-182",
]  # fmt: skip
READ = [  # replies that must be read
    " {a}\nProbability: {p}", "{a}\n\nProbability: {p}\n", "Guess: {a}\nProbability: {p}",
    "**Guess:** {a}\n**Probability:** {p}", "**{a}**\n**Probability: {p}**", "Answer: {a}\nConfidence: {p}",
    "My guess: {a}\nProbability: {p}", "Sure! Here is my answer:\n\nGuess: {a}\nProbability: {p}",
    "```\nGuess: {a}\nProbability: {p}\n```", "{a}\nProbability: {percent}%", "{a}\nProbability: {percent} %",
    "{a}\nProbability: {percent} percent", "{a}\nProbability: ~{p} (rather sure)",
    "{a}\nProbability: {percent} out of 100", "{a}\nThe probability that this is correct is {p}.",
    "{a} (probability: {p})", "{a} (Confidence: {p})", "{a}; probability {p}", "{a}\nprobability = {p}", "{a}\n{p}",
    "{a}\nProbability: about {p}", "{a}\n- Probability: `{p}`",
    "{a}, {p}", '{{"guess": {json}, "probability": {p}}}', '```json\n{{"guess": {json}, "probability": {p}}}\n```',
    "<think>Maybe 0.5? Probability: 0.5</think>\n{a}\nProbability: {p}",
    "Okay, the user asks. Probability: 0.1\n</think>\n\nGuess: {a}\nProbability: {p}",
    "{a}\nProbability: {p}\n\nQuestion: Who?\nGuess: Rome\nProbability: 0.44",
    "{a}\nProbability: {p}\n\nThis was the first of its kind.",
]  # fmt: skip
MAY_BE_MISSING = [  # or whose probability may be missing
    "{a}\nProbability: {percent}/100", "{a}\nProbability: {p}-{p}1",
    "{a}\nProbability: between {p} and 0.99", "{a}\nProbability: high",
    "{a}\nProbability: {p}\n\nThis is a probability of 0.123, I think.",
    "{a}\nProbability: {p}\nExplanation: it was founded in 0.7 AD with probability: 0.3",
]  # fmt: skip


def replies(style):
    rng = random.Random(style)
    for number in range(91):
        answer, percent = ANSWERS[number % len(ANSWERS)], rng.randrange(1, 100)
        values = {
            "a": answer,
            "p": f"{percent / 100:g}",
            "percent": percent,
            "json": json.dumps(answer),
        }
        yield answer, percent / 100, style.format(**values)


@pytest.mark.parametrize("style", [*READ, *MAY_BE_MISSING])
def test_a_reply_is_read_as_it_was_meant_or_not_at_all(style):
    rng = random.Random(style)
    for answer, confidence, text in replies(style):
        found = read(text)
        assert found.answer == answer, text
        right = found.confidence == pytest.approx(confidence, abs=1e-12)
        assert right or (found.explanation and style in MAY_BE_MISSING), text
        cut = read(text[: rng.randrange(len(text) + 1)], cut=True)
        assert cut.explanation or (cut.answer, cut.confidence) == (
            answer,
            pytest.approx(confidence, abs=1e-12),
        ), text


def read(text, *, cut=False):
    return answer_and_probability(body(Reply(text), "Guess:").text, cut=cut)


STATED = {  # what follows "Paris" -> the probability, or why it is missing
    0.85: ["\nProbability: .85", "\n(85 %)", "\nProbability: 0.85.", ", probability: 0.85",
           " with a probability of 0.85", "\n\nProbability that it is correct: 0.85",
           "\nConfidence = 0.85", "\nPROBABILITY: <0.85>", "\nProbability: 0.85\n```"],
    0.125: ["\nProbability: 12.5 %", "\nProbability: 0.125"],
    1.0: ["\nProbability: 1", "\nProbability: 1."], 0.0: ["\nProbability: 0"], 0.005: ["\nProbability: 0.5 per cent"],
    0.01: ["\nProbability: 1 percent", "\nProbability: 1\uff05"],
    0.1: ["\nProbability: 1 in 10", "\nProbability: 1 out of 10"],
    0.9: ["\nProbability: 0.9 in my view", "\nProbability: 0.9 \u2014 very sure", "\nProbability: 0.9 (90 %)",
          "\n\nProbability: 0.9\n\nIt has been the capital since 987."],
    "no probability": [
        "", "\nProbability:", ", 0.14...", "\nProbability: >0.99", "\nProbability: at least 0.9",
        *(f"\nProbability: {odd}" for odd in ("rather high", "N/A", "85", "150 %", "-0.2", "1 in 0", "0.8x",
          "1 in 10 %", "0.8\u00bd"))],
    "several numbers": ["\nProbability: 0.5*0.5",
        *(f"\nProbability: 0.8{dash}0.9" for dash in "-\u2013\u2014\u2212~"),
        *(f"\nProbability: {odd}" for odd in ("0.8 - 0.9", "0.8 to 0.9", "8/10", "0,85", "0.8.5", "0.5%-1%", "1 of 5",
          "0.8 .. 0.9", "0.8 and 0.9", "0.8 through 0.9", ".7 or about 80%", "0.7, maybe 80", "0.7 (or even 0.8)",
          "0.9 in 2 of 3 cases", "5e-1", "0.7 if European, 0.3 otherwise", "90% (0.9, founded in 1889)",
          "1 in 10.5", "0.7 at first, then 0.8")),
        "\n0.7\n0.8"],
    "is not known": [
        "\nProbability of being wrong: 0.1", "\nThe probability that I am wrong is 0.1", "\nError probability: 0.1",
        "\nThe probability that this isn't correct is 0.1.", "\nProbability: 0.1 (of being incorrect)",
        "\nProbability that it is not Paris: 0.1", "\nThe probability that it isn\u2019t Paris is 0.1",
        "\nProbability: 0.1 that it is not Paris", "\nProbability of another answer: 0.1",
        " Probability: 0.85", "\nProbability: <0.01", "\n<0.01", "\nThe probability is at most: 0.1",
        "\nProbability: 0.9+",
        "\nProbability: 0.9 or more", "\nProbability if European: 0.7",
        "\nProbability: 0.85\n\nGuess: Rome\nProbability: 0.1",
        "\nProbability: 0.9, not quite sure", "\nProbability: 0.9 (won by Rome)",
        "\nProbability (I am not certain): 0.9"],
}  # fmt: skip
ANSWERED = {  # a reply -> its answer, which holds numbers or words of its own
    "Paris, with probability 0.3\nProbability: 0.85": ("Paris, with probability 0.3", 0.85),
    "**Paris**\n**Probability:** **0.85**": ("Paris", 0.85), "1984, 0.85": ("1984", 0.85),
    "Probability theory\nProbability: 0.85": ("Probability theory", 0.85), "**[REC]**, 0.9": ("[REC]", 0.9),
    "Boeing (747) (0.9)": ("Boeing (747)", 0.9), '{"guess": 1984, "probability": 0.9}': ("1984", 0.9),
    '```json\n{"Answer": "Paris", "Confidence": "85 %"}\n```': ("Paris", 0.85), "Probability: 0.9": ("", None),
    '{"guess": "Paris", "probability": [0.8, 0.9]}': ("Paris", None), '{"guess": "Paris", "probab': ("", None),
    '{"guess": "Paris", "probability": true}': ("Paris", None), "Friday, 13.": ("Friday, 13.", None),
    "Paris (0.9) or Lyon (0.1)": ("Paris (0.9) or Lyon", None), "Vodka, 40%\n0.8": ("Vodka, 40%", 0.8),
    "The Logic of Probability: 0.5\nProbability: 0.9": ("The Logic of", None),
    '{"guess": "Paris", "probability": 1e-5}': ("Paris", 1e-5),
    '{"guess": "Paris", "probability": 0.9, "confidence": "80%"}': ("Paris", None), "": ("", None), " \n ": ("", None),
    '{"guess": "Paris", "probability": 0.9, "probability": 0.2}': ("Paris", None),
    "Paris, lack of confidence: 0.2": ("Paris, lack of", None), "Error\nError probability: 0.1": ("Error", None),
    '{"guess": "Paris", "answer": "Lyon", "probability": 0.9}': ("Paris", None),
    **{text: (text, None) for text in ("1984", "Boeing (747)", "Friday, 13", "Apollo 0.5", "Probability theory")},
    **{text: (text, None) for text in ("Vodka, 40%", "Beer (4.55 %)")},
}  # fmt: skip


def test_a_number_is_the_probability_or_missing_with_a_reason():
    cases = {
        f"Paris{text}": ("Paris", stated) for stated, texts in STATED.items() for text in texts
    } | ANSWERED
    for reply, (answer, stated) in cases.items():
        found = answer_and_probability(reply)
        expected = None if isinstance(stated, str) else stated
        assert (found.answer, found.confidence) == (answer, expected), reply
        assert (found.explanation is None) == (expected is not None)
        assert expected is not None or (stated or "") in found.explanation, reply


# Replies by another hand: {a} is the answer, {p} a probability, {d} the same as a percentage.
MUST_BE_MISSING = """
{a}⏎P(wrong) = {p} ¦ {a}⏎P(incorrect) = {p} ¦ {a}⏎1 - p = {p} ¦ {a}⏎Probability of error: {p}
{a}⏎Probability that I'm mistaken: {p} ¦ {a}⏎Probability: not {p} ¦ {a}⏎Probability: {p}? Perhaps 0.31.
{a}⏎Probability: {p} / 10 ¦ {a}⏎Probability: {p} out of 10 ¦ {a}⏎Probability: ≥{p} ¦ {a}⏎Probability: ≤ {p}
{a}⏎Probability: > {p} ¦ {a}⏎Probability: [{p}, 0.99] ¦ {a}⏎Probability: {p}…0.99 ¦ {a}⏎Probability: {p}..0.99
{a}⏎Probability: {p}, but it could also be 0.2 ¦ {a}⏎Probability that it is Lyon: {p}
{a}⏎Probability that the answer is Lyon: {p} ¦ {a}⏎Probability that it is neither: {p}
{a}⏎Probability that another answer is right: {p} ¦ {a}⏎Uncertainty: {p} ¦ {a}⏎Doubt: {p}
{a}⏎My uncertainty is {p} ¦ {a}⏎Confidence: high ¦ {a}⏎Confidence interval: {p}-0.99
{a}⏎Confidence interval: [{p}; 0.99] ¦ {a}⏎Lack of confidence: {p} ¦ {a}⏎I have no confidence: {p}
{a}⏎Probability of failure: {p} ¦ {a}⏎Improbability: {p} ¦ {a}⏎Probability(not {a}): {p} ¦ {a}⏎P(~{a}) = {p}
{a}⏎Probability of not-{a}: {p} ¦ {a}⏎Probability: 1-{p} ¦ {a}⏎Probability: 1 - {p}
{a}⏎Probability: 1 minus {p} ¦ {a}⏎Probability: 2*{p} ¦ {a}⏎Probability: {p}*0.5
{a}⏎Probability: {p} x 0.9 ¦ {a}⏎Probability: {p}^2 ¦ {a}⏎Probability: {p}e-3 ¦ {a}⏎Probability: -{p}
{a}⏎Probability: ln {p} ¦ {a}⏎Probability: log({p}) ¦ {a}⏎Probability: sqrt {p} ¦ {a}⏎Probability: half of {p}
{a}⏎Probability: twice {p} ¦ {a}⏎Probability: less than {p} ¦ {a}⏎Probability: no more than {p}
{a}⏎Probability: just under {p} ¦ {a}⏎Probability: a bit over {p} ¦ {a}⏎Probability: not above {p}
{a}⏎Probability: minimum {p} ¦ {a}⏎Probability: max. {p} ¦ {a}⏎Probability: maximum of {p}
{a}⏎Probability: at least {p} ¦ {a}⏎Probability: from {p} upwards ¦ {a}⏎Probability: {p} at best
{a}⏎Probability: {p} at worst ¦ {a}⏎Probability: {p} tops ¦ {a}⏎Probability: {p} max
{a}⏎Probability: {p} minimum ¦ {a}⏎Probability: {p} and up ¦ {a}⏎Probability: {p} or above
{a}⏎Probability: {p} if the question means France ¦ {a}⏎Probability: {p} assuming 2020 data
{a}⏎Probability: {p}⏎Actually, probability: 0.31 ¦ {a}⏎Probability: {p}⏎Probability: 0.31
{a}⏎I'm not {p} confident. ¦ {a}⏎There is a probability of {p} that I am wrong.
{a}⏎There is a {p} probability that this is wrong ¦ {a}⏎With probability {p} this is false.
{a}⏎With probability {p} I am guessing. ¦ {a} has a probability of {p} of being wrong
{a}⏎The probability isn't {p} ¦ {a}⏎The probability is not {p} ¦ {a}⏎The probability is hardly {p}
{a}⏎The probability is nowhere near {p} ¦ {a}⏎The probability is unlikely to be {p}
{a}⏎The probability cannot be {p} ¦ {a} ({p}) / Lyon (0.31) ¦ {a}: {p}, Lyon: 0.31 ¦ {a} #{p} ¦ v{p} {a}
{a} at {p} Hz ¦ {a}, {p} km ¦ {a}, {p} seconds ¦ {a} (rating {p}) ¦ {a} (about {p} miles) ¦ {a}, ${p}
{a}, £{p} ¦ {a}, {p}° ¦ {a}, no. {p} ¦ {a}, ISBN {p} ¦ {a}, {p}x ¦ {a}, {p}.1.2 ¦ {a}, 1:{p} ¦ {a}, {p}:1
{a}⏎Probability: {p}:1 ¦ {a}⏎Odds: {p} ¦ {a}⏎Odds: {p} to 1 ¦ {a}⏎Probability: odds of {p}
{a}⏎Probability: 3 to 1 ¦ {a}⏎Probability: 1 in 4 of being wrong ¦ {a}⏎Probability: 0,{d}
{a}⏎Probability: {d} ¦ {a}⏎Probability: 0. {d} ¦ {a}⏎Probability: O.{d} ¦ {a}⏎Probability: point {d}
{a}⏎Probability: zero point {d} ¦ {a}⏎Probability: {p}%% ¦ {a}⏎Probability: {p}‰
{a}⏎Probability: {p} per mille ¦ {a}⏎Probability: {d}‰ ¦ {a}⏎Probability: {d} percent chance of being wrong
{a}⏎Probability: {d}% wrong ¦ {a}⏎Probability: {d}%/15% ¦ {a}⏎Probability: {d}-99%
{a}⏎Probability: {d} to 99 percent ¦ {a}; {d}% alcohol ¦ {a} ({d}% of the votes) ¦ {a}, {d}% cotton
{a}⏎Probability: {p}⏎This is the probability of being wrong.
{a}⏎Probability: {p}⏎(that is, of being incorrect) ¦ {a}⏎Probability: {p} (0 = sure, 1 = unsure)
{a}⏎Probability (0 means certain): {p} ¦ {a}⏎Probability (1 = wrong): {p} ¦ {a}⏎Probability: {p} (inverse)
{a}⏎Probability that I cannot answer: {p} ¦ {a}⏎Probability that this guess fails: {p}
{a}⏎Probability that this is incorrect? {p} ¦ {a}⏎Probability of misremembering: {p}
{a}⏎Probability of a mistake: {p} ¦ {a}⏎Probability of hallucination: {p} ¦ {a}⏎Probability against: {p}
{a}⏎Probability of alternative: {p} ¦ {a}⏎Probability of the second guess: {p}
{a}⏎Joint probability with Lyon: {p} ¦ {a}⏎Log probability: -0.{d} ¦ {a}⏎Log probability: {p}
{a}⏎Log-probability = {p} ¦ {a}⏎Probability ratio: {p} ¦ {a}⏎Probability rank: {p}
{a}⏎Probability: {p}⏎Wait: 0.31 ¦ {a}⏎Probability: {p}⏎No, it is Lyon. ¦ {a}⏎Probability: {p}⏎⏎The answer is Lyon.
{a}⏎Probability: {p}⏎⏎On second thoughts: Lyon ¦ {a}⏎Probability: {p}⏎I take that back. ¦ {a}⏎{p}⏎(1 = lowest)
{a}⏎Probability: {p}⏎Scale: 0 to 5 ¦ {a}⏎Probability: {p}⏎(31% before) ¦ {a}⏎Confidence in percent: {p}
{a} (alternatively Lyon, {p}) ¦ {a} (runner-up: Lyon, {d}%) ¦ {a}; Lyon, {p} ¦ {a}, or Lyon ({p})
{a}. Second guess: Lyon ({d}%) ¦ {a}⏎⏎Runner-up⏎Lyon⏎{p} ¦ {a}⏎Alternative: Lyon⏎Probability: {p}
{a} ({d},5 %) ¦ {a}, {d},5% ¦ {a}; 1,{d}% ¦ {a}⏎1,{d} % ¦ {a}⏎Probability: {d},5 % ¦ {a},{p}
"""
MAY_BE_READ = """
{a}⏎Probability: {p} ¦ {a}⏎⏎**Probability:** `{p}` ¦ {a}⏎Probability (0-1): {p}
{a}⏎Probability (0.0 to 1.0): {p} ¦ {a}⏎Probability [0,1]: {p} ¦ {a}⏎Probability between 0 and 1: {p}
{a}⏎Probability on a scale from 0 to 1: {p} ¦ {a}⏎Probability of being correct: {p}
{a}⏎Probability of correctness = {p} ¦ {a}⏎Prob: {p} ¦ {a}⏎P = {p} ¦ {a}⏎P(correct) = {p}
{a}⏎Probability: {p}/1 ¦ {a}⏎Probability: {p}/1.0 ¦ {a}⏎Probability: {p} or so ¦ {a}⏎Probability: ≈{p}
{a}⏎Probability: {p} ± 0.05 ¦ {a}⏎Probability: {p} +/- 0.1
{a}⏎Probability: {p} (i.e. not likely to be wrong) ¦ {a}⏎Probability: {p}; Lyon: 0.1
{a}⏎Probability: {p} for {a}, 0.11 for Lyon ¦ {a}⏎Probability for Lyon: 0.11⏎Probability: {p}
{a}⏎Chance of being wrong: 0.21⏎Probability: {p} ¦ {a}⏎Confidence: low ({p}) ¦ {a}⏎Confidence level: {p}
{a}⏎Confidence score: {p} ¦ {a}⏎95% confidence: {p} ¦ {a}⏎If I remember correctly, probability: {p}
{a}⏎Probability: {p} (was 0.3 before) ¦ {a}⏎Probability: first 0.3, now {p} ¦ {a}⏎Probability: 0.3 -> {p}
{a}⏎Probability: 0.3 → {p} ¦ {a}⏎Probability: ~~0.3~~ {p} ¦ {a}⏎Probability: 0.3, sorry, {p}
{a}⏎Probability: {p}⏎Correction: 0.31 ¦ {a}⏎Probability: {p}⏎Probability of being wrong: 0.31
{a}⏎Probability of being wrong: 0.31⏎Probability: {p}
{a}⏎The probability of my guess being right lies at {p}. ¦ {a}⏎I'd put the probability at {p}.
{a}⏎I am {p} confident. ¦ {a}⏎There is a probability of {p} that I am right.
{a}⏎My probability estimate is {p} ¦ {a}⏎The probability of rain is {p} ¦ {a}⏎Guess: Lyon⏎Probability: {p}
{a}⏎Probability: {p}⏎⏎Question: Who?⏎Guess: Rome⏎Probability: 0.44 ¦ {a} = {p} ¦ {a} | {p} ¦ | {a} | {p} |
{a} - {p} ¦ {a} — {p} ¦ {a} [{p}] ¦ {a} <{p}> ¦ {a} {p} ¦ {a}, born 0.4 BC, {p} ¦ {a}⏎Probability: {d}%.
{a}⏎Probability: {d} pct ¦ {a}⏎Probability: {d}% sure, 100-{d}% wrong ¦ {a}⏎{d}% probability ¦ {a}⏎{d}%
{a} ({d}%) ¦ {a}, {d}% ¦ {a}⏎Probability: {p}⏎Note: lower is better
{a}⏎Prior probability: 0.2, posterior probability: {p} ¦ {a}⏎Conditional probability: {p}
{a}⏎Probability: see 0.4 above; {p}
"""


def test_no_reply_of_another_hand_is_misread():
    for templates, is_probability in ((MUST_BE_MISSING, False), (MAY_BE_READ, True)):
        for template in re.split(r" ¦ |\n", templates.strip()):
            for answer, p, percent in (("Paris", "0.85", "85"), ("1984", "0.07", "7")):
                reply = template.replace("⏎", "\n").format(a=answer, p=p, d=percent)
                found = read(reply)
                assert found.confidence is None or (
                    is_probability and found.confidence == float(p)
                ), reply
                assert (found.confidence is None) == (found.explanation is not None)


@pytest.mark.long
@given(st.text(max_size=60))
def test_a_probability_is_one_and_needs_a_digit(reply):
    for text in (reply, f"{reply}\nProbability: {reply}"):
        confidence = answer_and_probability(text).confidence
        assert confidence is None or (0 <= confidence <= 1 and re.search(r"\d", reply))


@pytest.mark.parametrize("sign", ["\n", "(", "\n(", '\n"', " "])
def test_a_long_run_of_signs_states_no_other_probability(sign):
    """A reply is read in time that grows as its length; these took minutes when each sign began a search."""
    for end in ("0.8", "x"):
        reply = f"Paris\n{sign * 20_000}{end}"
        assert answer_and_probability(reply).confidence in (None, 0.8)


@pytest.mark.parametrize(
    "verdict, replies",
    [(True, ("Yes.", "yes", "'Yes.'", " **YES** \n")), (False, ("No.", "NO")),
     (None, ("", "Maybe.", "Yes and no.", "No idea", "Yesterday", "None", "Not"))],
)  # fmt: skip
def test_a_judge_says_one_word(verdict, replies):
    assert {yes_or_no(reply) for reply in replies} == {verdict}


@pytest.mark.parametrize(
    "letter, replies",
    [("B", ("B", " b", "B.", "(B)", "**B**", "B) blue", "B: blue", "B\nbecause", "Answer: B",
            "The correct answer is B.", "blue", "Blue.", "Option B: blue", "My answer: B",
            "B, I think")), ("D", ("the answer is (D)",)), ("A", ("a red one",)),
     (None, ("E", "Bad", "a red thing", "A or B", "", "A, B", "A: no, B", "A. not B", "A: blue",
           "I do not know", "twice"))],
)  # fmt: skip
def test_the_letter_of_a_choice(letter, replies):
    assert {choice_letter(reply, ["a red one", "blue", "twice", "twice"]) for reply in replies} == {
        letter
    }
