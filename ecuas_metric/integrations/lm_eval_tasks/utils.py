"""What the YAML files of this folder name with ``!function utils.NAME``."""

from ecuas_metric.integrations import lm_eval


def __getattr__(name: str) -> object:
    return getattr(lm_eval, name)
