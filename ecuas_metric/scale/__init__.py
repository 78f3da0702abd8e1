"""Past one machine: states of some rows that merge in any order to the same numbers, and what carries them."""

from ..options import checked_options as checked_options
from .batches import states_of_batches as states_of_batches
from .local import score_files as score_files
from .reading import BoundedEstimate as BoundedEstimate
from .reading import StateResults as StateResults
from .reading import read as read
from .state import State as State
from .state import merge as merge
from .state import state_of as state_of
from .state import state_of_counts as state_of_counts
from .storage import Collection as Collection
from .storage import from_bytes as from_bytes
from .storage import merge_collections as merge_collections
from .storage import read_collection as read_collection
from .storage import to_bytes as to_bytes
from .storage import write_collection as write_collection
from .training import StreamedMetrics as StreamedMetrics
