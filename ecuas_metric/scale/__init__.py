"""Past one machine: a state of some rows that merges with others in any order, and the engines that carry it.

`state_of` makes the state of one part of the data, `merge` puts states together to the same numbers whatever the parts
and their order, `to_bytes` writes them, and `read` gives the metrics. `score_files` does all of it for Parquet.
"""

from ..options import checked_options
from .batches import states_of_batches
from .local import score_files
from .reading import BoundedEstimate, StateResults, read
from .state import State, merge, state_of, state_of_counts
from .storage import Collection, from_bytes, merge_collections, read_collection, to_bytes, write_collection
from .training import StreamedMetrics

__all__ = [
    "BoundedEstimate",
    "Collection",
    "State",
    "StateResults",
    "StreamedMetrics",
    "checked_options",
    "from_bytes",
    "merge",
    "merge_collections",
    "read",
    "read_collection",
    "score_files",
    "state_of",
    "state_of_counts",
    "states_of_batches",
    "to_bytes",
    "write_collection",
]
