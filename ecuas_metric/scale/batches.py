"""Arrow batches of rows -> one summary per system: the way of all forms that no expression of an engine takes.

Their values are read by the functions that read a file in memory, a few batches at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..basis import Origin
from ..errors import UNLABELLED, FileError, InputError, Note
from ..files.cells import numbers_in, row_of_numbers
from ..files.evidence import (
    MAX_SYSTEMS,
    are_mixed,
    note_other_class,
    recipe_of,
    refuse_rating,
    scale_counts,
)
from ..files.recipe import HEAD, Reading, Recipe, complement_of
from ..files.roles import with_nested
from ..files.submissions import (
    MEANING,
    advised,
    check_numbers,
    checked,
    located,
    systems_in,
    truth_in,
    values_in,
)
from ..files.values import Sheet, first_of
from ..inputs import Array, Bools, Floats, Ints, numbers
from ..options import Options, is_set
from ..summary import Summary, merge
from .rows import empty_state, state_of, state_of_counts, why_not_merged

# a rule, and what it means
_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": MEANING["drop"]}
_AGGREGATED = ("costs", "counts")  # which memory does not read
CHUNK = 2**22  # bytes of rows that are scored together
WAITING = 4
AS_SAID = Reading()


@dataclass(slots=True)
class _Parts:
    """The summaries of the rows of a system so far, and where its confidences lie on their scale."""

    states: list[Summary] = field(default_factory=list)
    on_scale: Ints = field(default_factory=lambda: np.zeros(4, np.int64))

    def add(self, state: Summary, source: str, rows: Ints) -> None:
        """Add a summary of some rows; FileError if they do not fit to those before."""
        reason = why_not_merged(self.states[0], state) if self.states else ""
        if reason:
            raise FileError(
                source,
                "rows_do_not_fit",
                first=int(rows[0]),
                last=int(rows[-1]),
                reason=reason,
            )
        self.states.append(state)
        if len(self.states) > WAITING:  # each merge goes through all groups
            self.states = [merge(self.states)]


def states_of_batches(
    batches: Iterable[pa.RecordBatch | pa.Table],
    options: Options,
    *,
    name: str = "system",
    prefix: str = "",
    source: str = "batches",
    first: int = 1,
    recipe: Recipe | None = None,
    reading: Reading = AS_SAID,
) -> dict[str, Summary]:
    """Return the summary of each system in batches of rows, a few of which are in memory at a time.

    Batches come from a Parquet file, a DuckDB reader, a stream of `datasets` .. `name` is that of the system if no
    column has one, and `prefix` stands before those that columns have; `source` is what errors call the batches, and
    `first` the number of the first row. The `recipe` is by default that of the first batch, by what is said in
    `reading`. FileError names the source, the column, the row and the value.
    """
    systems: dict[str, _Parts] = {}
    for table in _chunks(batches):
        recipe = recipe or recipe_of_rows(table, reading, source=source, first=first)
        sheet = _sheet(table, recipe, source, first)
        for system, rows in _systems(sheet, recipe, name, prefix):
            parts = systems.setdefault(system, _Parts())
            parts.add(_state(rows, recipe, options), source, rows.rows)
            if recipe.scale != 1:
                parts.on_scale = parts.on_scale + scale_counts(numbers(values_in(rows, recipe), ""))
        if len(systems) > MAX_SYSTEMS and recipe is not None:
            count = len(systems)
            columns = "+".join(recipe.systems)
            raise FileError(
                source,
                "too_many_systems",
                column=columns,
                value=count,
                got=f"{count:,}",
                most=MAX_SYSTEMS,
            )
        first += len(table)
    for parts in systems.values():
        require_one_scale(parts.on_scale, recipe, source)
    return {system: merge(parts.states) for system, parts in systems.items()}


def collected(collect: Callable[[], Any], source: str) -> Any:
    """Return what an engine computes; FileError, with the first line that it says, if it fails."""
    try:
        return collect()
    except Exception as error:  # each engine has its own
        raise FileError(source, "job_failed", reason=first_line(error)) from error


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).split("\n")[0].rstrip(".")


def check_reading(reading: Reading) -> None:
    """Raise InputError if rows cannot be read so."""
    if reading.unlabelled not in (None, *_UNLABELLED):
        rules = " or ".join(_UNLABELLED)
        value = reading.unlabelled
        raise InputError(
            "unlabelled", "not_of_a_state", value=value, advice="score_in_two_runs", rules=rules
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
    first: int = 1,
) -> Recipe:
    """Return how rows are read, by the first of them; FileError if that needs all of them in memory."""
    check_reading(reading)
    head = with_nested(head.slice(0, HEAD), reading.columns)
    sheet = Sheet(
        head,
        np.arange(first, first + len(head)),
        source=source,
        format="parquet",
    )
    recipe = recipe_of(sheet, reading, rows=len(head) if rows is None else rows)
    what = ""
    if recipe.form == "predicted":
        what = "a predicted and a true class"
    elif recipe.of("stratum") or recipe.of("group"):
        what = "strata or groups"
    elif recipe.form == "counts" and recipe.of("weight"):
        raise FileError(source, "counts_are_weights", column=recipe.of("weight")[0])
    if what:
        raise FileError(source, "not_read_out_of_core", what=what, advice="score_in_memory")
    if recipe.form == "confidences" and len(head):
        truth_in(sheet, recipe)
        refuse_rating(sheet, recipe, numbers(values_in(sheet, recipe), "predictions"))
    return recipe


def columns_read(recipe: Recipe, names: Iterable[str]) -> list[str]:
    """Return which of the columns are read: also those of which a complement, or a field, is."""
    known = set(names)
    read = [
        *recipe.predictions,
        recipe.truth,
        *recipe.of("weight"),
        *recipe.of("count"),
        *recipe.systems,
    ]
    stored = [name if name in known else complement_of(name) or name for name in read]
    return list(dict.fromkeys(name if name in known else name.partition(".")[0] for name in stored))


def kept_rows(
    truth: Floats, recipe: Recipe, file: str, rows: Ints, copies: Floats | None = None
) -> tuple[Bools, tuple[Note, ...]]:
    """Return which rows (N,) count, and a note on those without a label; FileError if no rule says what they are.

    Each row stands for as many as `copies` (N,) says, whose numbers are not known.
    """
    is_open = np.isnan(truth)
    every = np.ones(len(truth), np.bool_)
    if not is_open.any():
        return every, ()
    counts = every if copies is None else copies
    count = int(counts[is_open].sum())
    total = int(counts.sum())
    rule = recipe.unlabelled
    # an unknown class is not a wrong one
    if rule is None or (rule == "wrong" and recipe.form != "confidences"):
        row = int(rows[np.argmax(is_open)]) if copies is None else None
        error = FileError(
            file,
            "no_value",
            column=recipe.truth,
            row=row,
            count=count,
            total=total,
        )
        error.advice = "count_as_wrong" if recipe.form == "confidences" else ""
        raise error
    fields = {
        "count": count,
        "total": total,
        "share": count / total,
        "by_weight": "",
    }
    return ~is_open if rule == "drop" else every, (
        Note(
            UNLABELLED,
            fields,
            _UNLABELLED[rule],
        ),
    )


def require_one_scale(on_scale: Ints, recipe: Recipe | None, source: str) -> None:
    """Raise FileError if some confidences, by their `scale_counts`, look divided already."""
    if recipe is None:
        return
    if are_mixed(on_scale, recipe.scale):
        column = "+".join(recipe.predictions)
        size, within = on_scale[:2].tolist()
        raise FileError(
            source,
            "several_scales",
            column=column,
            advice="write_in_one_scale",
            within=within,
            size=size,
        )


def note_on_class(state: Summary, recipe: Recipe) -> tuple[Note, ...]:
    """Return a note if the probabilities of a system seem to be of the other class, by all its rows."""
    if is_set(state.options, "cost"):
        return ()
    return note_other_class(state.wrong, state.samples, recipe)


def origin_of(recipe: Recipe) -> Origin:
    """Return by which columns and rules rows are read: numbers of other ones are not theirs."""
    return Origin(
        recipe=recipe.digest(),
        reading=recipe.rules(),
        unlabelled=recipe.unlabelled,
    )


def _chunks(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of about CHUNK bytes."""
    waiting: list[pa.Table] = []
    for batch in batches:
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        if waiting and table.schema != waiting[0].schema:
            yield pa.concat_tables(waiting)
            waiting = []
        if len(table):
            waiting.append(table)
        if sum(table.nbytes for table in waiting) >= CHUNK:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _sheet(
    table: pa.Table,
    recipe: Recipe,
    source: str,
    first: int,
) -> Sheet:
    table = with_nested(table, recipe.reading().columns)
    return Sheet(
        table,
        np.arange(first, first + len(table)),
        source=source,
    )


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


def _state(sheet: Sheet, recipe: Recipe, options: Options) -> Summary:
    """Return the summary of the rows of a system."""
    truth = (
        numbers_in(sheet, recipe.truth) if recipe.form in _AGGREGATED else truth_in(sheet, recipe)
    )
    kept, notes = kept_rows(truth, recipe, sheet.source, sheet.rows)
    if kept.all():
        summary = _summarized(sheet, truth, recipe, options)
    elif kept.any():
        summary = _summarized(sheet.select(kept), truth[kept], recipe, options)
    else:
        summary = empty_of(
            recipe, options.replace(num_classes=_num_classes(sheet, recipe) or options.num_classes)
        )
    return replace(summary, notes=(*notes, *summary.notes))


def _summarized(
    sheet: Sheet,
    truth: Floats,
    recipe: Recipe,
    options: Options,
) -> Summary:
    """Return the summary of rows that count; where nothing says whether they are right, they are wrong."""
    values = values_in(sheet, recipe)
    references: Array = np.where(np.isnan(truth), 0.0, truth)
    predictions: Array | list[object] = values
    weight = _column(sheet, "weight", recipe)
    origin = origin_of(recipe)
    try:
        if recipe.form == "counts":
            count = _column(sheet, "count", recipe)
            return state_of_counts(values, count, references, options, origin=origin)
        if recipe.form not in _AGGREGATED:
            are = options.predictions_are
            predictions, references = checked(
                values, references, sheet, recipe, predictions_are=are
            )
        return state_of(
            _form(recipe),
            predictions,
            references,
            options,
            sample_weight=weight,
            origin=origin,
        )
    except InputError as error:
        raise advised(
            located(error, recipe, sheet.source, sheet.rows),
            values,
            references,
            recipe.form,
        ) from None


def empty_of(recipe: Recipe, options: Options) -> Summary:
    """Return the summary of no rows."""
    return empty_state(
        _form(recipe),
        options,
        is_weighted=bool(recipe.of("weight")),
        origin=origin_of(recipe),
    )


def _form(recipe: Recipe) -> str:
    return "posteriors" if recipe.form == "positive" else recipe.form


def _column(sheet: Sheet, role: str, recipe: Recipe) -> Floats | None:
    """Return the numbers (N,) of the column of a role, if there is one."""
    names = recipe.of(role)
    return numbers_in(sheet, names[0]) if names else None


def _num_classes(sheet: Sheet, recipe: Recipe) -> int | None:
    """Return K of posteriors; None of other forms."""
    if recipe.form == "positive":
        return 2
    if recipe.form != "posteriors":
        return None
    cells = row_of_numbers(first_of(sheet.table, recipe.predictions[0]))
    return len(cells) if isinstance(cells, list) else len(recipe.predictions)
