"""Words and HTML of the page: errors and notes in its own words, tables. All text is escaped."""

import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from ecuas_metric.errors import InputError
from ecuas_metric.metric import METRICS
from ecuas_metric.options import LEVEL
from ecuas_metric.reporting.report import Report
from ecuas_metric.reporting.tables import Grid

from .uploads import plain_text

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
    "pass_posteriors": "Class labels? Then the predictions must be posteriors, one column per class.",
    "pass_flat_list": "Confidences? Choose their column under Columns.",
    "logits_not_exponentials": "Logits? This is the sum of their exponentials. Choose logits under Options.",
    "use_probabilities": "Are they class labels? Then upload probabilities instead.",
    "name_logits": "Logits? Choose logits under Options; their rows may have any sum.",
    "margins_are_logits": "Margins? They are logits: choose these under Options.",
    "set_missing_confidence": "Missing confidences? Enter a value for them under Options of the first tab.",
    "name_form": "Logits or log-probabilities? Choose them under Options.",
    "divide_by_sums": "Rounded probabilities? The command `ecuas` can divide each row by its sum.",
    "check_cost": "Under Options, the number of possible answers may be too small.",
    "use_analytic_intervals": "Use the analytic intervals of the command `ecuas` instead.",
    "set_correct_from": "Partly correct? Enter the lowest grade that counts as correct under Options.",
    "set_scale_100": "Percentages? Enter 100 under Options, “Largest confidence”.",
    "set_scale": "On another scale? Enter its largest value under Options, “Largest confidence”.",
    "name_confidence_field": "The command `ecuas` can read another field of it.",
    "name_filter": "The command `ecuas` can read one of them.",
    "keep_common": "The command `ecuas` can keep only the common ones.",
    "count_as_wrong": CHOOSE,
    "label_or_bound": CHOOSE,
    "name_columns": "Choose them under Columns.",
    "name_role": "Choose it under Columns.",
    "name_guesses": "Choose it under Columns.",
    "name_probabilities": "Probabilities of one of two classes? The command `ecuas` reads them as such.",
    "name_complement": "The command `ecuas` reads its complement.",
    "name_other_class": "Of the other class? The command `ecuas` reads its complement.",
    "name_ids": "Other ids? Choose their columns under Columns.",
    "set_num_classes": "Is a confidence of one of these classes? Enter their number under Options.",
    "set_infinite_classes": "For free text, leave the number of possible answers empty under Options.",
    "name_whole_id": "Choose all columns of the id under Columns, joined by +.",
    "read_partial": "The command `ecuas` can read what there is.",
    "keep_all_classes": "Keep the columns of all classes.",
    "name_one_role": "Choose it under Columns.",
}
FAILED = "This could not be computed here. The command `ecuas` may do it, and says more."
_Result = TypeVar("_Result")


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    return plain_text(error.render(WORDS), MAX_LENGTH)


def attempt(function: Callable[..., _Result], *arguments: object) -> tuple[_Result | None, str]:
    """Return the result of a function, or None and the reason for its failure in one line."""
    try:
        return function(*arguments), ""
    except InputError as error:
        return None, in_words(error)
    except ImportError as error:  # an extra that is not installed
        return None, plain_text(str(error), MAX_LENGTH)
    except Exception:  # visitors see no traceback; the log has it
        logging.exception("in %s", getattr(function, "__name__", function))
        return None, FAILED


def links(namespace: str = NAMESPACE) -> str:
    """Return a line of Markdown; in a clone, which has no namespace, folders instead of links to the Hub."""
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
    page = "" if namespace.startswith("<") else f"{HUB}/spaces/{namespace}/ecuas-demo"
    return html("previews", title=title, description=description, page=page)


def html(part: str, **values: object) -> str:
    """Return a macro of `parts.html` with values; what is text is escaped."""
    return str(getattr(_PARTS, part)(**values))


def isolate(name: str) -> str:
    """Return a name as HTML that cannot change the order of the text around it."""
    return f"<bdi>{escape(name)}</bdi>"


def report_tables(report: Report, grid: Grid, styles: Mapping[str, str]) -> str:
    """Return ECUAS_n of each system with N and signature, and folded below it all metrics."""
    first = len(grid.header) - len(report.keys)
    columns = [first + i for i, key in enumerate(report.keys) if key.metric == "ecuas"]
    tips = [METRICS[key.metric].description for key in report.keys]
    return html(
        "tables",
        grid=grid,
        columns=columns,
        tips=[""] * first + tips,
        slots=styles,
        sizes=sorted(set(report.sizes.values())),
        best=BEST,
    )


def _code(text: str) -> Markup:
    """Return a text as HTML in which what is between backticks is code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _wbr(name: str) -> Markup:
    """Return a name as HTML that may go on in the next line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


_HTML = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
_HTML.globals["level"] = f"{LEVEL:.0%}"
_HTML.filters |= {"code": _code, "wbr": _wbr}
_PARTS = _HTML.from_string((Path(__file__).parent / "parts.html").read_text(encoding="utf-8")).module
