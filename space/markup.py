"""Words and HTML of the page: errors and notes in its own words, tables.

HTML is `Markup`; all other text is escaped where it is put into HTML.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ecuas_metric.errors import InputError
from ecuas_metric.metric import METRICS
from ecuas_metric.options import LEVEL
from ecuas_metric.reporting.report import Report, are_few, base_of_ecuas, numbers_to_beat
from ecuas_metric.reporting.tables import Grid

from .uploads import plain_text
from .words import PAGE_WORDS

MAX_LENGTH = 600  # characters of a message
HUB = "https://huggingface.co"
NAMESPACE = "<namespace>"  # publishing writes the real one here
LOCAL_PAGE = "http://127.0.0.1:7860"
BEST = "★ best value, which need not be significantly better than the others"
PAPER = "https://arxiv.org/abs/2605.20490"
FAILED = "This could not be computed here. The command “ecuas” may do it, and says more."
_Result = TypeVar("_Result")


class RefusedError(Exception):
    """What was asked for is refused, in the words of the page."""


def in_words(error: InputError) -> str:
    """Return an error as one line in the words of the page."""
    lines = map(str.strip, error.render(PAGE_WORDS).splitlines())
    return plain_text(" · ".join(filter(None, lines)), MAX_LENGTH)


TOO_MUCH = in_words(InputError("This", "takes_too_long", advice="use_the_command"))


def attempt(
    function: Callable[..., _Result],
    *arguments: object,
) -> tuple[_Result | None, str]:
    """Return the result of a function, or None and the reason for its failure in one line."""
    try:
        return function(*arguments), ""
    except InputError as error:
        return None, in_words(error)
    except RefusedError as error:
        return None, str(error)
    except (MemoryError, RecursionError):
        return None, TOO_MUCH
    except ImportError as error:  # an extra that is not installed
        return None, plain_text(str(error), MAX_LENGTH)
    except Exception:  # visitors see no traceback; the log has it
        logging.exception("in %s", getattr(function, "__name__", function))
        return None, FAILED


def links(namespace: str = NAMESPACE) -> Markup:
    """Return a line of Markdown; in a clone, which has no namespace, folders instead of links to the Hub."""
    return html("links", paper=PAPER, hub=HUB, namespace=namespace)


def previews(title: str, description: str, namespace: str = NAMESPACE) -> Markup:
    """Return the preview that other sites show of a link to this page, as tags of its head."""
    return html("previews", title=title, description=description, hub=HUB, namespace=namespace)


def html(part: str, **values: object) -> Markup:
    """Return a macro of `parts.html` with values; what is no Markup is escaped."""
    filled: Markup = getattr(_PARTS, part)(**values)
    return filled


def report_tables(
    report: Report,
    grid: Grid,
    styles: Mapping[str, str],
) -> Markup:
    """Return all metrics of each system, with what they measure and may be compared with."""
    first = len(grid.header) - len(report.keys)
    tips = [METRICS[key.metric].description for key in report.keys]
    return html(
        "tables",
        grid=grid,
        tips=[""] * first + tips,
        slots=styles,
        base=base_of_ecuas(report, report.keys, PAGE_WORDS),
        beat=numbers_to_beat(report.results, report.keys) if are_few(report) else "",
        best=BEST,
    )


def _wbr(name: str) -> Markup:
    """Return a name as HTML that may go on in the next line after each underscore."""
    return Markup("_<wbr>").join(name.split("_"))


_HTML = Environment(
    autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)
_HTML.globals["level"] = f"{LEVEL:.0%}"
_HTML.filters["wbr"] = _wbr
_PARTS = _HTML.from_string(
    (Path(__file__).parent / "parts.html").read_text(encoding="utf-8")
).module
