"""What is said to the model: chat messages for each task and method, and the ways to replace them."""

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
FIELDS = {  # what each prompt must ask about; a prompt has these fields and no other
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
        `prompts.yaml` beside this module, which says how they are written.

    Returns
    -------
    dict
        task -> method -> list of {role, content}.

    Raises
    ------
    ValueError
        A file that is not such YAML; names the prompt and what is wrong with it.
    OSError
        A file that cannot be read.

    Examples
    --------
    >>> [message["role"] for message in load_prompts()["triviaqa"]["verbalized"]]
    ['system', 'user', 'assistant']
    """
    prompts = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    for task, methods in _parse(file).items() if file else ():
        if not isinstance(methods, dict):
            raise ValueError(f"{file}: {task} must map methods to messages; it is {methods!r}")
        for method, messages in methods.items():
            if method not in FIELDS.get(task, {}):
                known = ", ".join(f"{task}: {method}" for task in FIELDS for method in FIELDS[task])
                raise ValueError(f"{file}: there is no prompt {task}: {method}; there are {known}")
            prompts[task][method] = _checked(messages, FIELDS[task][method], f"{file}, {task}: {method}")
    return prompts


def render(messages: Messages, fields: Mapping[str, str]) -> Messages:
    """Put the fields into the messages, in one pass: braces inside a field are left as they are.

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
    """Return the start of the reply that the messages give away, or nothing."""
    return messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""


def json_sha256(value: Any) -> str:
    """SHA-256, in hex, of the value's JSON with sorted keys: what a run records of prompts and messages."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _parse(file: str | Path) -> dict:
    try:
        made = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} is not YAML: {error}") from error
    if not isinstance(made, dict):
        raise ValueError(f"{file} must map tasks to methods to messages; it is {str(made)[:40]!r}")
    return made


def _checked(messages: Any, fields: set[str], place: str) -> Messages:
    if not isinstance(messages, list) or not messages or not all(_is_message(message) for message in messages):
        raise ValueError(f"{place}: must be a list of messages, each a role ({', '.join(ROLES)}) and a content in text")
    if not any(message["role"] == "user" for message in messages):
        raise ValueError(f"{place}: needs a user message")
    found = {name for message in messages for name in FIELD.findall(message["content"])}
    if found != fields:
        braces = [", ".join(f"{{{{ {name} }}}}" for name in sorted(names)) for names in (fields, found)]
        raise ValueError(f"{place}: must have the fields {braces[0]}; it has {braces[1] or 'none'}")
    return messages


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and set(message) == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
    )
