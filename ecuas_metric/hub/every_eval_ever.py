"""Results -> records of the format Every Eval Ever 0.3: of all metrics, and of each sample with its confidence.

The format has no field for a confidence: it stands in the metadata of a sample, as text.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ..audit import refuse_audit
from ..decisions import Decisions
from ..metric import Key
from ..results import Estimate, Results, System
from ..version import VERSION
from .eval_results import keys_to_write, require_repository

SCHEMA = "0.3.0"
LIBRARY = {"name": "ecuas-metric", "version": VERSION}
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def make_evaluation_files(
    system: System,
    results: Results,
    *,
    model: str,
    benchmark: str,
    organization: str,
    date: str | None = None,
) -> dict[str, str]:
    """Return the files of a system's evaluation by their paths: of its metrics and of its samples.

    The first has each metric that has a direction, with its interval and range, and which way is better.

    Parameters
    ----------
    system, results : System, Results
        Of one system.
    model : str
        The model, DEVELOPER/NAME.
    benchmark : str
        The dataset on the Hub that the questions are of, NAMESPACE/NAME.
    organization : str
        Who evaluated the model.
    date : str, optional
        When, ISO 8601; by default now.

    Returns
    -------
    dict of str to str

    Raises
    ------
    InputError
        If the benchmark or the model is not of two parts, or some answers alone were labelled.
    """
    require_repository(model, "model")
    require_repository(benchmark, "benchmark")
    refuse_audit(system, "samples")  # whose costs are no verdicts
    when = datetime.now(UTC) if date is None else datetime.fromisoformat(date)
    time = f"{when.timestamp():.0f}"
    identity = f"{benchmark}/{model.replace('/', '_')}/{time}"
    digest = hashlib.sha256(identity.encode()).digest()
    place = f"data/{benchmark.split('/')[1]}/{model}/{uuid.UUID(bytes=digest[:16], version=4)}"
    shared = {"schema_version": SCHEMA, "evaluation_id": identity}
    samples = "".join(
        f"{json.dumps({**shared, 'model_id': model, 'evaluation_name': benchmark, **sample})}\n"
        for sample in _sample_records(system)
    )
    record: dict[str, Any] = {
        **shared,
        "retrieved_timestamp": time,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {**LIBRARY, "additional_details": {"signature": str(results.basis)}},
        "model_info": {"name": model, "id": model, "additional_details": _UNKNOWN},
        "evaluation_results": [
            _result_record(key, results.estimates[key], results, benchmark)
            for key in keys_to_write(results)
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": system.num_samples,
        },
    }
    return {f"{place}.json": json.dumps(record, indent=2), f"{place}_samples.jsonl": samples}


def _sample_records(system: System) -> Iterator[dict[str, Any]]:
    """Yield the record of each sample: whether it was right, and its confidence. Its id stands for the text."""
    decisions = system.decisions
    ids = range(1, system.num_samples + 1) if system.ids is None else system.ids
    samples = map(str, ids)
    costs = decisions.candidate_cost.tolist()
    metadata_of = zip(_metadata(decisions), _design(system), strict=True)
    for sample, cost, (answer, design) in zip(samples, costs, metadata_of, strict=True):
        yield {
            "sample_id": sample,
            "interaction_type": "single_turn",
            "input": {"raw": sample, "reference": []},
            "output": {"raw": [""]},
            "answer_attribution": [],
            "evaluation": {"score": 1 - cost, "is_correct": cost == 0},
            "metadata": answer | design,
        }


def _design(system: System) -> list[dict[str, str]]:
    """Return for each sample its weight, group and stratum as texts, as far as there are any."""
    options = system.options
    columns = {"weight": options.sample_weight, "group": options.groups, "stratum": options.strata}
    texts = {
        role: map(repr, values.tolist()) for role, values in columns.items() if values is not None
    }
    if not texts:
        return [{} for _ in range(system.num_samples)]
    return [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]


def _metadata(decisions: Decisions) -> list[dict[str, str]]:
    """Return for each sample its confidence as text, or that the system abstained; nothing without confidences."""
    if decisions.confidence is None:
        return [{} for _ in decisions.uncertainty]
    answers = zip(decisions.confidence.tolist(), decisions.abstained.tolist(), strict=True)
    return [
        {"abstained": "true"} if abstained else {"confidence": repr(confidence)}
        for confidence, abstained in answers
    ]


def _result_record(
    key: Key, estimate: Estimate, results: Results, benchmark: str
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "metric_id": str(key),
        "metric_name": key.entry.title,
        "evaluation_description": key.entry.description,
        "lower_is_better": not key.entry.higher_is_better,
        "score_type": "continuous",
        **_score_range(key),
    }
    if key.parameter is not None:
        config["metric_parameters"] = {key.entry.parameter: key.parameter}
    details: dict[str, Any] = {"score": estimate.value}
    if estimate.low is not None and math.isfinite(estimate.low):
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": estimate.low,
                "upper": estimate.high,
                "confidence_level": results.basis.level,
                "method": results.basis.interval_method or "percentile",
            },
            "num_samples": results.basis.num_samples,
        }
    return {
        "evaluation_name": benchmark,
        "source_data": {
            "dataset_name": benchmark,
            "source_type": "hf_dataset",
            "hf_repo": benchmark,
        },
        "metric_config": config,
        "score_details": details,
    }


def _score_range(key: Key) -> dict[str, float | str]:
    """Return the least and the largest score, infinite where they are unbounded or unknown, as the format writes it."""
    metric = key.entry
    low: float | str = "-Infinity"
    high: float | str = "Infinity"
    if metric.is_share:
        low, high = 0.0, 1.0
    elif isinstance(metric.range, tuple):
        low, high = metric.range
    elif metric.cost is not None:
        low = 0.0
    return {"min_score": low, "max_score": high}
