"""Tables of rows -> one summary per system: the way of all forms of input, whose cells are read as in memory.

A few tables are in memory at a time. A row may also be a group of rows that an engine added up, in columns of ours.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..basis import Origin
from ..costs import are_above_maximum
from ..errors import FileError, InputError, Note
from ..files.arrays import fill_abstentions, find_abstentions, read_predictions
from ..files.cells import read_numbers
from ..files.checks import (
    check_confidences,
    note_other_class,
    refuse_two_scales,
    scale_marks,
)
from ..files.recipe import HEAD, Reading, Recipe, on_unit_scale, source_column
from ..files.roles import add_nested
from ..files.submissions import (
    UNLABELLED_ADVICE,
    add_location,
    check_arrays,
    check_scale,
    read_systems,
    read_truth,
    resolve_recipe,
)
from ..files.values import Sheet
from ..groups import SUMS, Groups
from ..inputs import (
    Array,
    Bools,
    Floats,
    Ints,
    clip,
    fill_missing,
    numbers,
    posteriors_from_positive,
)
from ..options import Options, is_set
from ..results import prepare
from ..summary import Summary, note_unlabelled, summary_of, with_groups
from .rows import state_of
from .storage import added_up, fitting

# a rule, and what it means
_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": UNLABELLED_ADVICE["drop"]}
CHUNK = 2**24  # bytes of rows that are scored together
AS_SAID = Reading()
# before the names of further columns of groups: count; low and high, the ends of their confidences; wu, the sum of
# their weighted uncertainties; and the sums of weights w, w2 and w4
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
        sheet = Sheet(add_nested(table, recipe.reading().columns), numbered, source=source)
        sheet = fill_abstentions(sheet, recipe)
        for system, rows in _systems(sheet, recipe, name, prefix):
            state = _state(rows, recipe, options)
            start, end = rows.rows[[0, -1]].tolist()
            with fitting(
                source,
                "rows {first} to {last} do not fit to those before: {reason}",
                first=start,
                last=end,
            ):
                systems = added_up(systems, {system: state})
            if recipe.scale != 1:
                marks = scale_marks(numbers(read_predictions(rows, recipe), "")) * _count(rows)
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
    check_scale(reading.scale, reading.correct_from)


def recipe_of_rows(
    head: pa.Table,
    reading: Reading,
    *,
    source: str,
    rows: int | None = None,
) -> Recipe:
    """Return how rows are read, by the first of them; FileError if that needs all of them in memory."""
    check_reading(reading)
    head = add_nested(head.slice(0, HEAD), reading.columns)
    sheet = Sheet(head, np.arange(1, 1 + len(head)), source=source, format="parquet")
    recipe = resolve_recipe(sheet, reading, rows=len(head) if rows is None else rows)
    sheet = fill_abstentions(sheet, recipe)
    what = _not_read(recipe, head.column_names)
    if what:
        raise FileError(source, "not_read_out_of_core", what=what, advice="score_in_memory")
    if recipe.form == "confidences" and len(head):
        read_truth(sheet, recipe)
        check_confidences(sheet, recipe, numbers(read_predictions(sheet, recipe), "predictions"))
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
        *recipe.systems,
    ]
    stored = [name if name in known else source_column(name) for name in read]
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
    names, codes = read_systems(sheet, recipe.systems)
    for code, system in enumerate(names):
        yield f"{prefix}{system}", sheet.select(codes == code)


def _state(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return the summary of the rows of a system."""
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
        summary = _summarized(kept, np.nan_to_num(truth), recipe, options)
    else:
        summary = _empty(sheet, recipe, options)
    basis = summary.basis
    if recipe.parts:
        (part,), _ = read_systems(sheet.head(1), recipe.parts)
        basis = replace(basis, part=part)
    return replace(summary, basis=basis, notes=(*notes, *summary.notes))


def _note_unlabelled(sheet: Sheet, is_open: Bools, recipe: Recipe) -> Note:
    """Return the note on rows (N,) without a label; FileError if no rule says what they are."""
    counts = _count(sheet)
    count = int(counts[is_open].sum())
    total = int(counts.sum())
    rule = recipe.unlabelled
    # an unknown class is not a wrong one
    if rule is None or (rule == "wrong" and recipe.form != "confidences"):
        fields: dict[str, Any] = {"row": int(sheet.rows[is_open][0]), "count": count}
        advice = "count_as_wrong" if recipe.form == "confidences" else "label_or_drop"
        raise sheet.error(recipe.truth, "no_value", total=total, advice=advice, **fields)
    weight = _weight(sheet, recipe, of_all=True)
    weight = counts if weight is None else weight
    sums = {"weight": float(weight[is_open].sum()), "of_weight": float(weight.sum())}
    return note_unlabelled(count, total, sums, _UNLABELLED[rule])


def _summarized(sheet: Sheet, truth: Floats, recipe: Recipe, options: Options) -> Summary:
    """Return the summary of rows that count."""
    predictions: Array | list[object] = read_predictions(sheet, recipe)
    references: Array = truth
    try:
        if recipe.form != "costs":
            are = options.predictions_are
            predictions, references = check_arrays(
                predictions, truth, sheet, recipe, predictions_are=are
            )
        summary = state_of(
            _form(recipe),
            predictions,
            references,
            options.replace(abstained=find_abstentions(sheet)),
            sample_weight=_weight(sheet, recipe),
            origin=_describe_origin(recipe),
        )
    except InputError as error:
        found = add_location(error, recipe, sheet.source, sheet.rows)
        if _is_of_groups(sheet):
            found.count = found.total = None
        raise found from None
    if _is_of_groups(sheet):
        return _of_groups(summary, sheet, np.asarray(predictions), references, recipe)
    return summary


def _empty(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return a summary without rows, of the form that the sheet has."""
    none = numbers(read_predictions(sheet.head(1), recipe), "predictions")[:0]
    if recipe.form == "positive":
        none = posteriors_from_positive(none)
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
    return "posteriors" if recipe.form == "positive" else recipe.form


def _weight(sheet: Sheet, recipe: Recipe, *, of_all: bool = False) -> Floats | None:
    """Return weights (N,), if there are any: of each row, or of all rows of a group."""
    if not recipe.of("weight"):
        return None
    is_sum = of_all and _is_of_groups(sheet)
    return read_numbers(sheet, GROUP + "w" if is_sum else recipe.of("weight")[0])


# ---- rows that an engine added up: one of each group stands for it -------------------------------------------------


def _is_of_groups(sheet: Sheet) -> bool:
    return GROUP + "count" in sheet.names


def _count(sheet: Sheet) -> Floats:
    """Return how many rows each is (N,): one, or those of a group."""
    return (
        read_numbers(sheet, GROUP + "count") if _is_of_groups(sheet) else np.ones(len(sheet.rows))
    )


def _of_groups(
    summary: Summary, sheet: Sheet, confidence: Array, correct: Array, recipe: Recipe
) -> Summary:
    """Return the summary of all rows of groups, from that of one row of each."""
    column = {
        name.removeprefix(GROUP): read_numbers(sheet, name)
        for name in sheet.names
        if name.startswith(GROUP)
    }
    low, high, own = (
        _repaired(cells, summary.options)
        for cells in (
            on_unit_scale(column["low"], recipe.scale),
            on_unit_scale(column["high"], recipe.scale),
            confidence,
        )
    )
    wrong = 1 - correct
    count = column["count"]
    w = column.get("w", count)
    w2 = column.get("w2", w)
    w4 = column.get("w4", w)
    wu = np.where(low == high, w * (1 - low), column["wu"])
    sums = (w, w * wrong, w2, w2 * wrong, w2 * wrong, w4, wu, wu * wrong)
    has_weight = w > 0
    by_name = {name: values[has_weight] for name, values in zip(SUMS, sums, strict=True)}
    ends = {"rank": 0.0 - high[has_weight], "high": 0.0 - low[has_weight]}
    groups = Groups(**ends, next_cost=np.ones(np.count_nonzero(has_weight)), **by_name)
    marked = {
        "missing": np.isnan(confidence),
        "clipped": (confidence < 0) | (confidence > 1),
        "above_max_uncertainty": are_above_maximum(1 - own, summary.none.max_uncertainty),
    }
    rows = int(count.sum())
    of_all = replace(
        summary,
        basis=replace(summary.basis, num_samples=rows),
        rows=rows,
        samples=int(count[has_weight].sum()),
        wrong=int(count[has_weight & (wrong > 0)].sum()),
        notes=tuple(_recounted(note, count, marked) for note in summary.notes),
    )
    return with_groups(of_all, groups)


def _repaired(confidence: Floats, options: Options) -> Floats:
    """Return confidences as a system has them."""
    clipped, _ = clip(confidence)
    return fill_missing(clipped, missing_confidence=options.missing_confidence)[0]


def _recounted(note: Note, counts: Floats, marked: Mapping[str, Bools]) -> Note:
    """Return a note on some groups with how many rows they have."""
    if note.id not in marked:
        return note
    count = int(counts[marked[note.id]].sum())
    total = int(counts.sum())
    fields = {**note.fields, "count": count, "total": total}
    if "share" in fields:
        fields["share"] = count / total
    return replace(note, fields=fields)
