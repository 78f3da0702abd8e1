"""The site, built once, looked at in a browser."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.e2e
sync_playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed"
).sync_playwright
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytest.importorskip("furo", reason="needs the extra `docs`")
CHROMIUM = Path("/usr/bin/chromium")
PAGES = [
    "README",
    "docs/index",
    "docs/tutorial",
    "docs/gallery",
    "docs/examples/loans",
    "docs/generated/ecuas_metric.decide",
]
CUT = """() => [...document.querySelectorAll(".content *")].filter(
  (one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("pre, .table-wrapper, .math-wrapper")
).map((one) => one.outerHTML.slice(0, 80))"""

BROKEN = """() => [...document.querySelectorAll("div.highlight-console pre")].filter((one) => {
  const sign = Object.assign(document.createElement("span"), { textContent: "-" });
  one.append(sign);
  const width = one.clientWidth - 2 * parseFloat(getComputedStyle(one).paddingLeft);
  const signs = width / sign.getBoundingClientRect().width;
  sign.remove();
  const widths = (one.textContent.match(/^-+$/gm) ?? []).map((rule) => rule.length);
  return getComputedStyle(one).whiteSpace === "pre-wrap" && Math.max(0, ...widths) > signs;
}).length"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, whose warnings are errors, from a copy of the list of pages."""
    folder = tmp_path_factory.mktemp("site")
    call = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "-c",
        "docs",
        "-d",
        folder / "trees",
        ".",
    ]
    subprocess.run(
        [*call, folder / "site"], cwd=ROOT, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    return folder / "site"


class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    def __init__(self, path):
        super().__init__()
        self.links = set()
        self.anchors = {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.anchors.add(named.get("id"))
        self.links |= {named[name] for name in ("href", "src") if name in named}


def test_every_link_within_the_site_leads_somewhere(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not address.scheme and not address.netloc:
                assert target.exists(), (path, link)
                assert target.suffix != ".html" or address.fragment in pages[target].anchors, (
                    path,
                    link,
                )


@pytest.mark.skipif(not CHROMIUM.exists(), reason="the Debian package chromium is not installed")
def test_pages_are_free_of_barriers_and_fit(site):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM))
        for width, theme in ((1280, "light"), (390, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
            for name in PAGES:
                tab.goto((site / f"{name}.html").as_uri())
                violations = (
                    axe.Axe()
                    .run(tab, options={"resultTypes": ["violations"]})
                    .response["violations"]
                )
                assert [(one["id"], str(one["nodes"])[:300]) for one in violations] == [], (
                    name,
                    width,
                    theme,
                )
                assert tab.evaluate(CUT) == [], (name, width, theme)
                assert tab.evaluate(BROKEN) == 0, (name, width, theme)
        browser.close()
