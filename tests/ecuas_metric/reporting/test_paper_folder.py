"""`ecuas report` writes a document whose parts fit, and a verdict and numbers that are those of `ecuas compare`."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import make_report, posterior_system, score_confidences
from ecuas_metric.metric import Key
from ecuas_metric.reporting import paper
from ecuas_metric.reporting.cli import main
from ecuas_metric.reporting.tables import latex_text
from tests.ecuas_metric.reporting.commanded import answers, content, saved

draws = pytest.mark.long  # figures


def write_systems(path):
    rng = np.random.default_rng(0)
    for name in ("a_1%", "b"):
        answers(rng, 120).round(6).to_csv(path / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write two systems, and a report of both."""
    path = tmp_path_factory.mktemp("written")
    write_systems(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        assert main(["report", "a_1%.csv", "b.csv"]) == 0
    return path


@pytest.fixture
def paper_folder(written, folder):
    """Return a copy of the report, beside the systems."""
    return shutil.copytree(written, folder, dirs_exist_ok=True) / "paper"


@pytest.fixture
def reported(folder, ran, monkeypatch):
    """Return a function that writes a report of the systems without figures, and returns its paragraph."""
    write_systems(folder)
    monkeypatch.setattr(paper, "draw_figures", lambda *_: {})

    def report(arguments):
        ran(f"report {arguments}")
        return (folder / "paper/methods.tex").read_text()

    return report


@draws
def test_the_document_and_its_parts_stand_alone_and_name_no_command(paper_folder):
    document = (paper_folder / "report.tex").read_text()
    inputs = re.findall(r"\\input\{(\w+)\}", document)
    assert inputs == ["methods", "results", "table"]
    text = document + "".join((paper_folder / f"{name}.tex").read_text() for name in inputs)
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{([\w*]+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    labels = re.findall(r"\\label\{(.*)\}", text)
    assert len(set(labels)) == len(labels) == text.count(r"\caption{")
    drawings = re.findall(r"\\includegraphics.*?\{(.*?)\}", text)
    assert len(drawings) == 4
    for drawing in drawings:
        assert (paper_folder / drawing).read_bytes().startswith(b"%PDF")
        assert (paper_folder / drawing).with_suffix(".png").exists()
    assert text.count("{") == text.count("}")
    assert not re.search(r"ecuas (compare|score|plan)|resizebox|scalebox|tiny", text)
    cited = set(re.findall(r"\\cite\{(\w+)\}", text))
    references = (paper_folder / "references.bib").read_text()
    assert cited == set(re.findall(r"@\w+\{(\w+),", references))
    assert not re.search(r"r\^\(|\(\w+ \d{4}\)", text)  # mathematics and citations are no text


@draws
def test_numbers_are_those_of_compare_and_the_verdict_is_the_same(paper_folder):
    ours = content("paper/results.json")
    theirs = saved("compare a_1%.csv b.csv")
    assert theirs.keys() <= ours.keys()
    assert ours["verdict"] == theirs["verdict"]
    by_key = {row["key"]: row for row in theirs["rows"]}
    assert ours["rows"]
    for row in ours["rows"]:
        assert row == by_key[row["key"]]
    results = (paper_folder / "results.tex").read_text()
    assert latex_text(theirs["verdict"]["sentences"][0]) in results
    methods = (paper_folder / "methods.tex").read_text()
    assert f"the {theirs['verdict']['tests']} tests of all pairs" in methods
    assert "2 systems on 120 samples" in methods
    assert "more than chance." not in methods.replace("is called more than chance.", "")
    rows = pd.read_csv("b.csv")
    expected = score_confidences(rows["correct"], rows["confidence"])["ecuas_1"]
    assert ours["values"][1]["ecuas_1"] == pytest.approx(expected)


def test_two_systems_have_differences_and_more_have_values_with_intervals(folder, reported):
    table = folder / "paper/table.tex"
    assert "paired by ids" in reported("a_1%.csv b.csv")
    two = table.read_text()
    rows = {row["key"]: row for row in content("paper/results.json")["rows"]}
    for line in re.findall(r"(?m)^(?:ER|ECUAS).*\\\\$", two):
        cells = [cell.strip(" $\\") for cell in line.split("&")]
        key = "error_rate" if cells[0] == "ER" else f"ecuas_{re.search(r'_{(.+)}', cells[0])[1]}"
        row = rows[key]
        numbers = [float(re.sub(r"textbf|[{}\\]", "", cell)) for cell in cells[1:4]]
        expected = row["first_value"], row["second_value"], row["difference"]
        assert numbers == pytest.approx(expected, abs=6e-4)
        limits = re.findall(r"-?\d\.\d+", cells[4])
        assert [float(one) for one in limits] == pytest.approx([row["low"], row["high"]], abs=6e-4)
        is_bold = [r"\textbf" in cell for cell in line.split("&")[1:3]]
        expected_bold = {"first": [True, False], "second": [False, True]}
        assert is_bold == expected_bold.get(row["verdict"], [True, True])
    reported("a_1%.csv b.csv X=a_1%.csv --metrics ER,ECUAS_1,aurc")
    many = table.read_text()
    assert re.search(r"(?m)^ & ER & ECUAS\$_\{1\}\$ & AURC \\\\$", many)
    assert len(re.findall(r"\.\d{3}--\.\d{3}", many)) == 9
    assert {row["key"] for row in content("paper/results.json")["rows"]} == {
        "error_rate",
        "ecuas_1",
        "aurc",
    }


@pytest.mark.long
def test_the_paragraph_says_what_was_recalibrated(reported):
    said = "named with 'affine' are recalibrated in 3-fold cross-validation, whose fits"
    assert said in reported("b.csv --calibrate affine --folds 3")


@draws
def test_a_report_replaces_a_former_one_and_nothing_else(paper_folder, ran):
    (paper_folder / "mine.png").write_text("mine")
    one_label = pd.DataFrame({"id": range(30), "label": [0, 1] * 15, "prob_0": 0.5, "prob_1": 0.5})
    one_label.to_csv("c.csv", index=False)
    ran("report c.csv --cost 0,5;1,0")
    listed = content("paper/results.json")["files"]
    assert not [name for name in listed if "reliability" in name]
    assert {path.name for path in paper_folder.iterdir()} == {*listed, "mine.png"}
    for name in ("table.tex", "reliability.png"):
        other = paper_folder.parent / f"of_{name}"
        other.mkdir()
        (other / name).write_text("mine")
        refused = ran(f"report b.csv --output {other.name}", 2).err
        assert f"{name}: is there already, and would be" in refused
        assert [path.read_text() for path in other.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("flags", "sentences"),
    {
        "--unlabelled wrong": [
            r"c: 12 of 120 answers (10.0\%) are unlabelled. They count as wrong."
        ],
        "--groups part --unlabelled drop": ["over groups of samples that", "They are left out."],
        "--columns stratum=part,weight=id --unlabelled drop": ["over strata whose", "weighted."],
    }.items(),
)
def test_the_paragraph_says_what_was_done_to_the_data(flags, sentences, reported):
    rows = pd.read_csv("b.csv")
    rows.loc[rows["id"] % 10 == 0, "correct"] = np.nan
    rows.assign(part=rows["id"] % 7).to_csv("c.csv", index=False)
    text = reported(f"c.csv {flags}")
    assert all(sentence in text for sentence in sentences)


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
    text = paper.methods_of(make_report({"a": system}), None, [Key("ecuas", 1.0)], {})
    assert [said for _, said in OF_OPTIONS.values() if said in text] == [expected] * bool(option)


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("files", ["", "a_1%.csv b.csv gaussian_naive_bayes_calibrated=b.csv"])
def test_it_compiles_into_a_column_and_its_table_has_8_points(files, paper_folder, reported):
    if files:
        reported(files)
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        halt = ["-halt-on-error"] if command == "pdflatex" else []
        run = subprocess.run(
            [command, *halt, "report"], cwd=paper_folder, check=True, capture_output=True, text=True
        )
    overfull = [float(size) for size in re.findall(r"Overfull \\hbox \(([\d.]+)pt", run.stdout)]
    assert max(overfull, default=0) <= 3, run.stdout
    assert "undefined" not in run.stdout
    table = (paper_folder / "table.tex").read_text()
    assert r"\footnotesize" in table
