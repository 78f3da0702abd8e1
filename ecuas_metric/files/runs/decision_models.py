"""Answers of decision models: responses of their services, or the records that tools keep of them.

A decision model answers questions of three kinds, each with a probability for each option: yes or no, one of several
choices, or a level of a score. Each question is a task with its own number of options. What the model calls its
confidence tells how concentrated the probabilities are; it is not the probability of being right, and is not read.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...basis import encode_texts_as_numbers
from ...errors import FileError, InputError, Note
from ...inputs import Floats, grouped
from . import RunOptions, parts
from .decision_records import (
    KINDS,
    REFUSAL,
    YES_OR_NO,
    Answer,
    is_of_answers,
    labels_of,
    read_answers,
    text_of,
)
from .parts import Column, Reader, Run, RunPart
from .true_labels import LABELS, first_field

_SHOWN = 6  # names in an error
_TOLERANCE = 2e-3  # of stated confidences, whose probabilities were rounded
_WORDS_OF_YES = {"true": 1, "yes": 1, "1": 1, "false": 0, "no": 0, "0": 0}
_OF_OTHERS = "Leave this question out: name the others as tasks."
_TRUTHS = ("true", "false")
_NO_OPTION = "Is something true that was no option? Give correct: 0 instead of the label."


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of answers: one part for each model, question and number of options."""
    answers_of: dict[tuple[Path, str, str], Sequence[Answer]] = {}
    for file in files:
        answers = _by_item(read_answers(file, options))
        for task, same in grouped(answers, _task_of).items():
            answers_of[file, *task] = same
    runs = parts.once([Run(*key) for key in answers_of], options)
    _refuse_fields(runs[0].file, options)
    _require_labels_by_question(runs, options)
    read: list[RunPart] = []
    every = list(chain.from_iterable(answers_of.values()))
    unused = _replaced_labels(every, options)
    for run in runs:
        of_run = answers_of[run.file, run.model, run.task]
        why = _why_unused(of_run, options)
        if why:
            unused[run.task] = why
        else:
            read += _parts_of_question(run, of_run, options)
    if not read:
        raise _no_labels(runs[0].file, every, options)
    note = _note_on_questions(read)
    return [replace(one, unused=tuple(unused.items()), notes=(note, *one.notes)) for one in read]


def _refuse_fields(file: Path, options: RunOptions) -> None:
    """Raise FileError for a field that is named and does not count: of a confidence, or of labels beside other ones."""
    if "confidence" in options.fields:
        raise FileError(file, "run_has_other_roles", role="confidence")
    if options.truth is not None and "label" in options.fields:
        rule = "has its labels in another file, which replace those of a field that is named"
        raise FileError(file, rule, got=options.fields["label"], advice="Name one of the two.")


def _replaced_labels(answers: Iterable[Answer], options: RunOptions) -> dict[str, str]:
    """Return what is said of labels in the records that those of another file replace."""
    are_there = (first_field(one.record, LABELS) is not None for one in answers)
    is_said = options.truth is not None and any(are_there)
    return {"labels of the run": "those of the other file count"} if is_said else {}


def _note_on_questions(read: Sequence[RunPart]) -> Note:
    """Return a note on what was recognised: the questions, and how many options these have."""
    sizes = dict.fromkeys((one.task, one.num_classes) for one in read)
    questions = [f"{task or 'a question'} of {size}" for task, size in sizes]
    return Note("Answers of a decision model to {questions} options.", {"questions": questions})


def _task_of(answer: Answer) -> tuple[str, str]:
    return answer.model, answer.question


def _by_item(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return answers; where nearly each has a question of its own, these are its items, of one question."""
    if 2 * len(set(map(_task_of, answers))) <= len(answers):
        return answers
    items = {(answer.model, answer.item) for answer in answers if answer.item}
    if 0 < len(items) < len(answers):  # several questions about an item
        return answers
    return [replace(one, question="", item=f"{one.item} {one.question}".strip()) for one in answers]


def _require_labels_by_question(runs: Sequence[Run], options: RunOptions) -> None:
    """Raise FileError if labels of another file name no question, and answers are to several."""
    questions = sorted({run.task for run in runs})
    are_of_one = not all(isinstance(one, dict) for one in (options.truth or {}).values())
    if are_of_one and len(questions) > 1:
        rule = "holds answers to several questions, and the labels do not name theirs"
        raise FileError(runs[0].file, rule, got=", ".join(questions))


def _why_unused(answers: Sequence[Answer], options: RunOptions) -> str:
    """Return why answers to a question are not read, or nothing."""
    others = sorted({answer.kind for answer in answers} - {*KINDS.values()})
    if others:
        return f"of type {', '.join(others)}"
    are_known = any(one.label is not None or one.correct is not None for one in answers)
    return "" if are_known or options.are_new else "no labels"


def _no_labels(file: Path, answers: Sequence[Answer], options: RunOptions) -> FileError:
    """Return the error of answers without a known truth; it names what is asked, and what is labelled."""
    labels = labels_of(answers[0].record, options)
    if labels is None and options.truth is not None:
        items = [answer.item for answer in answers]
        got = f"labels of items {_some(options.truth)}, and answers about {_some(items)}"
    else:
        labelled = f"labels of {_some(labels)}, and " if isinstance(labels, Mapping) else ""
        questions = sorted({answer.question for answer in answers} - {""})
        got = f"{labelled}answers to {_some(questions or ['one question'])}"
    rule = "holds answers of decision models, but not what is true"
    return FileError(file, rule, got=got, advice="name_label_field")


def _some(names: Collection[object]) -> str:
    """Return the first of some names."""
    further = ", .." if len(names) > _SHOWN else ""
    return ", ".join(map(str, list(names)[:_SHOWN])) + further


def _parts_of_question(run: Run, answers: Sequence[Answer], options: RunOptions) -> list[RunPart]:
    """Return the parts of a model's answers to a question, by their kinds and sizes. Refusals are in the largest."""
    sizes = Counter(map(_size_of, answers))
    sizes.pop((REFUSAL, 0), None)
    if not sizes:
        got = f"{len(answers)} answers to {run.task!r}"
        raise FileError(run.file, "holds refusals only", got=got, advice=_OF_OTHERS)
    (largest, _), *_ = sizes.most_common(1)
    by_size = grouped(answers, lambda one: largest if one.kind == REFUSAL else _size_of(one))
    if len(by_size) == 1:
        return [_part(run, answers, options)]
    return [
        _part(replace(run, task=f"{run.task}, {size} options".lstrip(", ")), same, options)
        for (_, size), same in by_size.items()
    ]


def _size_of(answer: Answer) -> tuple[str, int]:
    return answer.kind, len(answer.probabilities)


def _part(run: Run, answers: Sequence[Answer], options: RunOptions) -> RunPart:
    """Return a part of answers with one number of options, by the probabilities of scores, or of what was chosen.

    A refusal is an abstention, or the least certain opinion on a score.
    """
    given = [answer for answer in answers if answer.kind != REFUSAL]
    read = _read_scores if given[0].kind == "score" else _read_choices
    columns, fields = read(run.file, answers, options.are_new)
    part = parts.part_of(
        run,
        np.array([answer.row for answer in answers]),
        {**_identities(run, answers, options), **columns},
        answers=[str(answer.made) for answer in given if answer.made is not None],
        num_classes=len(given[0].probabilities),
        predictions_are="probabilities",
        **fields,
    )
    notes = _note_on_stated(given)
    refused = len(answers) - len(given)
    if refused and part.cost is not None:  # else an abstention, which has a note of its own
        rule = "{count:,} of {total:,} refused or failed, which is to reject."
        notes.append(Note(rule, {"count": refused, "total": len(answers)}))
    return replace(part, notes=(*part.notes, *notes))


def _read_scores(
    file: Path, answers: Sequence[Answer], are_new: bool
) -> tuple[dict[str, Column], dict[str, Any]]:
    if are_new:
        answers = [replace(one, label="0", correct=None, levels=()) for one in answers]
    return _opinions(file, answers), {"fields_read": ("label",), "cost": "absolute"}


def _read_choices(
    file: Path, answers: Sequence[Answer], are_new: bool
) -> tuple[dict[str, Column], dict[str, Any]]:
    if are_new:
        answers = [replace(one, label=None, correct=1) for one in answers]
    fields = {"fields_read": ("label", "correct"), "truth": _true_numbers(answers)}
    return _verdicts(file, answers), fields


def _identities(run: Run, answers: Sequence[Answer], options: RunOptions) -> dict[str, Column]:
    """Return the ids, if items have any, and the fields that were named."""
    names = {role: name for role, name in options.per_sample.items() if role != "id"}
    records = [answer.record for answer in answers]
    rows = np.array([answer.row for answer in answers])
    named = parts.named_columns(records, names, run.file, rows)
    items = [answer.item or None for answer in answers]
    if not any(items):
        return named
    if None in items:
        row = answers[items.index(None)].row
        raise FileError(run.file, "has no id, and others have", row=row, advice="fill_ids")
    return {"id": items, **named}


def _opinions(file: Path, answers: Sequence[Answer]) -> dict[str, Column]:
    """Return the columns of the true levels, and of the probability of each."""
    if all(answer.label is None for answer in answers):
        raise FileError(
            file, "holds scores, which need the true level as label", row=answers[0].row
        )
    answered = next(one for one in answers if one.kind != REFUSAL)
    levels = list(answered.probabilities)
    unsure = {**dict.fromkeys(levels, 0.0), levels[0]: 0.5, levels[-1]: 0.5}
    opinions = [
        replace(one, kind="score", probabilities=unsure, levels=answered.levels)
        if one.kind == REFUSAL
        else one
        for one in answers
    ]
    by_level = zip(*(one.probabilities.values() for one in opinions), strict=True)
    return {
        "label": [parts.in_file(file, one.row, _true_option, one) for one in opinions],
        **{f"choice_{level}": values for level, values in enumerate(by_level)},
    }


def _verdicts(file: Path, answers: Sequence[Answer]) -> dict[str, Column]:
    """Return the columns of the probability of what was chosen, of whether that is true, and of what was refused."""
    verdicts = [parts.in_file(file, one.row, _verdict, one) for one in answers]
    correct, confidence = zip(*verdicts, strict=True)
    columns: dict[str, Column] = {"correct": correct, "confidence": confidence}
    refused = [float(answer.kind == REFUSAL) for answer in answers]
    return {**columns, "abstained": refused} if any(refused) else columns


def _true_numbers(answers: Sequence[Answer]) -> Floats | None:
    """Return numbers for what is true (N,), by which two files are told to have the same labels; None if some lack."""
    texts = [text_of(one.label) for one in answers if one.label is not None]
    if len(texts) < len(answers):
        return None
    return encode_texts_as_numbers(str(_WORDS_OF_YES.get(text.lower(), text)) for text in texts)


def _verdict(answer: Answer) -> tuple[object, float]:
    """Return whether the option that was chosen is true, None where it is not known, and its probability."""
    if answer.kind == REFUSAL:
        return 0, 0.0
    decision = _decision(answer)
    true = _true_option(answer)
    correct = answer.correct if true is None else int(decision == true)
    if answer.correct in (0, 1) and answer.correct != correct:
        rule = "has a verdict on {question} that is not what the label says"
        raise InputError("correct", rule, value=answer.correct, question=_name_of(answer))
    return correct, list(answer.probabilities.values())[decision]


def _decision(answer: Answer) -> int:
    """Return the option that was chosen, else the likeliest; InputError if the one that was chosen is less likely."""
    options = list(answer.probabilities)
    likeliest = max(options, key=answer.probabilities.__getitem__)
    if answer.made is None:
        return options.index(likeliest)
    made = text_of(answer.made)
    if answer.probabilities.get(made) != answer.probabilities[likeliest]:
        raise InputError(
            "choice",
            "has a choice of {question} that is less likely than {likeliest!r} beside it",
            value=answer.made,
            question=_name_of(answer),
            likeliest=likeliest,
        )
    return options.index(made)


def _true_option(answer: Answer) -> int | None:
    """Return the place of the true option, None where it is not known; InputError if it is none, or might be two."""
    if answer.label is None:
        return None
    text = text_of(answer.label)
    options = list(answer.probabilities)
    if text not in options and text.lower() in _TRUTHS:
        text = text.lower()  # as CSV has true and false
    if answer.kind == YES_OR_NO:
        place = _WORDS_OF_YES.get(text.lower().removesuffix(".0"))
    elif answer.kind == "score":
        place = _true_level(answer, text)
    else:
        place = options.index(text) if text in options else None
    if place is None:
        raise InputError(
            "label",
            "has a label of {question} that is none of the options {options}",
            value=answer.label,
            advice=_NO_OPTION if answer.kind == "choice" else "",
            question=_name_of(answer),
            options=list(answer.levels) or options,
        )
    return place


def _true_level(answer: Answer, text: str) -> int | None:
    """Return the level of a number from 0, or of a name; InputError if levels are called by other numbers."""
    names = list(answer.levels)
    options = list(answer.probabilities)
    by_name = names.index(text) if names.count(text) == 1 else None
    number = text.removesuffix(".0")  # as pandas writes whole numbers beside empty cells
    by_number = options.index(number) if number in options else None
    if by_name is not None and by_number not in (None, by_name):
        raise InputError(
            "label",
            "has a label of {question} that may be the level from 0, called {name!r}, or the one of this name",
            value=answer.label,
            question=_name_of(answer),
            name=names[by_number],
        )
    return by_number if by_name is None else by_name


def _name_of(answer: Answer) -> str:
    return answer.question or "its question"


# ---- what is called confidence ---------------------------------------------------------------------------------------


def _note_on_stated(answers: Sequence[Answer]) -> list[Note]:
    """Return a note on what a model calls its confidence, if that is not the largest probability."""
    stated = [one.stated for one in answers]
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in stated):
        return []
    given = np.array(stated, np.float64)
    fitting = [
        formula
        for formula, compute in _FORMULAS.items()
        if np.abs([compute(list(one.probabilities.values())) for one in answers] - given).max()
        <= _TOLERANCE
    ]
    if "max p" in fitting:
        return []
    return [
        Note(
            "What it calls confidence{formula} is not the probability of being right; its probabilities are read.",
            {"formula": f", {fitting[0]}," if fitting else ""},
        )
    ]


def _chance_corrected(p: Sequence[float]) -> float:
    return (len(p) * max(p) - 1) / (len(p) - 1)


def _concentration(p: Sequence[float]) -> float:
    entropy = -math.fsum(value * math.log(value) for value in p if value > 0)
    return 1 - entropy / math.log(len(p))


def _closeness(p: Sequence[float]) -> float:
    """Return 1 less the mean distance from the likeliest level, over that of equally likely levels from the middle."""
    levels = np.arange(len(p))
    distance = float(np.dot(p, np.abs(levels - np.argmax(p))))
    return max(1 - distance / float(np.abs(levels - levels.mean()).mean()), 0.0)


_FORMULAS: dict[str, Callable[[Sequence[float]], float]] = {
    "max p": max,
    "(K max p - 1)/(K - 1)": _chance_corrected,
    "1 - H/log K": _concentration,
    "1 - E|i - mode|/mean |i - middle|": _closeness,
}


DECISION_MODELS = Reader(is_of_answers, _parts, lacks_truth=True)
