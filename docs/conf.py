"""The site: `make docs` builds the pages of the whole repository, whose links are those that work in a clone."""

import sys
from functools import partial
from pathlib import Path

from docutils.nodes import Element, SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from ecuas_metric import __version__

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from docs.notebooks import write_notebooks  # noqa: E402

project, author, release = "ecuas", "The ecuas authors", __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
include_patterns = [
    "docs/*.md",
    "docs/examples/*.md",
    "docs/generated/*.rst",
    "*.md",
    "*/README.md",
]
exclude_patterns = ["build", ".pytest_cache", ".venv*", "**/.venv*", "demo", "tests"]
root_doc = "docs/index"
html_additional_pages = {"index": "redirect.html"}
templates_path = [str(Path(__file__).with_name("templates"))]
html_theme = "furo"
html_title = f"ecuas {release}"
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["torch", "torchmetrics", "inspect_ai", "lm_eval", "lighteval", "pyspark"]
html_math_renderer = "mathml"  # browsers draw MathML themselves, also without a network
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is typed is copied, without what it gives
copybutton_prompt_is_regexp = True
suppress_warnings = ["myst.header", "myst.strikethrough", "misc.highlighting_failure"]


EXAMPLES = ROOT / "docs/examples"
NOTEBOOKS = ROOT / "docs/generated/notebooks"
HUB = "https://huggingface.co/"
PAGES_OF_ADDRESSES = {  # of the Hub, where a clone has no namespace; the longest first
    "spaces/<namespace>/ecuas-demo/blob/main/docs/dataset.md": "docs/dataset.md",
    "spaces/<namespace>/ecuas-demo/tree/main": "README.md",
    "spaces/<namespace>/ecuas-demo": "space/README.md",
    "spaces/<namespace>/ecuas": "ecuas_metric/README.md",
    "datasets/<namespace>/triviaqa-curated": "triviaqa_subset/README.md",
}


def setup(app: Sphinx) -> None:
    """Add the renderer of formulas, which Sphinx calls by its name, and mend links and the list of pages."""
    app.connect("builder-inited", _write_notebooks)
    app.connect("source-read", _link_to_pages)
    app.connect("source-read", _link_to_notebook)
    displayed = partial(_write_formula, as_block=True)
    app.add_html_math_renderer("mathml", (_write_formula, None), (displayed, None))
    app.connect("html-page-context", _name_level_of_captions, priority=1000)  # after the theme


def _write_notebooks(_app: Sphinx) -> None:
    write_notebooks(sorted(EXAMPLES.glob("*.md")), NOTEBOOKS)


def _link_to_notebook(_app: Sphinx, page: str, text: list[str]) -> None:
    """Offer each example as a notebook, below its title."""
    folder, _, stem = page.rpartition("/")
    if folder == "docs/examples":
        title, _, rest = text[0].partition("\n")
        link = f"{{download}}`Download as a notebook </{NOTEBOOKS.relative_to(ROOT)}/{stem}.ipynb>`"
        text[0] = f"{title}\n\n{link}\n{rest}"


def _link_to_pages(_app: Sphinx, _page: str, text: list[str]) -> None:
    """Let links of the cards to the Hub lead to the pages of the site."""
    text[0] = text[0].replace("[<namespace>/", "[")  # in a label it would be a tag
    for address, page in PAGES_OF_ADDRESSES.items():
        text[0] = text[0].replace(f"]({HUB}{address}", f"](../{page}")


def _name_level_of_captions(
    _app: Sphinx, _page: str, _template: str, context: dict[str, object], _doctree: Element | None
) -> None:
    """Let screen readers know the level of the headings in the list of pages."""
    tree = str(context["furo_navigation_tree"])
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def _write_formula(translator: HTML5Translator, node: Element, *, as_block: bool = False) -> None:
    translator.body.append(tex2mathml(node.astext(), as_block=as_block))
    raise SkipNode
