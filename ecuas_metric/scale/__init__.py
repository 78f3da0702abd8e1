"""Data larger than memory: states, which are summaries of some rows that merge in any order, and what computes them."""

from ..files.recipe import Reading as Reading
from ..options import checked_options as checked_options
from ..summary import Summary as Summary
from ..summary import SummaryResults as SummaryResults
from ..summary import compute_summary_results as compute_summary_results
from ..summary import make_equivalent_system as make_equivalent_system
from ..summary import merge as merge
from ..summary import summarize_system as summarize_system
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
