"""ECUAS_n and its baselines: the metric as an `evaluate` module, and as functions on arrays."""

from .signature import VERSION as __version__

__all__ = ["__version__"]
