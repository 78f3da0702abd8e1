"""Words and HTML of the page: errors and notes in its own words, tables, messages. All text is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from ecuas_metric.errors import Advice, FileAdvice, InputError
from ecuas_metric.metrics import METRICS
from ecuas_metric.reporting.report import Report
from ecuas_metric.reporting.tables import Cell, Grid

from .plots import slots
from .uploads import plain

MAX_LENGTH = 600  # characters of a message
HUB = "https://huggingface.co"
NAMESPACE = "<namespace>"  # publishing writes the real one here
BEST = "★ best value, which need not be significantly better than the others"
PAPER = "https://arxiv.org/abs/2605.20490"
LABELS = {  # an option of the metric -> the label of its control
    "n": "n",
    "num_classes": "Number of possible answers K",
    "predictions_are": "Form of the posteriors",
    "reject_costs": "Reject costs",
    "missing_confidence": "Missing confidence",
    "normalize": "Normalise",
    "decompose": "Decompose",
    "calibration": "Calibration",
    "confidence_level": "Intervals",
}
LABELS_OF_READING = {"scale": "Largest confidence", "correct_from": "Correct from"}  # what a file has -> its control
UNLABELLED = "Answers without correctness"
CHOOSE = f"Choose how to treat them under Options, “{UNLABELLED}”."
WORDS = {  # arguments and advice of the metric -> the page's own words
    **LABELS,
    **LABELS_OF_READING,
    Advice.CLASS_LABELS: "Class labels? Then the predictions must be posteriors, one column per class.",
    Advice.CONFIDENCES: "Confidences? Choose their column under Columns.",
    Advice.EXPONENTIALS: "Logits? This is the sum of their exponentials. Choose logits under Options.",
    Advice.HARD_DECISIONS: "Are they class labels? Then upload probabilities instead.",
    Advice.LOGITS: "Logits? Choose logits under Options; their rows may have any sum.",
    Advice.MARGINS: "Margins? They are logits: choose these under Options.",
    Advice.MISSING_CONFIDENCES: "Missing confidences? Enter a value for them under Options of the first tab.",
    Advice.PREDICTIONS_ARE: "Logits or log-probabilities? Choose them under Options.",
    Advice.RENORMALIZE: "Rounded probabilities? The command `ecuas` can divide each row by its sum.",
    Advice.WRONG_COST: "Under Options, the number of possible answers may be too small.",
    Advice.INTERVALS_OF_FEW: "Use the analytic intervals of the command `ecuas` instead.",
    FileAdvice.PARTLY_CORRECT: "Partly correct? Enter the lowest grade that counts as correct under Options.",
    FileAdvice.PERCENTAGES: "Percentages? Enter 100 under Options, “Largest confidence”.",
    FileAdvice.OTHER_SCALE: "On another scale? Enter its largest value under Options, “Largest confidence”.",
    FileAdvice.CONFIDENCE_FIELD: "The command `ecuas` can read another field of it.",
    FileAdvice.NAME_FILTER: "The command `ecuas` can read one of them.",
    FileAdvice.COMMON: "The command `ecuas` can keep only the common ones.",
    FileAdvice.COUNT_AS_WRONG: CHOOSE,
    FileAdvice.UNLABELLED: CHOOSE,
    FileAdvice.NAME_COLUMNS: "Choose them under Columns.",
    FileAdvice.NAME_ROLE: "Choose it under Columns.",
    FileAdvice.NAME_GUESSES: "Choose it under Columns.",
    FileAdvice.PROBABILITIES: "Probabilities of class 1? The command `ecuas` reads them as such.",
    FileAdvice.COMPLEMENT: "The command `ecuas` reads its complement.",
    FileAdvice.SAY_NUM_CLASSES: "For free text, leave the number of possible answers empty under Options.",
    FileAdvice.NAME_WHOLE_ID: "Choose all columns of the id under Columns, joined by +.",
    FileAdvice.PARTIAL: "The command `ecuas` can read what there is.",
    FileAdvice.NO_POSTERIORS: "Keep the columns of all classes.",
    FileAdvice.SAY_WHICH: "Choose it under Columns.",
}


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    return plain(error.render(WORDS), MAX_LENGTH)


def links(namespace: str = NAMESPACE) -> str:
    """Return a line of Markdown; in a clone, which has no namespace, folders instead of links to the Hub.

    >>> links("somebody").split(" · ")[1]
    '[Metric](https://huggingface.co/spaces/somebody/ecuas)'
    """
    paper = f"[Paper (arXiv 2605.20490)]({PAPER})"
    if namespace.startswith("<"):
        return f"{paper} · Metric: `ecuas_metric` · Dataset: `triviaqa_subset` · Source: `space`, all in this clone"
    pages = {
        "Metric": f"spaces/{namespace}/ecuas",
        "Dataset": f"datasets/{namespace}/triviaqa-curated",
        "Source": f"spaces/{namespace}/ecuas-demo/tree/main",
    }
    return " · ".join([paper, *(f"[{name}]({HUB}/{place})" for name, place in pages.items())])


def previews(title: str, description: str, namespace: str = NAMESPACE) -> str:
    """Return the preview that other sites show of a link to this page, as tags of its head."""
    page = f"{HUB}/spaces/{namespace}/ecuas-demo"
    tags = {"og:type": "website", "og:title": title, "og:description": description}
    tags |= {"twitter:title": title, "twitter:description": description, "twitter:card": "summary_large_image"}
    if not namespace.startswith("<"):
        image = f"{page}/resolve/main/thumbnail.png"
        tags |= {"og:url": page, "og:image": image, "twitter:image": image}
    return "".join(
        f'<meta {"name" if name.startswith("twitter") else "property"}="{name}" content="{escape(text)}" />'
        for name, text in tags.items()
    )


def main_table(report: Report, grid: Grid) -> str:
    """Return ECUAS_n of each system with N and signature, and folded below it `report_table`."""
    first = len(grid.header) - len(report.keys)
    columns = [first + i for i, key in enumerate(report.keys) if key.metric == "ecuas"]
    sizes = sorted(set(report.sizes.values()))
    num = f"N = {sizes[0]:,}" if len(sizes) == 1 else f"N = {sizes[0]:,} to {sizes[-1]:,}"
    scale = "0 is perfect, 1 is no better than answering nothing"
    best = "★ lowest; " if any(row[column].is_best for row in grid.rows for column in columns) else ""
    return (
        f"{_table(report, grid, columns)}"
        f'<p class="caption">{num}. {scale}; {best}[95% interval]. The smaller n, the more a confident mistake '
        f'counts.</p><details class="fold"><summary>All metrics</summary>{report_table(report, grid)}'
        f'<p class="caption">Signature <span class="signature">{escape(report.signature)}</span></p></details>'
    )


def report_table(report: Report, grid: Grid) -> str:
    """Return a report as an HTML table: the best marked, a tooltip per metric, the colour of the plots per system."""
    notes = _paragraphs([*grid.above, *([BEST] if grid.best else []), *grid.notes])
    meanings = _paragraphs(grid.legend)
    folded = f"<details><summary>What each metric measures</summary>{meanings}</details>" if meanings else ""
    return _table(report, grid, list(range(1, len(grid.header))), style="report all") + notes + folded


def _paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def message(text: str, *, kind: str = "note") -> str:
    """Return a box of text; nothing for no text. Kinds: error, note, warning."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{_escaped(text)}</div>' if text else ""


def bullets(sentences: Iterable[str]) -> str:
    """Return sentences, which are HTML, as a list."""
    items = "".join(f"<li>{text}</li>" for text in sentences)
    return f'<ul class="sentences">{items}</ul>' if items else ""


def isolated(name: str) -> str:
    """Return a name as HTML that cannot change the order of the text around it."""
    return f"<bdi>{escape(name)}</bdi>"


def plain_table(header: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> str:
    """Return texts as an HTML table, which the keyboard can scroll."""
    top = "".join(f'<th scope="col">{escape(title)}</th>' for title in header)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(text)}</td>" for text in rest)}</tr>'
        for first, *rest in rows
    )
    return scrolled(f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody>", label, "report plain")


def scrolled(content: str, label: str, style: str) -> str:
    """Return the content of a table as one that scrolls sideways."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="{style}">{content}</table></div>'
    )


def folded_json(record: Mapping[str, object], title: str) -> str:
    """Return a record as JSON that is shown on demand."""
    text = escape(json.dumps(record, indent=1, ensure_ascii=False))
    return f'<details class="fold record"><summary>{escape(title)}</summary><pre>{text}</pre></details>'


def _table(report: Report, grid: Grid, columns: Sequence[int], style: str = "report") -> str:
    """Lay out some columns of a report beside the names of its systems."""
    first, swatches = len(grid.header) - len(report.keys), slots(report.results)
    tips = [METRICS[report.keys[column - first].metric].description if column >= first else "" for column in columns]
    header = "".join(_head(grid.header[column], tip) for column, tip in zip((0, *columns), ("", *tips), strict=True))
    body = "".join(
        f"<tr>{_name(row[0].text, swatches[row[0].text])}{''.join(_cell(row[column]) for column in columns)}</tr>"
        for row in grid.rows
    )
    label = "Metrics" if len(columns) == len(grid.header) - 1 else "ECUAS_n"
    content = f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody>"
    return scrolled(content, f"{label} of each system", style)


def _head(title: str, tip: str) -> str:
    text = f'<abbr title="{escape(tip)}">{escape(title)}</abbr>' if tip else escape(title)
    return f'<th scope="col">{text}</th>'


def _escaped(text: str) -> str:
    """Escape a text, but mark what is between backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _name(name: str, style: str) -> str:
    shown = isolated(name).replace("_", "_<wbr>")  # where a long name may go on in the next line
    swatch = f'<i class="swatch {style}"></i>'
    return f'<th scope="row"><span class="name" title="{escape(name)}">{swatch}{shown}</span></th>'


def _cell(cell: Cell) -> str:
    value, _, limits = cell.text.partition(" ")
    interval = f"<small>{escape(limits)}</small>" if limits else ""
    best = ' class="best"' if cell.is_best else ""
    return f"<td{best}>{value}{' ★' if cell.is_best else ''}{interval}</td>"
