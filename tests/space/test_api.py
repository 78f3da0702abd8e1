"""What the page and programs are given of files and arguments: numbers of the command line, errors in own words."""

import contextlib
import inspect
import io
import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest

from ecuas_metric.reporting import cli
from space import markup, scoring
from space.subset import questions_of
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
ROW = "confidence,correct\n1,1\n"
ANSWERS = "question_id,answer,confidence\n"


def downloads(html):
    return [Path(path).read_bytes() for path in re.findall(r'href="gradio_api/file=([^"]*)"', html)]


def numbers_in(outputs):
    """Return the table of a result but for what tells how a file was read."""
    return pd.read_csv(io.BytesIO(downloads(outputs[0])[0])).drop(columns=["signature", "recipe"])


def address_in(html):
    return json.loads(unescape(re.search('data-changes="([^"]*)"', html)[1]))


def called(app, name, **given):
    """Call a function of the API with arguments by name."""
    function = next(tool for tool in app.api.TOOLS if tool.__name__ == name)
    parameters = inspect.signature(function).parameters.values()
    return function(*(given.get(parameter.name, parameter.default) for parameter in parameters))


@pytest.fixture
def shown(app, tmp_path):
    """Return a function of files or texts, and of controls, to the result and the plots of the first tab."""

    def show(*files, **options):
        paths = [
            tmp_path / f"{'abc'[i]}.csv" if isinstance(file, str) else file
            for i, file in enumerate(files)
        ]
        for path, file in zip(paths, files, strict=True):
            if isinstance(file, str):
                path.write_text(file)
        controls = {name: control.default for name, control in scoring.CONTROLS.items()} | options
        return app.show_score(list(map(str, paths)), *controls.values())

    return show


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, "--interval 0.95"),
        ({"n": "0.5 ∞"}, "--interval 0.95 --n 0.5,inf"),
        (
            {"reject_costs": "0.1; 0.3", "num_classes": "4"},
            "--interval 0.95 --reject-costs .1,.3 --num-classes 4",
        ),
    ],
)
def test_files_and_numbers_are_those_of_the_command_line(
    options, arguments, files, shown, tmp_path
):
    outputs = [tmp_path / f"cli.{suffix}" for suffix in ("csv", "md", "tex")]
    paths = [part for path in outputs for part in ("--output", str(path))]
    with contextlib.chdir(Path(files[0]).parent):  # the page calls files by their names
        assert (
            cli.main(
                [
                    "score",
                    *(Path(file).name for file in files),
                    "--full",
                    *arguments.split(),
                    *paths,
                ]
            )
            == 0
        )
    result, _ = shown(*files, **options)
    folder = f"{files[0].parent}/".encode()  # which the page does not know
    assert downloads(result) == [path.read_bytes().replace(folder, b"") for path in outputs]
    assert "Over all reject costs at once, " in result


@pytest.mark.parametrize(
    ("target", "value"), [("budget", 0.2), ("max_risk", 0.25), ("max_risk", 0.001)]
)
def test_chosen_reject_costs_are_those_of_the_command_line(
    target, value, app, files, tmp_path, capsys
):
    flag = f"--{target.replace('_', '-')}={value}"
    assert (
        cli.main(["threshold", *map(str, files), flag, "--output", str(tmp_path / "cli.json")]) == 0
    )
    printed = capsys.readouterr().out
    rows = json.loads((tmp_path / "cli.json").read_text())["rows"]
    result = called(
        app, "threshold", files=[Path(file).read_text() for file in files], **{target: value}
    )
    names = {"system_1": "first", "system_2": "second"}
    assert [row | {"system": names[row["system"]]} for row in result["rows"]] == rows
    controls = [control.default for control in scoring.CONTROLS.values()]
    sliders = [value] * 2  # of which the target is asked
    html, last = app.show_choice(target, list(map(str, files)), *sliders, *controls)
    assert last == target
    assert address_in(html) == dict.fromkeys(app.TARGETS, "") | {target: str(value)}
    for sentence in result["in_words"]:
        name, _, numbers = sentence.partition(": ")
        assert f"<li>{names[name]}: {numbers}</li>" in html
        assert all(
            number in printed for number in re.findall(r"[\d.]+ \[.*?\]|none; .*(?=\.$)", numbers)
        )
    of_example, _ = app.show_choice(target, None, *sliders, *controls)
    assert of_example.count("<li>") == 3
    assert app.show_choice("", None, *sliders, *controls) == ("", "")  # nothing was asked


def test_other_forms_scales_grades_and_predicted_classes_are_read(shown):
    classifier = ROOT / "space" / "examples" / "classifier.csv"
    frame = pd.read_csv(classifier)
    wrong = frame.drop(columns="label").to_numpy().argmax(axis=1) != frame["label"]
    assert numbers_in(shown(classifier))["error_rate"].tolist() == pytest.approx([wrong.mean()])
    expected = numbers_in(shown("confidence,correct\n0.905,1\n0.4,0\n"))
    for content, options in (
        ("confidence,correct\n90.5,0.8\n40,0.2\n", {"scale": "100", "correct_from": "0.5"}),
        (
            "guess,truth,confidence\ncat,cat,0.905\ndog,bird,0.4\n",
            {"columns": "predicted=guess, label=truth"},
        ),
    ):
        pd.testing.assert_frame_equal(numbers_in(shown(content, **options)), expected)


SAID = [  # a file, options, and what is said of it in the words of the page
    ("confidence,correct\n,1\n", {}, "Enter a value for them under Options of the first tab."),
    (
        "label,prob_0,prob_1\n0,2.5,-1\n",
        {},
        "Logits or log-probabilities? Choose them under Options.",
    ),
    (
        "label,prob_0,prob_1\n0,0.5,0.5\n",
        {"num_classes": "3"},
        "Number of possible answers K requires confidences",
    ),
    (ROW, {"predictions_are": "logits"}, "Form of the posteriors requires posteriors"),
    (ROW, {"scale": "∞"}, "Largest confidence must be a number in (0, inf); got inf."),
    (ROW, {"correct_from": "nan"}, "Correct from must be a number in (-inf, inf); got nan."),
    (ROW, {"reject_costs": "2"}, "Reject costs must lie in [0, 1]"),
    (
        "confidence,correct\n90,1\n",
        {},
        "a.csv: column &#39;confidence&#39; must lie in [0, 1]; got 90.0 in row 2",
    ),
    ("confidence,correct\n90,1\n40,0\n", {}, "Enter 100 under Options, “Largest confidence”."),
    (
        "confidence,correct\n,1\n",
        {"missing_confidence": "2"},
        "Missing confidence must be a number in [0, 1]",
    ),
]


@pytest.mark.parametrize(("content", "options", "expected"), SAID)
def test_errors_are_in_the_words_of_the_page_and_nothing_else_is_shown(
    content, options, expected, shown, tmp_path
):
    result, plots = shown(content, **options)
    assert result.startswith('<div class="message error" role="alert">')
    assert expected in result
    assert not re.search(
        f"num_classes|predictions_are|reject_costs|--|Traceback|{tmp_path}", result
    )
    assert plots == ""


def test_why_no_winner_is_named_is_said(shown):
    other = "confidence,correct\n0.5,1\n0.25,0\n"
    result, _ = shown("confidence,correct\n0.5,1\n0.5,\n", other)
    assert "is not said: not all answers of a are known to be right or wrong." in result
    result, _ = shown("confidence,correct\n0.5,1\n0.4,0\n0.3,1\n", other)
    assert "is not said: these systems differ in their numbers of samples." in result


def test_no_file_is_no_error_and_what_goes_wrong_is_said_without_a_traceback(
    app, files, shown, monkeypatch, caplog
):
    for message, *_ in (app.show_score(None), app.show_graded(None, "curated")):
        assert "There is no file yet" in message
        assert 'role="status"' in message
    monkeypatch.setattr(scoring, "score_submissions", lambda *_: 1 / 0)
    assert markup.FAILED.split(".")[0] in shown(*files)[0]
    assert "ZeroDivisionError" in caplog.text


CALLS = [  # a call with a fault -> the error of one line, which names the argument
    ("score", {"files": "x"}, "files must be a list; got 'x'."),
    ("score", {"files": ["/etc/passwd"]}, "system_1 is no upload of this page; got '/etc/passwd'."),
    (
        "score",
        {"files": ["https://example.org/a.csv"]},
        "system_1 must be a file; got 'https://example.org/a.csv'.",
    ),
    ("score", {"files": [ROW] * 51}, "files must be at most 50; got 51. Use the command `ecuas`."),
    ("score", {"files": []}, "Files are missing."),
    ("threshold", {"files": [ROW]}, "threshold takes one of budget and max_risk."),
    ("threshold", {"files": [ROW], "budget": 1.5}, "budget must be a number in [0, 1]"),
    ("score", {"files": [ROW], "explain": "yes"}, "explain must be true or false; got 'yes'."),
    ("score", {"files": [ROW], "columns": "p"}, "Columns must be ROLE=COLUMN pairs"),
    ("score", {"files": [ROW], "n": True}, "n must be text or a number or a list; got True."),
    ("score", {"files": [ROW], "n": ["x"]}, "n must be text or a number; got ['x']."),
    ("leaderboard", {"asked": "pool"}, "asked must be one of 'curated' or 'kept'; got 'pool'."),
    ("grade", {"file": f"{ANSWERS}q1,x,0.5\n"}, "got 'q1' in row 2 (1 of 1)."),
    (
        "grade",
        {"file": "question_id,answer,confidence,correct\nsfq_178,x,0.5,yes\n"},
        "column 'correct': could not",
    ),
]


@pytest.mark.parametrize(("name", "given", "expected"), CALLS)
def test_programs_get_errors_of_one_line(name, given, expected, app):
    with pytest.raises(app.gr.Error) as caught:
        called(app, name, **given)
    assert expected in caught.value.message
    assert not re.search("\n|<|&", caught.value.message)


def test_a_models_answers_are_graded_decided_scored_and_restored(app, tmp_path):
    weight = questions_of("curated").set_index("question_id")["weight"]
    path = tmp_path / "my model.csv"
    frame = pd.DataFrame({"question_id": weight.index, "answer": "London.", "confidence": 0.5})
    result = called(app, "grade", file=frame.to_csv(index=False))
    (row,), mine = result["rows"], result["leaderboard"]
    assert mine["error_rate"] == pytest.approx(
        {"value": None, "low": row["error_rate_min"], "high": 1}
    )
    assert mine["place"] is None
    right = result["open"][:100]
    frame.assign(correct=frame["question_id"].isin(right).astype(int)).to_csv(path, index=False)
    result = called(app, "grade", file=path.read_text(), n="0")
    rate = 1 - weight[right].sum() / weight.sum()
    assert result["rows"][0]["error_rate"] == pytest.approx(rate)
    assert result["leaderboard"]["error_rate"]["value"] == pytest.approx(rate)
    assert result["leaderboard"]["place"] == [15, 15]
    _, board, html, plots = app.show_graded(str(path), "curated")
    notice, *again = app.restore(address_in(html)["result"])
    assert "self-reported, not checked" in notice
    for ours, theirs in ((board, again[0]), (plots, again[2])):
        plain = theirs.replace(" (self-reported)", "").replace(
            "self-reported, not checked", "your model"
        )
        assert plain.split() == ours.split()
    notice, *others = app.restore("x")
    assert "is not one of this page" in notice
    assert others == [{"__type__": "update"}] * 3  # the board stays


def test_an_address_restores_files_and_options_while_they_are_there(app, shown):
    folder = Path(app.get_upload_folder()) / "aaa"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a b.csv").write_text("p,correct\n0.5,1\n")
    result, _ = shown(folder / "a b.csv", columns="confidence=p", n="0, ∞")
    query = urlencode({name: value for name, value in address_in(result).items() if value})
    _, files, target, *values = app.restore_files(f"?{query}&max_risk=0.2&budget=2")
    starts = {name: start for name, (_, start, *_) in app.TARGETS.items()}
    sliders, options = values[: len(starts)], values[len(starts) :]
    assert target in app.TARGETS
    assert dict(zip(starts, sliders, strict=True)) == starts | {"max_risk": 0.2}
    controls = dict(zip(scoring.CONTROLS, options, strict=True))
    assert files == [str(folder / "a b.csv")]
    assert (controls["n"], controls["columns"], controls["scale"]) == ("0, ∞", "confidence=p", None)
    assert "deleted after an hour" in app.restore_files("?files=../../etc/passwd")[0]


def test_aborted_uploads_and_empty_folders_are_deleted_in_time(app, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("tmpabc", "full/a.csv"):
        (tmp_path / name).touch()
    app.sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    app.sweep(tmp_path, age=-1)  # as if that time had passed
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
