"""What the page and programs are given of files and arguments: numbers of the command line, errors in own words."""

import contextlib
import inspect
import io
import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.reporting import cli
from space import markup
from space.subset import table
from space.words import CONTROLS

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),
]
DEFAULTS = {name: control.default for name, control in CONTROLS.items()}
ROW = "confidence,correct\n1,1\n"
CLASS = "label,prob_0,prob_1\n"
ANSWERS = "question_id,answer,confidence\n"
INTERVAL = "--interval 0.95"


def downloads(html):
    return [Path(path).read_bytes() for path in re.findall(r'href="gradio_api/file=([^"]*)"', html)]


def numbers_in(outputs):
    """Return the table of a result but for what tells how a file was read."""
    return pd.read_csv(io.BytesIO(downloads(outputs[2])[0])).drop(columns=["signature", "recipe"])


def address_in(html):
    return json.loads(unescape(re.search('data-changes="([^"]*)"', html)[1]))


def called(app, name, **given):
    """Call a function of the API with arguments by name."""
    function = next(tool for tool in app.api.TOOLS if tool.__name__ == name)
    parameters = inspect.signature(function).parameters.values()
    return function(*(given.get(parameter.name, parameter.default) for parameter in parameters))


def fail(*arguments):
    """Be a task with a defect."""
    return 1 / 0


@pytest.fixture
def shown(app, tmp_path):
    """Return a function of files or texts, and of controls, to the result and the plots of the first tab."""

    def show(*files, **options):
        paths = []
        for name, file in zip("abc", files, strict=False):
            path = tmp_path / f"{name}.csv"
            paths.append(str(path if isinstance(file, str) else file))
            if isinstance(file, str):
                path.write_text(file)
        return app.show_score(paths, *(DEFAULTS | options).values())

    return show


@pytest.mark.parametrize(
    "options, flags",
    [
        ({}, INTERVAL),
        ({"n": "0.5 ∞"}, f"{INTERVAL} --n 0.5,inf"),
        (
            {"reject_costs": "0.1; 0.3", "num_classes": "4"},
            f"{INTERVAL} --reject-costs .1,.3 --num-classes 4",
        ),
    ],
)
def test_files_and_numbers_are_those_of_the_command_line(options, flags, files, shown, tmp_path):
    outputs = [tmp_path / f"cli.{suffix}" for suffix in ("csv", "md", "tex")]
    arguments = ["score", *(file.name for file in files), "--full", *flags.split()]
    for path in outputs:
        arguments += ["--output", str(path)]
    with contextlib.chdir(files[0].parent):  # the page calls files by their names
        assert cli.main(arguments) == 0
    result, _, details = shown(*files, **options)
    folder = f"{files[0].parent}/".encode()  # which the page does not know
    assert downloads(details) == [path.read_bytes().replace(folder, b"") for path in outputs]
    assert "rejected one" in result


@pytest.mark.parametrize("target, value", [("budget", 0.2), ("max_risk", 0.001)])
def test_chosen_reject_costs_are_those_of_the_command_line(target, value, app, files, tmp_path):
    output = tmp_path / "cli.json"
    flag = f"--{target.replace('_', '-')}={value}"
    assert cli.main(["threshold", *map(str, files), flag, "--output", str(output)]) == 0
    texts = [file.read_text() for file in files]
    result = called(app, "threshold", files=texts, **{target: value})
    names = {"system_1": "first", "system_2": "second"}
    rows = [row | {"system": names[row["system"]]} for row in result["rows"]]
    assert rows == json.loads(output.read_text())["rows"]


def test_scales_grades_and_predicted_classes_are_read(shown):
    expected = numbers_in(shown("confidence,correct\n0.905,1\n0.4,0\n"))
    graded = shown("confidence,correct\n90.5,0.8\n40,0.2\n", scale="100", correct_from="0.5")
    pd.testing.assert_frame_equal(numbers_in(graded), expected)
    guessed = "guess,truth,confidence\ncat,cat,0.905\ndog,bird,0.4\n"
    guessed = shown(guessed, columns="predicted=guess, label=truth")
    pd.testing.assert_frame_equal(numbers_in(guessed), expected)


SAID = [  # a file, options, and what is said of it in the words of the page
    ("confidence,correct\n,1\n", {}, "has no value at all."),
    (f"{CLASS}0,2.5,-1\n", {}, "Logits? Choose them under Options, “Form of the posteriors”."),
    (f"{CLASS}0,0.5,0.5\n", {"num_classes": "3"}, "Number of possible answers K requires conf"),
    (ROW, {"predictions_are": "logits"}, "Form of the posteriors requires posteriors"),
    (ROW, {"scale": "∞"}, "Largest confidence must be a number above 0; other scales"),
    (ROW, {"reject_costs": "2"}, "Reject costs must lie in [0, 1]"),
    (f"{CLASS}0,0.5,0.5\n", {"predictions_are": "positive_probabilities"}, "must be one column if"),
    ("confidence,correct\n90,1\n40,0\n", {}, "Enter 100 under Options, “Largest confidence”."),
]


@pytest.mark.parametrize("content, options, expected", SAID)
def test_errors_are_in_the_words_of_the_page_and_nothing_else_is_shown(
    content, options, expected, shown, tmp_path
):
    result, *others = shown(content, **options)
    assert result.startswith('<div class="message error" role="alert">')
    assert expected in result
    python = f"num_classes|predictions_are|reject_costs|--|Traceback|{tmp_path}"
    said, _, address = result.partition("<i ")
    assert not re.search(python, said)
    assert others == ["", ""]
    assert set(address_in(address).values()) == {
        ""
    }  # that of a result before leads to this no more


def test_no_file_is_no_error_and_what_goes_wrong_is_said_without_a_traceback(
    app, files, shown, monkeypatch
):
    for message, *_ in (app.show_score(None), app.show_graded(None, "curated")):
        assert "There is no file yet" in message
        assert 'role="status"' in message
        assert set(address_in(message).values()) == {""}
    assert "Example: three question-answering models" in app.show_score(None)[0]
    for file in (None, "gone.csv"):
        assert app.show_graded(file, "curated")[1:] == (app.KNOWN, "", "", "")
    monkeypatch.setattr(app.tasks, "score_html", fail)
    assert markup.FAILED.split(".")[0] in shown(*files)[0]


def test_what_is_missing_is_named_and_nothing_is_drawn_of_it(shown, app, tmp_path):
    whole = "confidence,correct\n0.5,1\n0.25,0\n0.75,1\n"
    gaps = {
        ",1\n": "b without a confidence.",
        "0.5,\n": "b that are not known to be right or wrong.",
    }
    for row, said in gaps.items():
        gap = f"confidence,correct\n0.5,1\n0.25,0\n{row}"
        result, *_ = shown(whole, gap)
        assert f"cannot be decided: there are answers of {said}" in result
        assert sum(other in result for other in gaps.values()) == 1
        paths = [str(tmp_path / f"{name}.csv") for name in "ab"]
        (pictures,) = app.show_curves(paths, *DEFAULTS.values())
        assert set(re.findall('alt="[^"]*: ([^"]*)"', pictures)) == {"a"}
        (pictures,) = app.show_curves(paths[1:], *DEFAULTS.values())
        assert "<img" not in pictures
        assert f"Nothing is drawn: there are answers of {said[:-1]}" in pictures


def test_further_curves_are_of_the_files_or_the_example(files, app):
    for paths, names in ((list(map(str, files)), "first, second"), (None, "calibrated_model, ")):
        (pictures,) = app.show_curves(paths, *DEFAULTS.values())
        assert pictures.count(f": {names}") == pictures.count("<img") == 4
    sources = re.findall('src="gradio_api/file=([^"]*)"', pictures)
    assert all(Path(source).read_bytes().startswith(b"\x89PNG") for source in sources)


CALLS = [  # a call with a fault -> the error of one line, which names the argument
    ("score", {"files": "x"}, "files must be a valid list; got 'x'."),
    ("score", {"files": ["/etc/passwd"]}, "system_1 is no upload of this page; got '/etc/passwd'."),
    ("score", {"files": []}, "Files are missing."),
    (
        "threshold",
        {"files": [ROW], "budget": 5},
        "budget must be a number in [0, 1]; got 5",
    ),
    ("threshold", {"files": [ROW]}, "threshold takes one of budget and max_risk."),
    ("score", {"files": [ROW], "explain": "yes"}, "explain must be a valid boolean; got 'yes'."),
    ("score", {"files": [ROW], "n": True}, "n must be a valid string or a valid number or a valid"),
    ("score", {"files": [ROW], "n": ["x"]}, "n must be a valid string or a valid number; got ['x"),
    ("leaderboard", {"asked": "pool"}, "asked must be 'curated' or 'kept'; got 'pool'."),
    ("grade", {"file": f"{ANSWERS}q1,x,0.5\n"}, "got 'q1' in row 2 (1 of 1)."),
    (
        "grade",
        {"file": f"{ANSWERS[:-1]},correct\nsfq_178,x,0.5,maybe\n"},
        "column 'correct' must hold 1 or 0, true or false, yes or no",
    ),
]


@pytest.mark.parametrize("name, given, expected", CALLS)
def test_programs_get_errors_of_one_line(name, given, expected, app):
    with pytest.raises(app.gr.Error) as caught:
        called(app, name, **given)
    assert expected in caught.value.message
    assert not re.search("\n|<|&", caught.value.message)


def test_a_models_answers_are_graded_decided_scored_and_restored(app, tmp_path):
    weight = table("curated").set_index("question_id")["weight"]
    frame = pd.DataFrame({"question_id": weight.index, "answer": "London.", "confidence": 0.5})
    result = called(app, "grade", file=frame.to_csv(index=False))
    mine = result["leaderboard"]
    low = result["rows"][0]["error_rate_min"]
    assert mine["error_rate"] == pytest.approx({"value": None, "low": low, "high": 1})
    assert mine["place"] is None
    right = result["open"][:100]
    frame["correct"] = np.isin(frame["question_id"], right).astype(int)
    path = tmp_path / "my model.csv"
    frame.to_csv(path, index=False)
    result = called(app, "grade", file=path.read_text(), n="0")
    rate = 1 - weight[right].sum() / weight.sum()
    assert result["rows"][0]["error_rate"] == pytest.approx(rate)
    assert result["leaderboard"]["error_rate"]["value"] == pytest.approx(rate)
    assert result["leaderboard"]["place"] == [15, 15]
    _, _, html, averages, _ = app.show_graded(str(path), "curated")
    request = app.gr.Request(query_params={"result": address_in(html)["result"]})
    notice, _, _, again, _ = app.restore(request)
    assert "self-reported, not checked" in notice
    assert again.replace(" (self-reported)", "") == averages


@pytest.mark.parametrize(
    "query, message",
    [
        ({"result": "x"}, "is not one of this page"),
        ({"files": "../../etc/passwd"}, "deleted after 30 to 40 minutes"),
    ],
)
def test_an_address_that_holds_nothing_says_so_and_changes_nothing(query, message, app):
    restore = app.restore if "result" in query else app.restore_files
    notice, *others = restore(app.gr.Request(query_params=query))
    assert message in notice
    assert others == [app.gr.skip()] * len(others)
