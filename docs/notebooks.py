"""Pages of examples -> notebooks: their text, their Python and their commands as cells, and no output."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

BLOCK = re.compile(r"(?s)```(python|console)\n(.*?)```\n?")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+\.png)\)\n*")
LINK_TO_PAGE = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]+\)")
REMARK = re.compile(r"(?s)<!--.*?-->\n?")
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write_notebooks(pages: list[Path], folder: Path) -> list[Path]:
    """Write the notebook of each page into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for page in pages:
        files.append(folder / f"{page.stem}.ipynb")
        nbformat.write(notebook_of(page.read_text(encoding="utf-8")), files[-1])
    return files


def notebook_of(text: str) -> NotebookNode:
    """Return a page as a notebook, each picture below the cell that draws it."""
    cells = list(_cells(PICTURE.sub("", text)))
    sources = [cell.source if cell.cell_type == "code" else "" for cell in cells]
    drawn = [
        (_place(sources, picture), picture) for picture in dict.fromkeys(PICTURE.findall(text))
    ]
    for place, picture in sorted(drawn, reverse=True):  # from the last, so that places stay
        code = f'from IPython.display import Image\n\nImage("{picture}")'
        cells.insert(place + 1, new_code_cell(code))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same each time
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def _place(sources: list[str], picture: str) -> int:
    """Return the cell that names a picture without its suffix, or else the folder that it is in."""
    path = Path(picture)
    for name in (f'"{path.with_suffix("")}"', f'"{path.parent}"', f"--figures {path.parent}"):
        for place, source in enumerate(sources):
            if name in source:
                return place
    raise ValueError(f"no cell draws {picture}")


def _cells(text: str) -> Iterator[NotebookNode]:
    """Yield text and code, in the order of the page."""
    # text, and of each block its kind, its lines and the text that follows
    first, *rest = BLOCK.split(text)
    yield from _text_cells(first)
    for kind, block, following in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        yield new_code_cell(_command(block) if kind == "console" else _python(block))
        yield from _text_cells(following)


def _text_cells(text: str) -> Iterator[NotebookNode]:
    """Yield text without links to other pages, which are not beside a notebook; nothing if there is none."""
    plain = LINK_TO_PAGE.sub(r"\1", REMARK.sub("", text)).strip()
    if plain:
        yield new_markdown_cell(plain)


def _python(block: str) -> str:
    """Return the lines of Python of a session, without what they give."""
    if not block.startswith(">>>"):
        return block.rstrip()
    examples = doctest.DocTestParser().get_examples(block)
    return "".join(example.source for example in examples).rstrip()


def _command(block: str) -> str:
    """Return the command of a block, for a shell."""
    return f"!{block.partition(chr(10))[0].removeprefix('$ ')}"
