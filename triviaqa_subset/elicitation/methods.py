"""The ways to get an answer and a confidence: a solver of Inspect, which keeps what each method finds in the store."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import dropwhile
from pathlib import Path
from string import ascii_uppercase

import yaml
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model, messages_from_openai

# --extra-body, --seed and --temperature
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..labels import METHODS
from ..matching import normalize_answer
from . import confidences
from .local import without_own_settings
from .parsing import Outcome, answer_and_probability
from .replies import Reply, Token, Unusable, body, first_line, read_reply

Messages = list[dict[str, str]]
FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
PROMPTS = Path(__file__).with_name("prompts.yaml")
PREFILL = ("message", "continue", "none", "text")
EVERY_METHOD = (*METHODS, "semantic")
CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}  # of vLLM and SGLang
SHORT = 8  # tokens for a judge's word: only the first word counts, and there may be blank tokens before it
UNCHECKED = "no other token is listed, so that nothing shows whether the logarithms are natural"
LONGER = "Allow more --max-tokens, or turn reasoning off."
_JSON = re.compile(r"\s*[{\[]\s*[\"{]")
THINKING = re.compile(
    r"(?i)\W*(?:okay|ok|alright|hmm+|so|well|wait|first|let me|let's|we need|we are|the user|the question|i need"
    r"|i should|thinking process|thought|analysis)\b"
)


@dataclass(frozen=True)
class Setup:
    """The settings for all questions; see the table of options in docs/elicitation.md."""

    task: str = "triviaqa"
    prefill: str = "message"
    top_logprobs: int = 20
    samples: int = 10
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.prefill not in PREFILL:
            raise ValueError(f"prefill must be one of {', '.join(PREFILL)}; got {self.prefill!r}.")
        if self.samples < 1:
            raise ValueError(f"samples must be at least 1; got {self.samples}.")


class Interview:
    """The requests about one question; its answer is asked for once, whichever methods need it."""

    def __init__(
        self,
        state: TaskState,
        setup: Setup,
        prompts: dict[str, Messages],
    ) -> None:
        self.state = state
        self.setup = setup
        self.prompts = prompts
        self.model = without_own_settings(get_model())
        self.choices = [choice.value for choice in state.choices]
        self.letters = ascii_uppercase[: len(self.choices)]
        self._answer: Reply | None = None

    async def sequence_posterior(self) -> Outcome:
        """Return the answer with the probability of its tokens."""
        answer = await self._first_answer()
        if not answer.tokens:
            return Outcome(answer.text, None, answer.missing)
        posteriors = None
        if self.letters:
            first = _from_first_word(answer.tokens)[0]
            posteriors = confidences.letter_posteriors(_candidates(first), self.letters)
        posterior = confidences.sequence_posterior([token.logprob for token in answer.tokens])
        return Outcome(answer.text, posterior, _remark(answer.tokens), posteriors)

    async def is_true(self) -> Outcome:
        """Return the answer with the probability of "True", when the model is asked whether it is right."""
        answer = (await self._first_answer()).text
        config = GenerateConfig(
            temperature=0.0, logprobs=True, top_logprobs=self.setup.top_logprobs
        )
        try:
            reply = await self._ask("is_true", config, answer=answer)
        except Unusable as reason:
            return Outcome(answer, None, str(reason))
        tokens = _from_first_word(reply.tokens or [])
        if not tokens:
            return Outcome(answer, None, reply.missing)
        generated = [(token.text, token.logprob) for token in tokens]
        confidence, explanation = confidences.is_true(_candidates(tokens[0]), generated)
        return Outcome(answer, confidence, explanation)

    async def verbalized(self) -> Outcome:
        """Return the answer and the probability that the model writes."""
        reply = await self._ask("verbalized", GenerateConfig())
        outcome = answer_and_probability(reply.text, cut=reply.is_cut)
        if not outcome.answer:
            raise Unusable(f"the reply must state an answer; got {reply.text[:60]!r}")
        if outcome.confidence is None:
            _check_whole(reply)
        return outcome

    async def semantic(self) -> Outcome:
        """Return the commonest meaning of several answers, with its share."""
        seed = active_generate_config().seed
        samples: list[str] = []
        for number in range(self.setup.samples):
            next_seed = None if seed is None else seed + number
            config = GenerateConfig(temperature=self.setup.temperature, seed=next_seed)
            samples.append((await self._ask_answer(config)).text)
        answer, share = confidences.semantic_confidence(
            samples, [normalize_answer(text) for text in samples]
        )
        return Outcome(answer, share)

    async def _first_answer(self) -> Reply:
        if self._answer is None:
            # one alternative tells rounding from no distribution
            top = self.setup.top_logprobs if self.choices else 2
            self._answer = await self._ask_answer(GenerateConfig(logprobs=True, top_logprobs=top))
        return self._answer

    async def _ask_answer(self, config: GenerateConfig) -> Reply:
        """Ask for the answer; of the reply that is its first line."""
        reply = await self._ask("sequence_posterior", config)
        _check_whole(reply)
        line = reply.text.split("\n")[0]
        if _JSON.match(line):
            raise Unusable(f"the reply must be the answer alone; got JSON, {line[:60]!r}")
        return replace(
            reply,
            text=" ".join(line.split()),
            tokens=reply.tokens and first_line(reply.tokens),
        )

    async def _ask(
        self,
        prompt: str,
        config: GenerateConfig,
        **fields: str,
    ) -> Reply:
        """Ask, and return the body of the reply, which must not be empty."""
        choices = "\n".join(
            f"{letter}. {text}" for letter, text in zip(self.letters, self.choices, strict=False)
        )
        messages = render(
            self.prompts[prompt], {"question": self.state.input_text, "choices": choices} | fields
        )
        start = prefill(messages)
        if self.setup.prefill == "continue" and start:
            extra_body = active_generate_config().extra_body or {}
            config = config.merge(GenerateConfig(extra_body=extra_body | CONTINUE))
        self.state.output = await ask(self.model, self._as_sent(messages), config)
        reply = body(read_reply(self.state.output), start)
        if not reply.text:
            content = "nothing but reasoning" if reply.reasoning else "nothing"
            raise Unusable(f"the reply must not be empty; got {content}. {LONGER}")
        return reply

    def _as_sent(self, messages: Messages) -> Messages:
        """Return the messages with the start of the reply as the setup has it."""
        if self.setup.prefill == "text":
            content = "\n\n".join(message["content"] for message in messages)
            return [{"role": "user", "content": content}]
        if self.setup.prefill == "none" and prefill(messages):
            return messages[:-1]
        return messages


@solver
def elicit(methods: Sequence[str] = METHODS, **options: object) -> Solver:
    """Ask one question by each method; the options are those of `Setup`."""
    setup = Setup(**options)  # type: ignore[arg-type]
    unknown = [method for method in methods if method not in EVERY_METHOD]
    if unknown or not methods:
        raise ValueError(
            f"methods must be among {', '.join(EVERY_METHOD)}; got {', '.join(unknown) or 'none'}."
        )
    prompts = load_prompts(setup.task)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        interview = Interview(state, setup, prompts)
        for method in methods:
            try:
                outcome = await getattr(interview, method)()
            except Unusable as reason:
                outcome = Outcome(None, None, str(reason))
            state.store.set(method, asdict(outcome) | {"model": state.output.model})
        return state

    return solve


async def ask(model: Model, messages: Messages, config: GenerateConfig) -> ModelOutput:
    """Ask a model; samples of an answer are never taken from a cache, where all of them would be the same."""
    sent = await messages_from_openai(messages)
    if config.temperature:
        return await model.generate(sent, config=config, cache=False)
    return await model.generate(sent, config=config)


def load_prompts(task: str) -> dict[str, Messages]:
    """Return the prompts of a task, `triviaqa` or `mmlu`, and that of a judge."""
    prompts = yaml.safe_load(PROMPTS.read_text(encoding="utf-8"))
    return dict(prompts[task] | prompts["judge"])


def render(messages: Messages, fields: Mapping[str, str]) -> Messages:
    """Return the messages with the fields filled in, in one pass: braces inside a value are left as they are."""
    return [
        each | {"content": FIELD.sub(lambda field: fields[field[1]], each["content"])}
        for each in messages
    ]


def prefill(messages: Messages) -> str:
    """Return the start of the reply, if the last message is one of the assistant, else an empty string."""
    return messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""


def _check_whole(reply: Reply) -> None:
    """Raise `Unusable` if the answer, the first line of the reply, was cut itself, or is reasoning."""
    if reply.is_cut and ("\n" not in reply.text or THINKING.match(reply.text)):
        raise Unusable(
            f"the answer must end within --max-tokens; got {reply.text[:60]!r}, which was cut. {LONGER}"
        )


def _from_first_word(tokens: list[Token]) -> list[Token]:
    return list(dropwhile(lambda token: not token.text.strip(), tokens))


def _candidates(token: Token) -> list[tuple[str, float]]:
    """Return the likely tokens, the chosen one among them; its log-probability may be rounded in one place."""
    is_listed = any(text == token.text for text, _ in token.top)
    return token.top if is_listed else [*token.top, (token.text, token.logprob)]


def _remark(tokens: list[Token]) -> str | None:
    """Return a remark if the reply is not the likeliest one although it should be, or nothing tells."""
    if not any(token.top for token in tokens):
        return UNCHECKED
    if active_generate_config().temperature != 0:
        return None
    for token in tokens:
        if any(logprob > token.logprob + 0.01 for _, logprob in token.top):
            return f"{token.text!r} is not the likeliest token: a setting of the server changes its replies"
    return None
