"""Past one machine: summaries of some rows that merge in any order to the same numbers, and what carries them."""

from ..files.recipe import Reading as Reading
from ..options import checked_options as checked_options
from ..summary import Summary as Summary
from ..summary import SummaryResults as SummaryResults
from ..summary import merge as merge
from ..summary import results_of as results_of
from ..summary import summary_of as summary_of
from ..summary import system_of as system_of
from .batches import states_of_batches as states_of_batches
from .frames import score_frame as score_frame
from .frames import states_of_frame as states_of_frame
from .local import score_files as score_files
from .rows import state_of as state_of
from .storage import Collection as Collection
from .storage import from_bytes as from_bytes
from .storage import merge_collections as merge_collections
from .storage import read_collection as read_collection
from .storage import to_bytes as to_bytes
from .storage import write_collection as write_collection
from .training import StreamedMetrics as StreamedMetrics
