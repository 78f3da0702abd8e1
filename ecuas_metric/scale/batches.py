"""Tables of rows -> one summary per system: the way of all forms of input, whose cells are read as in memory.

A few tables are in memory at a time. A row may also be a group of rows that an engine added up, in columns of ours.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..basis import Origin
from ..errors import FileError, InputError, Note
from ..files.arrays import abstained_in, values_in, with_abstentions
from ..files.cells import numbers_in
from ..files.checks import (
    check_confidences,
    note_other_class,
    refuse_two_scales,
    scale_marks,
)
from ..files.recipe import HEAD, Reading, Recipe, column_in, on_unit_scale
from ..files.roles import with_nested
from ..files.submissions import (
    MEANING,
    check_numbers,
    checked,
    located,
    recipe_of,
    systems_in,
    truth_in,
)
from ..files.values import Sheet, from_numpy
from ..groups import SUMS, Groups
from ..inputs import Array, Bools, Floats, Ints, clip, fill_missing, numbers, require, stacked
from ..options import Options, is_set
from ..results import prepare
from ..summary import Summary, note_unlabelled, summary_of, with_groups
from .rows import state_of
from .storage import added_up, fitting

# a rule, and what it means
_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": MEANING["drop"]}
CHUNK = 2**24  # bytes of rows that are scored together
AS_SAID = Reading()
# before the names of the columns of groups: y, the correctness of their rows; count; low and high, the ends of their
# confidences; wu, the sum of their weighted uncertainties; and of weights the lightest, and the sums w, w2 and w4
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
    reading: Reading = AS_SAID,
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
        recipe = recipe or recipe_of_rows(table, reading, source=source)
        numbered = np.arange(first, first + len(table))
        sheet = Sheet(with_nested(table, recipe.reading().columns), numbered, source=source)
        sheet = with_abstentions(sheet, recipe)
        for system, rows in _systems(sheet, recipe, name, prefix):
            counted = _counted(rows, recipe)
            state = _state(counted, recipe, options, part=_find_part(rows, recipe))
            start, end = rows.rows[[0, -1]].tolist()
            with fitting(
                source,
                "rows {first} to {last} do not fit to those before: {reason}",
                first=start,
                last=end,
            ):
                systems = added_up(systems, {system: state})
            if recipe.scale != 1:
                values = numbers(_read_predictions(counted, recipe), "")
                copies = _group_column(counted, "count")
                marks = scale_marks(values) * (1 if copies is None else copies)
                on_scale[system] = on_scale.get(system, 0) + marks.sum(axis=1)
        first += len(table)
    if recipe is not None:
        for counts in on_scale.values():
            refuse_two_scales(counts, recipe, source)
    return systems


def collected(collect: Callable[[], Any], source: str) -> Any:
    """Return what an engine computes; FileError, with the first line that it says, if it fails."""
    try:
        return collect()
    except Exception as error:  # each engine has its own
        raise FileError(source, "the job failed: {reason}", reason=first_line(error)) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error message; of a Java error, that of its last cause with a Spark error class."""
    said = str(error)
    cause = getattr(error, "java_exception", None)
    while cause is not None:
        message = cause.getMessage() or cause.toString()
        said = message if message.startswith("[") else said
        cause = cause.getCause()
    return said.split("\n")[0].rstrip(".")


def check_reading(reading: Reading) -> None:
    """Raise InputError if rows cannot be read so."""
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
    check_numbers(reading.scale, reading.correct_from)


def recipe_of_rows(
    head: pa.Table,
    reading: Reading,
    *,
    source: str,
    rows: int | None = None,
) -> Recipe:
    """Return how rows are read, by the first of them; FileError if that needs all of them in memory."""
    check_reading(reading)
    head = with_nested(head.slice(0, HEAD), reading.columns)
    sheet = Sheet(head, np.arange(1, 1 + len(head)), source=source, format="parquet")
    recipe = recipe_of(sheet, reading, rows=len(head) if rows is None else rows)
    sheet = with_abstentions(sheet, recipe)
    what = _not_read(recipe, head.column_names)
    if what:
        raise FileError(source, "not_read_out_of_core", what=what, advice="score_in_memory")
    if recipe.form == "counts" and recipe.of("weight"):
        raise FileError(source, "has counts, which are the weights", column=recipe.of("weight")[0])
    if recipe.form == "confidences" and len(head):
        truth_in(sheet, recipe)
        check_confidences(sheet, recipe, numbers(values_in(sheet, recipe), "predictions"))
    return recipe


def _not_read(recipe: Recipe, names: Iterable[str]) -> str:
    """Return what rows have that is read in memory only, or nothing."""
    ours = [name for name in names if name.startswith(GROUP)]
    if ours:
        return f"a column called {ours[0]!r}"
    if recipe.form == "predicted":
        return "a predicted and a true class"
    if recipe.of("judge"):
        return "a judge's verdicts"
    return "strata or groups" if recipe.of("stratum") or recipe.of("group") else ""


def columns_read(recipe: Recipe, names: Iterable[str]) -> list[str]:
    """Return the stored columns that a recipe needs, resolving complements, fields of structs, and joined columns."""
    known = set(names)
    read = [
        *recipe.predictions,
        recipe.truth,
        *recipe.of("abstained"),
        *recipe.of("weight"),
        *recipe.of("count"),
        *recipe.systems,
    ]
    stored = [name if name in known else column_in(name) for name in read]
    parts = [part for name in stored for part in ([name] if name in known else name.split("+"))]
    outer = [name if name in known else name.partition(".")[0] for name in parts]
    return list(dict.fromkeys(outer))


def note_on_class(state: Summary, recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if the classes of a system are never wrong, or too often, by all its rows."""
    if is_set(state.options, "cost") or state.classes is None:
        return ()
    return note_other_class(state.wrong, state.samples, recipe, len(state.classes))


def _chunks(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of about CHUNK bytes."""
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


def _systems(
    sheet: Sheet,
    recipe: Recipe,
    name: str,
    prefix: str,
) -> Iterator[tuple[str, Sheet]]:
    """Yield the name of each system, and its rows."""
    if not recipe.systems:
        yield name, sheet
        return
    names, codes = systems_in(sheet, recipe.systems)
    for code, system in enumerate(names):
        yield f"{prefix}{system}", sheet.select(codes == code)


def _counted(sheet: Sheet, recipe: Recipe) -> Sheet:
    """Return each row of counts as two groups, its right and its wrong answers; rows of other forms stay."""
    if recipe.form != "counts":
        return sheet
    count = numbers_in(sheet, recipe.of("count")[0])
    cells = numbers_in(sheet, recipe.truth)
    is_open = np.isnan(cells)
    wrong = np.where(is_open, 0.0, cells)
    try:
        for name, values in {"count": count, "wrong": wrong}.items():
            is_whole = (values >= 0) & (values % 1 == 0)
            require(is_whole, values, name, "must be whole numbers >= 0")
        require(wrong <= count, wrong, "wrong", "must be at most the count")
    except InputError as error:
        raise located(error, recipe, sheet.source, sheet.rows) from None
    columns = {
        "y": np.append(np.where(is_open, np.nan, 1.0), np.zeros(len(wrong))),
        "count": np.append(count - wrong, wrong),
    }
    table = pa.concat_tables([sheet.table, sheet.table])
    for name, values in columns.items():
        table = table.append_column(GROUP + name, from_numpy(values))
    both = replace(sheet, table=table, rows=np.tile(sheet.rows, 2))
    return both.select(columns["count"] > 0)


def _state(sheet: Sheet, recipe: Recipe, options: Options, *, part: str | None) -> Summary:
    """Return the summary of the rows of a system."""
    truth = _read_truth(sheet, recipe)
    is_open = np.isnan(truth)
    notes: tuple[Note, ...] = ()
    kept = sheet
    if is_open.any():
        notes = (_note_unlabelled(sheet, is_open, recipe),)
        if recipe.unlabelled == "drop":
            kept = sheet.select(~is_open)
            truth = truth[~is_open]
    if len(truth):
        summary = _summarized(kept, truth, recipe, options)
    else:
        summary = _empty(sheet, recipe, options)
    basis = replace(summary.basis, part=part)
    return replace(summary, basis=basis, notes=(*notes, *summary.notes))


def _find_part(sheet: Sheet, recipe: Recipe) -> str | None:
    """Return the part of the data that the rows of a system are of, if columns name parts."""
    if not recipe.parts:
        return None
    (part,), _ = systems_in(sheet.head(1), recipe.parts)
    return part


def _read_truth(sheet: Sheet, recipe: Recipe) -> Floats:
    """Return correctness, classes or costs (N,), NaN where there is none."""
    of_groups = _group_column(sheet, "y")
    if of_groups is not None:
        return of_groups
    if recipe.form == "costs":
        return numbers_in(sheet, recipe.truth)
    return truth_in(sheet, recipe)


def _read_predictions(sheet: Sheet, recipe: Recipe) -> Array | list[object]:
    """Return what is predicted (N,) or (N, K); of a group the end that is out of range if one is."""
    low = _group_column(sheet, "low")
    high = _group_column(sheet, "high")
    if low is None or high is None:
        return values_in(sheet, recipe)
    return np.where(on_unit_scale(high, recipe.scale) > 1, high, low)


def _note_unlabelled(sheet: Sheet, is_open: Bools, recipe: Recipe) -> Note:
    """Return the note on rows (N,) without a label; FileError if no rule says what they are."""
    copies = _group_column(sheet, "count")
    counts = np.ones(len(is_open)) if copies is None else copies
    count = int(counts[is_open].sum())
    total = int(counts.sum())
    rule = recipe.unlabelled
    # an unknown class is not a wrong one
    if rule is None or (rule == "wrong" and recipe.form != "confidences"):
        fields: dict[str, Any] = {"row": int(sheet.rows[is_open][0]), "count": count}
        advice = "count_as_wrong" if recipe.form == "confidences" else "label_or_drop"
        raise sheet.error(recipe.truth, "no_value", total=total, advice=advice, **fields)
    weights = (_group_column(sheet, "w"), _read_weights(sheet, recipe), counts)
    weight = next(one for one in weights if one is not None)  # of all rows that each row stands for
    of_open = float(weight[is_open].sum())
    sums = {"weight": of_open, "of_weight": float(weight.sum())}
    return note_unlabelled(count, total, sums, _UNLABELLED[rule])


def _summarized(
    sheet: Sheet,
    truth: Floats,
    recipe: Recipe,
    options: Options,
) -> Summary:
    """Return the summary of rows that count; where nothing says whether they are right, they are wrong."""
    values = _read_predictions(sheet, recipe)
    references: Array = np.where(np.isnan(truth), 0.0, truth)
    predictions: Array | list[object] = values
    copies = _group_column(sheet, "count")
    try:
        if recipe.form != "costs":
            are = options.predictions_are
            predictions, references = checked(
                values, references, sheet, recipe, predictions_are=are
            )
        summary = state_of(
            _form(recipe),
            predictions,
            references,
            options.replace(abstained=abstained_in(sheet)),
            sample_weight=_read_weights(sheet, recipe),
            copies=copies,
            origin=_describe_origin(recipe),
        )
    except InputError as error:
        found = located(error, recipe, sheet.source, sheet.rows)
        if copies is not None:
            found.count = found.total = None  # of groups
        raise found from None
    if GROUP + "low" not in sheet.names:
        return summary
    return with_groups(summary, _groups(sheet, references, recipe, options))


def _groups(sheet: Sheet, correct: Array, recipe: Recipe, options: Options) -> Groups:
    """Return groups of rows as those of a summary; costs are 0 or 1."""
    column = {
        name.removeprefix(GROUP): numbers_in(sheet, name)
        for name in sheet.names
        if name.startswith(GROUP)
    }
    low = _repaired(column["low"], recipe, options)
    high = _repaired(column["high"], recipe, options)
    wrong = 1 - correct
    w = column.get("w", column["count"])
    w2 = column.get("w2", w)
    w4 = column.get("w4", w)
    wu = np.where(low == high, w * (1 - low), column["wu"])
    sums = (w, w * wrong, w2, w2 * wrong, w2 * wrong, w4, wu, wu * wrong)
    counted = w > 0
    by_name = {name: values[counted] for name, values in zip(SUMS, sums, strict=True)}
    ones = np.ones(np.count_nonzero(counted))
    return Groups(rank=0.0 - high[counted], high=0.0 - low[counted], next_cost=ones, **by_name)


def _repaired(cells: Floats, recipe: Recipe, options: Options) -> Floats:
    """Return confidences as a system has them."""
    clipped, _ = clip(on_unit_scale(cells, recipe.scale))
    return fill_missing(clipped, missing_confidence=options.missing_confidence)[0]


def _empty(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return a summary without rows, of the form that the sheet has."""
    none = numbers(_read_predictions(sheet.head(1), recipe), "predictions")[:0]
    if recipe.form == "positive":
        none = stacked(none)
    system = prepare(_form(recipe), none, np.empty(0, np.int64), options, rank=False)
    return summary_of(
        replace(system, origin=_describe_origin(recipe)),
        sample_weight=np.empty(0) if recipe.of("weight") else None,
    )


def _describe_origin(recipe: Recipe) -> Origin:
    """Return the columns and rules by which rows are read, for the basis of their numbers."""
    return Origin(
        recipe=recipe.digest(),
        reading=recipe.rules(),
        unlabelled=recipe.unlabelled,
    )


def _form(recipe: Recipe) -> str:
    return {"positive": "posteriors", "counts": "confidences"}.get(recipe.form, recipe.form)


def _read_weights(sheet: Sheet, recipe: Recipe) -> Floats | None:
    """Return weights (N,), of a group the lightest, if there are any."""
    if not recipe.of("weight"):
        return None
    lightest = _group_column(sheet, "lightest")
    return numbers_in(sheet, recipe.of("weight")[0]) if lightest is None else lightest


def _group_column(sheet: Sheet, name: str) -> Floats | None:
    """Return a column (N,) that rows have if they are groups of rows."""
    return numbers_in(sheet, GROUP + name) if GROUP + name in sheet.names else None
