"""The questions of lm-eval and lighteval -> parts: log-likelihoods of choices, or answers in words."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileError, InputError, Note
from ...inputs import Floats, Ints, grouped
from ..values import value_by_path
from . import RunOptions, parts
from .parts import Column, Fields, Run, RunPart

_SIZES: dict[str, Callable[[str], int]] = {
    "chars": len,
    "bytes": lambda text: len(text.encode()),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question: the log-likelihoods and texts of its choices, (K,) each, none where the answer is in words."""

    row: int  # in the file, counted from 1
    id: str
    target: object
    scores: Sequence[float]
    texts: Sequence[str]
    grades: Fields  # of the answer, by metric
    fields: Fields  # which can be named


@dataclass(frozen=True, slots=True)
class Tool:
    """How a tool keeps questions."""

    what: str  # it keeps
    metrics: Sequence[str]  # of answers in words: the first that there is says what is right
    without_confidence: str  # the rule that these break where no confidence is named
    run_of: Callable[[Path], Run]
    questions: Callable[[Path, RunOptions], list[Question]]
    # -> the true choices (N,), and notes on them
    labels: Callable[[Path, Sequence[Question], Floats], tuple[Ints, list[Note]]]
    # -> what log-likelihoods (N, K) are divided by
    lengths: Callable[[Sequence[Question], Floats, Ints, str], Ints]

    def parts(
        self,
        files: Sequence[Path],
        options: RunOptions,
    ) -> list[RunPart]:
        """Read files of questions: one part per model, task and number of choices."""
        read = []
        for run in parts.once([self.run_of(file) for file in files], options):
            questions = self.questions(run.file, options)
            of_number = grouped(questions, lambda question: len(question.scores))
            for number, same in sorted(of_number.items()):
                part_of = _part_of_choices if number else _part_in_words
                read.append(part_of(self, run, same, options))
        return read


def _part_of_choices(
    tool: Tool,
    run: Run,
    questions: Sequence[Question],
    options: RunOptions,
) -> RunPart:
    scores = np.array([question.scores for question in questions], dtype=np.float64)
    posteriors = _log_posteriors(run.file, questions, scores)
    labels, facts = tool.labels(run.file, questions, scores)
    if options.length != "none":
        scores = scores / tool.lengths(questions, scores, labels, options.length)
        posteriors = parts.log_posteriors(scores)
    count, num_classes = scores.shape
    fields = {"what": tool.what, "task": run.task, "count": count, "choices": num_classes}
    columns = _columns(run, questions, options)
    columns["label"] = labels.tolist()
    for choice, values in enumerate(posteriors.T.tolist()):
        columns[f"choice_{choice}"] = values
    return parts.part_of(
        run,
        _rows(questions),
        columns,
        [Note("run_of_choices", fields), *facts],
        num_classes=num_classes,
        answers=posteriors.argmax(axis=1).tolist(),
    )


def _log_posteriors(
    file: Path,
    questions: Sequence[Question],
    scores: Floats,
) -> Floats:
    try:
        return parts.log_posteriors(scores)
    except InputError as error:
        row = questions[error.index].row  # type: ignore[index]
        raise error.in_file(file, row=row) from None


def _part_in_words(
    tool: Tool,
    run: Run,
    questions: Sequence[Question],
    options: RunOptions,
) -> RunPart:
    name = options.fields.get("confidence")
    wanted = [options.fields["correct"]] if "correct" in options.fields else tool.metrics
    metric = next((each for each in wanted if each in questions[0].grades), None)
    if metric is None or name is None:
        rule = "no_metric_of_right" if metric is None else tool.without_confidence
        raise FileError(run.file, rule, advice="name_confidence_field")
    rows = _rows(questions)
    confidences = [value_by_path(question.fields, name) for question in questions]
    columns = {
        **_columns(run, questions, options),
        "correct": [question.grades.get(metric) for question in questions],
        "confidence": parts.column_of(confidences, "confidence", name, run.file, rows),
    }
    fields = {"what": tool.what, "task": run.task, "count": len(questions), "metric": metric}
    return parts.part_of(run, rows, columns, [Note("run_of_answers", fields)])


def _columns(
    run: Run,
    questions: Sequence[Question],
    options: RunOptions,
) -> dict[str, Column]:
    """Return the ids, and what was named; documents that the task has twice are numbered, and a group."""
    fields = [question.fields for question in questions]
    named = parts.named_columns(fields, options.per_sample, run.file, _rows(questions))
    ids = [question.id for question in questions]
    numbers = [one.get("doc_id") for one in fields]
    documents = set(zip(ids, numbers, strict=True))
    are_numbered = len(documents) == len(ids) and None not in numbers
    return {
        **(parts.repeated(ids, _places(ids, numbers)) if are_numbered else {"id": ids}),
        **named,
    }


def _places(ids: Sequence[str], numbers: Sequence[Any]) -> list[int]:
    """Return how many samples (N,) have an id up to each, in the order of the numbers of documents.

    A run on several devices has them in another order.
    """
    counts: Counter[str] = Counter()
    places = [0] * len(ids)
    for row in sorted(range(len(ids)), key=numbers.__getitem__):
        counts[ids[row]] += 1
        places[row] = counts[ids[row]]
    return places


def _rows(questions: Sequence[Question]) -> Ints:
    return np.array([question.row for question in questions])


def sizes_of(questions: Sequence[Question], length: str) -> Ints:
    """Return the lengths (N, K) of the texts of choices, as one of `LENGTHS`."""
    return np.array([list(map(_SIZES[length], question.texts)) for question in questions])
