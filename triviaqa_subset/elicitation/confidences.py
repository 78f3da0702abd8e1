"""Confidences computed from log-probabilities or from several samples. Pure functions."""

import math
from collections.abc import Sequence

Likely = Sequence[tuple[str, float]]  # tokens with their natural log-probabilities
ROUNDING = 1e-6  # a log-probability of a float32 softmax may come out this much above 0
EXACT_ENOUGH = 0.01  # width of the range in which a confidence is known to lie
AROUND = " \n\t*\"'.,:ĠĊ▁"


def sequence_posterior(logprobs: Sequence[float]) -> float:
    r"""Return the probability of a sequence of tokens, :math:`q_e = \exp \sum_t \log p(x_t | x_{<t})`."""
    if not logprobs or not all(value <= ROUNDING for value in logprobs):
        raise ValueError(f"logprobs must be at most 0, of at least one token; got {list(logprobs)[:3]}.")
    return min(1.0, math.exp(math.fsum(logprobs)))


def is_true(first: Likely, generated: Likely = ()) -> tuple[float | None, str | None]:
    """Return p(True) / (p(True) + p(False)), each p summed over all spellings, or None, and what is not known of it."""
    begun, split = _split_word(generated)
    known = [*first, *split]
    (true, most_true), (false, most_false) = (_masses(known, word, begun, first) for word in ("true", "false"))
    low = true / (true + most_false) if true + most_false else 0.0
    high = most_true / (most_true + false) if most_true + false else 1.0
    if not true + false or high - low > EXACT_ENOUGH:
        where = f"among the {len(first)} likeliest tokens" if len(first) > 1 else "among the likeliest tokens"
        return None, f'"True" and "False" must both be {where}; the confidence is from {low:.3f} to {high:.3f}'
    if true and false:
        return true / (true + false), None
    limit, word, bound = (low, "False", "a lower bound") if true else (high, "True", "an upper bound")
    return limit, f'"{word}" is not listed: the confidence is {bound}, at most {high - low:.1e} off'


def letter_posteriors(first: Likely, letters: str) -> list[float] | None:
    """Return the probability of each letter as the first token, or None if it is not known to within `EXACT_ENOUGH`."""
    known, most = zip(*(_masses(first, letter.lower(), None, first) for letter in letters), strict=True)
    unknown, total = math.fsum(most) - math.fsum(known), math.fsum(known)
    return [mass / total for mass in known] if total and unknown / (total + unknown) <= EXACT_ENOUGH else None


def semantic_confidence(
    samples: Sequence[str], meanings: Sequence[str], weights: Sequence[float] | None = None
) -> tuple[str, float]:
    """Return the commonest meaning in its heaviest wording, and its share (Kuhn, Gal and Farquhar, ICLR 2023)."""
    mass = [1.0] * len(samples) if weights is None else [float(weight) for weight in weights]
    if not samples or not len(mass) == len(samples) == len(meanings):
        raise ValueError(f"weights and samples must have one length above 0; got {len(mass)} and {len(samples)}.")
    if not all(0 <= each < math.inf for each in mass) or not any(mass):
        raise ValueError(f"weights must be finite, at least 0 and not all 0; got {mass[:3]}.")
    share, heaviest = _heaviest(meanings, mass)
    inside = [place for place, meaning in enumerate(meanings) if meaning == heaviest]
    return _heaviest([samples[place] for place in inside], [mass[place] for place in inside])[1], share


def _heaviest(texts: Sequence[str], mass: Sequence[float]) -> tuple[float, str]:
    """Return the largest share of the mass that a text has, and the first text that has it."""
    shares = {text: math.fsum(m for t, m in zip(texts, mass, strict=True) if t == text) for text in texts}
    heaviest = max(shares, key=lambda text: shares[text])
    return shares[heaviest] / math.fsum(mass), heaviest


def _masses(known: Likely, word: str, begun: str | None, first: Likely) -> tuple[float, float]:
    """Return the probability of a word among the known tokens, and the largest that it can have."""
    mass = math.fsum(math.exp(p) for token, p in known if _bare(token) == word)
    maybe = math.fsum(math.exp(p) for token, p in first if token != begun and _begins(token, word))
    listed = [math.exp(p) for _, p in first]
    unlisted = max(0.0, min(1 - math.fsum(listed), min(listed, default=1.0)))
    return mass, mass + maybe + (0.0 if mass else unlisted)


def _bare(token: str) -> str:
    return token.strip(AROUND).lower()


def _begins(token: str, word: str) -> bool:
    return 0 < len(_bare(token)) < len(word) and word.startswith(_bare(token))


def _split_word(generated: Likely) -> tuple[str | None, list[tuple[str, float]]]:
    """Return the first token and the word that it begins, with its log-probability, if that is of several tokens."""
    spelled, total = "", 0.0
    for place, (token, logprob) in enumerate(generated):
        spelled, total = spelled + token, total + logprob
        if _bare(spelled) in ("true", "false"):
            return (generated[0][0], [(spelled, total)]) if place else (None, [])
        if not (_begins(spelled, "true") or _begins(spelled, "false")):
            break
    return None, []
