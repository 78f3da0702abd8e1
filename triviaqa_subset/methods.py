"""The ways to get an answer and a confidence: each a dialogue that yields requests and is sent the replies."""

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

from . import confidences, parsing
from .prompts import Messages, prefill, render
from .replies import Failure, Reply, Request, Token, body, first_line

IS_TRUE_TOKENS = 8  # only the first word counts, after blank tokens


class Setup(NamedTuple):
    """What one run keeps the same for all questions.

    Parameters
    ----------
    prompts : dict
        method -> messages, of the task; with `semantic_equivalence` of the judge.
    prefill : bool
        Whether to give away the start of the reply, where the prompts have one.
    max_tokens, temperature, top_logprobs, seed
        See `Request`; `top_logprobs` for `is_true`.
    samples : int
        Answers per question, for `semantic_confidence`.
    weights : {"uniform", "sequence"}
        How `semantic_confidence` weighs them.
    same : {"equality", "judge"}
        Which answers it takes for the same: equal after normalisation, or those that the model itself
        says mean the same.
    answers : dict
        question_id -> answer for `is_true` to ask about; a question that is not there is asked first.
    """

    prompts: dict[str, Messages]
    prefill: bool = True
    max_tokens: int = 64
    temperature: float = 0.0
    top_logprobs: int = 20
    seed: int | None = None
    samples: int = 10
    weights: str = "uniform"
    same: str = "equality"
    answers: Mapping[str, str] = {}


class Outcome(NamedTuple):
    """An answer, and its confidence in [0, 1] or None: missing."""

    answer: str
    confidence: float | None


Question = Mapping[str, Any]  # question_id and question; choices, answer, weight where there are any
Dialogue = Generator[Request, Reply, Outcome]


def sequence_posterior(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer; the confidence is the probability of its tokens."""
    answer, tokens = yield from _answer(question, setup, setup.seed)
    return Outcome(answer, _posterior(tokens) if tokens else None)


def is_true(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer, then whether it is right; the confidence is the probability of "True"."""
    answer = setup.answers.get(question["question_id"])
    if answer is None:
        answer, _ = yield from _answer(question, setup, setup.seed)
    request, start = _request("is_true", question, setup, max_tokens=IS_TRUE_TOKENS, answer=answer)
    reply = body((yield request._replace(top_logprobs=setup.top_logprobs, temperature=0.0)), start)
    first = next((token for token in reply.tokens or [] if token.text.strip()), None)
    return Outcome(answer, confidences.is_true(_candidates(first)) if first else None)


def verbalized(question: Question, setup: Setup) -> Dialogue:
    """Ask for the answer and its probability in words."""
    request, start = _request("verbalized", question, setup)
    answer, confidence = parsing.verbalized(_spoken((yield request), start).text)
    if not answer:
        raise Failure("the reply states no answer")
    return Outcome(answer, confidence)


def semantic_confidence(question: Question, setup: Setup) -> Dialogue:
    """Ask several times; the confidence is the share of the answers that mean the same as the candidate."""
    drawn: list[tuple[str, list[Token] | None]] = []
    for number in range(setup.samples):
        drawn.append((yield from _answer(question, setup, None if setup.seed is None else setup.seed + number)))
    samples, weights = [answer for answer, _ in drawn], None
    if setup.weights == "sequence":
        # A repeated answer would count twice, by its number and by its probability.
        distinct: dict[str, list[Token] | None] = {}
        for answer, tokens in drawn:
            distinct.setdefault(answer, tokens)
        samples, weights = list(distinct), [_posterior(tokens) for tokens in distinct.values()]
    found = yield from _classes(question, setup, samples, weights)
    return Outcome(found.answer, found.confidence)


METHODS: dict[str, Callable[[Question, Setup], Dialogue]] = {
    "sequence_posterior": sequence_posterior,
    "is_true": is_true,
    "verbalized": verbalized,
    "semantic_confidence": semantic_confidence,
}


def needs_logprobs(method: str, weights: str = "uniform") -> bool:
    """Whether a method cannot do without log-probabilities."""
    return method in ("sequence_posterior", "is_true") or (method == "semantic_confidence" and weights == "sequence")


class _Unjudged(Exception):
    """Two answers of which it is not known yet whether they are the same."""


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
    question: Question, setup: Setup, seed: int | None
) -> Generator[Request, Reply, tuple[str, list[Token] | None]]:
    request, start = _request("sequence_posterior", question, setup)
    reply = _spoken((yield request._replace(seed=seed, top_logprobs=0)), start)
    line = reply.text.split("\n")[0]
    return " ".join(line.split()), None if reply.tokens is None else first_line(reply.tokens)


def _request(
    prompt: str, question: Question, setup: Setup, *, max_tokens: int | None = None, **fields: str
) -> tuple[Request, str]:
    """Make a request and the start of the reply that it gives away."""
    texts = {"question": question["question"], "choices": choices_text(question.get("choices", ()))}
    messages = render(setup.prompts[prompt], texts | fields)
    start = prefill(messages)
    sent = messages if setup.prefill or not start else messages[:-1]
    return Request(sent, max_tokens or setup.max_tokens, setup.temperature, seed=setup.seed), start


def choices_text(choices: Any) -> str:
    """Write the choices a line each, with their letters."""
    return "\n".join(f"{chr(ord('A') + place)}. {choice}" for place, choice in enumerate(choices))


def _spoken(reply: Reply, start: str) -> Reply:
    """Take the body of a reply that must say something."""
    found = body(reply, start)
    if not found.text:
        raise Failure(f"the reply is empty (finish_reason {reply.finish_reason}): more --max-tokens, or no reasoning?")
    return found


def _posterior(tokens: list[Token] | None) -> float:
    if not tokens:
        raise Failure("a reply without log-probabilities, which are needed")
    return confidences.sequence_posterior([token.logprob for token in tokens])


def _candidates(token: Token) -> list[tuple[str, float]]:
    chosen = (token.text, token.logprob)
    return token.top if chosen in token.top else [*token.top, chosen]
