"""Responses of decision models, and the records that tools keep of them -> answers, each with what is true."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from ..read import stem
from ..values import as_text, parse_json, value_by_path
from . import RunOptions, parts
from .parts import Fields
from .true_labels import ITEMS, QUESTIONS, find_label, first_field

YES_OR_NO = "yes or no"
REFUSAL = "refusal"
KINDS = {  # what services call them
    "predicate": YES_OR_NO,
    "noul": YES_OR_NO,
    "choice": "choice",
    "score": "score",
    REFUSAL: REFUSAL,
}
_YES = ("probability", "noul", "p")  # the probability of yes
_MODELS = ("model", "model_served", "model_requested")
_BESIDE_OPTIONS = ("choice", "score", "confidence")  # with which probabilities are an answer
_OF_ANSWERS = (*_BESIDE_OPTIONS, *_YES, "probabilities")  # none of which a refusal has
_FAILURES = ("error", "error_code")
_DEPTH = 2  # of the fields that may hold a response
_SUM_TOLERANCE = 0.02  # of probabilities, which services round


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer to one question about one item: the probabilities of its options, none of a refusal."""

    row: int  # in the file, counted from 1
    model: str
    question: str
    item: str  # nothing if none is named
    kind: str  # a value of `KINDS`, or what else a service calls it
    probabilities: Mapping[str, float]  # by the text of each option; of a score by level, from 0
    levels: Sequence[str]  # the names of the levels of a score
    made: object  # the option that was chosen, None if none is named
    stated: object  # what the model calls its confidence
    label: object  # the true option, None if it is not known
    correct: object  # whether the answer is right, None if it is not known
    record: Fields


def read_answers(file: Path, options: RunOptions) -> list[Answer]:
    """Return the answers of a file in its order.

    A call that failed refuses each question that its model was asked, unless that was answered when asked again.
    """
    answers: list[Answer] = []
    failed = []
    for number, record in parts.records_in(file):
        of_record = parts.in_file(file, number, _answers_in, number, record, stem(file), options)
        answers += of_record
        if not of_record:
            failed.append((number, record))
    for number, record in failed:
        answers += parts.in_file(file, number, _refusals, number, record, answers, options)
    return sorted(answers, key=lambda one: one.row)


def is_of_answers(file: Path) -> bool:
    """Return whether one of the first records of a file is an answer with its probabilities."""
    return any(map(_is_answered, parts.first_records(file)))


def _is_answered(record: Fields) -> bool:
    """Return whether a record has an answer, whatever its numbers are."""
    return any(
        _is_given(fields, KINDS.get(_kind_in(fields) or "", REFUSAL))
        for *_, fields in _replies_in(record)
    )


# ---- a record -> answers ---------------------------------------------------------------------------------------------


def _answers_in(number: int, record: Fields, name: str, options: RunOptions) -> list[Answer]:
    """Return the answers of a record, to all questions of a response or to one; none of a call that failed."""
    answers = []
    for response, question, fields in _replies_in(record):
        model = first_field(response, _MODELS) or first_field(record, _MODELS) or name
        kind = _kind_of(fields)
        if kind is not None:
            answers.append(_answer(number, record, str(model), question, kind, fields, options))
    if not answers and not _has_failed(record):
        raise InputError("record", "holds neither an answer of a decision model nor an error")
    _require_distinct([(one.model, one.question) for one in answers])
    _require_labels_by_question(record, {one.question for one in answers}, options)
    return answers


def _require_distinct(questions: Sequence[tuple[str, str]]) -> None:
    """Raise InputError if two questions to one model have the same name."""
    if len(set(questions)) < len(questions):
        got = ", ".join(name for _, name in questions)
        raise InputError("answers", "has answers to questions of one name", got=got)


def _replies_in(record: Fields) -> Iterator[tuple[Fields, str, Fields]]:
    """Yield the response, or the record itself, the question and the fields of each answer in a record."""
    responses = list(filter(_holds_answers, _nested(record)))
    for response in responses:
        for question, fields in _by_question(response["answers"]):
            yield response, question, fields
    if not responses:
        answer = record.get("answer")
        yield record, _question_in(record), answer if isinstance(answer, Mapping) else record


def _nested(record: Fields, depth: int = _DEPTH) -> Iterator[Fields]:
    """Yield an object, and those in its fields, also as text; not within one that holds answers."""
    yield record
    if depth and not _holds_answers(record):
        for value in map(parse_json, record.values()):
            if isinstance(value, Mapping):
                yield from _nested(value, depth - 1)


def _holds_answers(response: Fields) -> bool:
    answers = response.get("answers")
    listed = list(answers.values()) if isinstance(answers, Mapping) else answers
    return isinstance(listed, list) and all(isinstance(one, Mapping) for one in listed)


def _by_question(answers: Mapping[str, Fields] | Sequence[Fields]) -> list[tuple[str, Fields]]:
    """Return the fields of answers by the names of their questions, or by their places."""
    if isinstance(answers, Mapping):
        return list(answers.items())
    return [
        (str(fields.get("name") or f"question {place}"), fields)
        for place, fields in enumerate(answers, 1)
    ]


def _is_of_jev_eval(record: Fields) -> bool:
    """Return whether the id of a record is that of the question, and its row that of the item."""
    return "row" in record and isinstance(record.get("answer"), Mapping)


def _question_in(record: Fields) -> str:
    """Return the question that a record is about, nothing if it names none."""
    names = ("id",) if _is_of_jev_eval(record) else QUESTIONS
    values = (record.get(name) for name in names)
    return next((as_text(value) for value in values if isinstance(value, (str, int))), "")


def _item_in(record: Fields, options: RunOptions) -> str:
    """Return the item that a record is about, nothing if it names none."""
    if "id" in options.fields:
        item = value_by_path(record, options.fields["id"])
    else:
        item = first_field(record, ("row",) if _is_of_jev_eval(record) else ITEMS)
    return "" if item is None else as_text(item)


def _answer(
    number: int,
    record: Fields,
    model: str,
    question: str,
    kind: str,
    fields: Fields,
    options: RunOptions,
) -> Answer:
    return Answer(
        number,
        model,
        question,
        _item_in(record, options),
        kind,
        _probabilities_in(fields, kind),
        _levels_in(fields),
        fields.get("choice"),
        fields.get("confidence"),
        _of_question(labels_of(record, options), question),
        _of_question(_verdicts_of(record, options), question),
        record,
    )


def _refusals(
    number: int, record: Fields, answers: Sequence[Answer], options: RunOptions
) -> list[Answer]:
    """Return the refusals of a record of a call that failed; InputError if it does not say whose."""
    models = {str(first_field(record, _MODELS) or one.model) for one in answers}
    of_model = [one for one in answers if one.model in models]
    if len(models) != 1 or not of_model:
        raise InputError("record", "is of a call that failed, and does not name its model")
    asked = {_question_in(record)} - {""} or {one.question for one in of_model}
    left = sorted(asked - _answered(of_model, _item_in(record, options)))
    (name,) = models
    return [_answer(number, record, name, one, REFUSAL, {}, options) for one in left]


def _answered(answers: Sequence[Answer], item: str) -> set[str]:
    """Return the questions about an item to which there are answers; none if it has no id."""
    return {one.question for one in answers if item and one.item == item}


def _has_failed(record: Fields) -> bool:
    response = record.get("response", record)
    return response is None or any(
        isinstance(one, Mapping) and first_field(one, _FAILURES) is not None
        for one in (record, response)
    )


# ---- what is true ----------------------------------------------------------------------------------------------------


def labels_of(record: Fields, options: RunOptions) -> object:
    """Return what is true of the item of a record, of one question or by question, None where that is not known."""
    if options.truth is None:
        return find_label(record, options.fields.get("label"))
    item = _item_in(record, options)
    if not item:
        raise InputError("id", "has no id, by which labels are found", advice="fill_ids")
    return options.truth.get(item)


def _verdicts_of(record: Fields, options: RunOptions) -> object:
    return value_by_path(record, options.fields.get("correct", "correct"))


def _of_question(values: object, question: str) -> object:
    """Return the value of a question, of one for each or of one for all."""
    return values.get(question) if isinstance(values, Mapping) else values


def _require_labels_by_question(
    record: Fields, questions: Collection[str], options: RunOptions
) -> None:
    """Raise InputError if a record has one label, or one verdict, and answers to several questions that are read."""
    asked = sorted(one for one in questions if options.tasks is None or one in options.tasks)
    if len(asked) < 2:
        return
    for role, value in (
        ("label", labels_of(record, options)),
        ("correct", _verdicts_of(record, options)),
    ):
        if value is not None and not isinstance(value, Mapping):
            rule = "has one {role} for several questions, {questions}"
            raise InputError(role, rule, value=value, role=role, questions=asked)


# ---- the fields of an answer -----------------------------------------------------------------------------------------


def _kind_of(fields: Fields) -> str | None:
    """Return the kind of an answer, None of what is none; InputError if probabilities are missing.

    An answer that is empty counts as a refusal.
    """
    called = _kind_in(fields)
    kind = KINDS.get(called or "")
    if kind is None or _is_given(fields, kind):
        return kind or called
    if kind != REFUSAL and first_field(fields, _OF_ANSWERS) is not None:
        rule = (
            "has no probabilities as those of type {kind} have; a confidence does not replace them"
        )
        raise InputError("answer", rule, kind=called)
    return REFUSAL


def _kind_in(fields: Fields) -> str | None:
    """Return what a service calls the kind of an answer, or tools that keep its fields alone; None of what is none."""
    kind = fields.get("type", fields.get("primitive"))
    if kind is not None:
        return str(kind)
    if not _has_options(fields) or fields.keys().isdisjoint(_BESIDE_OPTIONS):
        return None
    return "score" if "score" in fields else "choice"


def _is_given(fields: Fields, kind: str) -> bool:
    """Return whether an answer has the probabilities of its kind."""
    if kind == YES_OR_NO:
        return first_field(fields, _YES) is not None
    return kind != REFUSAL and _has_options(fields)


def _has_options(fields: Fields) -> bool:
    options = fields.get("probabilities")
    are_listed = isinstance(options, list) and all(isinstance(one, Mapping) for one in options)
    return are_listed or isinstance(options, Mapping)


def _probabilities_in(fields: Fields, kind: str) -> dict[str, float]:
    """Return the probabilities of the options."""
    if kind not in KINDS.values() or kind == REFUSAL:
        return {}
    if kind == YES_OR_NO:
        yes = _probability(first_field(fields, _YES))
        return {"false": 1 - yes, "true": yes}
    given = fields["probabilities"]
    pairs = given.items() if isinstance(given, Mapping) else map(_pair, given)
    options = {text_of(option): _probability(value) for option, value in pairs}
    if len(options) < max(len(given), 2):
        raise InputError(
            "probabilities",
            "must have probabilities of two options or more, each once",
            got=", ".join(options),
        )
    total = math.fsum(options.values())
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise InputError("probabilities", "must have probabilities that sum to 1", value=total)
    if kind == "score":
        return _by_level(options)
    return options


def _pair(option: Fields) -> tuple[object, object]:
    return option.get("value"), option.get("probability")


def _by_level(options: Mapping[str, float]) -> dict[str, float]:
    levels = list(map(str, range(len(options))))
    if options.keys() != set(levels):
        raise InputError(
            "probabilities", "must have probabilities of the levels {levels}", levels=levels
        )
    return {level: options[level] for level in levels}


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError("probabilities", "must have numbers as probabilities", value=value)
    if not 0 <= value <= 1:
        raise InputError("probabilities", "must have probabilities in [0, 1]", value=value)
    return float(value)


def text_of(option: object) -> str:
    """Return the text of an option: of true and false as JSON has it."""
    return str(option).lower() if isinstance(option, bool) else as_text(option)


def _levels_in(fields: Fields) -> list[str]:
    """Return the names of the levels of a score, if it has any."""
    names = fields.get("legend")
    if not isinstance(names, Mapping):
        options = fields.get("probabilities")
        listed = options if isinstance(options, list) else []
        names = {text_of(option.get("value")): option.get("label") for option in listed}
    levels = map(str, range(len(names)))
    return [str(names.get(level)) for level in levels] if any(names.values()) else []
