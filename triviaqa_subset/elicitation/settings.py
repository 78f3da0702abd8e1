"""From the command line to the settings of a run, and what its file records of them."""

import os
import platform
from argparse import Namespace
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .chat import Endpoint
from .local import LocalModel
from .methods import Setup
from .prompts import json_sha256, task_prompts
from .runs import read_run

USED_BY = {"is_true": ("top_logprobs",), "semantic_confidence": ("samples", "weights", "same")}


@dataclass(frozen=True)
class RunSettings:
    """All that determines a run besides its questions: one model, one method, one file.

    Parameters
    ----------
    backend : Endpoint or LocalModel
        The model, and where it is.
    method : str
        One of `DIALOGUES`.
    out : Path
        The file of the run; graded rows and verdicts go to files beside it.
    setup : Setup
        With the prompts of the task.
    task : {"triviaqa", "mmlu"}
        How the answers are graded.
    judge : Endpoint, optional
        The model that judges what nothing else decides.
    judge_max_tokens : int
        Its longest reply.
    name : str, optional
        Of the system in a table, by default the model and the method.
    concurrency : int
        Requests at a time, to a server.
    batch_size : int
        Questions generated together, by a local model.
    retry_errors : bool
        Ask again what is recorded with an error. Without it this is done of errors of transport only.
    retry_missing : bool
        Ask again where the confidence is missing.
    max_failures : int, optional
        Begin no question after so many errors in a row.
    answers_given : bool
        Ask about the answers of `setup` only, and about no other question.
    prices : tuple of two floats, optional
        Of a million tokens read and of a million tokens written, for the summary only.
    """

    backend: Endpoint | LocalModel
    method: str
    out: Path
    setup: Setup
    task: str = "triviaqa"
    judge: Endpoint | None = None
    judge_max_tokens: int = 8
    name: str | None = None
    concurrency: int = 8
    batch_size: int = 8
    retry_errors: bool = False
    retry_missing: bool = False
    max_failures: int | None = None
    answers_given: bool = False
    prices: tuple[float, float] | None = None

    @property
    def system(self) -> str:
        """The name in a table."""
        return self.name or f"{self.backend.model} {self.method}"


def run_settings(arguments: Namespace) -> RunSettings:
    """Return the settings that the arguments of the command line stand for.

    Parameters
    ----------
    arguments : Namespace
        From `command.parser`.

    Returns
    -------
    RunSettings

    Raises
    ------
    ValueError
        Arguments that do not go together, a variable without a key; as `load_prompts` and `read_run`.
    OSError
        A file that cannot be read.
    """
    return RunSettings(
        backend=_backend(arguments),
        method=arguments.method,
        out=Path(arguments.out),
        setup=_setup(arguments),
        task=arguments.task,
        judge=_judge(arguments) if arguments.judge else None,
        judge_max_tokens=arguments.judge_max_tokens,
        name=arguments.name,
        concurrency=arguments.concurrency,
        batch_size=arguments.batch_size,
        retry_errors=arguments.retry_errors,
        retry_missing=arguments.retry_missing,
        max_failures=arguments.max_failures,
        answers_given=arguments.answers is not None,
        prices=arguments.prices,
    )


def recorded_parameters(settings: RunSettings) -> dict[str, object]:
    """Return all that the answers depend on, and nothing that this method does not use."""
    backend, setup = settings.backend, settings.setup
    if isinstance(backend, Endpoint):
        where = {"backend": "chat", "base_url": backend.base_url, "provider": backend.provider}
        extra_body = backend.extra_body
    else:
        where = {"backend": "local", "base_url": None, "provider": None}
        extra_body = backend.template
    used = {name: getattr(setup, name) for name in USED_BY.get(settings.method, ())}
    return {
        "task": settings.task,
        "model": backend.model,
        "method": settings.method,
        **where,
        "max_tokens": setup.max_tokens,
        "seed": setup.seed,
        "extra_body": extra_body or {},
        "prefill": backend.prefill,
        **used,
        "temperature": setup.temperature,
        "answers_given": settings.answers_given,
        "prompts_sha256": json_sha256(setup.prompts),
    }


def versions(*, local: bool) -> dict[str, str | None]:
    """Return the versions of what the answers pass through; None where a package is not installed."""
    packages = ["ecuas-metric", "huggingface_hub", *(["torch", "transformers"] if local else [])]
    return {"python": platform.python_version()} | {package: _version(package) for package in packages}


def _backend(arguments: Namespace) -> Endpoint | LocalModel:
    if not arguments.local:
        return _endpoint(arguments, arguments.model, arguments.base_url, arguments.api_key_env, arguments.extra_body)
    if arguments.api_key_env:
        raise ValueError(
            "--api-key-env must not be given with --local, which sends no key; "
            f"got {arguments.api_key_env}. The key of a judge is named by --judge-api-key-env."
        )
    return LocalModel(arguments.model, arguments.device, arguments.extra_body, arguments.prefill)


def _judge(arguments: Namespace) -> Endpoint:
    """Return the judge's endpoint: the answer server's key and extra body are sent to no other address."""
    base_url = arguments.judge_base_url or arguments.base_url
    same = not arguments.local and (base_url or "").rstrip("/") == (arguments.base_url or "").rstrip("/")
    key_env = arguments.judge_api_key_env or (arguments.api_key_env if same else None)
    extra_body = arguments.judge_extra_body or (arguments.extra_body if same else {})
    return _endpoint(arguments, arguments.judge, base_url, key_env, extra_body)


def _endpoint(
    arguments: Namespace, model: str, base_url: str | None, key_env: str | None, extra_body: dict[str, Any]
) -> Endpoint:
    key = os.environ.get(key_env) if key_env else None
    if key_env and not key:
        raise ValueError(f"the environment variable {key_env} must hold a key; got nothing.")
    return Endpoint(
        model,
        base_url,
        provider=arguments.provider,
        api_key=key,
        extra_body=extra_body,
        prefill=arguments.prefill,
        timeout=arguments.timeout,
        retries=arguments.retries,
        retry_wait=arguments.retry_wait,
    )


def _setup(arguments: Namespace) -> Setup:
    default = 1.0 if arguments.method == "semantic_confidence" else 0.0
    return Setup(
        prompts=task_prompts(arguments.task, arguments.prompts),
        prefill=arguments.prefill != "none",
        max_tokens=arguments.max_tokens,
        temperature=default if arguments.temperature is None else arguments.temperature,
        top_logprobs=arguments.top_logprobs,
        seed=arguments.seed,
        samples=arguments.samples,
        weights=arguments.weights,
        same=arguments.same,
        answers=_answers(arguments) if arguments.answers else {},
    )


def _answers(arguments: Namespace) -> dict[str, str]:
    if arguments.method != "is_true":
        raise ValueError(
            f"--answers must be given with --method is_true only; got {arguments.method}. "
            "The other methods ask for the answers themselves."
        )
    given = read_run(arguments.answers)
    for name, wanted in (("method", "sequence_posterior"), ("model", arguments.model), ("task", arguments.task)):
        if given.parameters[name] != wanted:
            raise ValueError(
                f"--answers must be a run with {name} {wanted}; got {given.parameters[name]} in {arguments.answers}."
            )
    return {question_id: row["answer"] for question_id, row in given.rows.items() if row["error"] is None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
