"""What is said to the model: the chat messages of each task and method, built in or from a file."""

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

Messages = list[dict[str, str]]
FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
DEFAULTS = Path(__file__).parent / "prompts.yaml"


def load_prompts(task: str, file: str | None = None) -> dict[str, Messages]:
    """Return the prompts of a task, `triviaqa` or `mmlu`, or those of a file of the form of `prompts.yaml`."""
    prompts = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    own = yaml.safe_load(Path(file).read_text(encoding="utf-8")) if file else {}
    for part, methods in own.items():
        for method, messages in methods.items():
            needed = _fields(prompts.get(part, {}).get(method, []))
            found = _fields(messages)
            if not needed or found != needed:
                rule = "must have prompts that are in prompts.yaml, with the same fields"
                raise ValueError(f"{file} {rule}; got {part}: {method} with {', '.join(sorted(found)) or 'none'}.")
            prompts[part][method] = messages
    return dict(prompts[task] | prompts["judge"])


def render(messages: Messages, fields: Mapping[str, str]) -> Messages:
    """Return the messages with the fields filled in, in one pass: braces inside a value are left as they are."""
    return [each | {"content": FIELD.sub(lambda found: fields[found[1]], each["content"])} for each in messages]


def prefill(messages: Messages) -> str:
    """Return the start of the reply, if the last message is one of the assistant, else an empty string."""
    return messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""


def _fields(messages: Messages) -> set[str]:
    return {name for message in messages for name in FIELD.findall(message["content"])}
