"""The site: `make docs` builds the pages of the whole repository, whose links are those that work in a clone."""

from ecuas_metric import __version__

project, author, release = "ecuas", "The ecuas authors", __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
include_patterns = ["docs/*.md", "docs/*.ipynb", "*.md", "*/README.md"]
exclude_patterns = ["build", ".venv*", "**/.venv*", "demo", "tests"]
root_doc = "docs/index"
html_theme = "furo"
html_title = f"ecuas {release}"
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
suppress_warnings = ["myst.header", "myst.strikethrough", "misc.highlighting_failure"]
