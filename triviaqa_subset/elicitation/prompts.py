"""What is said to the model: the chat messages of each task and method, built in or from a file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

import yaml

Messages = list[dict[str, str]]
ROLES = ("system", "user", "assistant")
FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
DEFAULTS = Path(__file__).parent / "prompts.yaml"


def load_prompts(task: str, file: str | Path | None = None) -> dict[str, Messages]:
    """Return the prompts of a task, "triviaqa" or "mmlu", and `semantic_equivalence`, with which answers are compared.

    Those in a YAML file of the form of `prompts.yaml` replace the built-in ones, one by one.
    """
    prompts = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    own = yaml.safe_load(Path(file).read_text(encoding="utf-8")) if file else {}
    if not isinstance(own, dict) or not all(isinstance(methods, dict) for methods in own.values()):
        raise ValueError(f"{file} must map tasks to methods to messages; got {str(own)[:40]!r}.")
    for part, method, messages in ((part, *item) for part, methods in own.items() for item in methods.items()):
        if method not in prompts.get(part, {}):
            known = ", ".join(f"{name}: {each}" for name in prompts for each in prompts[name])
            raise ValueError(f"{file}: prompts must be among {known}; got {part}: {method}.")
        prompts[part][method] = _checked(messages, prompts[part][method], f"{file}, {part}: {method}")
    found: dict[str, Messages] = prompts[task] | prompts["judge"]
    return found


def render(messages: Messages, fields: Mapping[str, str]) -> Messages:
    """Return the messages with the fields filled in, in one pass: braces inside a value are left as they are."""
    return [each | {"content": FIELD.sub(lambda found: fields[found[1]], each["content"])} for each in messages]


def prefill(messages: Messages) -> str:
    """Return the start of the reply, if the last message is one of the assistant, else an empty string."""
    return messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""


def choices_text(choices: Sequence[str]) -> str:
    """Return the choices, one per line, with their letters."""
    return "\n".join(f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def _checked(messages: object, built_in: Messages, place: str) -> Messages:
    if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
        raise ValueError(f"{place} must be messages, each with a role and a content; got {repr(messages)[:60]}.")
    if not any(message["role"] == "user" for message in messages):
        raise ValueError(f"{place} must have a user message; got {', '.join(m['role'] for m in messages)}.")
    found, needed = ({name for each in both for name in FIELD.findall(each["content"])} for both in (messages, built_in))
    if found != needed:
        raise ValueError(f"{place} must have the fields {', '.join(sorted(needed))}; got {', '.join(sorted(found))}.")
    return messages


def _is_message(message: object) -> bool:
    return (
        isinstance(message, dict)
        and set(message) == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
    )
