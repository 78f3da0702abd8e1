"""From the options of the command line to what a run keeps the same, and what its file records of that."""

import os
import platform
from argparse import Namespace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .chat import Endpoint
from .methods import Setup
from .prompts import json_sha256, load_prompts
from .runs import read_run

Row = dict[str, Any]


def make_endpoint(options: Namespace, model: str, base_url: str | None, key_env: str | None) -> Endpoint:
    """Say where a model is asked; raises a ValueError for no URL, or if the variable that is named holds no key."""
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ValueError(f"a server's URL begins with http:// or https://; this one is {base_url}")
    key = os.environ.get(key_env) if key_env else None
    if key_env and not key:
        raise ValueError(f"the environment variable {key_env} holds no key")
    names = ("provider", "extra_body", "prefill", "timeout", "retries", "retry_wait")
    return Endpoint(model, base_url, api_key=key, **{name: getattr(options, name) for name in names})


def make_judge_endpoint(options: Namespace) -> Endpoint:
    """Say where the judge is asked: a key or body meant for the answer server reaches no other address."""
    base_url = options.judge_base_url or options.base_url
    shared = not options.local and (base_url or "").rstrip("/") == (options.base_url or "").rstrip("/")
    key_env = options.judge_api_key_env or (options.api_key_env if shared else None)
    endpoint = make_endpoint(options, options.judge, base_url, key_env)
    return endpoint if shared else endpoint._replace(extra_body=None)


def make_setup(options: Namespace) -> Setup:
    """Read the prompts and the given answers; raises as `load_prompts` and `read_run`."""
    prompts = load_prompts(options.prompts)
    sampled = options.method == "semantic_confidence"
    temperature = (1.0 if sampled else 0.0) if options.temperature is None else options.temperature
    names = ("max_tokens", "top_logprobs", "seed", "samples", "weights", "same")
    return Setup(
        prompts=prompts[options.task] | prompts["judge"],
        prefill=options.prefill != "none",
        temperature=temperature,
        answers=_answers(options) if options.answers else {},
        **{name: getattr(options, name) for name in names},
    )


def _answers(options: Namespace) -> dict[str, str]:
    if options.method != "is_true":
        raise ValueError("--answers is for --method is_true: the other methods answer themselves")
    given = read_run(options.answers)
    for name, wanted in (("method", "sequence_posterior"), ("model", options.model), ("task", options.task)):
        if given.parameters[name] != wanted:
            raise ValueError(
                f"--answers must be a run with {name} {wanted}; {options.answers} has {given.parameters[name]}"
            )
    return {question_id: row["answer"] for question_id, row in given.rows.items() if row["error"] is None}


def make_parameters(options: Namespace, setup: Setup) -> Row:
    """Return all that the answers depend on, and nothing that this method does not use."""
    own = {"is_true": ("top_logprobs",), "semantic_confidence": ("samples", "weights", "same")}
    used = {name: getattr(options, name) for name in own.get(options.method, ())}
    where = {
        "backend": "local" if options.local else "chat",
        "base_url": options.base_url,
        "provider": options.provider,
    }
    return {
        **{name: getattr(options, name) for name in ("task", "model", "method")},
        **where,
        **{name: getattr(options, name) for name in ("max_tokens", "seed", "extra_body", "prefill")},
        **used,
        "temperature": setup.temperature,
        "answers_given": options.answers is not None,
        "prompts_sha256": json_sha256(setup.prompts),
    }


def versions(local: bool) -> dict[str, str | None]:
    """Return the versions of what the answers pass through; None where a package is not installed."""
    packages = ["ecuas-metric", "huggingface_hub", *(["torch", "transformers"] if local else [])]
    return {"python": platform.python_version()} | {package: _version(package) for package in packages}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
