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
    ids = range(1, system.num_samples + 1) if system.ids is None else system.ids
    costs = system.decisions.candidate_cost.tolist()
    for sample, cost, metadata in zip(map(str, ids), costs, _metadata(system), strict=True):
        yield {
            "sample_id": sample,
            "interaction_type": "single_turn",
            "input": {"raw": sample, "reference": []},
            "output": {"raw": [""]},
            "answer_attribution": [],
            "evaluation": {"score": 1 - cost, "is_correct": cost == 0},
            "metadata": metadata,
        }


def _metadata(system: System) -> list[dict[str, str]]:
    """Return for each sample as texts its confidence, or that it has no answer, and its weight, group and stratum."""
    options = system.options
    columns = {
        "confidence": system.decisions.confidence,
        "weight": options.sample_weight,
        "group": options.groups,
        "stratum": options.strata,
    }
    known = {role: values.tolist() for role, values in columns.items() if values is not None}
    metadata = [
        {role: repr(values[place]) for role, values in known.items()}
        for place in range(system.num_samples)
    ]
    for sample, abstained in zip(metadata, system.decisions.abstained.tolist(), strict=True):
        if abstained and sample.pop("confidence", None):
            sample["abstained"] = "true"
    return metadata


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
