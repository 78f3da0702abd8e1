"""Past one machine: a state of some rows that merges with others in any order, and the engines that carry it.

`state_of` makes the state of one part of the data, `merge` puts states together to the same bytes whatever the parts
and their order, `pack` turns them into bytes, and `read` gives the metrics. `score_files` does all of it for Parquet.
"""

from ..options import checked_options
from .batches import states_of_batches
from .collection import Collection, merge_collections, read_collection, write_collection
from .counts import state_of_counts
from .joined import pair_of_table
from .local import score_files
from .packing import merge_packed, pack, unpack
from .pairs import differences, merge_pairs, pair_of
from .reading import Reading, Readings, read
from .state import State, merge, state_of
from .training import StreamedMetrics

__all__ = [
    "Collection",
    "Reading",
    "Readings",
    "State",
    "StreamedMetrics",
    "checked_options",
    "differences",
    "merge",
    "merge_collections",
    "merge_packed",
    "merge_pairs",
    "pack",
    "pair_of",
    "pair_of_table",
    "read",
    "read_collection",
    "score_files",
    "state_of",
    "state_of_counts",
    "states_of_batches",
    "unpack",
    "write_collection",
]
