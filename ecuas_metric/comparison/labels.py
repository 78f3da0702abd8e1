"""Answers for people to label: their draw, the lines that people see, and the labels added to submissions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..errors import UNLABELLED, FileError, InputError
from ..files.cells import parse_cells, read_numbers, read_truths
from ..files.read import read_sheet
from ..files.submissions import Submission
from ..files.values import Sheet, find_positions, is_numeric, to_ids, to_texts
from ..inputs import Ints
from ..options import check_number
from .compare import match_ids

# names of columns
_LEADING = re.compile("judge|verdict|grade|score|correct|conf|prob", re.IGNORECASE)

DRAW_TOGETHER = "Draw answers of all systems at once: `ecuas audit` takes several files."
_VERDICT_NOTES = ("judge_for_truth", UNLABELLED)  # notes on these as the truth


def require_ids(submission: Submission) -> list[object]:
    """Return the ids (N,) of a submission of confidences; FileError if it has none, InputError if some are repeated."""
    if submission.form != "confidences":
        raise InputError("an audit", "requires_form", forms="confidences", form=submission.form)
    if submission.ids is None:
        raise FileError(submission.file, "no_column", wanted="id")
    match_ids(submission.name, submission.ids, submission.name, submission.ids)  # must be unique
    ids: list[object] = submission.ids.to_pylist()
    return ids


def draw_questions(
    submissions: Sequence[Submission], count: int, seed: int
) -> tuple[set[object], int]:
    """Return the ids of `count` questions, drawn with equal chances from those that are answered; and their number.

    Strata, those of the first system, have their shares. FileError if ids are missing; InputError if those of systems
    differ, or a stratum is too small.
    """
    first = submissions[0]
    every = require_ids(first)
    asked: set[object] = set()
    for one in submissions:
        if set(require_ids(one)) != set(every):
            raise InputError(one.name, "must have the ids of {others}", others=first.name)
        asked |= _list_answers(one).keys()
    strata = first.per_sample.get("strata", [""] * len(every))
    names = {id_: str(stratum) for id_, stratum in zip(every, strata, strict=True) if id_ in asked}
    check_number(count, "answers", 2, len(names), whole=True)
    _, stratum, sizes = np.unique([*names.values()], return_inverse=True, return_counts=True)
    least = math.ceil(2 * len(names) / sizes.min())
    if count < least and len(sizes) > 1:
        rule = "must be at least {least:,}, so that people see two answers of each stratum"
        raise InputError("answers", rule, value=count, least=least)
    ids = list(names)
    return {ids[row] for row in _draw_rows(stratum, count, seed)}, len(ids)


def _draw_rows(stratum: Ints, count: int, seed: int) -> Ints:
    """Return `count` rows, by systematic sampling: of each stratum (N,) its share, up to one row."""
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(stratum))
    order = order[np.argsort(stratum[order], kind="stable")]
    steps = np.arange(len(order) + 1) * count / len(order) + generator.random()
    return np.asarray(order[np.diff(np.floor(steps)) > 0])


def _list_answers(submission: Submission) -> dict[object, int]:
    """Return the row of each answer by its id, without abstentions."""
    silent = submission.per_sample.get("abstained", [0] * len(submission.rows))
    rows = zip(require_ids(submission), silent, strict=True)
    return {id_: row for row, (id_, is_silent) in enumerate(rows) if not is_silent}


def list_answers_to_label(submission: Submission, chosen: set[object]) -> list[dict[str, object]]:
    """Return a line for each answer to the chosen questions: its id, system, and the texts that people may see."""
    columns = _read_texts(submission)
    lines = []
    for id_, row in _list_answers(submission).items():
        if id_ in chosen:
            shown = {name: str(cells[row] or "") for name, cells in columns.items()}
            lines.append({"id": id_, "system": submission.name, **shown})
    return lines


def _read_texts(submission: Submission) -> dict[str, Sequence[object]]:
    """Return by name the columns of texts (N,) without a role, but those named like verdicts; none of a run."""
    recipe = submission.recipe
    if recipe.format == "run":
        return {}
    sheet = read_sheet(recipe.source, rows=recipe.path or None, skip=recipe.skip or None)
    places = np.searchsorted(sheet.rows, submission.rows)
    free = [name for name, _ in recipe.unused if name in sheet.names]
    cells = {name: sheet.column(name) for name in free if not _LEADING.search(name)}
    return {
        name: to_texts(column).take(places).to_pylist()
        for name, column in cells.items()
        if not is_numeric(parse_cells(column).type)
    }


def add_labels(submissions: Sequence[Submission], path: str) -> list[Submission]:
    """Return submissions of a judge's verdicts with the labels of people in a file; FileError if these do not fit."""
    sheet = replace(read_sheet(path), source=path)
    for name in ("id", "correct"):
        if name not in sheet.names:
            raise FileError(path, "no_column", wanted=name)
    correct = read_truths(sheet, "correct")
    is_empty = np.isnan(correct)
    drawn = np.ones(len(correct), np.bool_)
    if "drawn" in sheet.names:
        drawn = read_numbers(sheet, "drawn") == 1
    if (drawn & is_empty).any():
        raise sheet.error(
            "correct",
            "must have a label in each row that was drawn, as those that people leave out are not random; it is empty",
            drawn & is_empty,
        )
    if (~drawn & ~is_empty).any():
        raise sheet.error("correct", "has labels of rows that were not drawn", ~drawn & ~is_empty)
    sheet = sheet.select(drawn)
    names = np.full(len(sheet.rows), "")
    if "system" in sheet.names and len(submissions) > 1:
        names = np.array(to_texts(sheet.column("system")).to_pylist())
    labelled = []
    for one in submissions:
        is_theirs = (names == "") | (names == one.name)
        if not is_theirs.any():
            raise FileError(path, "has no labels of a system", value=one.name, advice=DRAW_TOGETHER)
        labelled.append(_label_submission(one, sheet.select(is_theirs)))
    return labelled


def _label_submission(submission: Submission, sheet: Sheet) -> Submission:
    require_ids(submission)
    ids = to_ids(sheet.column("id"))
    ours: pa.Array = submission.ids
    if ids.type != ours.type:
        ids, ours = to_texts(ids), to_texts(ours)
    places = find_positions(ids, ours)
    repeated = np.bincount(places[places >= 0], minlength=len(ours))[places] > 1
    for rule, wrong in (
        ("must be the ids of answers", places < 0),
        ("must have each id once", repeated),
    ):
        if wrong.any():
            raise sheet.error("id", rule, wrong)
    correct = np.full(len(ours), np.nan)
    correct[places] = read_truths(sheet, "correct")
    verdicts = submission.references.astype(np.float64)
    if submission.unlabelled is not None:
        verdicts[submission.unlabelled.rows] = np.nan
    per_sample = {"judge": verdicts.tolist(), **submission.per_sample}
    if "audit_probability" in sheet.names:
        known = read_numbers(sheet, "audit_probability")
        if (known != known[0]).any():  # else it changes nothing
            probability = np.full(len(ours), np.nan)
            probability[places] = known
            per_sample["audit_probability"] = probability.tolist()
    notes = tuple(note for note in submission.notes if note.id not in _VERDICT_NOTES)
    return replace(
        submission, references=correct, per_sample=per_sample, unlabelled=None, notes=notes
    )
