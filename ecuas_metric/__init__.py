"""ECUAS_n and its baselines: the metric as an `evaluate` module, and as functions on arrays."""

__version__ = "0.1.0"
