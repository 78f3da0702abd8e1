"""`ecuas compare --out-of-core`: the differences between systems whose rows are never all in memory."""

from __future__ import annotations

import itertools
import math
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..comparison.compare import UNFAIR, is_fair
from ..errors import InputError
from ..metrics import Key, place
from ..options import Options, checked_options
from ..scale.joined import column_of_ids, pair_of_table, systems_of
from ..scale.local import score_files
from ..scale.pairs import Difference, Pair, differences, merge_pairs, unpaired_differences
from ..scale.parquet import ParquetPart, parts_of, table_of
from ..scale.settings import SHAPING
from .arguments import chosen_keys
from .out_of_core import Table, inputs_of, refuse, signature_of_state
from .report import NO_INTERVAL, interval_text, title
from .tables import Cell, Grid, Record

NOT_COMPARED = {"figures": None, "only": None, "sort": "systems", "weight": None}
Found = dict[tuple[str, str], dict[Key, Difference]]
NOT_PAIRED = (
    "Not paired by sample: that needs files with a column of ids and one that names the systems, and all rows of an id "
    "in the same file."
)
AT_MOST = "≤: not more than this, since a state does not tell how the two systems vary together"
DIFFERENCE = "difference: first minus second; below 0, the first is better if lower is better (↓), else the second"


def compare_out_of_core(arguments: Namespace, options: Mapping[str, object]) -> Table:
    """Compare all pairs of systems without having all their rows in memory.

    Where a file has ids and several systems, their rows are joined in this file, and the differences of means and
    ratios have the standard errors of paired samples. Otherwise the numbers of the systems are subtracted.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of `flags.parser`.
    options : mapping
        Of the metric, as the flags say.

    Returns
    -------
    grid : Grid
    records : list of dict
    notes : list of str
    systems : mapping
        Empty.
    """
    refuse(arguments, NOT_COMPARED)
    patterns, columns = inputs_of(arguments)
    shaping = checked_options(**{name: value for name, value in options.items() if name in SHAPING})
    parts = [part for given in patterns for part in parts_of(given if isinstance(given, str) else given[1])]
    level = float(arguments.confidence_level)
    if all(_has_pairs(part, columns) for part in parts):
        if arguments.unjudged is not None:
            raise InputError("unjudged", "cannot be used in paired comparisons out of core", value=arguments.unjudged)
        pairs = _pairs(parts, columns, shaping)
        state = next(iter(pairs.values())).one
        found = {names: differences(pair, confidence_level=level) for names, pair in pairs.items()}
        above = f"{state.rows:,} samples of each system, paired by id."
    else:
        states = score_files(patterns, shaping, columns=columns, unjudged=arguments.unjudged, progress=True).states
        names, above = _several(states), NOT_PAIRED
        state = states[names[0]]
        found = {
            (one, two): unpaired_differences(states[one], states[two], confidence_level=level)
            for one, two in itertools.combinations(names, 2)
        }
    keys = chosen_keys(arguments.metrics, sorted(next(iter(found.values())), key=place))
    return _table(found, keys, level, arguments.digits, above, signature_of_state(state, level))


def _has_pairs(part: ParquetPart, columns: Mapping[str, str]) -> bool:
    return column_of_ids(part, columns) is not None


def _pairs(parts: Sequence[ParquetPart], columns: Mapping[str, str], options: Options) -> dict[tuple[str, str], Pair]:
    """Return the pairs of all systems of the first file, which all files must have."""
    found: dict[tuple[str, str], Pair] = {}
    names: list[str] = []
    for part in parts:
        table = table_of(part, columns, more=[column_of_ids(part, columns) or ""])
        names = names or _several(systems_of(table, columns, part.address))
        for pair in itertools.combinations(names, 2):
            more = pair_of_table(table, pair, options, columns=columns, source=part.address)
            found[pair] = merge_pairs([found[pair], more]) if pair in found else more
    return found


def _several(names: Iterable[str]) -> list[str]:
    found = sorted(names)
    if len(found) < 2:
        raise InputError("a comparison", "needs at least two systems", got=", ".join(found) or "none")
    return found


def _table(found: Found, keys: Sequence[Key], level: float, digits: int, above: str, line: str) -> Table:
    rows = [(key, *names, of_pair[key]) for key in keys for names, of_pair in found.items()]
    cells = [[Cell(text) for text in _texts(*row, digits=digits)] for row in rows]
    notes = [DIFFERENCE]
    notes += [] if all(row[3].is_paired for row in rows) else [AT_MOST]
    notes += [] if all(is_fair(key, have_same_answers=False) for key in keys) else [f"† {UNFAIR}"]
    notes += [NO_INTERVAL] if any(math.isnan(row[3].low) for row in rows) else []
    header = ["metric", "first", "second", "difference", f"{level:.0%} interval", "standard error"]
    grid = Grid(header, cells, notes, line, labels=3, above=[above], grouped=True)
    return grid, list(_records(rows)), [], {}


def _texts(key: Key, one: str, two: str, difference: Difference, *, digits: int) -> Iterator[str]:
    value, error, low, high, is_paired = difference
    yield title(key) + ("" if is_fair(key, have_same_answers=False) else "†")
    yield from (one, two, f"{value:+.{digits}f}", interval_text(low, high, f"+.{digits}f"))
    yield "" if math.isnan(error) else f"{'' if is_paired else '≤ '}{error:.{digits + 2}f}"


def _records(rows: Iterable[tuple[Key, str, str, Difference]]) -> Iterator[Record]:
    for key, one, two, difference in rows:
        fields = difference._asdict()
        yield {"key": str(key), "first": one, "second": two, "difference": fields.pop("value"), **fields}
