"""Answers of decision models: responses of their services, or the records that tools keep of them.

A decision model answers questions of three kinds, each with a probability for each option: yes or no, one of several
choices, or a level of a score. Each question is a task with its own number of options. What the model calls its
confidence tells how concentrated the probabilities are; it is not the probability of being right, and is not read.
"""

import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...errors import FileError, InputError, Note
from ...inputs import grouped
from ..values import value_at
from . import RunOptions, parts
from .parts import Column, Fields, Reader, Run, RunPart

REFUSAL = "refusal"
_KINDS = {
    "predicate": "yes or no",
    "noul": "yes or no",
    "choice": "choice",
    "score": "score",
    REFUSAL: REFUSAL,
}
_YES = ("probability", "noul", "p")  # the probability of yes
_MODELS = ("model", "model_served", "model_requested")
_ITEMS = ("item_id", "id")
_QUESTIONS = ("question", "question_id")
_LABELS = ("labels", "label", "gold")
_BESIDE_OPTIONS = ("choice", "score", "confidence")  # with which probabilities are an answer
_MARKS = (b'"probabilities"', b'"probability"', b'"noul"', b'"s1-record/1"')
_FIRST = 1_000_000  # bytes of a file that tell what it is
_BETWEEN = re.compile(r"[\s,\[]*")  # what is between records
_SUM_TOLERANCE = 0.02  # of probabilities, which services round
_TOLERANCE = 2e-3  # of stated confidences, whose probabilities were rounded
_WORDS_OF_YES = {"true": 1, "yes": 1, "1": 1, "false": 0, "no": 0, "0": 0}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer to one question about one item: the probabilities of its options, none of a refusal."""

    row: int  # in the file, counted from 1
    model: str
    question: str
    item: str
    kind: str  # a value of `_KINDS`
    probabilities: Mapping[str, float]  # by the text of each option; of a score by level, from 0
    levels: Sequence[str]  # the names of the levels of a score
    made: object  # the option that was chosen, None if none is named
    stated: object  # what the model calls its confidence
    label: object  # the true option, None if it is not known
    correct: object  # whether the answer is right, None if it is not known
    record: Fields


def _parts(files: Sequence[Path], options: RunOptions) -> list[RunPart]:
    """Read files of answers: one part for each model, question and number of options."""
    answers_of: dict[tuple[Path, str, str], Sequence[Answer]] = {}
    for file in files:
        answers = _by_item(list(_answers_of(file, options)))
        for task, same in grouped(answers, _task_of).items():
            answers_of[file, *task] = same
    read: list[RunPart] = []
    for run in parts.once([Run(*key) for key in answers_of], options):
        read += _parts_of_question(run, answers_of[run.file, run.model, run.task], options)
    if not read:
        raise _no_labels(files[0], options)
    return read


def _task_of(answer: Answer) -> tuple[str, str]:
    return answer.model, answer.question


def _by_item(answers: Sequence[Answer]) -> Sequence[Answer]:
    """Return answers; those to questions that are asked of one item each are all to one question."""
    if 2 * len(set(map(_task_of, answers))) <= len(answers):
        return answers
    return [replace(one, question="", item=f"{one.item} {one.question}".strip()) for one in answers]


def _no_labels(file: Path, options: RunOptions) -> FileError:
    """Return the error of answers without a known truth; it names the questions, and what is labelled."""
    answers = list(_answers_of(file, options))
    questions = sorted({answer.question for answer in answers})
    labels = _named_or_first(answers[0].record, options, "label", _LABELS)
    named = f"labels of {', '.join(labels)}, and " if isinstance(labels, Mapping) else ""
    return FileError(
        file,
        "holds answers of decision models, but not what is true",
        got=f"{named}answers to {', '.join(filter(None, questions))}",
        advice="name_label_field",
    )


# ---- records -> answers ----------------------------------------------------------------------------------------------


def _answers_of(file: Path, options: RunOptions) -> Iterator[Answer]:
    for number, record in parts.records_in(file):
        yield from parts.in_file(file, number, _answers_in, number, record, file.stem, options)


def _answers_in(number: int, record: Fields, name: str, options: RunOptions) -> list[Answer]:
    """Return the answers of a record: of all questions of a response, or of one."""
    response = record.get("response")
    holder = response if isinstance(response, Mapping) else record
    model = _first(holder, _MODELS) or _first(record, _MODELS) or name
    item, questions = _questions_in(record, holder)
    if "id" in options.fields:
        item = value_at(record, options.fields["id"])
    labels = _named_or_first(record, options, "label", _LABELS)
    verdicts = _named_or_first(record, options, "correct", ("correct",))
    answers = []
    for question, fields in questions.items():
        kind = _kind_of(fields)
        if kind is not None:
            answer = Answer(
                number,
                str(model),
                question,
                str(number if item is None else item),
                kind,
                _probabilities_in(fields, kind),
                _levels_in(fields),
                fields.get("choice"),
                fields.get("confidence"),
                _of_question(labels, question),
                _of_question(verdicts, question),
                record,
            )
            answers.append(answer)
    return answers


def _first(record: Fields, names: Sequence[str]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _named_or_first(record: Fields, options: RunOptions, role: str, names: Sequence[str]) -> object:
    """Return what a field holds that was named for a role, or else the first that there is."""
    named = options.fields.get(role)
    return _first(record, names) if named is None else value_at(record, named)


def _of_question(values: object, question: str) -> object:
    """Return the value of a question, of one for each or of one for all."""
    return values.get(question) if isinstance(values, Mapping) else values


def _questions_in(record: Fields, holder: Fields) -> tuple[object, dict[str, Fields]]:
    """Return the item that a record is about, and the fields of its answers by question."""
    answers = holder.get("answers")
    if isinstance(answers, Mapping):
        return _first(record, _ITEMS), dict(answers)
    if isinstance(answers, list):
        named = {
            str(fields.get("name") or f"question {place}"): fields
            for place, fields in enumerate(answers, 1)
        }
        return _first(record, _ITEMS), named
    if isinstance(record.get("answer"), Mapping):  # whose id is that of the question
        return _first(record, ("row", "item_id")), {str(record.get("id", "")): record["answer"]}
    name = _first(record, _QUESTIONS)
    return _first(record, _ITEMS), {name if isinstance(name, str) else "": record}


def _kind_of(fields: Fields) -> str | None:
    """Return the kind of an answer; a call that failed counts as a refusal. None of what is no answer."""
    kind = fields.get("type", fields.get("primitive"))
    if kind is None and _has_options(fields) and not fields.keys().isdisjoint(_BESIDE_OPTIONS):
        kind = "score" if "score" in fields else "choice"
    if kind not in _KINDS:
        return None
    is_answered = _has_options(fields) or _first(fields, _YES) is not None
    return _KINDS[kind] if is_answered else REFUSAL


def _has_options(fields: Fields) -> bool:
    return isinstance(fields.get("probabilities"), (Mapping, list))


def _probabilities_in(fields: Fields, kind: str) -> dict[str, float]:
    """Return the probabilities of the options."""
    if kind == REFUSAL:
        return {}
    if kind == "yes or no":
        yes = _probability(_first(fields, _YES))
        return {"false": 1 - yes, "true": yes}
    given = fields["probabilities"]
    pairs = given.items() if isinstance(given, Mapping) else map(_pair, given)
    options = {_text(option): _probability(value) for option, value in pairs}
    if len(options) < max(len(given), 2):
        raise InputError(
            "probabilities", "must be of two options or more, each once", got=", ".join(options)
        )
    total = math.fsum(options.values())
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise InputError("probabilities", "must sum to 1", value=total)
    if kind == "score":
        return {level: options[level] for level in map(str, range(len(options)))}
    return options


def _pair(option: Fields) -> tuple[object, object]:
    return option.get("value"), option.get("probability")


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError("probabilities", "not_numbers", value=value)
    return float(value)


def _text(option: object) -> str:
    """Return the text of an option: of true and false as JSON has it."""
    return str(option).lower() if isinstance(option, bool) else str(option)


def _levels_in(fields: Fields) -> list[str]:
    """Return the names of the levels of a score, if it has any."""
    legend = fields.get("legend")
    if isinstance(legend, Mapping):
        return [str(legend.get(str(level))) for level in range(len(legend))]
    options = fields.get("probabilities")
    listed = options if isinstance(options, list) else []
    names = {option.get("value"): option.get("label") for option in listed}
    return [str(names.get(level)) for level in range(len(names))] if any(names.values()) else []


# ---- answers -> parts ------------------------------------------------------------------------------------------------


def _parts_of_question(run: Run, answers: Sequence[Answer], options: RunOptions) -> list[RunPart]:
    """Return the parts of a model's answers to a question; none if no truth is known. Refusals are in the largest."""
    if all(answer.label is None and answer.correct is None for answer in answers):
        return []
    given = [answer for answer in answers if answer.kind != REFUSAL]
    if not given:
        raise FileError(
            run.file, "holds refusals only", got=f"{len(answers)} answers to {run.task!r}"
        )
    sizes = Counter((one.kind, len(one.probabilities)) for one in given)
    (largest, _), *_ = sizes.most_common(1)
    by_size = grouped(
        answers,
        lambda one: (one.kind, len(one.probabilities)) if one.kind != REFUSAL else largest,
    )
    return [_part(run, same, options) for same in by_size.values()]


def _part(run: Run, answers: Sequence[Answer], options: RunOptions) -> RunPart:
    """Return a part of answers with one number of options, by the probabilities of scores, or of what was chosen.

    A refusal is an abstention, or the least certain opinion on a score.
    """
    given = [answer for answer in answers if answer.kind != REFUSAL]
    is_score = given[0].kind == "score"
    columns_of = _opinions if is_score else _verdicts
    part = parts.part_of(
        run,
        np.array([answer.row for answer in answers]),
        {**_identities(run, answers, options), **columns_of(run.file, answers)},
        _facts(run, answers, given),
        num_classes=len(given[0].probabilities),
        answers=[str(answer.made) for answer in given if answer.made is not None],
    )
    return replace(
        part,
        notes=(*part.notes, *_note_on_stated(given)),
        predictions_are="probabilities",
        cost="absolute" if is_score else None,
    )


def _identities(run: Run, answers: Sequence[Answer], options: RunOptions) -> dict[str, Column]:
    """Return the ids, and the fields that were named."""
    names = {role: name for role, name in options.per_sample.items() if role != "id"}
    records = [answer.record for answer in answers]
    rows = np.array([answer.row for answer in answers])
    named = parts.named_columns(records, names, run.file, rows)
    return {"id": [answer.item for answer in answers], **named}


def _facts(run: Run, answers: Sequence[Answer], given: Sequence[Answer]) -> list[Note]:
    size = len(given[0].probabilities)
    fields = {"task": run.task, "count": len(answers), "choices": size}
    # that of other kinds is an abstention, which has a note of its own
    refused = len(answers) - len(given) if given[0].kind == "score" else 0
    facts = [
        Note(
            "answers of a decision model, question {task!r} of {choices} options, {count:,} items",
            fields,
        )
    ]
    if refused:
        facts.append(
            Note(
                "{count:,} of {total:,} refused or failed, which is to reject",
                {"count": refused, "total": len(answers)},
            )
        )
    return facts


def _opinions(file: Path, answers: Sequence[Answer]) -> dict[str, Column]:
    """Return the columns of the true levels, and of the probability of each."""
    if all(answer.label is None for answer in answers):
        raise FileError(
            file, "holds scores, which need the true level as label", row=answers[0].row
        )
    size = max(len(answer.probabilities) for answer in answers)
    refused = [0.5, *[0.0] * (size - 2), 0.5]
    table = np.array([list(answer.probabilities.values()) or refused for answer in answers])
    columns = {f"choice_{place}": values for place, values in enumerate(table.T.tolist())}
    return {
        "label": [parts.in_file(file, one.row, _true_option, one) for one in answers],
        **columns,
    }


def _verdicts(file: Path, answers: Sequence[Answer]) -> dict[str, Column]:
    """Return the columns of the probability of what was chosen, of whether that is true, and of what was refused."""
    verdicts = [parts.in_file(file, one.row, _verdict, one) for one in answers]
    correct, confidence = zip(*verdicts, strict=True)
    columns: dict[str, Column] = {"correct": correct, "confidence": confidence}
    refused = [int(answer.kind == REFUSAL) for answer in answers]
    return {**columns, "abstained": refused} if any(refused) else columns


def _verdict(answer: Answer) -> tuple[object, float]:
    """Return whether the option that was chosen is true, None where it is not known, and its probability."""
    if answer.kind == REFUSAL:
        return 0, 0.0
    decision = _decision(answer)
    true = _true_option(answer)
    correct = answer.correct if true is None else int(decision == true)
    return correct, list(answer.probabilities.values())[decision]


def _decision(answer: Answer) -> int:
    """Return the option that was chosen, else the likeliest; InputError if the one that was chosen is less likely."""
    options = list(answer.probabilities)
    likeliest = max(options, key=answer.probabilities.__getitem__)
    if answer.made is None:
        return options.index(likeliest)
    made = _text(answer.made)
    if answer.probabilities.get(made) != answer.probabilities[likeliest]:
        raise InputError(
            "choice",
            "is less likely than {likeliest!r} by the probabilities beside it",
            value=answer.made,
            likeliest=likeliest,
        )
    return options.index(made)


def _true_option(answer: Answer) -> int | None:
    """Return the place of the true option, None where it is not known; InputError if it is none, or might be two."""
    label = answer.label
    if label is None or answer.kind == REFUSAL:
        return None if label is None else 0
    options = list(answer.probabilities)
    text = _text(label)
    if answer.kind == "yes or no" and text.lower() in _WORDS_OF_YES:
        return _WORDS_OF_YES[text.lower()]
    if answer.kind == "score":
        return _true_level(answer, text)
    if text not in options:
        raise InputError("label", "is none of the options {options}", value=label, options=options)
    return options.index(text)


def _true_level(answer: Answer, text: str) -> int:
    """Return the level of a number from 0, or of a name; InputError if levels are called by other numbers."""
    names = list(answer.levels)
    options = list(answer.probabilities)
    by_name = names.index(text) if names.count(text) == 1 else None
    by_number = options.index(text) if text in options else None
    if by_name is not None and by_number not in (None, by_name):
        raise InputError(
            "label",
            "may be the level from 0, called {name!r}, or the one of this name",
            value=answer.label,
            name=names[by_number],
        )
    level = by_number if by_name is None else by_name
    if level is None:
        raise InputError(
            "label",
            "is none of the options {options}",
            value=answer.label,
            options=names or options,
        )
    return level


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
    "1 - mean distance from the likeliest level": _closeness,
}


def _is_of_answers(file: Path) -> bool:
    """Return whether one of the first records of a file is an answer with its probabilities."""
    try:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rb") as content:
            start = content.read(_FIRST)
        if not any(mark in start for mark in _MARKS):
            return False
        return any(map(_is_answered, _first_records(start.decode("utf-8-sig", "ignore"))))
    except (ValueError, OSError, EOFError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _first_records(start: str) -> Iterator[Fields]:
    """Yield the records that are whole at the start of a file: one after the other, or in a list."""
    decoder = json.JSONDecoder()
    position = 0
    while between := _BETWEEN.match(start, position):
        try:
            record, position = decoder.raw_decode(start, between.end())
        except ValueError:  # of what is cut
            return
        yield record


def _is_answered(record: Fields) -> bool:
    answers = _answers_in(0, record, "", RunOptions())
    return any(answer.kind != REFUSAL for answer in answers)


DECISION_MODELS = Reader(_is_of_answers, _parts)
