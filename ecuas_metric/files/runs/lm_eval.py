"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np

from ...errors import FileError, InputError, Note, fill_sentence
from ...inputs import Bools, Floats, Ints
from ..read import stem
from . import TOTALS_BESIDE, RunOptions, parts
from .parts import Fields, Reader, Run
from .questions import Question, Tool, sizes_of

# which tell whether lengths are as lm-eval's
BY_LENGTH = {"none": "acc", "chars": "acc_norm", "bytes": "acc_bytes"}
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)")
_NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
_LARGE = {"doc", "resps", "arguments"}
# of a task in which the model writes its answer
_METRICS = ("exact_match", "acc", "f1", "em", "mc1")
# of a configuration
_ASKED_BY = ("doc_to_text", "description", "num_fewshot", "target_delimiter")
_RECORD = {"true_choice", "log_likelihoods"}  # keys of every `ChoiceRecord`


class ChoiceRecord(TypedDict):
    """What the plug-in keeps of a sample: its true choice, -1 if there is none and why, and its log-likelihoods."""

    true_choice: int
    log_likelihoods: list[float]
    why: NotRequired[str]


def record_of_sample(
    target: object,
    choices: Sequence[str],
    results: Sequence[Sequence[float]],
) -> ChoiceRecord:
    """Return the record of a sample.

    `target` is resolved by the task's `doc_to_target`. `results`, of (log-likelihood, is greedy), are of all choices,
    and after them of the choices without the question where `acc_mutual_info` is computed.
    """
    try:
        scores = [float(score) for score, *_ in results[: len(choices)]]
        return {"true_choice": parts.true_choice(target, choices), "log_likelihoods": scores}
    except InputError as error:
        rule = error.rule
    except (TypeError, ValueError):  # of a filter that keeps all repeats
        rule = "not_one_log_likelihood_each"
    return {
        "true_choice": -1,
        "log_likelihoods": [],
        "why": fill_sentence(rule, {}, {}),
    }


def _labels(
    file: Path,
    questions: Sequence[Question],
    scores: Floats,
) -> tuple[Ints, list[Note]]:
    """Return the true choices, as the plug-in recorded them, or else the reading of the targets that `acc` shows."""
    records = list(map(_record, questions))
    if all(records):
        return _recorded(file, questions, records), []
    acc = _accuracies(file, questions)
    readings = _readings(questions)
    strange = {way: _do_not_fit(labels, scores, acc) for way, labels in readings.items()}
    fitting = {way: labels for way, labels in readings.items() if not strange[way].any()}
    if not fitting:
        if (readings["text"] < 0).all() and _are_decided_of_two(scores, acc):
            # Two contexts with the same continuation, as in winogrande: the target names neither.
            likeliest = scores.argmax(axis=1)
            return np.where(acc == 1, likeliest, 1 - likeliest), [Note("run_right_by_acc")]
        one = questions[int(np.all([*strange.values()], axis=0).argmax())]
        raise FileError(file, "targets_disagree_with_acc", row=one.row, value=str(one.target))
    labels, *further = fitting.values()
    if any((other != labels).any() for other in further):
        raise FileError(file, "targets_ambiguous", got=f"{' or '.join(fitting)}, which differ")
    return labels, []


def _record(question: Question) -> Fields:
    """Return what the plug-in recorded of a sample; nothing if it was not there."""
    row = question.fields
    values = [row.get(name) for name in row.get("metrics") or ()]
    records = (each for each in values if isinstance(each, Mapping) and each.keys() >= _RECORD)
    return next(records, {})


def _recorded(
    file: Path,
    questions: Sequence[Question],
    records: Sequence[Fields],
) -> Ints:
    """Return the true choices that the plug-in recorded; FileError with its reason where there is none."""
    for question, record in zip(questions, records, strict=True):
        if "why" in record:
            raise FileError(
                file,
                "recorded_reason",
                row=question.row,
                value=str(question.target),
                why=record["why"],
            )
    return np.array([record["true_choice"] for record in records])


def _accuracies(file: Path, questions: Sequence[Question]) -> Floats:
    """Return `acc` (N,), nan where it is not recorded; FileError if it is a share."""
    acc = _numbers(questions, "acc")
    is_whole = np.isnan(acc) | (acc == 0) | (acc == 1)
    if not is_whole.all():
        place = int(np.argmin(is_whole))
        raise FileError(
            file,
            "acc_is_a_share",
            row=questions[place].row,
            value=acc[place],
            advice="use_task_of_one_right_choice",
        )
    return acc


def _are_decided_of_two(scores: Floats, acc: Floats) -> bool:
    if scores.shape[1] != 2 or np.isnan(acc).any():
        return False
    first, second = scores.T
    return bool((first != second).all())


def _readings(questions: Sequence[Question]) -> dict[str, Ints]:
    """Return the possible readings of targets as text: an index, or a choice's text, as lm-eval has it; -1 if none."""
    indices = []
    places = []
    for question in questions:
        target = str(question.target).strip()
        texts = [text.strip() for text in question.texts]
        indices.append(int(target) if target.isdecimal() and len(target) < 9 else -1)
        places.append(texts.index(target) if texts.count(target) == 1 else -1)
    return {"index": np.array(indices), "text": np.array(places)}


def _do_not_fit(labels: Ints, scores: Floats, acc: Floats) -> Bools:
    """Return which labels (N,) are no choices, or give another accuracy; of equal scores any may be taken."""
    best = scores.max(axis=1, keepdims=True)
    is_decided = ~np.isnan(acc) & ((scores == best).sum(axis=1) == 1)
    is_right = labels == scores.argmax(axis=1)
    are_choices = (labels >= 0) & (labels < scores.shape[1])
    return np.asarray(~are_choices | is_decided & (is_right != acc))


def _lengths(
    questions: Sequence[Question],
    scores: Floats,
    labels: Ints,
    length: str,
) -> Ints:
    """Return lengths as lm-eval's: without the space that joins choices to the question, unless acc_norm differs."""
    sizes = sizes_of(questions, length)
    spaces = [[text.startswith(" ") for text in question.texts] for question in questions]
    lengths: Ints = np.maximum(sizes - np.array(spaces), 1)
    acc = _numbers(questions, BY_LENGTH[length])
    return np.maximum(sizes, 1) if _do_not_fit(labels, scores / lengths, acc).any() else lengths


def _numbers(questions: Sequence[Question], name: str) -> Floats:
    """Return the values of a metric (N,), nan where it is not recorded."""
    values = [question.grades.get(name) for question in questions]
    numbers = [value if isinstance(value, (int, float)) else math.nan for value in values]
    return np.array(numbers, dtype=np.float64)


def _run_of(file: Path) -> Run:
    """Return a file, its task, and by the results beside it its model, or else its folder, and how it was asked."""
    name = stem(file)
    named = _NAME.fullmatch(name)
    task = named["task"] if named else name.removeprefix("samples_")
    results = _results(file, named["time"] if named else "")
    config = (results.get("configs") or {}).get(task) or {}
    settings = {name: config.get(name) for name in _ASKED_BY}
    settings["chat_template"] = results.get("chat_template_sha")
    said = {name: str(value) for name, value in settings.items() if value not in (None, "")}
    model = str(results.get("model_name") or file.parent.name or name)
    return Run(file, model, task, said)


def _results(file: Path, time: str) -> Fields:
    """Return the results of the same time beside a file of samples, or else the latest others, if any."""
    beside = sorted(file.parent.glob(TOTALS_BESIDE))
    same = [each for each in beside if each.name == f"results_{time}.json"]
    for results in same or beside[-1:]:
        try:
            return dict(json.loads(results.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise FileError(results, "not_results_of_lm_eval") from None
    return {}


def _questions(file: Path, options: RunOptions) -> list[Question]:
    """Return the lines of a file that have the requested filter, or the only one."""
    kept: list[Question] = []
    filters: list[str] = []
    left_out = _LARGE - options.holders
    for number, row in parts.records_in(file):
        if not row.keys() >= _NEEDED:
            raise FileError(file, "lines_not_of_lm_eval", row=number)
        filters.append(str(row.get("filter", "none")))
        if options.filter in (None, filters[-1]):
            kept.append(parts.in_file(file, number, _question, number, row, left_out))
    if not filters:
        raise FileError(file, "no_samples", advice="check_interruption")
    parts.only(filters, options.filter, file, "filter")
    without = [question.row for question in kept if not question.scores]
    if 0 < len(without) < len(kept):
        raise FileError(file, "log_likelihoods_of_some", row=without[0])
    return kept


def _question(
    number: int,
    row: Fields,
    left_out: set[str],
) -> Question:
    responses = row["filtered_resps"]
    are_several = isinstance(responses, list) and len(responses) > 1
    if not (are_several and isinstance(responses[0], list)):
        responses = []
    if "acc_mutual_info" in row:  # the second half are the choices without their question
        responses = responses[: len(responses) // 2]
    try:
        scores = [float(response[0]) for response in responses]
    except (TypeError, ValueError):  # of a filter that keeps all repeats
        raise InputError(
            "filtered_resps", "not_one_log_likelihood_each", value=responses[0]
        ) from None
    small = {name: value for name, value in row.items() if name not in left_out}
    return Question(
        number,
        str(row.get("doc_hash", row["doc_id"])),
        row["target"],
        scores,
        _texts(row, len(scores)),
        small,
        small,
    )


def _texts(row: Fields, number: int) -> list[str]:
    """Return the continuations that were scored."""
    names = [f"gen_args_{choice}" for choice in range(number)]
    return [str(row["arguments"][name]["arg_1"]) for name in names]


def _is_samples(file: Path) -> bool:
    """Return whether the first record of a file is a sample, or it has none and is named as samples."""
    first = next(parts.first_records(file), None)
    return file.name.startswith("samples_") if first is None else first.keys() >= _NEEDED


_TOOL = Tool(
    "lm-eval samples", _METRICS, "answers_of_lm_eval", _run_of, _questions, _labels, _lengths
)
LM_EVAL = Reader(_is_samples, _TOOL.parts)
