"""Confidences computed from log-probabilities or from several samples. Pure functions."""

import math
from collections import Counter
from collections.abc import Sequence

Likely = Sequence[tuple[str, float]]  # tokens with their natural log-probabilities
ROUNDING = 1e-6  # a log-probability of a float32 softmax may come out this much above 0
EXACT_ENOUGH = 0.01  # width of the range in which a confidence is known to lie
AROUND = " \n\t*\"'.,:ĠĊ▁"


def sequence_posterior(logprobs: Sequence[float]) -> float:
    r"""Return the probability of a sequence of tokens, :math:`q_e = \exp \sum_t \log p(x_t | x_{<t})`."""
    return min(1.0, math.exp(math.fsum(logprobs)))


def is_true(
    first: Likely,
    generated: Likely = (),
) -> tuple[float | None, str | None]:
    """Return p(True) / (p(True) + p(False)), each p summed over all spellings, or None, and what is not known of it.

    Whatever is not listed may be a further spelling of either word, so the ratio is known up to that mass.
    """
    (true, false), unknown = _masses(first, ("true", "false"), generated)
    total = true + false + unknown or 1.0
    low = true / total
    high = (true + unknown) / total
    if not true + false or high - low > EXACT_ENOUGH:
        listed = f"the {len(first)} likeliest tokens" if len(first) > 1 else "the likeliest tokens"
        return (
            None,
            f'"True" and "False" must both be among {listed}; the confidence is from {low:.3f} to {high:.3f}',
        )
    if true and false:
        return true / (true + false), None
    missing, bound, confidence = ("True", "an upper", high) if false else ("False", "a lower", low)
    off = f"at most {high - low:.1e} off"
    return confidence, f'"{missing}" is not listed: the confidence is {bound} bound, {off}'


def letter_posteriors(first: Likely, letters: str) -> list[float] | None:
    """Return the probability of each letter as the first token, or None if it is not known to within `EXACT_ENOUGH`."""
    masses, unknown = _masses(first, letters.lower())
    total = math.fsum(masses)
    if not total or unknown / (total + unknown) > EXACT_ENOUGH:
        return None
    return [mass / total for mass in masses]


def semantic_confidence(
    samples: Sequence[str],
    meanings: Sequence[str],
) -> tuple[str, float]:
    """Return the commonest meaning in its commonest wording, and its share (Kuhn, Gal and Farquhar, ICLR 2023)."""
    commonest, count = Counter(meanings).most_common(1)[0]
    wordings = Counter(
        sample for sample, meaning in zip(samples, meanings, strict=True) if meaning == commonest
    )
    return max(wordings, key=lambda wording: wordings[wording]), count / len(samples)


def _masses(
    first: Likely,
    words: Sequence[str],
    generated: Likely = (),
) -> tuple[list[float], float]:
    """Return the probability of each word, summed over its listed spellings, and that of what may be one of them too.

    That is what is not listed, and the tokens that begin a word, but for the one word that was generated so.
    """
    masses = dict.fromkeys(words, 0.0) | _split_word(words, generated)
    unknown = 1.0 - sum(masses.values())
    for token, logprob in first:
        text = _bare(token)
        if text in masses:
            masses[text] += math.exp(logprob)
        if text in masses or not _begins(text, words):
            unknown -= math.exp(logprob)
    return list(masses.values()), max(0.0, unknown)


def _bare(token: str) -> str:
    return token.strip(AROUND).lower()


def _begins(text: str, words: Sequence[str]) -> bool:
    return text != "" and any(word.startswith(text) for word in words)


def _split_word(
    words: Sequence[str],
    generated: Likely,
) -> dict[str, float]:
    """Return the word that several generated tokens spell, with its probability."""
    spelled = ""
    logprobs: list[float] = []
    for token, logprob in generated:
        spelled += token
        logprobs.append(logprob)
        text = _bare(spelled)
        if text in words:
            return {text: sequence_posterior(logprobs)} if len(logprobs) > 1 else {}
        if not _begins(text, words):
            break
    return {}
