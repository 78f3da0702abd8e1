"""Confidences computed from log-probabilities or from several samples. Pure functions."""

import math
from collections.abc import Callable, Sequence

from ..matching import normalize_answer

Likely = Sequence[tuple[str, float]]  # tokens with their natural log-probabilities
ROUNDING = 1e-6  # a log-probability of a float32 softmax may come out this much above 0
EXACT_ENOUGH = 0.01  # width of the range in which a confidence is known to lie
AROUND = " \n\t*\"'.,:ĠĊ▁"


def sequence_posterior(logprobs: Sequence[float]) -> float:
    r"""Return the probability of a sequence of tokens, :math:`q_e = \exp \sum_t \log p(x_t | x_{<t})`.

    >>> round(sequence_posterior([math.log(0.5), math.log(0.8)]), 12)
    0.4
    """
    if not logprobs or not all(value <= ROUNDING for value in logprobs):
        raise ValueError(f"logprobs must be at most 0, of at least one token; got {list(logprobs)[:3]}.")
    return min(1.0, math.exp(math.fsum(logprobs)))


def is_true(first: Likely, generated: Likely = ()) -> tuple[float | None, str | None]:
    r"""Return the probability of "True" against "False" as the first word, or None, and what is not known of it.

    It is :math:`q_e = p(\mathrm{True}) / (p(\mathrm{True}) + p(\mathrm{False}))`, each p summed over all spellings
    among the likely first tokens: in any case, with or without spaces and punctuation around. A word that was
    generated in several tokens has their product. A word that is not listed has at most the probability of the least
    likely token, and at most what the listed ones leave of 1; a token that begins a word ("Tr") may go on to become
    it. Where this leaves more than `EXACT_ENOUGH` open, the confidence is missing.

    >>> round(is_true([("True", math.log(0.5)), (" true", math.log(0.1)), ("False", math.log(0.2))])[0], 12)
    0.75
    >>> is_true([("True", math.log(0.6)), ("Yes", math.log(0.2))])[0] is None
    True
    """
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
    """Return the probability of each letter as the first token, or None if it is not known to within `EXACT_ENOUGH`.

    >>> letter_posteriors([("A", math.log(0.5)), (" B", math.log(0.5))], "AB")
    [0.5, 0.5]
    """
    known, most = zip(*(_masses(first, letter.lower(), None, first) for letter in letters), strict=True)
    unknown, total = math.fsum(most) - math.fsum(known), math.fsum(known)
    return [mass / total for mass in known] if total and unknown / (total + unknown) <= EXACT_ENOUGH else None


def same_answer(first: str, second: str) -> bool:
    """Return whether two answers are equal after `normalize_answer`."""
    return normalize_answer(first) == normalize_answer(second)


def semantic_confidence(
    samples: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    same: Callable[[str, str], bool] = same_answer,
) -> tuple[str, float]:
    r"""Return the commonest meaning among sampled answers, and its share of their weight.

    .. math:: q_k = \frac{\sum_{i \in k} w_i}{\sum_i w_i}, \quad q_e = \max_k q_k

    The confidence of a candidate is that of all answers with its meaning, not that of its wording (Kuhn, Gal and
    Farquhar, "Semantic uncertainty", ICLR 2023; the paper, "Application of ECUAS to generative systems"). A sample
    joins the first class whose first member means the same; the answer is that class's heaviest wording, the first
    one on ties. Samples weighted by their posteriors must be distinct: repeated ones would count twice.

    >>> semantic_confidence(["Rome", "Paris", "paris."])
    ('Paris', 0.6666666666666666)
    """
    mass = [1.0] * len(samples) if weights is None else [float(weight) for weight in weights]
    if not samples or len(mass) != len(samples):
        raise ValueError(f"weights and samples must have one length above 0; got {len(mass)} and {len(samples)}.")
    if not all(0 <= each < math.inf for each in mass) or not any(mass):
        raise ValueError(f"weights must be finite, at least 0 and not all 0; got {mass[:3]}.")
    classes: list[list[int]] = []
    for place, sample in enumerate(samples):
        home = next((members for members in classes if same(samples[members[0]], sample)), None)
        classes.append([place]) if home is None else home.append(place)
    shares = [math.fsum(mass[place] for place in members) / math.fsum(mass) for members in classes]
    heaviest = shares.index(max(shares))
    wordings = [samples[place] for place in classes[heaviest]]
    answer = max(wordings, key=lambda text: math.fsum(mass[i] for i in classes[heaviest] if samples[i] == text))
    return answer, shares[heaviest]


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
