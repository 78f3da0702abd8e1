"""The samples of lm-evaluation-harness: ``lm_eval --log_samples --output_path DIR``."""

import gzip
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NotRequired, TypedDict

import numpy as np

from ...errors import FileError, InputError, Note, sentence
from ...inputs import Floats, Ints
from . import RunOptions, parts
from .parts import Answer, Fields, Place, Reader, RunPart

# which tell whether lengths are as lm-eval's
BY_LENGTH = {"none": "acc", "chars": "acc_norm", "bytes": "acc_bytes"}
_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl(\.gz)?"
)
_NEEDED = {"doc_id", "target", "filtered_resps", "arguments"}
_LARGE = {"doc", "resps", "arguments"}
# of a task in which the model writes its answer
_METRICS = ("exact_match", "acc", "f1", "em", "mc1")
_RECORD = {"true_choice", "log_likelihoods"}  # keys of every `ChoiceRecord`
_TOOL = "lm-eval samples"


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
        "why": sentence(rule, {}, {}),
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """A line without what is large in it, and of multiple choice the log-likelihoods and texts of all choices."""

    line: int
    id: str
    target: str
    scores: tuple[float, ...]
    texts: tuple[str, ...]
    row: Fields


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of samples: one part per model, task and number of choices."""
    places = parts.once([_identify(file) for file in files], options)
    return [part for place in places for part in _of_task(place, options)]


def _of_task(place: Place, options: RunOptions) -> Iterator[RunPart]:
    samples = _samples(place.file, options)
    counts = np.array([len(sample.scores) for sample in samples])
    if not counts.any():
        answers = [Answer(sample.id, sample.row, sample.row) for sample in samples]
        rows = _lines(samples)
        rule = "answers_of_lm_eval"
        yield parts.part_in_words(
            place, rows, answers, options, tool=_TOOL, metrics=_METRICS, rule=rule
        )
        return
    if not counts.all():
        raise FileError(
            place.file,
            "log_likelihoods_of_some",
            row=samples[int(np.argmin(counts))].line,
        )
    settings = _settings(place)
    for number in np.unique(counts).tolist():
        same = [sample for sample in samples if len(sample.scores) == number]
        yield _choices(place, same, options, settings)


def _choices(
    place: Place,
    samples: Sequence[Sample],
    options: RunOptions,
    settings: dict[str, str],
) -> RunPart:
    rows = _lines(samples)
    scores = np.array([sample.scores for sample in samples])
    posteriors = parts.log_posteriors(scores, place.file, rows)
    label, facts = _labels(place.file, samples, scores)
    if options.length != "none":
        posteriors = parts.log_posteriors(scores / _lengths(samples, scores, label, options.length))
    columns = {
        "id": [sample.id for sample in samples],
        **parts.named_columns(
            [sample.row for sample in samples], options.per_sample, place.file, rows
        ),
        "label": label,
        "posteriors": posteriors,
    }
    return parts.part_of_choices(place, rows, columns, _TOOL, facts, settings=settings)


def _labels(
    file: Path,
    samples: Sequence[Sample],
    scores: Floats,
) -> tuple[Ints, list[Note]]:
    """Return the true choices, as the plug-in recorded them, or else the reading of the targets that `acc` shows."""
    recorded = _recorded(file, samples)
    if recorded is not None:
        return recorded, []
    acc = _accuracies(file, samples)
    readings = _readings(samples)
    fitting = {way: label for way, label in readings.items() if _fits(label, scores, acc)}
    if not fitting and (readings["text"] < 0).all() and _are_decided_of_two(scores, acc):
        # Two contexts with the same continuation, as in winogrande: the target names neither.
        likeliest = scores.argmax(axis=1)
        return np.where(acc == 1, likeliest, 1 - likeliest), [Note("run_right_by_acc")]
    if not fitting:
        raise FileError(
            file,
            "targets_disagree_with_acc",
            row=samples[0].line,
            value=samples[0].target,
        )
    first, *further = fitting.values()
    if any((label != first).any() for label in further):
        raise FileError(file, "targets_ambiguous", got=f"{' or '.join(fitting)}, which differ")
    return first, []


def _recorded(file: Path, samples: Sequence[Sample]) -> Ints | None:
    """Return the true choices that the plug-in recorded, None if it was not there; FileError with its reason."""
    records = [_record(sample.row) for sample in samples]
    labels = []
    for sample, record in zip(samples, records, strict=True):
        if record is None:
            return None
        if "why" in record:
            raise FileError(
                file,
                "recorded_reason",
                row=sample.line,
                value=sample.target,
                why=record["why"],
            )
        labels.append(record["true_choice"])
    return np.array(labels)


def _record(row: Fields) -> Fields | None:
    records = [row.get(name) for name in row.get("metrics", ())]
    return next(
        (each for each in records if isinstance(each, Mapping) and each.keys() >= _RECORD),
        None,
    )


def _accuracies(file: Path, samples: Sequence[Sample]) -> Floats:
    """Return `acc` (N,), nan where it is not recorded; FileError if it is a share."""
    acc = _numbers(samples, "acc")
    is_whole = np.isnan(acc) | (acc == 0) | (acc == 1)
    if not is_whole.all():
        row = int(np.argmin(is_whole))
        advice = "use_task_of_one_right_choice"
        raise FileError(
            file,
            "acc_is_a_share",
            row=samples[row].line,
            value=acc[row],
            advice=advice,
        )
    return acc


def _are_decided_of_two(scores: Floats, acc: Floats) -> bool:
    return bool(
        scores.shape[1] == 2 and (scores[:, 0] != scores[:, 1]).all() and not np.isnan(acc).any()
    )


def _readings(samples: Sequence[Sample]) -> dict[str, Ints]:
    """Return the possible readings of targets as text: an index, or a choice's text, as lm-eval has it; -1 if none."""
    indices = []
    places = []
    for sample in samples:
        target = sample.target.strip()
        texts = [text.strip() for text in sample.texts]
        indices.append(int(target) if target.isdecimal() and len(target) < 9 else -1)
        places.append(texts.index(target) if texts.count(target) == 1 else -1)
    return {"index": np.array(indices), "text": np.array(places)}


def _fits(label: Ints, scores: Floats, acc: Floats) -> bool:
    """Return whether labels are choices, and give the recorded accuracies; of equal scores any may be taken."""
    if not ((label >= 0) & (label < scores.shape[1])).all():
        return False
    best = scores.max(axis=1, keepdims=True)
    is_decided = ~np.isnan(acc) & ((scores == best).sum(axis=1) == 1)
    is_right = label == scores.argmax(axis=1)
    return bool((is_right[is_decided] == acc[is_decided]).all())


def _lengths(
    samples: Sequence[Sample],
    scores: Floats,
    label: Ints,
    length: str,
) -> Ints:
    """Return lengths as lm-eval's: without the space that joins choices to the question, unless acc_norm differs."""
    sizes = np.array([list(map(parts.SIZES[length], sample.texts)) for sample in samples])
    spaces = np.array([[text.startswith(" ") for text in sample.texts] for sample in samples])
    lengths: Ints = np.maximum(sizes - spaces, 1)
    if not _fits(label, scores / lengths, _numbers(samples, BY_LENGTH[length])):
        lengths = np.maximum(sizes, 1)
    return lengths


def _lines(samples: Sequence[Sample]) -> Ints:
    return np.array([sample.line for sample in samples])


def _numbers(samples: Sequence[Sample], name: str) -> Floats:
    """Return the values of a metric (N,), nan where it is not recorded."""
    values = [sample.row.get(name) for sample in samples]
    return np.array(
        [value if isinstance(value, (int, float)) else math.nan for value in values],
        dtype=np.float64,
    )


def _identify(file: Path) -> Place:
    """Return a file, its task, and its model by the results beside it, or its folder."""
    named = _NAME.fullmatch(file.name)
    task = named["task"] if named else file.name.split(".jsonl")[0].removeprefix("samples_")
    for results in _results(file):
        name = results.get("model_name")
        if isinstance(name, str) and name:
            return Place(file, name, task)
    return Place(file, file.parent.name or file.stem, task)


def _results(file: Path) -> Iterator[Fields]:
    """Yield the results of the same time beside a file of samples, or else any others, the latest first."""
    named = _NAME.fullmatch(file.name)
    same = file.with_name(f"results_{named['time']}.json") if named else file
    found = (
        [same]
        if named and same.exists()
        else sorted(file.parent.glob("results_*.json"), reverse=True)
    )
    for results in found:
        yield json.loads(results.read_text(encoding="utf-8"))


def _settings(place: Place) -> dict[str, str]:
    """Return how a task was asked, by its results."""
    for results in _results(place.file):
        config = (results.get("configs") or {}).get(place.task) or {}
        names = ("doc_to_text", "description", "num_fewshot", "target_delimiter")
        settings = {name: config.get(name) for name in names} | {
            "chat_template": results.get("chat_template_sha")
        }
        return {name: str(value) for name, value in settings.items() if value not in (None, "")}
    return {}


def _samples(file: Path, options: RunOptions) -> list[Sample]:
    """Return the lines of a file that have the requested filter, or the only one."""
    kept: list[Sample] = []
    filters: list[str] = []
    for number, row in _rows(file):
        filters.append(str(row.get("filter", "none")))
        if options.filter in (None, filters[-1]):
            kept.append(
                parts.in_file(
                    file,
                    number,
                    _sample,
                    number,
                    row,
                    _LARGE - options.holders,
                )
            )
    if not filters:
        raise FileError(file, "no_samples", advice="check_interruption")
    parts.only(filters, options.filter, file, "filter")
    return kept


def _sample(
    number: int,
    row: Fields,
    left_out: set[str],
) -> Sample:
    responses = row["filtered_resps"]
    if not (isinstance(responses, list) and len(responses) > 1 and isinstance(responses[0], list)):
        responses = []
    if "acc_mutual_info" in row:  # the second half are the choices without their question
        responses = responses[: len(responses) // 2]
    try:
        scores = tuple(float(response[0]) for response in responses)
    except (TypeError, ValueError):  # of a filter that keeps all repeats
        raise InputError(
            "filtered_resps", "not_one_log_likelihood_each", value=responses[0]
        ) from None
    small = {name: value for name, value in row.items() if name not in left_out}
    identifier = str(row.get("doc_hash", row["doc_id"]))
    return Sample(
        number,
        identifier,
        str(row["target"]),
        scores,
        _texts(row, len(scores)),
        small,
    )


def _texts(row: Fields, number: int) -> tuple[str, ...]:
    """Return the continuations that were scored."""
    arguments = row["arguments"]
    return tuple(str(arguments[f"gen_args_{choice}"]["arg_1"]) for choice in range(number))


def _is_samples(file: Path) -> bool:
    """Return whether the first line of a file is a sample, or the file is empty and named as samples."""
    try:
        with _open_lines(file) as lines:
            line = lines.readline()
        row = json.loads(line) if line else None
    except (ValueError, OSError, EOFError, RecursionError):
        return False
    return (
        row.keys() >= _NEEDED
        if isinstance(row, dict)
        else not line and file.name.startswith("samples_")
    )


def _open_lines(file: Path) -> IO[str]:
    """Open a file of lines, compressed or not; only a newline ends one."""
    opened: Callable[..., IO[str]] = gzip.open if file.suffix == ".gz" else open
    return opened(file, "rt", encoding="utf-8", newline="\n")


def _rows(file: Path) -> Iterator[tuple[int, Fields]]:
    with _open_lines(file) as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                if line.isspace():
                    continue
                advice = "" if line.endswith("\n") else "check_last_line"
                raise FileError(
                    file,
                    "lines_not_json",
                    row=number,
                    got=str(error),
                    advice=advice,
                ) from None
            if not isinstance(row, dict) or not row.keys() >= _NEEDED:
                raise FileError(file, "lines_not_of_lm_eval", row=number)
            yield number, row


LM_EVAL = Reader(_is_samples, _parts)
