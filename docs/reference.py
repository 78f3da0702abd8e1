"""Write docs/reference.md from the docstrings of `ecuas_metric`, and the table of options of the metric card."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import ecuas_metric
from ecuas_metric.options import DEFAULTS, OPTIONS

PAGE = Path(__file__).with_name("reference.md")
CARD = Path(ecuas_metric.__file__).with_name("README.md")
TABLE = re.compile(r"(?<=<!-- options: written by make reference -->\n).*(?=<!-- end of options -->)", flags=re.DOTALL)
INTRODUCTION = """# Reference

The public names of `ecuas_metric`, written from their docstrings by `make reference`. The metrics and all options, with
examples, are on the [metric card](../ecuas_metric/README.md).
"""
TITLES = {  # of the parts of the page, each from the first name of a module on
    "api": "Scores of a system",
    "costs": "Costs of single samples",
    "recalibration": "Recalibration",
    "files.submissions": "Files, reports and comparisons",
    "errors": "Errors",
}
SECTION = re.compile(r"^([A-Z]\w+)\n-{3,}\n", flags=re.MULTILINE)
ITEM = re.compile(r"^(\S.*)\n((?:(?: .*)?\n?)*)", flags=re.MULTILINE)


def page() -> str:
    """Return the text of the page."""
    parts, last = [INTRODUCTION], ""
    for name, module in ecuas_metric._MODULES.items():
        if module != last and module in TITLES:
            parts.append(f"## {TITLES[module]}\n")
        parts.append(entry(name))
        last = module
    return "\n".join(parts)


def card() -> str:
    """Return the text of the metric card with its table of options."""
    rows = [f"| `{name}` | `{_default(name)}` | {_forms(name)} | {OPTIONS[name].help} |" for name in OPTIONS]
    table = "\n".join(["| option | default | for | meaning |", "|---|---|---|---|", *rows, ""])
    return TABLE.sub(lambda _: table, CARD.read_text(encoding="utf-8"))


def entry(name: str) -> str:
    """Return the part of the page on one name."""
    thing = getattr(ecuas_metric, name)
    lines = [f"### `{name}`", f"```python\n{declaration(thing)}\n```"]
    for title, body in sections(thing).items():
        lines += [f"**{title}**"] if title else []
        lines.append(markdown(body) if title in ("", "Examples", "References") else items(body))
    return "\n\n".join(lines) + "\n"


def declaration(thing: type | Callable[..., object]) -> str:
    """Return how a function is called, without types, or what a class derives from."""
    if isinstance(thing, type):
        return f"class {thing.__name__}({thing.__mro__[1].__name__})"
    signature = inspect.signature(thing)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return thing.__name__ + str(signature.replace(parameters=plain, return_annotation=signature.empty))


def sections(thing: object) -> dict[str, str]:
    """Return the sections of a NumPy docstring by their titles; what comes before them is under the empty title."""
    before, *rest = SECTION.split(inspect.getdoc(thing) or "")
    return {"": before.strip()} | {title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)}


def items(body: str) -> str:
    """Return terms and their indented descriptions as a list."""
    lines = []
    for term, description in ITEM.findall(f"{body}\n"):
        name, _, kind = term.partition(" : ")
        text = " ".join(description.split())
        lines.append(f"- `{name}`" + (f", {kind}" if kind else "") + (f": {text}" if text else ""))
    return inline("\n".join(lines))


def markdown(text: str) -> str:
    """Return paragraphs as they are, with formulas and examples fenced."""
    paragraphs = []
    for paragraph in re.split(r"\n\n(?!    )", text):
        if paragraph.startswith(">>>"):
            paragraphs.append(f"```python\n{paragraph}\n```")
        elif paragraph.startswith(".. math::"):
            formula = " ".join(paragraph.removeprefix(".. math::").split())
            paragraphs.append(f"```math\n{formula}\n```")
        else:
            paragraphs.append(inline(paragraph))
    return "\n\n".join(paragraphs)


def inline(text: str) -> str:
    """Return text with inline formulas and code in Markdown."""
    return re.sub(r"``(.+?)``", r"`\1`", re.sub(r":math:`(.+?)`", r"$`\1`$", text))


def _default(name: str) -> str:
    value = getattr(DEFAULTS, name)
    if isinstance(value, tuple):
        return f"({', '.join(f'{number:g}' for number in value)})" if value else "None"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _forms(name: str) -> str:
    forms = OPTIONS[name].forms
    return "all" if len(forms) == 3 else ", ".join(forms).replace("costs", "`graded`")


if __name__ == "__main__":
    CARD.write_text(card(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
