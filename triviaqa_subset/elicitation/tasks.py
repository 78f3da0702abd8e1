"""The tasks that `inspect eval ecuas/...` finds, and the scorers that grade what each method found."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, Model, get_model, model_roles
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
    value_to_float,
)
from inspect_ai.solver import TaskState

from ..grading import Grade, grade
from ..labels import METHODS
from .methods import EVERY_METHOD, SHORT, ask, elicit, load_prompts, prefill, render
from .parsing import choice_letter, yes_or_no
from .questions import mmlu_samples, own_samples, triviaqa_samples
from .replies import Unusable, body, read_reply

Names = str | Sequence[str]
Registered = TypeVar("Registered", bound=Callable[..., object])


def _of_ecuas(function: Registered) -> Registered:
    """Let Inspect register a function as ecuas/NAME: it puts the package of a module before a name."""
    function.__module__ = "ecuas"
    return function


def _task(
    samples: Sequence[Sample],
    name: str,
    methods: Names,
    options: dict[str, object],
) -> Task:
    chosen = methods.split(",") if isinstance(methods, str) else list(methods)
    solver = elicit(chosen, task=name, **options)
    return Task(
        dataset=samples,
        solver=solver,
        scorer=[SCORERS[method]() for method in chosen],
        config=GenerateConfig(temperature=0.0, max_tokens=64),
        metadata={"prompts": load_prompts(name)},
    )


@task(name="ecuas/triviaqa")
@_of_ecuas
def triviaqa(
    methods: Names = METHODS,
    questions: str = "curated",
    dataset: str | None = None,
    **options: object,
) -> Task:
    """Ask the curated TriviaQA questions, or those of another configuration, `kept` or `pool`."""
    return _task(triviaqa_samples(questions, dataset), "triviaqa", methods, options)


@task(name="ecuas/mmlu")
@_of_ecuas
def mmlu(methods: Names = METHODS, **options: object) -> Task:
    """Ask the multiple-choice questions of MMLU's test split."""
    return _task(mmlu_samples(), "mmlu", methods, options)


@task(name="ecuas/questions")
@_of_ecuas
def questions(
    file: str,
    methods: Names = METHODS,
    **options: object,
) -> Task:
    """Ask questions of your own."""
    samples = own_samples(file)
    return _task(samples, "mmlu" if samples[0].choices else "triviaqa", methods, options)


@metric
def counts() -> Metric:
    """Count the graded answers; an accuracy would leave those out that are unlabelled, most of which are wrong."""

    def count(scores: list[SampleScore]) -> dict[str, float]:
        right = sum(map(value_to_float(), (each.score.value for each in scores)))
        return {"right": right, "wrong": len(scores) - right}

    return count


def _scorer(method: str) -> Callable[..., Scorer]:
    @scorer(metrics=[counts()], name=f"ecuas/{method}")  # as --scorer has it
    @scorer(metrics=[counts()], name=method)  # as logs have it
    @_of_ecuas
    def grading() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            outcome = state.store.get(method)
            answer = outcome["answer"]
            correct, decided_by = await _grade(state, list(target), answer)
            metadata = {
                "confidence": outcome["confidence"],
                "model": outcome["model"],
                "decided_by": decided_by,
            }
            if outcome.get("posteriors"):
                metadata["posteriors"] = outcome["posteriors"]
            if decided_by == "judge":
                metadata["judge"] = str(get_model(role="grader"))
            explanation = outcome["explanation"]
            if correct is None:
                return Score.unscored(
                    answer=answer or "", explanation=explanation, metadata=metadata
                )
            return Score(
                value="C" if correct else "I",
                answer=answer,
                explanation=explanation,
                metadata=metadata,
            )

        return score

    return grading  # type: ignore[no-any-return]


SCORERS = {method: _scorer(method) for method in EVERY_METHOD}


async def _grade(
    state: TaskState,
    accepted: list[str],
    answer: str | None,
) -> Grade:
    """Grade an answer: by its letter where there are choices, else as the dataset does, else by the model's judge."""
    if answer is None:
        return None, "no reply"
    if state.choices:
        letter = choice_letter(answer, [choice.value for choice in state.choices])
        return (None, "unlabelled") if letter is None else (letter in accepted, "letter")
    answers = {"question_id": [str(state.sample_id)], "answer": [answer]}
    gold = {"value": None, "aliases": accepted, "normalized_aliases": []}
    grades = grade(answers, answers | {"question": [state.input_text], "answer": [gold]})
    if grades.correct[0] is not None or "grader" not in model_roles():
        return grades.correct[0], grades.decided_by[0]
    grader = get_model(role="grader")
    verdicts = state.store.get(f"verdicts of {grader}", {})
    if answer not in verdicts:  # of several methods with one answer
        verdicts[answer] = await _judge(grader, state.input_text, accepted, answer)
        state.store.set(f"verdicts of {grader}", verdicts)
    verdict = verdicts[answer]
    return verdict, "unlabelled" if verdict is None else "judge"


async def _judge(
    grader: Model,
    question: str,
    accepted: list[str],
    answer: str,
) -> bool | None:
    """Ask a model whether an answer means the same as an accepted one."""
    messages = load_prompts("triviaqa")["semantic_equivalence"]
    fields = {"question": question, "pred_answer": answer, "gold_answers": "; ".join(accepted)}
    config = GenerateConfig(temperature=0.0, max_tokens=grader.config.max_tokens or SHORT)
    try:
        reply = read_reply(await ask(grader, render(messages, fields), config))
    except Unusable:
        return None
    return yes_or_no(body(reply, prefill(messages)).text)
