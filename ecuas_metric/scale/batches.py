"""Arrow batches of rows -> one summary per system: what every engine calls on the part of the data that it has."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ..basis import Origin, Purpose, why_not_comparable
from ..errors import FileError, InputError, Note
from ..files.evidence import MAX_SYSTEMS, are_mixed, check_columns, scale_counts
from ..files.recipe import HEAD, Reading, Recipe, limits_of
from ..files.roles import resolve
from ..files.submissions import MEANING, Source, advised, check_numbers, systems_in
from ..files.values import Sheet, floats_in, is_numeric, plain
from ..inputs import Bools, Floats, Ints, confidences, stacked
from ..options import Options
from ..summary import Summary, merge
from .rows import empty_state, state_of, state_of_counts

_UNLABELLED = {"wrong": "unlabelled_without_bounds", "drop": MEANING["drop"]}  # a rule, and what it means
CHUNK = 2**22  # bytes of rows that are scored together
WAITING = 4


class RowOptions(TypedDict, total=False):
    """How rows are read: the roles of `columns` whose names do not say them, see `files.recipe.resolve`."""

    columns: Mapping[str, str] | None
    unlabelled: str | None  # of rows without correctness, else an error: "wrong" counts them so, "drop" leaves them out
    scale: float | str  # what 1 is, or "LOW:HIGH"
    correct_from: float | None  # the lowest right grade


def states_of_batches(
    batches: Iterable[pa.RecordBatch | pa.Table],
    options: Options,
    *,
    name: str = "system",
    prefix: str = "",
    source: str = "batches",
    first: int = 1,
    recipe: Recipe | None = None,
    **reading: Unpack[RowOptions],
) -> dict[str, Summary]:
    """Return the state of each system in batches of rows, a few of which are in memory at a time.

    Batches come from a Parquet file, a DuckDB reader, a stream of `datasets` .. `name` is that of the system if no
    column has one, and `prefix` stands before those that columns have; `source` is what errors call the batches, and
    `first` the number of the first row. The `recipe` is by default that of the first batch. For `reading` see
    `RowOptions`. FileError names the source, the column, the row and the value.
    """
    check_reading(reading)
    found: dict[str, list[Summary]] = {}
    counts: dict[str, Ints] = {}
    start, roles = first, recipe
    low, high = limits_of(reading.get("scale", 1))
    for table in _chunks(batches):
        roles = roles or recipe_of_rows(table, reading, source=source, first=start)
        for of, rows in _rows_of_systems(table, roles, name, source, start):
            system = of if rows is None else f"{prefix}{of}"
            part = table if rows is None else table.select(_values_read(roles)).take(rows)
            numbers = np.arange(start, start + len(table)) if rows is None else rows + start
            states = found.setdefault(system, [])
            where = Source(source, words_of(roles), numbers)
            predictions = _predictions(part, roles, where)
            if low == 0 and high > 1:
                counts[system] = counts.get(system, 0) + scale_counts(predictions)
            states.append(_state_of_table(part, predictions, roles, options, reading, where))
            reasons = why_not_comparable(states[0].basis, states[-1].basis, purpose=Purpose.MERGE)
            if reasons:
                last = start + len(table) - 1
                reason = str(InputError("they", "not_mergeable", reasons=reasons)).rstrip(".")
                raise FileError(source, "rows_do_not_fit", first=start, last=last, reason=reason)
            if len(states) > WAITING:  # each merge goes through all groups
                states[:] = [merge(states)]
        if len(found) > MAX_SYSTEMS:
            names, got = "+".join(roles.systems), f"{len(found):,}"
            raise FileError(source, "too_many_systems", column=names, value=len(found), got=got, most=MAX_SYSTEMS)
        start += len(table)
    for of_system in counts.values():
        if are_mixed(of_system, high):
            column = "+".join(roles.predictions) if roles else None
            fields = {"within": of_system[1], "size": of_system[0]}
            raise FileError(source, "several_scales", column=column, advice="write_in_one_scale", **fields)
    return {system: merge(states) for system, states in found.items()}


def collected(collect: Callable[[], pa.Table], source: str) -> pa.Table:
    """Return what an engine computes; FileError, with the first line that it says, if it fails."""
    try:
        return collect()
    except Exception as error:  # each engine has its own
        raise FileError(source, "job_failed", reason=first_line(error)) from error


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).split("\n")[0].rstrip(".")


def check_reading(reading: RowOptions) -> None:
    """Raise InputError if rows cannot be read so."""
    if (unlabelled := reading.get("unlabelled")) not in (None, *_UNLABELLED):
        rules = " or ".join(_UNLABELLED)
        raise InputError("unlabelled", "not_of_a_state", value=unlabelled, advice="score_in_two_runs", rules=rules)
    check_numbers(reading.get("scale", 1), reading.get("correct_from"))


def recipe_of_rows(
    head: pa.Table, reading: RowOptions, *, source: str, rows: int | None = None, first: int = 1
) -> Recipe:
    """Return how rows are read, by the first of them; FileError if that needs all of them in memory."""
    said = Reading(
        unlabelled=reading.get("unlabelled"),
        correct_from=reading.get("correct_from"),
        scale=reading.get("scale", 1),
        columns=reading.get("columns") or {},
    )
    head = head.slice(0, HEAD)
    count = len(head) if rows is None else rows
    _require_columns(head, said, source)
    recipe = resolve(head, said, source=source, rows=count, format="parquet")
    names = [*recipe.predictions, recipe.truth, *recipe.systems, *recipe.of("weight")]
    if recipe.form == "predicted":
        what = "a predicted and a true class"
    elif recipe.classes is not None:
        what = "columns of classes that are not numbered from 0"
    elif recipe.of("stratum") or recipe.of("group"):
        what = "strata or groups"
    elif recipe.form == "counts" and recipe.of("weight"):
        raise FileError(source, "counts_are_weights", column=recipe.of("weight")[0])
    else:
        what = ", ".join(name for name in names if name not in head.column_names)
    if what:
        raise FileError(source, "not_read_out_of_core", what=what, advice="score_in_memory")
    check_columns(Sheet(head, np.arange(first, first + len(head)), source=source), recipe, said.columns)
    if recipe.form == "confidences":
        for name in _values_read(recipe):
            _require_numbers(head[name], name, source)
    return recipe


def columns_read(recipe: Recipe) -> list[str]:
    """Return the names of all columns that are read."""
    return list(dict.fromkeys([*_values_read(recipe), *recipe.systems]))


def _require_columns(head: pa.Table, reading: Reading, source: str) -> None:
    """Raise FileError for nested columns, which are not computed here."""
    for name in reading.columns.values():
        if name not in head.column_names and "." in name and name.partition(".")[0] in head.column_names:
            raise FileError(source, "not_read_out_of_core", what=name, advice="score_in_memory")


def _values_read(recipe: Recipe) -> list[str]:
    return list(dict.fromkeys([*recipe.predictions, recipe.truth, *recipe.of("weight"), *recipe.of("count")]))


def _chunks(batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[pa.Table]:
    """Yield tables of about CHUNK bytes."""
    waiting: list[pa.Table] = []
    for batch in batches:
        if waiting and batch.schema != waiting[0].schema:
            yield pa.concat_tables(waiting)
            waiting = []
        if len(batch):
            waiting.append(pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch)
        if sum(table.nbytes for table in waiting) >= CHUNK:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _rows_of_systems(
    table: pa.Table, roles: Recipe, name: str, source: str, start: int
) -> Iterator[tuple[str, np.ndarray | None]]:
    """Yield the name of each system in a table and its rows (N,), or one name and None, which is all rows."""
    if not roles.systems:
        yield name, None
        return
    names, codes = systems_in(Sheet(table, np.arange(start, start + len(table)), source=source), roles.systems)
    parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    yield from zip(names, parts, strict=True)


def words_of(roles: Recipe) -> dict[str, str]:
    """Return which column each argument of `state_of` is, for errors."""
    words = {"predictions": "+".join(roles.predictions), "references": roles.truth, "wrong": roles.truth}
    return words | {"sample_weight": "+".join(roles.of("weight")), "count": "+".join(roles.of("count"))}


def _state_of_table(
    table: pa.Table,
    values: Floats,
    roles: Recipe,
    options: Options,
    reading: RowOptions,
    source: Source,
) -> Summary:
    rule = reading.get("unlabelled")
    name = roles.truth
    references = _numbers(table[name], name, source)
    is_open = np.isnan(references)
    require_labelled(is_open, roles, source, rule)
    lowest = reading.get("correct_from")
    if lowest is not None:
        references = (references >= lowest).astype(np.float64)
    references = np.where(is_open, 0.0, references)
    scale = reading.get("scale", 1)
    low, high = limits_of(scale)
    predictions = values if scale == 1 else (values - low) / (high - low)
    weight = _column_of(table, "weight", roles, source)
    count = _column_of(table, "count", roles, source)
    if is_open.any() and rule == "drop":
        is_judged = ~is_open
        references = references[is_judged]
        predictions = predictions[is_judged]
        source = source._replace(rows=source.rows[is_judged])
        weight = None if weight is None else weight[is_judged]
        count = None if count is None else count[is_judged]
    form = "posteriors" if roles.form == "positive" else roles.form
    origin = origin_of(roles)
    try:
        if roles.form == "positive":
            predictions = _both_classes(predictions, options)
        if count is not None:
            summary = state_of_counts(predictions, count, references, options, origin=origin)
        elif len(references):
            summary = state_of(form, predictions, references, options, sample_weight=weight, origin=origin)
        else:  # so that the basis does not depend on which rows are in a part
            classes = predictions.shape[1] if predictions.ndim > 1 else 2
            options = options.replace(num_classes=classes) if form == "posteriors" else options
            summary = empty_state(form, options, is_weighted=weight is not None, origin=origin)
    except InputError as error:
        raise advised(source.error(error), values, references, roles.form) from None
    notes = note_unlabelled(float(np.count_nonzero(is_open)), float(len(is_open)), rule)
    return replace(summary, notes=(*notes, *summary.notes))


def origin_of(recipe: Recipe) -> Origin:
    """Return by which columns and rules rows are read: numbers of other ones are not theirs."""
    return Origin(recipe=recipe.digest(), reading=recipe.rules(), unlabelled=recipe.unlabelled)


def note_unlabelled(count: float, total: float, rule: str | None) -> tuple[Note, ...]:
    """Return the note on rows without a label, if there are any."""
    if not count or rule is None:
        return ()
    fields = {"count": int(count), "total": int(total), "share": count / total, "by_weight": ""}
    return (Note("unlabelled_answers", fields, _UNLABELLED[rule]),)


def _column_of(table: pa.Table, role: str, roles: Recipe, source: Source) -> Floats | None:
    """Return the numbers (N,) of the column of a role, if there is one."""
    names = roles.of(role)
    return _numbers(table[names[0]], names[0], source) if names else None


def _both_classes(values: Floats, options: Options) -> Floats:
    """Return posteriors (N, 2) from probabilities of class 1 (N,), or logits of both classes from margins."""
    if options.predictions_are == "logits":
        return np.stack([np.zeros(len(values)), values], axis=1)
    if len(values):
        values, _ = confidences(values, np.zeros(len(values)))
    return stacked(values)


def require_labelled(
    is_open: Bools, roles: Recipe, source: Source, unlabelled: str | None, copies: Floats | None = None
) -> None:
    """Raise FileError for rows without correctness; a class that is not known is not a wrong one.

    Each row stands for as many as `copies` (N,) says, whose numbers are not known.
    """
    has_classes = roles.form in ("posteriors", "positive", "counts")
    if not is_open.any() or unlabelled == "drop" or (unlabelled == "wrong" and not has_classes):
        return
    row = int(source.rows[np.argmax(is_open)]) if copies is None else None
    counts = np.ones(len(is_open)) if copies is None else copies
    count = int(counts[is_open].sum())
    error = FileError(source.file, "no_value", column=roles.truth, row=row, count=count, total=int(counts.sum()))
    error.advice = "" if has_classes else "count_as_wrong"
    raise error


def _predictions(table: pa.Table, roles: Recipe, source: Source) -> Floats:
    """Return predictions (N,), or (N, K) of columns of classes or of lists."""
    if len(roles.predictions) > 1:
        return np.stack([_numbers(table[name], name, source) for name in roles.predictions], axis=1)
    name = roles.predictions[0]
    kind = table.schema.field(name).type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return _numbers(table[name], name, source)
    sizes = pc.fill_null(pc.list_value_length(table[name]), -1).to_numpy()
    if (others := (sizes != sizes[0]) | (sizes < 0)).any():
        row = int(source.rows[np.argmax(others)])
        raise FileError(source.file, "lengths_of_lists_differ", column=name, row=row)
    return _numbers(pc.list_flatten(table[name]), name, source).reshape(len(table), -1)


def _numbers(column: pa.ChunkedArray, name: str, source: Source) -> Floats:
    """Return a column of numbers or truths (N,), NaN where there is none."""
    _require_numbers(column, name, source.file)
    return floats_in(plain(column))


def _require_numbers(column: pa.ChunkedArray, name: str, source: str) -> None:
    if not is_numeric(column.type):
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        raise FileError(source, "holds_no_numbers", column=name, advice="convert_or_score_in_memory", kind=kind)
