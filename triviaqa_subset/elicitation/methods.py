"""The ways to get an answer and a confidence: dialogues, which yield requests and are sent the replies."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from typing import NamedTuple, NotRequired, TypedDict

from ..matching import Gold
from . import confidences, parsing
from .prompts import Messages, prefill, render, task_prompts
from .replies import Failure, Reply, Request, Token, body, first_line, missing_tokens

WEIGHTS = ("uniform", "sequence")
SAME = ("equality", "judge")
IS_TRUE_TOKENS = 8  # only the first word counts, and there may be blank tokens before it
CUT = "the reply was cut by --max-tokens"
EXACT_ENOUGH = 0.01  # width of the range in which a confidence is known to lie
JSON = re.compile(r"\s*[{\[]\s*[\"{]")
THINKING = re.compile(
    r"\W*(?:okay|ok|alright|hmm+|so|well|wait|first|let me|let's|we need|we are|the user|the question|i need|i should"
    r"|thinking process|thought|analysis)\b",
    re.IGNORECASE,
)


class Question(TypedDict):
    """A question of a task. Only grading needs `answer`, a letter where there are `choices`."""

    question_id: str
    question: str
    choices: NotRequired[list[str]]
    answer: NotRequired[Gold | str]
    weight: NotRequired[float]
    stratum: NotRequired[str]


@dataclass(frozen=True)
class Setup:
    """What is the same for all questions of a run.

    Parameters
    ----------
    prompts : dict
        method -> messages, with `semantic_equivalence`; by default those of TriviaQA, see `task_prompts`.
    prefill : bool
        Whether to send the start of the reply, where the prompts have one.
    max_tokens, temperature, top_logprobs, seed
        See `Request`; `top_logprobs` is for `is_true`.
    samples : int
        Answers per question, for `semantic_confidence`.
    weights : {"uniform", "sequence"}
        How `semantic_confidence` weights them.
    same : {"equality", "judge"}
        Which answers mean the same for `semantic_confidence`: those that are equal after normalisation,
        or those of which the model itself says so.
    answers : mapping
        question_id -> answer for `is_true` to ask about; where there is none, the model is asked first.

    Raises
    ------
    ValueError
        If `weights` or `same` is unknown.
    """

    prompts: Mapping[str, Messages] = field(default_factory=lambda: task_prompts("triviaqa"))
    prefill: bool = True
    max_tokens: int = 64
    temperature: float = 0.0
    top_logprobs: int = 20
    seed: int | None = None
    samples: int = 10
    weights: str = "uniform"
    same: str = "equality"
    answers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in (("weights", WEIGHTS), ("same", SAME)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}.")


class Outcome(NamedTuple):
    """An answer and its confidence in [0, 1], or None if the confidence is missing, and a remark: why, or how exact."""

    answer: str
    confidence: float | None
    remark: str | None = None


Dialogue = Generator[Request, Reply, Outcome]


def ask_sequence_posterior(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer; the confidence is the probability of its tokens."""
    answer, tokens, missing = yield from _answer(question, setup, setup.seed)
    return Outcome(answer, _posterior(tokens) if tokens else None, missing)


def ask_is_true(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer, then whether it is right; the confidence is the probability of "True"."""
    answer = setup.answers.get(question["question_id"])
    if answer is None:
        answer, _, _ = yield from _answer(question, setup, setup.seed)
    request, start = _request("is_true", question, setup, max_tokens=IS_TRUE_TOKENS, answer=answer)
    said = yield request._replace(top_logprobs=setup.top_logprobs, temperature=0.0)
    reply = body(said, start)
    if reply.tokens is None:
        return Outcome(answer, None, missing_tokens(said))
    return Outcome(answer, *_truth(list(dropwhile(lambda token: not token.text.strip(), reply.tokens))))


def ask_verbalized(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer and its probability, which the model writes."""
    request, start = _request("verbalized", question, setup)
    reply = _spoken((yield request), start)
    answer, confidence = parsing.answer_and_probability(reply.text, cut=reply.is_cut)
    if not answer:
        raise Failure(f"the reply must state an answer; got {reply.text[:60]!r}.")
    if confidence is None and reply.is_cut:
        _check_whole(reply)
    unread = CUT if reply.is_cut else "no probability can be read"
    return Outcome(answer, confidence, unread if confidence is None else None)


def ask_semantic_confidence(question: Question, setup: Setup) -> Dialogue:
    """Ask several times; the confidence is the share of the answers with the commonest meaning."""
    drawn: list[tuple[str, list[Token] | None]] = []
    for number in range(setup.samples):
        seed = None if setup.seed is None else setup.seed + number
        answer, tokens, _ = yield from _answer(question, setup, seed, logprobs=setup.weights == "sequence")
        drawn.append((answer, tokens))
    samples, weights = [answer for answer, _ in drawn], None
    if setup.weights == "sequence":
        # A repeated answer would count twice: by how often it was drawn and by its probability.
        distinct: dict[str, list[Token] | None] = {}
        for answer, tokens in drawn:
            distinct.setdefault(answer, tokens)
        samples, weights = list(distinct), [_posterior(tokens) for tokens in distinct.values()]
    found = yield from _classes(question, setup, samples, weights)
    return Outcome(found.answer, found.confidence)


DIALOGUES: dict[str, Callable[[Question, Setup], Dialogue]] = {
    "sequence_posterior": ask_sequence_posterior,
    "is_true": ask_is_true,
    "verbalized": ask_verbalized,
    "semantic_confidence": ask_semantic_confidence,
}


def needs_logprobs(method: str, weights: str = "uniform") -> bool:
    """Return whether a method cannot do without log-probabilities."""
    return method in ("sequence_posterior", "is_true") or (method == "semantic_confidence" and weights == "sequence")


class _Unjudged(Exception):
    """It is not known yet whether two answers mean the same."""


def _classes(
    question: Question, setup: Setup, samples: list[str], weights: list[float] | None
) -> Generator[Request, Reply, confidences.Semantic]:
    verdicts: dict[tuple[str, str], bool] = {}

    def same(first: str, second: str) -> bool:
        if setup.same == "equality" or confidences.same_answer(first, second):
            return confidences.same_answer(first, second)
        if (first, second) not in verdicts:
            raise _Unjudged(first, second)
        return verdicts[first, second]

    while True:
        try:
            return confidences.semantic_confidence(samples, weights, same=same)
        except _Unjudged as pair:
            first, second = pair.args
        fields = {"pred_answer": second, "gold_answers": first}
        request, start = _request("semantic_equivalence", question, setup, max_tokens=IS_TRUE_TOKENS, **fields)
        reply = body((yield request._replace(temperature=0.0)), start)
        verdicts[first, second] = parsing.yes_or_no(reply.text) is True


def _answer(
    question: Question, setup: Setup, seed: int | None, *, logprobs: bool = True
) -> Generator[Request, Reply, tuple[str, list[Token] | None, str | None]]:
    """Ask for the answer; return it with its tokens, or with why there are none."""
    request, start = _request("sequence_posterior", question, setup)
    said = yield request._replace(seed=seed, top_logprobs=0 if logprobs else None)
    reply = _spoken(said, start)
    _check_whole(reply)
    line = reply.text.split("\n")[0]
    if JSON.match(line):
        raise Failure(f"the reply must be the answer alone; got JSON, {line[:60]!r}.")
    if reply.tokens is None:
        return " ".join(line.split()), None, missing_tokens(said)
    return " ".join(line.split()), first_line(reply.tokens), None


def _request(
    prompt: str, question: Question, setup: Setup, *, max_tokens: int | None = None, **fields: str
) -> tuple[Request, str]:
    """Return a request and the start of the reply that is in its prompt."""
    texts = {"question": question["question"], "choices": choices_text(question.get("choices", []))}
    messages = render(setup.prompts[prompt], texts | fields)
    start = prefill(messages)
    sent = messages if setup.prefill or not start else messages[:-1]
    return Request(sent, max_tokens or setup.max_tokens, setup.temperature, seed=setup.seed), start


def choices_text(choices: Sequence[str]) -> str:
    """Return the choices, one per line, with their letters."""
    return "\n".join(f"{chr(ord('A') + place)}. {choice}" for place, choice in enumerate(choices))


def _spoken(reply: Reply, start: str) -> Reply:
    """Return the body of a reply that must not be empty."""
    found = body(reply, start)
    if not found.text:
        raise Failure(
            f"the reply must not be empty; got finish_reason {reply.finish_reason}"
            f"{' and reasoning' if reply.reasoning else ''}. "
            "Allow more --max-tokens, or turn reasoning off."
        )
    return found


def _posterior(tokens: list[Token] | None) -> float:
    if not tokens:
        raise Failure("the reply must have log-probabilities; got none.")
    return confidences.sequence_posterior([token.logprob for token in tokens])


def _check_whole(reply: Reply) -> None:
    """Raise a failure if the answer, the first line of the reply, was cut itself, or is reasoning."""
    if reply.is_cut and ("\n" not in reply.text or THINKING.match(reply.text)):
        raise Failure(
            f"the answer must end within --max-tokens; got a reply that was cut, {reply.text[:60]!r}. "
            "Allow more --max-tokens, or turn reasoning off."
        )


def _truth(tokens: list[Token]) -> tuple[float | None, str | None]:
    """Return the confidence of "True" at the first of the tokens, and a remark on what is not known of it."""
    if not tokens:
        return None, "the reply is empty"
    first, said = _candidates(tokens[0]), [(token.text, token.logprob) for token in tokens]
    low, high = confidences.is_true_range(first, said)
    known = confidences.is_true(first, said)
    if known is None or high - low > EXACT_ENOUGH:
        where = f"among the {len(first)} likeliest tokens" if len(first) > 1 else "among the likeliest tokens"
        return None, f'"True" and "False" must both be {where}; the confidence is from {low:.3f} to {high:.3f}'
    if known in (0.0, 1.0):  # the other word is not listed: as likely as it may be
        return (low, f'"False" is not listed: a lower bound, at most {high - low:.1e} too low') if known else (
            high, f'"True" is not listed: an upper bound, at most {high - low:.1e} too high'
        )  # fmt: skip
    return known, None


def _candidates(token: Token) -> list[tuple[str, float]]:
    """Return the likely tokens, the chosen one among them; its log-probability may be rounded in one place."""
    listed = any(text == token.text for text, _ in token.top)
    return token.top if listed else [*token.top, (token.text, token.logprob)]
