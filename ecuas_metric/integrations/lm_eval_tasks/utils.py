"""What the YAML files of this folder name with ``!function utils.NAME``."""

from ecuas_metric.integrations.lm_eval import (  # noqa: F401
    aurc,
    auroc,
    brier_score,
    cross_entropy,
    ece,
    ecuas_0,
    ecuas_1,
    error_rate,
    process_results,
)
