"""Every kind of log that Inspect leaves: plug-in, reader and arithmetic give one number.

Or the reader refuses, and the plug-in's numbers are nan, for the same reason.
"""

import json
import math
import os
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
from inspect_ai import Epochs, Task, eval_retry, eval_set, task
from inspect_ai import eval as evaluate
from inspect_ai import score as score_again
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    ProvenanceData,
    bundle_log_dir,
    edit_score,
    invalidate_samples,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, ScoreEdit, accuracy, grouped, scorer
from inspect_ai.solver import solver

from ecuas_metric import read_submissions
from ecuas_metric.integrations.inspect_ai import (
    answer_and_confidence,
    answer_with_confidence,
    ecuas,
)
from tests.ecuas_metric.integrations.live import arithmetic, close, score

pytestmark = pytest.mark.e2e
C = [1, 0, 1, 0, 0]
Q = [0.9, 0.6, 0.3, 0.2, 0.7]
CI = [("C", 0.9), ("I", 0.6), ("C", 0.3), ("I", 0.2), ("I", 0.7)]
NAN = float("nan")
RAISE = ("raise", 0)
RAISED = Counter()  # how often a sample that fails once was scored
FLIPPED = [("I", 0.9), *CI[1:]]


def model(replies="abcde", name="mockllm/model"):
    outputs = [ModelOutput.from_content(name, reply) for reply in replies]
    for output in outputs:
        # else a tokenizer is fetched
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model(name, custom_outputs=outputs, memoize=False)


def stating(values, *further, name="stating", per_key=False, **options):
    """A scorer of these values and confidences, by the number of the sample and the epoch."""
    metrics = [accuracy(), ecuas(**options), *further]

    @scorer(metrics={"right": metrics} if per_key else metrics, name=name)
    def made():
        async def score(state, target):
            number = int(state.sample_id)
            value, confidence = values[(number + 2 * (state.epoch - 1)) % len(values)]
            RAISED[number] += value == "raise once"
            if value == "raise" or (value == "raise once" and RAISED[number] == 1):
                raise ValueError("this sample fails")
            if value == "raise if told" and "FAILS" in os.environ:
                raise ValueError("this sample fails")
            if value == "nothing":
                return None
            value = "C" if str(value).startswith("raise") else value
            return Score(
                value={"right": value, "fluent": 0.5} if per_key else value,
                metadata={"confidence": confidence},
            )

        return score

    return made()


def samples(count=5, *, weighted=False):
    about = [{"weight": 1.0 + i, "colour": "ab"[i % 2]} if weighted else None for i in range(count)]
    return [Sample(id=i, input="?", target="x", metadata=about[i]) for i in range(count)]


def ran(
    folder,
    scorers,
    *,
    replies="abcde",
    dataset=None,
    name="things",
    metrics=None,
    **settings,
):
    dataset = samples() if dataset is None else dataset
    made = Task(
        scorer=scorers,
        dataset=dataset,
        name=name,
        metrics=metrics,
    )
    where = {"log_dir": str(folder), "display": "none", "max_samples": 1}
    (log,) = evaluate(made, **{"model": model(replies), **where, **settings})
    return log


@dataclass
class Kind:
    """A kind of log: what makes it, what is in it, what the reader is told, what is said, or why it is refused."""

    make: object
    correct: list = field(default_factory=lambda: C)
    confidence: list = field(default_factory=lambda: Q)
    weights: list | None = None
    flags: tuple = ()
    said: str = ""
    refused: str = ""
    is_live: bool = True  # whether the plug-in's numbers in the last log are of these samples


def of(values=CI, *, dataset=None, settings=None, **options):
    return lambda folder: ran(folder, stating(values, **options), dataset=dataset, **settings or {})


def graded(replies, metrics=None, **options):
    targets = [["Lutetia", "Paris"], "10", "Oslo", ["10"], "Paris"]
    dataset = [Sample(id=i, input="?", target=target) for i, target in enumerate(targets)]
    scorers = answer_with_confidence(**options)
    return lambda folder: ran(folder, scorers, replies=replies, dataset=dataset, metrics=metrics)


def rescored(values, file, action="overwrite", **options):
    """What `inspect score` leaves beside the log, or instead of it."""

    def make(folder):
        log = ran(folder, stating(CI))
        later = score_again(log, stating(values, **options), action=action, display="none")
        write_eval_log(later, log.location if file is None else str(folder / file))
        return later

    return make


def storing(folder):
    """A confidence that a solver keeps in the store of the sample."""

    @solver
    def sure():
        async def solve(state, generate):
            state.store.set("sure", Q[int(state.sample_id)])
            return state

        return solve

    made = Task(dataset=samples(), solver=sure(), scorer=stating([(v, None) for v, _ in CI]))
    (log,) = evaluate(made, model="mockllm/model", log_dir=str(folder), display="none")
    return log


def changed(change, **settings):
    def make(folder):
        log = ran(folder, stating(CI), **settings)
        made = change(log)
        write_eval_log(made, log.location)
        return made

    return make


def edited(log):
    edit = ScoreEdit(
        value="I", metadata={"confidence": 0.1}, provenance=ProvenanceData(author="me")
    )
    edit_score(log, 0, "stating", edit, recompute_metrics=False)
    recompute_metrics(log)
    return log


def added(log):
    for number in range(5):
        edit = ScoreEdit(
            value="C", metadata={"confidence": 0.5}, provenance=ProvenanceData(author="me")
        )
        edit_score(log, number, "by hand", edit, recompute_metrics=False)
    return log


def invalidated(log):
    uuids = [log.samples[number].uuid for number in (0, 1)]
    return invalidate_samples(log, uuids, ProvenanceData(author="me", reason="wrong prompt"))


def cancelled(log):
    return log.model_copy(update={"status": "cancelled", "samples": log.samples[:3]})


def reduced_again(folder):
    log = ran(folder, stating(FLIPPED), dataset=samples(2), epochs=3, replies="abcdef")
    later = score_again(log, stating(CI), action="overwrite", epochs_reducer="max", display="none")
    write_eval_log(later, log.location)
    return later


def bundled(folder):
    ran(folder.with_name("logs as they were"), stating(CI))
    bundle_log_dir(str(folder.with_name("logs as they were")), str(folder))


def requeued(folder):
    """As a resumed archive: the members of a sample are appended under the same name, and the last one counts."""
    log = ran(folder, stating(FLIPPED))
    with zipfile.ZipFile(log.location, "a") as archive:
        (name,) = [one for one in archive.namelist() if one.startswith("samples/0_")]
        sample = json.loads(log.samples[0].model_dump_json())
        sample["scores"]["stating"]["value"] = "C"
        archive.writestr(name, json.dumps(sample))
    return log


def killed(folder):
    """An archive without a header, as of a run that goes on."""
    log = ran(folder, stating(CI), log_buffer=1)
    place = Path(log.location)
    with zipfile.ZipFile(place) as whole, zipfile.ZipFile(place.with_suffix(".cut"), "w") as cut:
        for name in [
            "_journal/start.json",
            "_journal/summaries/1.json",
            *(f"samples/{i}_epoch_1.json" for i in (0, 1)),
        ]:
            cut.writestr(name, whole.read(name))
    place.with_suffix(".cut").rename(place)


def of_a_set(folder):
    @task
    def one():
        return Task(dataset=samples(), scorer=stating([("raise once", 0.9), *CI[1:]]))

    _, (log,) = eval_set([one()], log_dir=str(folder), model=model("abcde" * 2), display="none", retry_wait=0.01,
                         retry_cleanup=False)  # fmt: skip
    return read_eval_log(log.location)


@solver
def silent():
    async def solve(state, generate):
        return state

    return solve


@task
def failing():
    failed = stating([*CI[:4], ("raise if told", 0.7)])
    return Task(dataset=samples(), solver=silent(), scorer=failed, name="things")


def retried(folder):
    where = {"log_dir": str(folder), "display": "none", "max_samples": 1}
    os.environ["FAILS"] = "1"  # which the retry sees, that imports this file anew
    (log,) = evaluate(failing(), model="mockllm/model", **where)
    del os.environ["FAILS"]
    assert log.status == "error"
    (log,) = eval_retry(log, **where)
    return log


def converted(folder):
    log = ran(folder, stating(CI))
    write_eval_log(log, str(Path(log.location).with_suffix(".json")))
    return log


def run_again(folder):
    ran(folder, stating([RAISE] * 5))
    return ran(folder, stating(CI))


def twice(folder):
    ran(folder, stating(CI))
    ran(folder, stating(FLIPPED))


def shared(folder):
    """Two logs of one run that have different samples, as its shards."""
    log = ran(folder, stating(CI))
    for number, part in enumerate((log.samples[:2], log.samples[2:])):
        write_eval_log(log.model_copy(update={"samples": part}), str(folder / f"{number}.eval"))
    Path(log.location).unlink()


def in_epochs(reducer):
    settings = {"epochs": Epochs(3, reducer), "replies": "abcdef"}
    return Kind(
        of(dataset=samples(2), settings=settings), [1, 0, 1, 0, 0, 1], [*Q, 0.9], said="in 3 epochs"
    )


ANSWERS = [
    "Paris (85 %)",
    "100 (90%)",
    "not Oslo (99 percent)",
    "10 , 0.5",
    "paris. (confidence: 0.25)",
]
STATED = [0.85, 0.9, 0.99, 0.5, 0.25]
SOME = ["Paris", "10 (20 %)", "1", "10 (50 %)", "Rome (30 %)"]
COLOURS = grouped(ecuas(only="ecuas_1"), "colour")
KINDS = {
    "graded": Kind(graded(ANSWERS), [1, 0, 0, 1, 1], STATED),
    "scaled": Kind(graded(["Lutetia (85)", "10 (100)", "Oslo (0)", "10 (50)", "Rome (25)"], scale=100), [1, 1, 1, 1, 0],
                   [0.85, 1.0, 0.0, 0.5, 0.25]),
    "none stated": Kind(graded(["Paris", "10", "1", "2", "3"]), refused="has no field metadata.confidence with"),
    "replaced": Kind(graded(SOME, [ecuas(missing_confidence=0.5)]), [1, 1, 0, 1, 0], [0.5, 0.2, 0.5, 0.5, 0.3],
                     flags=("--missing-confidence", "0.5")),
    "text": Kind(of([("C", "90%"), ("I", "60%"), (1, "30 %"), (False, "20 %"), ("no", "70%")])),
    "partial grade": Kind(of([("P", 0.9), *CI[1:]]), refused="must be 0 (incorrect) or 1 (correct); got 0.5"),
    "from half": Kind(of([("P", 0.9), *CI[1:]], correct_from=0.5), flags=("--correct-from", "0.5")),
    "weighted": Kind(lambda folder: ran(folder, stating(CI, COLOURS), dataset=samples(weighted=True)),
                     weights=[1, 2, 3, 4, 5], said="5 samples with weights that add up to 15"),
    "limited": Kind(of(settings={"limit": 2}), C[:2], Q[:2], said="limited, the task has 5 samples"),
    "unscored": Kind(of([(NAN, 0.9), *CI[1:]]), C[1:], Q[1:], flags=("--unlabelled", "drop")),
    "one raised": Kind(of([*CI[:4], RAISE], settings={"fail_on_error": False}), C[:4], Q[:4],
                       said="4 of 5 planned samples are scored"),
    "retried on error": Kind(of([*CI[:4], ("raise once", 0.7)], settings={"retry_on_error": 1, "replies": "abcdef"}),
                             [1, 0, 1, 0, 1], Q),
    "json": Kind(of(settings={"log_format": "json"})),
    "two scorers": Kind(lambda folder: ran(folder, [stating(CI), answer_with_confidence()], replies=["a (50 %)"] * 5),
                        flags=("--filter", "stating")),
    "on another scale": Kind(of([("C", 1.5), *CI[1:]]), refused="must lie on one scale; 4 of 5 lie in [0, 1]; got 1.5"),
    "no verdict": Kind(of([("X", 0.9), *CI[1:]]), refused="must be scored as right or wrong: C, I, P, N, or a number"),
    "of keys": Kind(of(per_key=True), flags=("--columns", "correct=value.right")),
    "of keys unnamed": Kind(of(per_key=True), refused="must have one value as its score; value has right, fluent",
                            is_live=False),
    **{f"epochs {name}": in_epochs(name) for name in (None, "pass_at_2")},
    "epochs of two reducers": in_epochs(["mean", "at_least_2"]),
    "confidence in the store": Kind(storing, flags=("--columns", "confidence=store.sure"), is_live=False),
    "rescored beside": Kind(rescored(FLIPPED, "a-scored.eval"), [0, *C[1:]], said="(an earlier log of this run)"),
    "rescored under an earlier name": Kind(rescored(FLIPPED, "0.eval"), [0, *C[1:]]),
    "rescored in its place": Kind(rescored(FLIPPED, None), [0, *C[1:]]),
    "another scorer appended": Kind(rescored(FLIPPED, "a-scored.eval", "append", name="second"), [0, *C[1:]],
                                    flags=("--filter", "second")),
    "one without a score": Kind(of([("nothing", 0.9), *CI[1:]]), C[1:], Q[1:],
                                said="4 of 5 planned samples are scored"),
    "the same scorer appended": Kind(rescored(FLIPPED, "a-scored.eval", "append"), [0, *C[1:]],
                                     flags=("--filter", "stating1")),
    "rescored by another reducer": Kind(reduced_again, [1, 0, 1, 0, 0, 1], [*Q, 0.9], said="in 3 epochs"),
    "bundled": Kind(bundled, is_live=False),
    "edited": Kind(changed(edited), [0, *C[1:]], [0.1, *Q[1:]]),
    "score added": Kind(changed(added), [1] * 5, [0.5] * 5, flags=("--filter", "by hand"), is_live=False),
    "invalidated": Kind(changed(invalidated), C[2:], Q[2:], said="2 invalidated samples are left out", is_live=False),
    "requeued": Kind(requeued, is_live=False),
    "attempts of a set": Kind(of_a_set, said="(an earlier log of this run)"),
    "retried": Kind(retried, [1, 0, 1, 0, 1], said="(an earlier log of this run)", is_live=False),
    "converted": Kind(converted, said="(an earlier log of this run)"),
    "failed and run again": Kind(run_again, said="(no scores)"),
    "failed": Kind(of([RAISE] * 5), refused="holds no scores; got status error", is_live=False),
    "twice": Kind(twice, refused="has more than one run of task things by mockllm/model", is_live=False),
    "shared": Kind(shared, refused="has more than one run of task things by mockllm/model", is_live=False),
    "error": Kind(of([*CI[:4], RAISE]), C[:4], Q[:4], refused="status error, 4 of 5 planned samples scored. --partial",
                  flags=("--partial",), is_live=False),
    "cancelled": Kind(changed(cancelled), C[:3], Q[:3], flags=("--partial",), is_live=False,
                      refused="status cancelled, 3 of 5 planned samples scored. --partial"),
    "killed": Kind(killed, C[:2], Q[:2], flags=("--partial",), is_live=False,
                   refused="status started, 2 of 5 planned samples scored. --partial"),
}  # fmt: skip


def live_of(log, flags):
    """The plug-in's numbers, of the chosen scorer or the one that was computed last."""
    scored = [
        each for each in log.results.scores if "--filter" not in flags or each.scorer in flags
    ]
    return {name: one.value for name, one in scored[-1].metrics.items()}


@pytest.mark.parametrize("name", KINDS)
def test_plug_in_reader_and_arithmetic_agree_or_refuse(name, tmp_path):
    RAISED.clear()
    kind = KINDS[name]
    log = kind.make(tmp_path / "logs")
    expected = arithmetic(kind.correct, kind.confidence, weights=kind.weights)
    if kind.refused:
        rows, said = score(tmp_path / "logs")
        assert (rows, kind.refused in said) == ({}, True), said
    if not kind.refused or "--partial" in kind.flags:
        rows, said = score(tmp_path / "logs", *kind.flags)
        assert close(*rows.values(), expected), said
        assert kind.said in said
    if kind.is_live:
        live = live_of(log, kind.flags)
        expected |= {"samples": len(kind.correct)}
        if kind.refused:
            expected = dict.fromkeys(("ecuas_0", "ecuas_1"), NAN)
        prefix = "" if "samples" in live else "ecuas_"  # of a score with keys
        values = {key: live[prefix + key] for key in expected}
        assert values == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_systems_are_named_by_what_differs_and_told_apart_where_it_is_not_named(tmp_path):
    """Runs of one model by their settings; of several models a note says that these were not asked in the same way."""
    quiet = {"display": "none", "log_dir": str(tmp_path / "logs")}
    for temperature in (0.0, 0.7):
        config = GenerateConfig(temperature=temperature)
        asked = Task(
            dataset=samples(), solver=silent(), scorer=stating(CI), name="things", config=config
        )
        evaluate(asked, model="mockllm/model", **quiet)
    rows, said = score(tmp_path / "logs")
    assert set(rows) == {"mockllm/model temperature=0.0", "mockllm/model temperature=0.7"}
    assert "not asked in the same way" not in said
    evaluate(asked, model="mockllm/other", limit=2, **quiet)
    rows, said = score(tmp_path / "logs")
    assert set(rows) >= {"mockllm/other"}
    assert "were not asked in the same way; these differ: limit." in said


def test_questions_that_two_tasks_number_alike_are_not_the_same(tmp_path):
    folder = tmp_path / "logs"
    for name in ("one", "two"):
        ran(folder, stating(CI), name=name)
    assert "●" not in score(folder)[1]
    ran(folder, stating(FLIPPED), name="one", model=model(name="mockllm/other"))
    assert "●" in score(folder, "--tasks", "one")[1]


def test_the_ids_of_a_log_are_those_of_its_questions(tmp_path):
    """So that it is compared with a table; a further epoch has its number."""
    log = ran(tmp_path / "logs", stating(CI), epochs=2, replies="abcde" * 2)
    once, twice = (
        set(map(str, read_submissions(each)[0].ids))
        for each in (ran(tmp_path / "once", stating(CI)).location, log.location)
    )
    assert once == set("01234")
    assert twice == once | {f"{name} (epoch 2)" for name in once}


def test_answers_or_confidences_that_are_all_alike_are_noted(tmp_path):
    dataset = samples(10)
    ran(tmp_path / "logs", answer_with_confidence(), replies=["x (50 %)"] * 10, dataset=dataset)
    said = score(tmp_path / "logs")[1]
    assert "All 10 answers are 'x'" in said
    assert "All 10 confidences are 0.5" in said


@pytest.mark.parametrize(
    "reply",
    [
        "Paris (85,5 %)", "Paris, 1,5%", "Paris\n1,5 %", "Paris,0.9", "Paris (-0.2)", "Paris, <20%", "Paris\n≤0.8",
        "Paris\nLack of confidence: 20%", "Paris\nWrong with probability 0.2", "Paris\nConfidence (wrong): 0.2",
        "Paris\nConfidence: [0.7, 0.8]", "Paris (0.7, 0.8)", "Paris (80%), Lyon (20%)", "Paris (or Lyon, 20%)",
        "Paris\nConfidence: -0.2", "Paris (150%)", "Paris\nConfidence %: 0.8",
    ],
)  # fmt: skip
def test_the_scorer_takes_no_number_that_may_mean_something_else(reply):
    assert answer_and_confidence(reply) == (reply, None)


def test_missing_confidences_are_bounded_by_the_reader_and_counted_by_the_plug_in(tmp_path):
    log = graded(SOME)(tmp_path / "logs")
    live = live_of(log, ())
    assert math.isnan(live["ecuas_1"])
    assert live["missing_confidences"] == 2
    rows, said = score(tmp_path / "logs")
    (row,) = rows.values()
    correct = [1, 1, 0, 1, 0]
    ends = [
        arithmetic(correct, [first, 0.2, third, 0.5, 0.3])
        for first, third in ((1.0, 0.0), (0.0, 1.0))
    ]
    for name in ("ecuas_0", "ecuas_1", "error_rate"):
        assert [row[f"{name}_min"], row[f"{name}_max"]] == pytest.approx(
            [each[name] for each in ends]
        )
    assert "2 of 5 confidences are missing" in said
