"""`ecuas report` writes a document whose parts fit, and a paragraph whose numbers are those of the tables."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import confidence_system, make_report, posterior_system, score_confidences
from ecuas_metric.metric import Key
from ecuas_metric.reporting import paper
from ecuas_metric.reporting.cli import main
from tests.ecuas_metric.reporting.commanded import answers

pytestmark = pytest.mark.long  # it writes documents


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write two systems, and a report of both."""
    path = tmp_path_factory.mktemp("written")
    rng = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        for name in ("a_1%", "b"):
            answers(rng, 120).round(6).to_csv(f"{name}.csv", index=False)
        assert main(["report", "a_1%.csv", "b.csv"]) == 0
    return path


@pytest.fixture
def paper_folder(written, folder):
    """Return a copy of the report, beside the systems."""
    return shutil.copytree(written, folder, dirs_exist_ok=True) / "paper"


@pytest.fixture
def reported(paper_folder, ran, monkeypatch):
    """Return a function that writes a report without figures over the former one, and returns its paragraph."""
    monkeypatch.setattr(paper, "draw_figures", lambda *_: {})

    def report(arguments):
        ran(f"report {arguments}")
        return (paper_folder / "methods.txt").read_text()

    return report


def test_the_document_stands_alone_and_names_no_command(paper_folder):
    text = (paper_folder / "results.tex").read_text()
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert {"booktabs", "graphicx", "threeparttable"} <= set(
        re.search(r"\\usepackage\{(.*)\}", text)[1].split(",")
    )
    labels = re.findall(r"\\label\{(.*)\}", text)
    assert len(set(labels)) == len(labels) == text.count(r"\caption{")
    drawings = re.findall(r"\\includegraphics.*?\{(.*?)\}", text)
    assert len(drawings) == 4
    for drawing in drawings:
        assert (paper_folder / drawing).read_bytes().startswith(b"%PDF")
        assert (paper_folder / drawing).with_suffix(".png").exists()
    printed = [line.partition("% ")[0] for line in text.splitlines()]
    assert text.count("{") == text.count("}")
    assert "ecuas compare" not in text
    assert "ecuas score" not in text
    header = re.search(r"\\toprule\n(.*) \\\\", text)[1]
    # as wide as a page
    assert re.findall(r"[A-Z]{2,}", header) == ["ER", "AURC", "ECUAS", "ECUAS", "ECUAS"]
    signature = text.partition("Computed by ecuas")[2]
    assert max(map(len, re.split(r"\s|\\allowbreak", signature))) < 40
    assert all(
        "#" not in line and "[-]" not in line.replace(r"\item{} [-]", "").replace(" [-]", "")
        for line in printed
    )


def test_the_paragraph_and_the_numbers_are_those_of_the_systems(paper_folder):
    text = (paper_folder / "methods.txt").read_text()
    content = json.loads((paper_folder / "numbers.json").read_text())
    assert "2 systems on 120 samples" in text
    assert "paired by ids" in text
    methods, results = text.strip().split("\n\n")
    references = (paper_folder / "references.bib").read_text()
    for name, year in re.findall(r"\((\w+)[^()]* (\d{4})\)", methods):
        assert re.search(rf"@\w+\{{{name.lower()}{year}", references), name
    assert "adjusted p =" in results
    assert content["signature"] in text
    table = pd.read_csv("b.csv")
    expected = score_confidences(table["correct"], table["confidence"])["ecuas_1"]
    assert content["rows"][1]["ecuas_1"] == pytest.approx(expected)
    tests = sum(row["p"] is not None for row in content["differences"])
    assert f"the {tests} tests of all pairs" in text
    document = (paper_folder / "results.tex").read_text()
    differences = document.split(r"\begin{tabular}")[2].partition(r"\bottomrule")[0]
    shown = re.findall(r"& ([+-]\d\.\d+) &", differences.replace("$-$", "-"))
    expected_rows = [row["difference"] for row in content["differences"]]
    assert [float(one) for one in shown] == pytest.approx(expected_rows, abs=5e-4)
    assert f"{expected:.3f}" in text


def test_the_paragraph_says_what_was_recalibrated(reported):
    said = "named with 'affine' are recalibrated in 3-fold cross-validation, whose fits"
    assert said in reported("b.csv --calibrate affine --folds 3")


def test_a_report_replaces_a_former_one_and_nothing_else(paper_folder, ran):
    (paper_folder / "mine.png").write_text("mine")
    one_label = pd.DataFrame({"id": range(30), "label": [0, 1] * 15, "prob_0": 0.5, "prob_1": 0.5})
    one_label.to_csv("c.csv", index=False)
    ran("report c.csv --cost 0,5;1,0")
    listed = json.loads((paper_folder / "numbers.json").read_text())["files"]
    assert not [name for name in listed if "reliability" in name]
    assert {path.name for path in paper_folder.iterdir()} == {*listed, "mine.png"}
    for name in ("results.tex", "reliability.png"):
        other = paper_folder.parent / f"of_{name}"
        other.mkdir()
        (other / name).write_text("mine")
        refused = ran(f"report b.csv --output {other.name}", 2).err
        assert f"{name}: is there already, and would be" in refused
        assert [path.read_text() for path in other.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("flags", "sentences"),
    {
        "--unlabelled wrong": ["c: 12 of 120 answers (10.0%) are unlabelled. They count as wrong."],
        "--groups part --unlabelled drop": ["over groups of samples that", "They are left out."],
        "--columns stratum=part,weight=id --unlabelled drop": ["over strata whose", "weighted."],
    }.items(),
)
def test_the_paragraph_says_what_was_done_to_the_data(flags, sentences, paper_folder, reported):
    rows = pd.read_csv("b.csv")
    rows.loc[rows["id"] % 10 == 0, "correct"] = np.nan
    rows.assign(part=rows["id"] % 7).to_csv("c.csv", index=False)
    text = reported(f"c.csv {flags}")
    assert all(sentence in text for sentence in sentences)
    table = (paper_folder / "results.tex").read_text()
    assert "in brackets" not in table  # but intervals
    is_wrong = "wrong" in flags
    assert (
        "They count as wrong: most metrics are at least as good as they are here." in table
    ) == is_wrong


OF_OPTIONS = {  # a value for 30 samples, and what is said of it
    "cost": ([[0, 5], [1, 0]], "set by a matrix"),
    "sample_weight": (np.arange(1, 31), "Samples are weighted"),
    "groups": (np.arange(30) // 2, "groups of samples that depend on each other"),
    "strata": (np.arange(30) % 2, "strata whose sizes were fixed in advance"),
}


@pytest.mark.parametrize("option", [None, *OF_OPTIONS])
def test_the_paragraph_says_of_which_options_its_numbers_are_and_of_no_others(option, rng):
    q = rng.random(30)
    value, expected = OF_OPTIONS.get(option, (None, None))
    options = {option: value} if option else {}
    system = posterior_system(
        rng.integers(0, 2, 30), np.stack([1 - q, q], axis=1), confidence_level=0.95, **options
    )
    text = paper.methods_of({"a": system}, make_report({"a": system}), [], [Key("ecuas", 1.0)])
    assert [said for _, said in OF_OPTIONS.values() if said in text] == [expected] * bool(option)


def test_the_paragraph_says_what_intervals_rest_on_that_was_not_seen():
    q = np.where(np.arange(120) < 69, 1.0, 0.5)
    correct = (q == 1) | (np.arange(120) % 3 > 0)
    systems = {"a": confidence_system(correct, q, confidence_level=0.95)}
    report = make_report(systems)
    said = "a: No mistake was seen among 69 answers with confidence 1"
    assert said in paper.methods_of(systems, report, [], [Key("ecuas", 0.0)])
    assert said not in paper.methods_of(systems, report, [], [Key("error_rate")])


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_it_compiles(paper_folder):
    subprocess.run(
        ["pdflatex", "-halt-on-error", "results.tex"],
        cwd=paper_folder,
        check=True,
        capture_output=True,
    )
