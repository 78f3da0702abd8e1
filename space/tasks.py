"""What visitors and programs ask for -> what the page shows, and JSON: computed by a copy of the worker, `bounded`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from markupsafe import Markup

from triviaqa_subset import tables

from . import answers, links, subset, uploads
from .scoring import Given, Json, Scored, options_of, score_files, score_submissions

_EXAMPLES = Path(__file__).resolve().parent / "examples"
NO_LINK = (
    "No link holds this result: it is too long for one, or has confidences that are not written as numbers from 0 to "
    "1. Send the file “graded answers” below, which the tab Compare scores alike."
)
# who is cheapest, the averages, every number, and the files that are linked
Shown = tuple[Markup, Markup, Markup, list[str]]


def warm_up() -> None:
    """Do once what each task needs, so that copies of this process have it."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    scored = score_files([str(path) for path in sorted(_EXAMPLES.glob("*_model.csv"))], {})
    scored.opening(title="", changes={}, remark="")
    scored.details({})
    with TemporaryDirectory() as folder:
        scored.draw(Path(folder))
    for asked in tables.ASKED:
        subset.known_rows(asked)


# ---- for programs


def score_json(paths: Sequence[str], given: Given, explain: bool) -> Json:
    """Score the systems in files."""
    return score_files(paths, given).json(explained=explain)


def grade_json(path: str, asked: str, given: Given) -> Json:
    """Grade the answers in a file, and score them."""
    graded = answers.grade_answers(uploads.read_answers(path), asked)
    scored, (row, *_) = _evaluate(graded, "yours", "yours", given)
    return scored.json() | {
        "graded": graded.summary(),
        "open": graded.open_questions(),
        "leaderboard": subset.record(row),
    }


# ---- for the page


def score_html(
    paths: Sequence[str],
    given: Given,
    title: str,
    address: Mapping[str, object],
    remark: str,
    folder: Path,
) -> Shown:
    """Lay out the systems in files, with links to tables that are written into a folder."""
    return _lay_out(score_files(paths, given), title, address, remark, folder)


def curves_html(paths: Sequence[str], given: Given, folder: Path) -> tuple[Markup, list[str]]:
    """Draw further curves of the systems in files."""
    pictures = score_files(paths, given).draw(folder)
    return pictures, list(map(str, folder.iterdir()))


def graded_html(
    path: str,
    asked: str,
    address: Mapping[str, object],
    folder: Path,
) -> tuple[Markup, *Shown]:
    """Lay out the leaderboard with the answers in a file, and what `score_html` does."""
    graded = answers.grade_answers(uploads.read_answers(path), asked)
    name = uploads.plain_text(Path(path).stem, links.LONGEST_NAME) or "your model"
    token = links.pack(name, graded)
    remark = graded.summary() if token else f"{graded.summary()} {NO_LINK}"
    kept = {**address, "result": token}
    return _on_the_board(name, graded, "your model", remark, kept, folder)


def link_html(
    token: str,
    address: Mapping[str, object],
    folder: Path,
) -> tuple[Markup, *Shown]:
    """Lay out what a link holds, as `graded_html` does."""
    name, graded = links.unpack(token)
    return _on_the_board(name, graded, links.SELF_REPORTED, "", address, folder)


def _on_the_board(
    name: str,
    graded: answers.Graded,
    mark: str,
    remark: str,
    address: Mapping[str, object],
    folder: Path,
) -> tuple[Markup, *Shown]:
    scored, rows = _evaluate(graded, name, mark, {})
    path = folder / "graded.csv"
    graded.write(path)
    shown = _lay_out(scored, name, address, remark, folder, {"graded answers": str(path)})
    return subset.board_html(graded.asked, rows), *shown


def _evaluate(
    graded: answers.Graded,
    name: str,
    mark: str,
    given: Given,
) -> tuple[Scored, list[subset.Row]]:
    """Score graded answers, and return the leaderboard with them, first their row."""
    scored = score_submissions([graded.submission(name)], options_of(given))
    rows = subset.rows_with(graded.asked, name, graded.correct, mark, graded.confidence)
    return scored, rows


def _lay_out(
    scored: Scored,
    title: str,
    address: Mapping[str, object],
    remark: str,
    folder: Path,
    others: Mapping[str, str] = {},
) -> Shown:
    files = {**scored.write(folder), **others}
    opening = scored.opening(title=title, changes=address, remark=remark)
    return opening, scored.averages(), scored.details(files), list(files.values())
