"""Write the card's table of options, and that of the layouts of files: `make reference`."""

from pathlib import Path

import ecuas_metric
from ecuas_metric.files.recipe import LAYOUTS
from ecuas_metric.options import DEFAULTS, OPTIONS

CARD = Path(ecuas_metric.__file__).with_name("README.md")
FILES = Path(__file__).with_name("files.md")


def card() -> str:
    """Return the text of the metric card with its table of options."""
    rows = [f"| `{name}` | `{_default(name)}` | {_forms(name)} | {OPTIONS[name].help} |" for name in OPTIONS]
    return _filled(CARD, "options", ["| option | default | for | meaning |", "|---|---|---|---|", *rows])


def files() -> str:
    """Return the text of docs/files.md with its table of layouts."""
    rows = [f"| `{columns}` | {what} |" for columns, what in LAYOUTS]
    return _filled(FILES, "layouts", ["| columns | what they hold |", "|---|---|", *rows])


def _filled(page: Path, name: str, lines: list[str]) -> str:
    """Return the text of a page with a table between its marks."""
    start = f"<!-- {name}: written by make reference -->\n"
    end = f"<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    before = text.partition(start)[0] + start
    after = end + text.partition(end)[2]
    return before + "\n".join([*lines, after])


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
    FILES.write_text(files(), encoding="utf-8")
