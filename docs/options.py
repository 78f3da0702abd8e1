"""Write the table of options of the metric card: `make reference`."""

from __future__ import annotations

import re
from pathlib import Path

import ecuas_metric
from ecuas_metric.options import DEFAULTS, OPTIONS

CARD = Path(ecuas_metric.__file__).with_name("README.md")
TABLE = re.compile(r"(?<=<!-- options: written by make reference -->\n).*(?=<!-- end of options -->)", flags=re.DOTALL)


def card() -> str:
    """Return the text of the metric card with its table of options."""
    rows = [f"| `{name}` | `{_default(name)}` | {_forms(name)} | {OPTIONS[name].help} |" for name in OPTIONS]
    table = "\n".join(["| option | default | for | meaning |", "|---|---|---|---|", *rows, ""])
    return TABLE.sub(lambda _: table, CARD.read_text(encoding="utf-8"))


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
