"""Write what pages show of the code: tables of options and layouts, and what commands print: `make reference`."""

import contextlib
import doctest
import io
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import ecuas_metric
import examples.demo
from ecuas_metric import make_report, prepare_submissions, read_submissions
from ecuas_metric.files.recipe import LAYOUTS
from ecuas_metric.options import DEFAULTS, OPTIONS
from ecuas_metric.reporting import cli

ROOT = Path(__file__).parent.parent
CARD = Path(ecuas_metric.__file__).with_name("README.md")
FILES = ROOT / "docs/files.md"
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs/tutorial.md"
COMMAND = re.compile(r"```console\n\$ (ecuas .*)\n[^`]*```")
DEMO_FILES = {
    "random forest": "random_forest",
    "logistic regression": "logistic_regression",
    "naive Bayes, calibrated": "gaussian_naive_bayes_calibrated",
}
TITLES = {"auroc": "AUROC ↑", "aurc": "AURC ↓", "ece": "ECE ↓", "ecuas_0": "ECUAS_0 ↓"}
REJECT_COST = 0.1


def card() -> str:
    """Return the text of the metric card with its table of options."""
    rows = ((f"`{name}`", f"`{_default(name)}`", _forms(name), OPTIONS[name].help) for name in OPTIONS)
    return _filled(CARD, "options", _table(["option", "default", "for", "meaning"], rows))


def files() -> str:
    """Return the text of docs/files.md with its table of layouts."""
    rows = ((f"`{columns}`", meaning) for columns, meaning in LAYOUTS)
    return _filled(FILES, "layouts", _table(["columns", "what they hold"], rows))


def readme() -> str:
    """Return the text of the README with what the demo's files give."""
    with _new_folder():
        with contextlib.redirect_stdout(io.StringIO()):
            examples.demo.main([])
        text = _filled(README, "choices", _choices(Path("demo")))
        return _with_outputs(text)


def tutorial() -> str:
    """Return the text of the tutorial with what its commands print."""
    text = TUTORIAL.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(>>>.*?)```", text, flags=re.DOTALL)
    with _new_folder():
        names: dict[str, object] = {}
        for example in doctest.DocTestParser().get_examples("\n".join(blocks)):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(example.source, TUTORIAL.name, "single"), names)
        return _with_outputs(text)


def _choices(demo: Path) -> list[str]:
    """Return a table of which classifier each metric prefers, and what that one costs."""
    submissions = [read_submissions(demo / f"{name}.csv")[0] for name in DEMO_FILES.values()]
    report = make_report(prepare_submissions(submissions, reject_costs=(REJECT_COST,)))
    values = {title: result.flat() for title, result in zip(DEMO_FILES, report.results.values(), strict=True)}
    rows = []
    for key, metric in TITLES.items():
        best = max if key == "auroc" else min
        preferred = best(values, key=lambda title: values[title][key])
        cells = []
        for title in values:
            number = f"{values[title][key]:.3f}"
            cells.append(f"**{number}**" if title == preferred else number)
        cost = f"{values[preferred][f'expected_cost_{REJECT_COST:g}']:.3f}"
        rows.append((metric, *cells, preferred.partition(",")[0], cost))
    return _table(["metric", *values, "prefers", "users pay"], rows)


def _table(header: list[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [header, ["---" for _ in header], *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def _with_outputs(text: str) -> str:
    """Return the text of a page with what its commands print in the current folder."""

    def block(match: re.Match[str]) -> str:
        return f"```console\n$ {match[1]}\n{_printed(match[1])}\n```"

    return COMMAND.sub(block, text)


def _printed(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = cli.main(shlex.split(command)[1:])
    if code != 0:
        raise ValueError(f"{command} ended with {code}")
    return printed.getvalue().rstrip()


@contextlib.contextmanager
def _new_folder() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


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


def main() -> None:
    """Write every page whose text follows from the code."""
    for page, text in ((CARD, card), (FILES, files), (README, readme), (TUTORIAL, tutorial)):
        page.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
