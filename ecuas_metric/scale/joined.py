"""Two systems in a table of rows with ids -> their pair: the ids are joined in the part of the data where both lie."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..options import Options
from ..reporting.columns import find_columns
from ..reporting.files import FileError
from ..reporting.submissions import Source
from .layout import Layout, layout_of, numbers_of_column, predictions_of, rows_of_systems, words_of
from .pairs import Pair, pair_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..inputs import Floats


def pair_of_table(
    table: pa.Table,
    systems: tuple[str, str],
    options: Options,
    *,
    columns: Mapping[str, str] | None = None,
    source: str = "table",
) -> Pair:
    """Return the pair of two systems in a part of the data, whose rows are of the same questions.

    A part is e.g. a file, or what an engine has brought together by the id: both systems' rows of a question must be
    in the same one.

    Parameters
    ----------
    table : pyarrow.Table
        With a column of ids and one that names the systems.
    systems : tuple of two str
    options : Options
        See `pairs.pair_of`.
    columns : mapping, optional
        See `layout.layout_of`.
    source : str
        What to call the part in errors.

    Returns
    -------
    Pair
        Without weights.

    Raises
    ------
    FileError
        If an id is there twice for a system, or for one of them only; or see `batches.states_of_batches`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ecuas_metric.options import checked_options
    >>> from ecuas_metric.metrics import Key
    >>> from ecuas_metric.scale.pairs import differences
    >>> rows = {"id": [1, 2, 2, 1], "model": ["a", "a", "b", "b"], "confidence": [0.9, 0.4, 0.6, 0.5]}
    >>> table = pa.table({**rows, "correct": [1, 0, 1, 1]})
    >>> pair = pair_of_table(table, ("a", "b"), checked_options(n=1))
    >>> differences(pair)[Key("error_rate")].value
    0.5
    """
    given = dict(columns or {})
    layout = layout_of(table.schema, given, source=source)
    name = next(iter(find_columns(table.schema.empty_table().to_pandas(), given, source)["id"]), None)
    if name is None or not layout.systems:
        raise FileError(source, "there must be a column of ids and one that names the systems")
    rows = {system: indices for system, indices in rows_of_systems(table, layout, "", source, 1) if indices is not None}
    for system in systems:
        if system not in rows:
            raise FileError(source, f"has no rows of {system!r}")
    parts = [_in_order(table.take(rows[system]), name, system, source) for system in systems]
    ids = [part[name].to_pylist() for part in parts]
    if ids[0] != ids[1]:
        alone = next(iter(sorted(set(map(str, ids[0])) ^ set(map(str, ids[1])))))
        raise FileError(source, f"must have the rows of both systems for each id; {alone!r} has one", column=name)
    one, two = (_columns_of(part, layout, source) for part in parts)
    try:
        form = "posteriors" if layout.form == "positive" else layout.form
        if layout.form == "positive":
            options = options.replace(predictions_are="positive_probabilities")
        return pair_of(form, one[0], two[0], (one[1], two[1]), options)
    except InputError as error:
        error.index = None  # which of the two systems' rows it is of is not known
        raise Source(source, words_of(layout), np.arange(len(parts[0]))).error(error) from None


def _in_order(part: pa.Table, name: str, system: str, source: str) -> pa.Table:
    """Return the rows of a system in the order of their ids, each of which is there once."""
    part = part.sort_by(name)
    ids = part[name].to_pylist()
    repeated = [first for first, second in itertools.pairwise(ids) if first == second]
    if repeated:
        rule = f"must have one row of {system!r} for each id; {repeated[0]!r} has several"
        raise FileError(source, rule, column=name)
    return part


def _columns_of(part: pa.Table, layout: Layout, source: str) -> tuple[Floats, Floats]:
    place = Source(source, words_of(layout), np.arange(len(part)))
    return predictions_of(part, layout, place), numbers_of_column(part, layout.references, place)
