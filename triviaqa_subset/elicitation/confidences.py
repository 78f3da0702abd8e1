"""Confidences computed from log-probabilities or from several samples. Pure functions."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..checking import require
from ..matching import normalize_answer

ROUNDING = 1e-6  # a log-probability of a float32 softmax may come out this much above 0
AROUND = " \n\t*\"'.,:ĠĊ▁"


class Semantic(NamedTuple):
    """The answer of the class with the largest weight, that class's probability, and all classes.

    Attributes
    ----------
    answer : str
    confidence : float
        In [0, 1].
    classes : list of list of int
        The indices of the samples of each class.
    probabilities : list of float
        The share of each class in the weights; they sum to 1.
    """

    answer: str
    confidence: float
    classes: list[list[int]]
    probabilities: list[float]


def sequence_posterior(logprobs: Sequence[float]) -> float:
    r"""Return the probability of a sequence of tokens.

    .. math:: q_e = \prod_t p(x_t | x_{<t}) = \exp \sum_t \log p(x_t | x_{<t})

    Parameters
    ----------
    logprobs : sequence of float, length T >= 1
        Natural log-probability of each token given those before it, at most 0; up to 1e-6 is accepted as
        rounding.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        No tokens, a NaN, or a positive log-probability.

    Examples
    --------
    >>> round(sequence_posterior([math.log(0.5), math.log(0.8)]), 12)
    0.4
    """
    if not logprobs:
        raise ValueError("logprobs must not be empty; got no token.")
    require((value <= ROUNDING for value in logprobs), logprobs, "logprobs must be at most 0")
    return min(1.0, math.exp(math.fsum(logprobs)))


def is_true(first: Sequence[tuple[str, float]], words: Sequence[tuple[str, float]] = ()) -> float | None:
    r"""Return the probability of "True" against "False" as the first token of the reply.

    .. math:: q_e = \frac{p(\mathrm{True})}{p(\mathrm{True}) + p(\mathrm{False})}

    where each p is a sum over all spellings among the given tokens: in any case, with or without spaces and
    punctuation around.

    Parameters
    ----------
    first : sequence of (str, float)
        The likely first tokens with their natural log-probabilities.
    words : sequence of (str, float)
        The generated tokens, in order: a word split over several of them has their product.

    Returns
    -------
    float or None
        In [0, 1]; None (the confidence is missing) if neither word is among the tokens.

    Examples
    --------
    >>> round(is_true([("True", math.log(0.5)), (" true", math.log(0.1)), ("False", math.log(0.2))]), 12)
    0.75
    >>> is_true([("Maybe", 0.0)]) is None
    True
    """
    known = [*first, *_split_word(words)[1]]
    log_true, log_false = (_log_mass(known, word) for word in ("true", "false"))
    if max(log_true, log_false) == -math.inf:
        return None
    highest = max(log_true, log_false)  # factored out first, so that tiny masses do not become 0 / 0
    true, false = math.exp(log_true - highest), math.exp(log_false - highest)
    return true / (true + false)


def is_true_range(first: Sequence[tuple[str, float]], words: Sequence[tuple[str, float]] = ()) -> tuple[float, float]:
    r"""Return the limits of `is_true` that the likeliest first tokens leave open.

    A word that is not among them has at most the probability of the least likely of them, and at most what they
    leave of 1. A token that begins a word ("Tr") may or may not go on to become it.

    Parameters
    ----------
    first : sequence of (str, float)
        The likely first tokens with their natural log-probabilities.
    words : sequence of (str, float)
        The generated tokens, in order: a word split over several of them has their product.

    Returns
    -------
    low, high : float
        In [0, 1]; (0, 1) if nothing is known.

    Examples
    --------
    >>> is_true_range([("True", math.log(0.5)), ("False", math.log(0.25))])
    (0.6666666666666666, 0.6666666666666666)
    >>> [round(limit, 3) for limit in is_true_range([("True", math.log(0.99)), ("Yes", math.log(0.008))])]
    [0.998, 1.0]
    """
    begun, split = _split_word(words)
    rest = max(0.0, min(1 - math.fsum(math.exp(p) for _, p in first), min((math.exp(p) for _, p in first), default=1)))
    masses = []
    for word in ("true", "false"):
        known = math.exp(_log_mass([*first, *split], word))
        maybe = math.fsum(math.exp(p) for token, p in first if token != begun and _begins(token, word))
        masses.append((known, known + maybe + (0.0 if known else rest)))
    (true, most_true), (false, most_false) = masses
    low = true / (true + most_false) if true + most_false else 0.0
    high = most_true / (most_true + false) if most_true + false else 1.0
    return low, high


def same_answer(first: str, second: str) -> bool:
    """Return whether two answers are equal after `normalize_answer`."""
    return normalize_answer(first) == normalize_answer(second)


def semantic_confidence(
    samples: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    same: Callable[[str, str], bool] = same_answer,
) -> Semantic:
    r"""Group sampled answers that mean the same; the class with the largest weight gives answer and confidence.

    .. math:: q_k = \frac{\sum_{i \in k} w_i}{\sum_i w_i}, \quad q_e = \max_k q_k

    The confidence of a candidate is that of all answers with its meaning, not that of its wording, as the
    paper derives in its section on generative systems. A sample joins the first class whose first member
    means the same.

    Parameters
    ----------
    samples : sequence of str, length S >= 1
    weights : sequence of float, length S, optional
        At least 0, not all 0. None: uniform, for samples drawn from the model. With sequence posteriors as
        weights the samples must be distinct: repeated ones would count twice.
    same : callable (str, str) -> bool
        An equivalence relation; by default equality of the normalised answers.

    Returns
    -------
    Semantic
        `answer` is the wording with the largest weight in that class, the first one on ties.

    Raises
    ------
    ValueError
        No samples; weights of another length, negative, not finite, or all 0.

    References
    ----------
    Kuhn, Gal and Farquhar, "Semantic uncertainty", ICLR 2023; the paper, section "Application of ECUAS to
    generative systems".

    Examples
    --------
    >>> semantic_confidence(["Rome", "Paris", "paris."])[:2]
    ('Paris', 0.6666666666666666)
    >>> semantic_confidence(["Rome", "Paris"], [0.75, 0.25])[:2]
    ('Rome', 0.75)
    """
    weighed = _checked_weights(samples, weights)
    classes: list[list[int]] = []
    for place, sample in enumerate(samples):
        home = next((members for members in classes if same(samples[members[0]], sample)), None)
        classes.append([place]) if home is None else home.append(place)
    masses = [math.fsum(weighed[place] for place in members) for members in classes]
    heaviest = max(range(len(classes)), key=lambda k: masses[k])
    total = math.fsum(masses)
    probabilities = [mass / total for mass in masses]
    return Semantic(_wording(samples, weighed, classes[heaviest]), probabilities[heaviest], classes, probabilities)


def _log_mass(tokens: Sequence[tuple[str, float]], word: str) -> float:
    logprobs = [logprob for token, logprob in tokens if _bare(token) == word]
    highest = max(logprobs, default=-math.inf)
    if highest == -math.inf:
        return -math.inf
    return highest + math.log(math.fsum(math.exp(logprob - highest) for logprob in logprobs))


def _bare(token: str) -> str:
    return token.strip(AROUND).lower()


def _begins(token: str, word: str) -> bool:
    return 0 < len(_bare(token)) < len(word) and word.startswith(_bare(token))


def _split_word(words: Sequence[tuple[str, float]]) -> tuple[str | None, list[tuple[str, float]]]:
    """Return the first token and the word that it begins, with its log-probability, if that is of several tokens."""
    spelled, total = "", 0.0
    for place, (token, logprob) in enumerate(words):
        spelled, total = spelled + token, total + logprob
        if _bare(spelled) in ("true", "false"):
            return (words[0][0], [(spelled, total)]) if place else (None, [])
        if not (_begins(spelled, "true") or _begins(spelled, "false")):
            break
    return None, []


def _checked_weights(samples: Sequence[str], weights: Sequence[float] | None) -> list[float]:
    if not samples:
        raise ValueError("samples must not be empty; got no sample.")
    weighed = [1.0] * len(samples) if weights is None else [float(weight) for weight in weights]
    if len(weighed) != len(samples):
        raise ValueError(f"weights and samples must have the same length; got {len(weighed)} and {len(samples)}.")
    require((0 <= weight < math.inf for weight in weighed), weighed, "weights must be finite and non-negative")
    if not any(weighed):
        raise ValueError(f"weights must not be all zero; got {len(weighed)} zeros.")
    return weighed


def _wording(samples: Sequence[str], weights: Sequence[float], members: list[int]) -> str:
    mass: dict[str, float] = {}
    for place in members:
        mass[samples[place]] = mass.get(samples[place], 0.0) + weights[place]
    return max(mass, key=lambda wording: mass[wording])
