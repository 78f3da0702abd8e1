"""Names with harmless markup: what each surface must show as it is, and none take for an element."""

import csv
import io
import re
from html import unescape

from markdown_it import MarkdownIt

OF_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}

NAMES = (
    "<b>x</b>",
    '<i title="x">',
    "</td><u>x</u><!-- x",
    "&amp;",
    "&lt;u>",
    "\"x' onclick='x",
    "${x}",
    "$x$ \\(x\\)",
    "{{ x }}",
    "{% x %}",
    "`x` ~~x~~",
    "[x](https://x.example) ![x](x.png)",
    "*x* _x_ **x**",
    "\\textbf{x} %x #x",
    "=1+1",
    "https://x.example www.x.example",
)
PLAIN = tuple(f"n{i:02}" for i in range(len(NAMES)))


def table(*rows):
    """Return rows as CSV."""
    csv.writer(text := io.StringIO(), lineterminator="\n").writerows(rows)
    return text.getvalue()


def systems(names, size=20):
    """Return a table of systems, none of which is like another."""
    rows = []
    for place, name in enumerate(names):
        for sample in range(size):
            is_right = (7 * sample) % size > place + 3
            confidence = ((11 * sample + place) % size + 1) / (size + 2) if sample % 3 else 0.9
            rows.append([name, sample, round(confidence, 4), int(is_right)])
    return table(["system", "id", "confidence", "correct"], *rows)


def rendered(text):
    """Return the elements of a text in Markdown, and what is read there."""
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    return set(re.findall(r"<(\w+)", html)), unescape(re.sub("<[^>]*>", "", html))
