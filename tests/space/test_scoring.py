import json
import threading
from concurrent.futures import ThreadPoolExecutor
from html import escape

import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.options import OPTIONS, Options
from ecuas_metric.reporting import cli, report
from space import scoring
from space.uploads import read_uploads
from space.words import LABELS
from tests.ecuas_metric.systems import counted_sorts

SUFFIXES = ("csv", "md", "tex")


@pytest.fixture
def submissions(files):
    return read_uploads(list(map(str, files)))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        (None, []),
        ("0", [0]),
        (" 0, 1 ,128 ", [0, 1, 128]),
        ("0 1;2", [0, 1, 2]),
        ("∞,inf", [float("inf")] * 2),
        ("-1", [-1]),
    ],
)
def test_numbers_are_separated_as_people_do(text, numbers):
    assert scoring.numbers(text, "n") == numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0," * 21, r"^n must be at most 20 numbers; got 21\.$"),
        ("low", r"^n must be numbers, separated by commas; got 'low'\.$"),
    ],
)
def test_what_is_no_number_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        scoring.numbers(text, "n")


def test_an_empty_box_is_no_number():
    assert [scoring.number(text, "K") for text in ("", " ", "∞", "4")] == [None, None, None, 4]
    with pytest.raises(InputError, match=r"^K must be one number; got '1, 2'\.$"):
        scoring.number("1, 2", "K")


def test_empty_boxes_ask_for_the_defaults():
    defaults = scoring.page_options(intervals=False)
    assert vars(defaults) == vars(Options())


def test_the_page_has_the_options_that_its_labels_name():
    assert set(LABELS) <= set(OPTIONS)
    options = scoring.page_options(
        n="1", num_classes="4", predictions_are="logits", reject_costs="0.5", missing_confidence="0.5", normalize=True
    )
    assert options.confidence_level == scoring.LEVEL
    changed = {name for name, value in vars(options).items() if value != getattr(Options(), name)}
    assert changed | {"decompose", "calibration"} == set(LABELS)


@pytest.mark.parametrize("level", [0.95, None])
def test_files_and_numbers_are_those_of_the_command_line(level, files, submissions, tmp_path, capsys):
    outputs = [str(tmp_path / f"cli.{suffix}") for suffix in (*SUFFIXES, "json")]
    arguments = ["score", *map(str, files), "--n", "0,2", "--explain"]
    arguments += ["--interval", str(level)] if level else []
    assert cli.main([*arguments, *(part for path in outputs for part in ("--output", path))]) == 0
    options = scoring.page_options(n="0, 2", intervals=level is not None)
    shown = scoring.score(submissions, options, tmp_path)
    for path, ours in zip(outputs, (shown.csv, shown.markdown, shown.latex), strict=False):
        with open(path, "rb") as theirs, open(ours, "rb") as file:
            assert file.read() == theirs.read()
    with open(outputs[-1]) as file:
        assert shown.record == json.load(file)
    sentences = [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("- ")]
    assert len(sentences) > 2
    assert all(f"<li>{escape(sentence)}</li>" in shown.explanation for sentence in sentences)


def test_notes_are_in_the_message_once_each(tmp_path):
    (tmp_path / "a.csv").write_text("confidence,correct,w\n,1,1\n0.5,0,2\n")
    submissions = read_uploads([str(tmp_path / "a.csv")], columns={"weight": "w"})
    options = scoring.page_options(intervals=False, missing_confidence="0.5")
    shown = scoring.score(submissions, options, tmp_path, remarks=["Graded."])
    assert "Graded. a: 1 of 2 confidences are missing (NaN) and count as 0.5.</div>" in shown.message


def test_each_format_is_laid_out_from_one_grid(submissions, tmp_path, monkeypatch):
    laid_out = []
    for name in ("report_grid", "report_records"):
        make = getattr(report, name)

        def counted(given, make=make, name=name, **options):
            laid_out.append(name)
            return make(given, **options)

        monkeypatch.setattr(scoring, name, counted)
    scoring.score(submissions, scoring.page_options(intervals=False), tmp_path)
    assert laid_out == ["report_grid", "report_records"]


def test_each_system_is_sorted_once(submissions, tmp_path):
    """For table, intervals, explanation, comparison, recalibration and five plots."""
    size = len(submissions[0].references)
    with counted_sorts(size) as sorts:
        scoring.score(submissions, scoring.page_options(decompose=True), tmp_path)
    assert [shape for shape in sorts if shape == (size,)] == [(size,)] * len(submissions)


def test_four_scores_run_side_by_side_and_their_notes_do_not_mix(tmp_path):
    """All four are inside `score` at once, three of them in a bootstrap."""
    together = threading.Barrier(4, timeout=60)

    def visit(missing):
        folder = tmp_path / str(missing)
        folder.mkdir()
        rows = ["confidence,correct\n", *([",1\n"] * missing), *(["0.5,1\n0.4,0\n"] * 500)]
        (folder / "a.csv").write_text("".join(rows))
        options = scoring.page_options(missing_confidence="0.5", intervals=missing > 0)
        submissions = read_uploads([str(folder / "a.csv")])
        return scoring.score(submissions, options, folder, progress=lambda share, stage: together.wait()).message

    with ThreadPoolExecutor(4) as pool:
        messages = list(pool.map(visit, range(4)))
    assert messages[0] == ""
    for missing, message in enumerate(messages[1:], start=1):
        assert f"a: {missing} of {1000 + missing} confidences are missing" in message
        assert message.count("are missing") == 1
