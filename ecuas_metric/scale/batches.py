"""Batches of rows, a few of which are in memory at a time -> one summary per system; cells are read as in memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..basis import Origin
from ..errors import FileError, InputError, Note
from ..files.arrays import fill_abstentions, find_abstentions, read_predictions
from ..files.cells import read_numbers
from ..files.checks import (
    check_confidences,
    note_other_class,
    refuse_two_scales,
    scale_marks,
)
from ..files.recipe import HEAD, Reading, Recipe, source_column
from ..files.roles import add_nested
from ..files.submissions import (
    UNLABELLED_ADVICE,
    add_location,
    check_arrays,
    check_scale,
    read_truth,
    read_weights,
    resolve_recipe,
    split_by_names,
)
from ..files.values import Sheet
from ..inputs import Array, Bools, Floats, Ints, parse_numbers, posteriors_from_positive
from ..options import Options, is_set
from ..results import prepare_system
from ..summary import Summary, note_unlabelled, summarize_system
from .rows import state_of
from .storage import combine_states, reword_merge_errors

# a rule, and what it means
_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": UNLABELLED_ADVICE["drop"]}
CHUNK = 2**22  # bytes of rows that are scored together
DEFAULT_READING = Reading()
# before the names of columns of groups that an engine adds up
GROUP = "ecuas "
Score = Callable[..., dict[str, Summary]]  # `states_of_batches`, but for the batches


def states_of_batches(
    batches: Iterable[pa.RecordBatch | pa.Table],
    options: Options,
    *,
    name: str = "system",
    prefix: str = "",
    source: str = "batches",
    recipe: Recipe | None = None,
    reading: Reading = DEFAULT_READING,
) -> dict[str, Summary]:
    """Return the summary of each system in batches of rows, a few of which are in memory at a time.

    Batches come from a Parquet file, a DuckDB reader, a stream of `datasets` .. `name` is that of the system if no
    column has one, and `prefix` stands before those that columns have; `source` is what errors call the batches. The
    `recipe` is by default that of the first batch, by what is said in `reading`. FileError names the source, the
    column, the row and the value.
    """
    systems: dict[str, Summary] = {}
    on_scale: dict[str, Ints] = {}
    first = 1
    for table in _chunks(batches):
        recipe = recipe or infer_recipe(table, reading, source=source)
        numbered = np.arange(first, first + len(table))
        sheet = Sheet(add_nested(table, recipe.reading().columns), numbered, source=source)
        sheet = fill_abstentions(sheet, recipe)
        for system, rows in split_systems(sheet, recipe, name, prefix):
            state = _summarize_sheet(rows, recipe, options)
            start, end = rows.rows[[0, -1]].tolist()
            with reword_merge_errors(
                source,
                "rows {first} to {last} do not fit to those before: {reason}",
                first=start,
                last=end,
            ):
                systems = combine_states(systems, {system: state})
            if recipe.scale != 1:
                marks = scale_marks(parse_numbers(read_predictions(rows, recipe), ""))
                on_scale[system] = on_scale.get(system, 0) + marks.sum(axis=1)
        first += len(table)
    if recipe is not None:
        for counts in on_scale.values():
            refuse_two_scales(counts, recipe, source)
    return systems


def run_engine(collect: Callable[[], Any], source: str) -> Any:
    """Return `collect()`, by which an engine computes; FileError, with the first line of its error, if it fails."""
    try:
        return collect()
    except Exception as error:  # each engine has its own
        raise FileError(source, "the job failed: {reason}", reason=first_line(error)) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error message; of a Java error, that of its last cause with a Spark error class."""
    text = str(error)
    cause = getattr(error, "java_exception", None)
    while cause is not None:
        message = cause.getMessage() or cause.toString()
        text = message if message.startswith("[") else text
        cause = cause.getCause()
    return text.split("\n")[0].rstrip(".")


def check_reading(reading: Reading) -> None:
    """Raise InputError if a reading asks for something that only rows in memory allow."""
    if reading.unlabelled not in (None, *_UNLABELLED):
        rules = " or ".join(_UNLABELLED)
        value = reading.unlabelled
        raise InputError(
            "unlabelled",
            "of a state must be {rules}",
            value=value,
            advice=(
                "Bounds need all rows at once: score in memory, or in two runs, "
                "without such answers and as wrong."
            ),
            rules=rules,
        )
    if reading.systems:
        raise InputError(
            "columns", "side_by_side", value=next(iter(reading.systems)), advice="score_in_memory"
        )
    check_scale(reading.scale, reading.correct_from)


def infer_recipe(
    head: pa.Table,
    reading: Reading,
    *,
    source: str,
    rows: int | None = None,
) -> Recipe:
    """Return the recipe that fits the first rows, `head`; FileError if it needs all `rows` in memory."""
    check_reading(reading)
    head = add_nested(head.slice(0, HEAD), reading.columns)
    sheet = Sheet(head, np.arange(1, 1 + len(head)), source=source, format="parquet")
    recipe = resolve_recipe(sheet, reading, rows=len(head) if rows is None else rows)
    sheet = fill_abstentions(sheet, recipe)
    what = _find_unsupported(recipe, head.column_names)
    if what:
        raise FileError(source, "not_read_out_of_core", what=what, advice="score_in_memory")
    if recipe.form == "confidences" and len(head):
        read_truth(sheet, recipe)
        check_confidences(
            sheet, recipe, parse_numbers(read_predictions(sheet, recipe), "predictions")
        )
    return recipe


def _find_unsupported(recipe: Recipe, names: Iterable[str]) -> str:
    """Return, in words, what a recipe needs that is read in memory only; or an empty text."""
    ours = [name for name in names if name.startswith(GROUP)]
    if ours:
        return f"a column called {ours[0]!r}"
    if recipe.form == "predicted":
        return "a predicted and a true class"
    if recipe.of("judge"):
        return "a judge's verdicts"
    return "strata or groups" if recipe.of("stratum") or recipe.of("group") else ""


def list_needed_columns(recipe: Recipe, names: Iterable[str]) -> list[str]:
    """Return the stored columns, of `names`, that a recipe needs, also for complements, fields and joined columns."""
    known = set(names)
    read = [
        *recipe.predictions,
        recipe.truth,
        *recipe.of("abstained"),
        *recipe.of("weight"),
        *recipe.systems,
    ]
    stored = [name if name in known else source_column(name) for name in read]
    parts = [part for name in stored for part in ([name] if name in known else name.split("+"))]
    outer = [name if name in known else name.partition(".")[0] for name in parts]
    return list(dict.fromkeys(outer))


def note_wrong_classes(state: Summary, recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if the decisions of all rows of a system are never wrong, or too often."""
    if is_set(state.options, "cost") or state.classes is None:
        return ()
    return note_other_class(state.wrong, state.samples, recipe, len(state.classes))


def _chunks(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of batches as tables of one schema each, of about `CHUNK` bytes."""
    waiting: list[pa.Table] = []
    for table in map(pa.table, batches):
        if waiting and table.schema != waiting[0].schema:
            yield pa.concat_tables(waiting)
            waiting = []
        if len(table):
            waiting.append(table)
        if sum(one.nbytes for one in waiting) >= CHUNK:  # before the next is there
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def set_part(summary: Summary, sheet: Sheet, recipe: Recipe) -> Summary:
    """Return a summary whose basis names the part of the data that its rows are of, if columns name parts."""
    ((part, _),) = split_by_names(sheet.head(1), recipe.parts)
    return replace(summary, basis=replace(summary.basis, part=part or None))


def split_systems(
    sheet: Sheet,
    recipe: Recipe,
    name: str,
    prefix: str,
) -> Iterator[tuple[str, Sheet]]:
    """Yield the name of each system and the sheet of its rows; `name` is that of all rows if no column has any."""
    for system, rows in split_by_names(sheet, recipe.systems):
        yield f"{prefix}{system}" if recipe.systems else name, rows


def _summarize_sheet(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return the summary of a sheet of one system, with a note on its unlabelled rows."""
    is_costs = recipe.form == "costs"
    truth = read_numbers(sheet, recipe.truth) if is_costs else read_truth(sheet, recipe)
    is_open = np.isnan(truth)
    notes: tuple[Note, ...] = ()
    kept = sheet
    if is_open.any():
        notes = (_note_unlabelled(sheet, is_open, recipe),)
        if recipe.unlabelled == "drop":
            kept = sheet.select(~is_open)
            truth = truth[~is_open]
    if len(truth):
        summary = _summarize_labelled(kept, np.nan_to_num(truth), recipe, options)
    else:
        summary = _empty_summary(sheet, recipe, options)
    return set_part(replace(summary, notes=(*notes, *summary.notes)), sheet, recipe)


def _note_unlabelled(sheet: Sheet, is_open: Bools, recipe: Recipe) -> Note:
    """Return the note on rows without a label, `is_open` (N,); FileError if no rule says how they count."""
    count = int(np.count_nonzero(is_open))
    total = len(is_open)
    rule = recipe.unlabelled
    # an unknown class is not a wrong one
    if rule is None or (rule == "wrong" and recipe.form != "confidences"):
        fields: dict[str, Any] = {"row": int(sheet.rows[is_open][0]), "count": count}
        advice = "count_as_wrong" if recipe.form == "confidences" else "label_or_drop"
        raise sheet.error(recipe.truth, "no_value", total=total, advice=advice, **fields)
    weight = read_weights(sheet, recipe)
    sums = {"weight": float(weight[is_open].sum()), "of_weight": float(weight.sum())}
    return note_unlabelled(count, total, sums, _UNLABELLED[rule])


def _summarize_labelled(sheet: Sheet, truth: Floats, recipe: Recipe, options: Options) -> Summary:
    """Return the summary of a sheet whose rows all have a label, `truth` (N,)."""
    predictions: Array | list[object] = read_predictions(sheet, recipe)
    references: Array = truth
    try:
        if recipe.form != "costs":
            are = options.predictions_are
            predictions, references = check_arrays(
                predictions, truth, sheet, recipe, predictions_are=are
            )
        return state_of(
            _form(recipe),
            predictions,
            references,
            options.replace(abstained=find_abstentions(sheet)),
            sample_weight=read_weights(sheet, recipe) if recipe.of("weight") else None,
            origin=describe_origin(recipe),
        )
    except InputError as error:
        raise add_location(error, recipe, sheet.source, sheet.rows) from None


def _empty_summary(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return a summary of no rows, of the form that the sheet has."""
    none = parse_numbers(read_predictions(sheet.head(1), recipe), "predictions")[:0]
    if recipe.form == "positive":
        none = posteriors_from_positive(none)
    system = prepare_system(_form(recipe), none, np.empty(0, np.int64), options, sort=False)
    return summarize_system(
        replace(system, origin=describe_origin(recipe)),
        sample_weight=np.empty(0) if recipe.of("weight") else None,
    )


def describe_origin(recipe: Recipe) -> Origin:
    """Return the columns and rules by which rows are read, for the basis of their numbers."""
    return Origin(
        recipe=recipe.digest(),
        reading=recipe.rules(),
        unlabelled=recipe.unlabelled,
    )


def _form(recipe: Recipe) -> str:
    return "posteriors" if recipe.form == "positive" else recipe.form
