"""The tasks that `inspect eval ecuas/...` finds, and the scorers that grade what each method found."""

from collections.abc import Callable, Sequence

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer, value_to_float
from inspect_ai.solver import TaskState

from ..grading import Grade, grade
from ..labels import METHODS
from .methods import EVERY_METHOD, SHORT, ask, elicit, load_prompts, prefill, render
from .parsing import choice_letter, yes_or_no
from .questions import mmlu_samples, own_samples, triviaqa_samples
from .replies import Unusable, body, read_reply

Names = str | Sequence[str]


def _register(function: Callable[..., Task]) -> Callable[..., Task]:
    """Register a task as ecuas/NAME: Inspect puts the package of its module before a name, and none without one."""
    function.__module__ = "ecuas"
    return task(name=f"ecuas/{function.__name__}")(function)  # type: ignore[no-any-return]


@_register
def triviaqa(methods: Names = METHODS, questions: str = "curated", dataset: str | None = None, **how: object) -> Task:
    """Ask the curated TriviaQA questions, or those of another configuration, `kept` or `pool`."""
    return _task(triviaqa_samples(questions, dataset), "triviaqa", methods, how)


@_register
def mmlu(methods: Names = METHODS, **how: object) -> Task:
    """Ask the multiple-choice questions of MMLU's test split."""
    return _task(mmlu_samples(), "mmlu", methods, how)


@_register
def questions(file: str, methods: Names = METHODS, **how: object) -> Task:
    """Ask questions of your own."""
    samples = own_samples(file)
    return _task(samples, "mmlu" if samples[0].choices else "triviaqa", methods, how)


def _task(samples: Sequence[Sample], name: str, methods: Names, how: dict[str, object]) -> Task:
    asked = methods.split(",") if isinstance(methods, str) else list(methods)
    solver = elicit(asked, task=name, **how)
    prompts = str(how["prompts"]) if how.get("prompts") else None
    return Task(
        dataset=samples,
        solver=solver,
        scorer=[SCORERS[method](prompts) for method in asked],
        config=GenerateConfig(temperature=0.0, max_tokens=64),
        metadata={"prompts": load_prompts(name, prompts)},
    )


@metric
def counts() -> Metric:
    """Count the graded answers; an accuracy would leave those out that are unlabelled, most of which are wrong."""

    def count(scores: list[SampleScore]) -> dict[str, float]:
        right = sum(map(value_to_float(), (each.score.value for each in scores)))
        return {"right": right, "wrong": len(scores) - right}

    return count


def _scorer(method: str) -> Callable[..., Scorer]:
    @scorer(metrics=[counts()], name=method)
    def grading(prompts: str | None = None) -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            found = state.store.get(method)
            kept = {name: found[name] for name in ("confidence", "model", "posteriors") if name in found}
            correct, kept["decided_by"] = await _grade(state, list(target), found["answer"], prompts)
            said = {"answer": found["answer"] or "", "explanation": found["explanation"], "metadata": kept}
            return Score.unscored(**said) if correct is None else Score(value="C" if correct else "I", **said)

        return score

    return grading  # type: ignore[no-any-return]


SCORERS = {method: _scorer(method) for method in EVERY_METHOD}


async def _grade(state: TaskState, accepted: list[str], answer: str | None, prompts: str | None) -> Grade:
    """Grade an answer: by its letter where there are choices, else as the dataset does, else by the model's judge."""
    if answer is None:
        return None, "no reply"
    if state.choices:
        letter = choice_letter(answer, [choice.value for choice in state.choices])
        return (None, "unlabelled") if letter is None else (letter in accepted, "letter")
    given = {"question_id": [str(state.sample_id)], "answer": [answer]}
    gold = {"value": None, "aliases": accepted, "normalized_aliases": []}
    found = grade(given, given | {"question": [state.input_text], "answer": [gold]})
    if found.correct[0] is not None or "grader" not in model_roles():
        return found.correct[0], found.decided_by[0]
    known = state.store.get("verdicts", {})
    if answer not in known:  # of several methods with one answer
        known[answer] = await _judge(state.input_text, accepted, answer, prompts)
        state.store.set("verdicts", known)
    return known[answer], "unlabelled" if known[answer] is None else "judge"


async def _judge(question: str, accepted: list[str], answer: str, prompts: str | None) -> bool | None:
    """Ask the model with the role `grader`."""
    grader, messages = get_model(role="grader"), load_prompts("triviaqa", prompts)["semantic_equivalence"]
    asked = render(messages, {"question": question, "pred_answer": answer, "gold_answers": "; ".join(accepted)})
    try:
        output = await ask(grader, asked, GenerateConfig(temperature=0.0, max_tokens=grader.config.max_tokens or SHORT))
        return yes_or_no(body(read_reply(output), prefill(messages)).text)
    except Unusable:
        return None
