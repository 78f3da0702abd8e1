"""The tasks that `inspect eval ecuas/...` finds, and the scorers that grade what each method found."""

from collections.abc import Callable, Sequence

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer, value_to_float
from inspect_ai.solver import TaskState

from ..grading import Grade, grade
from .methods import METHODS, SHORT, ask, elicit
from .parsing import choice_letter, yes_or_no
from .prompts import load_prompts, prefill, render
from .questions import mmlu_samples, own_samples, triviaqa_samples
from .replies import Unusable, body, read_reply


def _registered(function: Callable[..., Task]) -> Callable[..., Task]:
    """Register a task as ecuas/NAME: Inspect puts the package of its module before a name, and none without one."""
    function.__module__ = "ecuas"
    registered: Callable[..., Task] = task(name=f"ecuas/{function.__name__}")(function)
    return registered


@_registered
def triviaqa(
    methods: str | Sequence[str] = METHODS[:3],
    questions: str = "curated",
    dataset: str | None = None,
    source: str | None = None,
    **options: object,
) -> Task:
    """Ask the curated TriviaQA questions, or those of another configuration, `kept` or `pool`."""
    return _task(triviaqa_samples(questions, dataset, source), "triviaqa", methods, options)


@_registered
def mmlu(methods: str | Sequence[str] = METHODS[:3], source: str | None = None, **options: object) -> Task:
    """Ask the multiple-choice questions of MMLU's test split, or of a file."""
    return _task(mmlu_samples(source), "mmlu", methods, options)


@_registered
def questions(file: str, methods: str | Sequence[str] = METHODS[:3], **options: object) -> Task:
    """Ask questions of your own."""
    samples = own_samples(file)
    return _task(samples, "mmlu" if samples[0].choices else "triviaqa", methods, options)


def _task(samples: Sequence[Sample], name: str, methods: str | Sequence[str], options: dict[str, object]) -> Task:
    asked = methods.split(",") if isinstance(methods, str) else list(methods)
    solver = elicit(asked, task=name, **options)
    prompts = load_prompts(name, options.get("prompts"))  # type: ignore[arg-type]
    return Task(
        dataset=samples,
        solver=solver,
        scorer=[SCORERS[method](options.get("prompts")) for method in asked],
        config=GenerateConfig(temperature=0.0, max_tokens=64),
        metadata={"prompts": prompts},
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
            kept = {"confidence": found["confidence"], "model": found["model"]}
            if found["posteriors"]:
                kept["posteriors"] = found["posteriors"]
            if found["answer"] is None:
                kept["decided_by"] = "no reply"
                return Score.unscored(reason="no_response", answer="", explanation=found["explanation"], metadata=kept)
            correct, kept["decided_by"] = await _grade(state, list(target), found["answer"], prompts)
            texts = {"answer": found["answer"], "explanation": found["explanation"], "metadata": kept}
            return Score.unscored(**texts) if correct is None else Score(value="IC"[correct], **texts)

        return score

    made: Callable[..., Scorer] = grading
    return made


SCORERS = {method: _scorer(method) for method in METHODS}


async def _grade(state: TaskState, accepted: list[str], answer: str, prompts: str | None) -> Grade:
    """Grade an answer: by its letter where there are choices, else as the dataset does, else by the model's judge."""
    if state.choices:
        letter = choice_letter(answer, [choice.value for choice in state.choices])
        return (None, "unjudged") if letter is None else (letter in accepted, "letter")
    question = str(state.sample_id)
    gold = {"value": None, "aliases": accepted, "normalized_aliases": []}
    dataset = {"question_id": [question], "question": [state.input_text], "answer": [gold]}
    found = grade({"question_id": [question], "answer": [answer]}, dataset)
    if found.correct[0] is not None or "grader" not in model_roles():
        return found.correct[0], found.decided_by[0]
    verdict = await _judge(state, accepted, answer, prompts)
    return verdict, "unjudged" if verdict is None else "judge"


async def _judge(state: TaskState, accepted: list[str], answer: str, prompts: str | None) -> bool | None:
    """Ask the model with the role `grader`, once for each answer as it stands."""
    known = state.store.get("verdicts", {})
    if answer not in known:
        grader, messages = get_model(role="grader"), load_prompts("triviaqa", prompts)["semantic_equivalence"]
        fields = {"question": state.input_text, "pred_answer": answer, "gold_answers": "; ".join(accepted)}
        limits = GenerateConfig(temperature=0.0, max_tokens=grader.config.max_tokens or SHORT)
        try:
            reply = read_reply(await ask(grader, render(messages, fields), limits))
            known[answer] = yes_or_no(body(reply, prefill(messages)).text)
        except Unusable:
            known[answer] = None
        state.store.set("verdicts", known)
    verdict: bool | None = known[answer]
    return verdict
