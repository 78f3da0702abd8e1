"""Write what pages show of the code: tables, results, what commands print, and pictures: `make reference`."""

import argparse
import contextlib
import doctest
import io
import math
import re
import shlex
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import ecuas_metric
import examples.demo
from docs import simulations
from docs.simulations import Rows
from ecuas_metric import compare_systems, prepare_submissions, read_submissions
from ecuas_metric.comparison.rows import Comparison
from ecuas_metric.files.recipe import LAYOUTS
from ecuas_metric.metric import Key
from ecuas_metric.options import DEFAULTS, LEVEL, OPTIONS
from ecuas_metric.plotting.figures import reject_cost_figure, save
from ecuas_metric.reporting import cli
from ecuas_metric.reporting.report import title
from ecuas_metric.results import System

ROOT = Path(__file__).parent.parent
CARD = Path(ecuas_metric.__file__).with_name("README.md")
README = ROOT / "README.md"
PICTURE = ROOT / "docs/reject_cost.png"
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.md"))
WITH_CODE = [
    CARD,
    *(
        ROOT / "docs" / name
        for name in (
            "python.md",
            "tutorial.md",
            "deciding.md",
            "decision_models.md",
            "scale.md",
            "peer_metrics.md",
            "paper.md",
        )
    ),
    *EXAMPLES,
]
CODE = re.compile(
    r"(?<=```python\n)>>> .*?(?=```)|(?<=```console\n)\$ ecuas [^`]*(?=```)", flags=re.DOTALL
)
FOREST, LOGISTIC, BAYES = "shallow forest", "logistic regression", "naive Bayes, calibrated"
DEMO_FILES = {
    FOREST: "shallow_forest",
    LOGISTIC: "logistic_regression",
    BAYES: "gaussian_naive_bayes_calibrated",
}
REJECT_COST = 0.1
CHOICES = [  # a metric, and two classifiers between which it chooses
    (Key("auroc"), FOREST, BAYES),
    (Key("ece"), BAYES, LOGISTIC),
    (Key("ecuas", 0.0), FOREST, BAYES),
    (Key("ecuas", 0.0), BAYES, LOGISTIC),
]
MARK = re.compile(r"<!-- (\w+): written by make reference -->")
# what is made of the code, or of what was simulated
WITH_TABLES = [
    CARD,
    *(ROOT / "docs" / name for name in ("files.md", "statistics.md", "deciding.md")),
]


def page_with_tables(page: Path) -> str:
    """Return the text of a page with what stands between its marks."""
    text = page.read_text(encoding="utf-8")
    for name in MARK.findall(text):
        lines = simulations.coverage_lines() if name == "summary" else _table(TABLES[name]())
        text = _with_block(text, name, lines)
    return text


def _options() -> Rows:
    rows = [
        [f"`{name}`", f"`{_default(name)}`", _forms(name), OPTIONS[name].help] for name in OPTIONS
    ]
    return [["option", "default", "for", "meaning"], *rows]


def _layouts() -> Rows:
    return [
        ["columns", "what they hold"],
        *([f"`{columns}`", meaning] for columns, meaning in LAYOUTS),
    ]


def readme_and_picture() -> tuple[str, bytes]:
    """Return the text of the README with what the demo's files give, and its picture."""
    with _new_folder():
        with contextlib.redirect_stdout(io.StringIO()):
            examples.demo.main([])
        submissions = [read_submissions(f"demo/{name}.csv")[0] for name in DEMO_FILES.values()]
        prepared = prepare_submissions(
            submissions, reject_costs=(REJECT_COST,), confidence_level=LEVEL
        )
        systems = dict(zip(DEMO_FILES, prepared.values(), strict=True))
        (picture,) = save(reject_cost_figure(systems), PICTURE.stem, suffixes=(".png",))
        text = _with_block(README.read_text(encoding="utf-8"), "choices", _choices(systems))
        return _with_results(text), picture.read_bytes()


def page_and_pictures(page: Path) -> tuple[str, dict[str, bytes]]:
    """Return the text of a page with what its code and commands give, and the pictures in a folder of its name."""
    with _new_folder():
        text = _with_results(page.read_text(encoding="utf-8"))
        drawn = Path().glob(f"{page.stem}/*.png")
        return text, {path.as_posix(): path.read_bytes() for path in drawn}


def _with_results(text: str) -> str:
    """Return the text of a page with what its code and commands give, one after the other, in the current folder."""
    names: dict[str, object] = {}

    def run(block: re.Match[str]) -> str:
        return _session(block[0], names) if block[0].startswith(">>>") else _command(block[0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some examples show what is warned of
        return CODE.sub(run, text)


def _session(code: str, names: dict[str, object]) -> str:
    """Return lines of Python with what they give."""
    lines = []
    for example in doctest.DocTestParser().get_examples(code):
        first, *others = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, "page", "single"), names)
        lines += printed.getvalue().splitlines()
    return "\n".join([*lines, ""])


def _command(block: str) -> str:
    """Return a command with what it prints."""
    command = block.partition("\n")[0]
    printed = io.StringIO()
    noted = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
        code = cli.main(shlex.split(command)[2:])
    if code != 0:
        raise ValueError(f"{command} ended with {code}")
    notes = [line for line in noted.getvalue().splitlines() if line.startswith("note: ")]
    return "\n".join([command, printed.getvalue().rstrip(), *notes, ""])


def _choices(systems: dict[str, System]) -> list[str]:
    """Return a table of which of two classifiers a metric prefers, and what that costs, each with its interval."""
    rows = [["metric", "prefers", "over", "by", f"and costs users, at {REJECT_COST:g}"]]
    cost = Key("expected_cost", REJECT_COST)
    for key, *pair in CHOICES:
        named = {name: systems[name] for name in pair}
        by_metric, by_cost = compare_systems(named, only=[key, cost])
        if (by_metric.difference > 0) != bool(key.entry.higher_is_better):
            by_metric, by_cost = by_metric.turned(), by_cost.turned()
        costs = f"{by_cost.first_value:.3f}, not {by_cost.second_value:.3f}"
        cells = [title(key), by_metric.first, by_metric.second, _with_interval(by_metric)]
        rows.append([*cells, f"{costs}: **{_with_interval(by_cost)}**"])
    return _table(rows)


def _with_interval(row: Comparison) -> str:
    limits = "" if math.isnan(row.low) else f" [{row.low:+.3f}, {row.high:+.3f}]"
    return f"{row.difference:+.3f}{limits}"


def _table(rows: Rows) -> list[str]:
    """Return the lines of a Markdown table."""
    titles, *others = (f"| {' | '.join(cells)} |" for cells in rows)
    return [titles, f"|{'---|' * len(rows[0])}", *others]


@contextlib.contextmanager
def _new_folder() -> Iterator[None]:
    """Work in an empty folder, from which metric and dataset are loaded as in a clone."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in ("ecuas_metric", "triviaqa_subset"):
            Path(name).symlink_to(ROOT / name)
        yield


def _with_block(text: str, name: str, lines: list[str]) -> str:
    """Return a text with lines between its marks."""
    start = f"<!-- {name}: written by make reference -->\n"
    end = f"<!-- end of {name} -->"
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


TABLES: dict[str, Callable[[], Rows]] = {  # by the marks between which they stand
    "options": _options,
    "layouts": _layouts,
    "coverage": simulations.coverage_rows,
    "lowest": simulations.lowest_rows,
    "differences": simulations.difference_rows,
    "checks": simulations.check_rows,
    "certificates": simulations.certificate_rows,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Write every page whose text follows from the code."""
    argparse.ArgumentParser(prog="python -m docs.blocks", description=__doc__).parse_args(argv)
    for page in WITH_TABLES:
        page.write_text(page_with_tables(page), encoding="utf-8")
    text, picture = readme_and_picture()
    README.write_text(text, encoding="utf-8")
    PICTURE.write_bytes(picture)
    for path in WITH_CODE:
        text, pictures = page_and_pictures(path)
        path.write_text(text, encoding="utf-8")
        for name, content in pictures.items():
            file = path.parent / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)


if __name__ == "__main__":
    main()
