import contextlib
import importlib.metadata
import io
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold

import examples.demo
from docs import blocks
from ecuas_metric import __version__, ecuas_score, read_submissions, score_posteriors
from ecuas_metric.costs import ecuas_cost
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting import cli
from ecuas_metric.version import BIBTEX
from examples import paper
from space import subset
from tests.conftest import ROOT
from tests.ecuas_metric.registry import PINNED

QUICK = ["README.md", "python.md"]  # the card, and another page that runs no command
PAGES = [
    page if page.name in QUICK else pytest.param(page, marks=pytest.mark.e2e)
    for page in blocks.WITH_CODE
]
NUMBER = re.compile(r"\d+(?:\.\d+)?(?: %)?")
FENCED = re.compile(r"(?s)```.*?```")


def is_locked(package):
    """Whether the installed version is that of requirements-dev.txt."""
    locked = re.search(
        rf"^{package}==(\S+)", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE
    )
    return locked[1] == importlib.metadata.version(package)


def are_alike(*pictures):
    """Whether two pictures differ by no more than rounding of their colours."""
    first, second = (np.asarray(Image.open(picture), int) for picture in pictures)
    return first.shape == second.shape and np.abs(first - second).max() <= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_code_gives(page):
    """If not: make reference."""
    if not is_locked("scikit-learn"):
        pytest.skip("another version of scikit-learn fits a little differently")
    text, pictures = blocks.page_and_pictures(page)
    assert page.read_text() == text
    folder = page.with_suffix("")
    assert sorted(pictures) == sorted(f"{page.stem}/{path.name}" for path in folder.glob("*.png"))
    if is_locked("matplotlib"):
        assert [
            name
            for name, drawn in pictures.items()
            if not are_alike(page.parent / name, io.BytesIO(drawn))
        ] == []


def values_in(text):
    """Return the numbers of a text, percentages as shares."""
    numbers = (number.split() for number in NUMBER.findall(text))
    return {float(number) / (100 if percent else 1) for number, *percent in numbers}


@pytest.mark.parametrize(
    "page", [ROOT / "docs/tutorial.md", *blocks.EXAMPLES], ids=lambda page: page.name
)
def test_every_number_in_a_sentence_stands_in_code_or_in_what_it_gives(page):
    text = page.read_text()
    sentences = re.sub(r"(?m)^#+ \d\.|\]\(.*?\)", "", FENCED.sub("", text))
    assert values_in(sentences) <= values_in("".join(FENCED.findall(text)))


def test_every_option_is_in_the_cards_table_and_in_an_example():
    card = (ROOT / "ecuas_metric/README.md").read_text()
    examples = "".join(FENCED.findall(card))
    for option in OPTIONS:
        assert f"| `{option}` |" in card, option
        assert re.search(rf'\b{option}=|"{option}":', examples), option


def test_every_key_is_in_the_cards_table():
    card = (ROOT / "ecuas_metric/README.md").read_text()
    for key in (row.name for row in PINNED.values() if row.when != "ratio"):
        assert re.search(rf"`{key}[_`]", card), key


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Run the demo once; return its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        examples.demo.main([])
    return folder, printed.getvalue()


@pytest.mark.e2e
def test_the_demo_leaves_the_files_it_names(demo):
    folder, printed = demo
    named = set(re.findall(r"(?m)^demo/.*$", printed))
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {path for line in named for path in line.split()} == left


@pytest.mark.e2e
def test_what_the_demo_says_to_do_next_can_be_done(demo, monkeypatch, capsys):
    folder, printed = demo
    monkeypatch.chdir(folder)
    compare, score = re.findall(r"(?m)/ecuas ((?:compare|score) .*)$", printed)
    assert cli.main(compare.split()) == 0
    assert "costs users less than" in capsys.readouterr().out
    Path("mine.csv").write_text("confidence,correct\n0.9,1\n0.4,0\n0.8,1\n")
    assert cli.main(score.split()) == 0


@pytest.mark.e2e
def test_the_readme_shows_what_the_demo_gives():
    """If not: make reference."""
    if not is_locked("scikit-learn"):
        pytest.skip("another version of scikit-learn fits a little differently")
    text, picture = blocks.readme_and_picture()
    assert (ROOT / "README.md").read_text() == text
    assert not is_locked("matplotlib") or are_alike(blocks.PICTURE, io.BytesIO(picture))


@pytest.mark.e2e
def test_what_the_readme_says_of_the_recalibrated_forest(demo):
    folder, _ = demo
    (forest,) = read_submissions(folder / "demo/shallow_forest_calibrated.csv")
    values = score_posteriors(
        forest.references, forest.predictions, reject_costs=blocks.REJECT_COST
    )
    cost = values[f"expected_cost_{blocks.REJECT_COST:g}"]
    text = (ROOT / "README.md").read_text()
    assert f"recalibrated, it costs {cost:.3f}." in text
    assert text.count("naive Bayes") > 1


def test_every_choice_that_the_readme_shows_is_wrong_or_right_beyond_chance():
    text = (ROOT / "README.md").read_text()
    rows = re.findall(
        r"(?m)^\| (\S+) [↑↓] .* \*\*([-+.\d]+) \[([-+.\d]+), ([-+.\d]+)\]\*\* \|$", text
    )
    assert len(rows) == len(blocks.CHOICES)
    for metric, *numbers in rows:
        more, low, high = map(float, numbers)
        assert low <= more <= high
        assert (high < 0) if metric.startswith("ECUAS") else (low > 0)


def test_the_readmes_table_of_n():
    """What a mistake with confidence 0.99 costs, where rejecting costs 1."""
    rows = re.findall(r"(?m)^\| (\d+) \| .* \| (\d\.\d\d) \|$", (ROOT / "README.md").read_text())
    assert [int(n) for n, _ in rows] == [0, 1, 128]
    for n, shown in rows:
        (cost,) = ecuas_cost(candidate_cost=[1], uncertainty=[0.01], n=int(n))
        assert f"{cost:.2f}" == shown


def test_the_cards_costs_of_a_wrong_answer_with_confidence_1():
    (sentence,) = re.findall(r"given with confidence 1 costs (.*?)\. If", blocks.CARD.read_text())
    shown = re.findall(r"(\d+\.\d+) at n = (\d+(?:\.\d+)?)", sentence)
    assert len(shown) == sentence.count(" at n = ")
    for cost, n in shown:
        (ours,) = ecuas_cost(candidate_cost=[1], uncertainty=[0.0], n=float(n))
        assert f"{ours:.3f}" == cost


def test_the_cards_values_are_those_that_the_paper_prints():
    card = blocks.CARD.read_text()
    rows = re.findall(r"(?m)^\| (.*) \| (.*) \| (raw|cal) \| (.*) \|$", card)
    columns = ["norm_error_rate", "ece", "auroc", "aurc"]
    columns += [f"norm_ecuas_{n}" for n in (0, 1, 128)]
    for *name, cells in rows:
        in_paper = paper.printed_rows()[tuple(name)]
        assert [float(cell) for cell in cells.split(" | ")] == [in_paper[key] for key in columns]
    assert rows
    on_triviaqa = subset.printed().sort_values("ecuas_0")["ecuas_0"]
    (limits,) = re.findall(r"from an ECUAS_0 of (\S+) .*? to (\S+) \(", card)
    assert [float(one) for one in limits] == [on_triviaqa.iloc[0], on_triviaqa.iloc[-1]]


def test_an_aurc_that_the_paper_prints_is_above_that_of_the_worst_order():
    text = (ROOT / "docs/paper.md").read_text()
    (numbers,) = re.findall(
        r"(?m)an AURC of (\S+) .*? error rate of (\S+), .*? gives (\S+)\.$", text
    )
    aurc, rate, worst = map(float, numbers)
    assert worst == pytest.approx(rate - rate * np.log(rate), abs=0.005)
    assert aurc > worst


def test_the_citation_names_the_version_and_the_paper():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert cited["preferred-citation"]["url"] == "https://arxiv.org/abs/2605.20490"
    assert BIBTEX in (ROOT / "ecuas_metric/README.md").read_text()


@pytest.mark.parametrize("page", blocks.WITH_TABLES, ids=lambda page: page.name)
def test_tables_are_up_to_date(page):
    """If not: make reference."""
    assert page.read_text() == blocks.page_with_tables(page)


def test_the_writer_of_pages_explains_itself_and_refuses_what_it_does_not_take(capsys):
    with pytest.raises(SystemExit, match="^0$"):
        blocks.main(["--help"])
    assert "make reference" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="^2$"):
        blocks.main(["README.md"])


def recipe(name):
    """Return the code under a bold name of the recipes, and what its comments say that it prints."""
    section = (ROOT / "docs/python.md").read_text().split("## Recipes")[1].split("\n## ")[0]
    code = re.search(rf"(?s)\*\*{name}\*\*.*?```python\n(.*?)```", section)[1]
    return code, [line[2:] for line in code.splitlines() if line.startswith("# ")]


def run(code, **given):
    """Run code; return what it prints and its names."""
    names, printed = dict(given), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue().splitlines(), names


def test_numpy_in_one_call():
    code, shown = recipe("NumPy")
    printed, names = run(code)
    assert printed == shown
    expected = ecuas_cost(
        candidate_cost=1.0 - names["correct"], uncertainty=1 - names["confidence"], n=1
    ).mean()
    assert names["values"]["ecuas_1"] == pytest.approx(expected)


def test_scikit_learns_cross_validation_binary_and_multiclass():
    code, shown = recipe("scikit-learn")
    printed, names = run(code)
    for data, ours, written in zip(
        (load_breast_cancer(), load_iris()), printed, shown, strict=True
    ):
        scores, expected = (np.fromstring(text.strip("[]"), sep=" ") for text in (ours, written))
        # another scikit-learn may fit a little differently
        assert scores == pytest.approx(expected, abs=0.02)
        for score, (train, test) in zip(
            scores, StratifiedKFold(3).split(data.data, data.target), strict=True
        ):
            model = names["model"].fit(data.data[train], data.target[train])
            # (N, K), where the scorer is given (N,) for two classes
            posteriors = model.predict_proba(data.data[test])
            assert -score == pytest.approx(
                ecuas_score(data.target[test], posteriors, n=1), abs=0.006
            )


@pytest.mark.e2e
def test_the_trainer_of_transformers(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason="needs the extra `local`: make test EXTRAS=local")
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `local`: make test EXTRAS=local"
    )
    pytest.importorskip("accelerate", reason="needs the extra `local`: make test EXTRAS=local")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=20,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=3,
    )
    model = transformers.BertForSequenceClassification(config)
    words = torch.randint(20, (24, 4))
    samples = [{"input_ids": row, "labels": int(row[0]) % 3} for row in words]
    code, _ = recipe("transformers")
    _, names = run(code, model=model, train_set=samples[:12], test_set=samples[12:])
    history = [entry for entry in names["trainer"].state.log_history if "eval_ecuas_1" in entry]
    assert len(history) == 3  # epochs
    assert names["trainer"].state.best_metric == min(entry["eval_ecuas_1"] for entry in history)
    output = names["trainer"].predict(samples[12:])
    posteriors = torch.tensor(output.predictions).softmax(dim=1).double().numpy()
    expected = score_posteriors(output.label_ids, posteriors, labels=range(3))
    assert output.metrics["test_ecuas_1"] == pytest.approx(expected["ecuas_1"], rel=1e-5)
    assert output.metrics["test_auroc"] == pytest.approx(expected["auroc"], nan_ok=True)
