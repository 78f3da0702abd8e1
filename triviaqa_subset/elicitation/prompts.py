"""What is said to the model: the chat messages of each task and method, built in or from a file."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

Messages = list[dict[str, str]]
Prompts = dict[str, dict[str, Messages]]

ROLES = ("system", "user", "assistant")
FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
FIELDS = {  # the fields that each prompt must have; it has no others
    "triviaqa": {
        "sequence_posterior": {"question"},
        "verbalized": {"question"},
        "is_true": {"question", "answer"},
    },
    "mmlu": {
        "sequence_posterior": {"question", "choices"},
        "verbalized": {"question", "choices"},
        "is_true": {"question", "choices", "answer"},
    },
    "judge": {"semantic_equivalence": {"question", "pred_answer", "gold_answers"}},
}
DEFAULTS = Path(__file__).parent / "prompts.yaml"


def load_prompts(file: str | Path | None = None) -> Prompts:
    """Read the prompts; those in a YAML file replace the built-in ones, one by one.

    Parameters
    ----------
    file : path, optional
        YAML of the form {task: {method: [{role, content}, ...]}}, with any of the prompts of
        `prompts.yaml` beside this module, which describes how they are written.

    Returns
    -------
    dict
        task -> method -> list of {role, content}.

    Raises
    ------
    ValueError
        A file that is not such YAML, with the prompt and what is wrong with it.
    OSError
        A file that cannot be read.

    Examples
    --------
    >>> [message["role"] for message in load_prompts()["triviaqa"]["verbalized"]]
    ['system', 'user', 'assistant']
    """
    prompts: Prompts = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    for task, methods in _parse(file).items() if file else ():
        if not isinstance(methods, dict):
            raise ValueError(f"{file}: {task} must map methods to messages; got {methods!r}.")
        for method, messages in methods.items():
            if method not in FIELDS.get(task, {}):
                known = ", ".join(f"{task}: {method}" for task in FIELDS for method in FIELDS[task])
                raise ValueError(f"{file}: prompts must be among {known}; got {task}: {method}.")
            prompts[task][method] = _checked(messages, FIELDS[task][method], f"{file}, {task}: {method}")
    return prompts


def task_prompts(task: str, file: str | Path | None = None) -> dict[str, Messages]:
    """Return the prompts of a task, and `semantic_equivalence`, with which answers are compared.

    Parameters
    ----------
    task : {"triviaqa", "mmlu"}
    file : path, optional
        See `load_prompts`, which also has the errors.

    Returns
    -------
    dict
        method -> list of {role, content}.

    Examples
    --------
    >>> list(task_prompts("mmlu"))
    ['sequence_posterior', 'verbalized', 'is_true', 'semantic_equivalence']
    """
    prompts = load_prompts(file)
    return prompts[task] | prompts["judge"]


def render(messages: Messages, fields: Mapping[str, str]) -> Messages:
    """Return the messages with the fields filled in, in one pass: braces inside a value are left as they are.

    Parameters
    ----------
    messages : list of {role, content}
    fields : mapping of str to str

    Returns
    -------
    list of {role, content}

    Examples
    --------
    >>> render([{"role": "user", "content": "Question: {{ question }}"}], {"question": "Capital of {{ x }}?"})
    [{'role': 'user', 'content': 'Question: Capital of {{ x }}?'}]
    """
    return [
        {"role": message["role"], "content": FIELD.sub(lambda found: fields[found[1]], message["content"])}
        for message in messages
    ]


def prefill(messages: Messages) -> str:
    """Return the start of the reply, if the last message is one of the assistant, else an empty string."""
    return messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""


def json_sha256(value: object) -> str:
    """Return the SHA-256, in hex, of the value's JSON with sorted keys; runs record it of prompts and messages."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _parse(file: str | Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} must be YAML; {error}.") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file} must map tasks to methods to messages; got {str(content)[:40]!r}.")
    return content


def _checked(messages: object, fields: set[str], place: str) -> Messages:
    if not isinstance(messages, list) or not messages or not all(_is_message(message) for message in messages):
        raise ValueError(
            f"{place} must be a list of messages, each with a role ({', '.join(ROLES)}) and a content (text); "
            f"got {repr(messages)[:60]}."
        )
    if not any(message["role"] == "user" for message in messages):
        raise ValueError(f"{place} must have a user message; got {', '.join(m['role'] for m in messages)}.")
    found = {name for message in messages for name in FIELD.findall(message["content"])}
    if found != fields:
        braces = [", ".join(f"{{{{ {name} }}}}" for name in sorted(names)) for names in (fields, found)]
        raise ValueError(f"{place} must have the fields {braces[0]}; got {braces[1] or 'none'}.")
    return messages


def _is_message(message: object) -> bool:
    return (
        isinstance(message, dict)
        and set(message) == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
    )
