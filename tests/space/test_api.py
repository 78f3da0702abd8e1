"""What the page and programs are given of files and arguments: numbers of the command line, errors in own words."""

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecuas_metric.costs import ecuas_cost
from ecuas_metric.reporting import cli
from space import markup, scoring
from space.subset import tables
from tests.conftest import ROOT
from tests.space.test_markup import close, figures_in

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")]
ROW = "confidence,correct\n1,1\n"


@pytest.fixture
def shown(app, tmp_path):
    """Return a function of files or texts, and of controls, to what the first tab shows: result, files, plots."""

    def shown_of(*files, **options):
        paths = [tmp_path / f"{'abc'[i]}.csv" if isinstance(one, str) else one for i, one in enumerate(files)]
        for path, one in zip(paths, files, strict=True):
            if isinstance(one, str):
                path.write_text(one)
        given = {name: control.default for name, control in scoring.CONTROLS.items()} | options
        result, *buttons, plots = app.show_score(list(map(str, paths)), *given.values())
        return result, [button and Path(button.value["path"]) for button in buttons], plots

    return shown_of


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, "--interval 0.95"),
        ({"intervals": False, "n": "0.5 ∞", "normalize": True}, "--n 0.5,inf --normalize"),
        ({"intervals": False, "reject_costs": "0.1; 0.3", "num_classes": "4"}, "--reject-costs .1,.3 --num-classes 4"),
    ],
)
def test_files_and_numbers_are_those_of_the_command_line(options, arguments, files, shown, tmp_path):
    outputs = [tmp_path / f"cli.{suffix}" for suffix in ("csv", "md", "tex")]
    paths = [part for path in outputs for part in ("--output", str(path))]
    assert cli.main(["score", *map(str, files), *arguments.split(), *paths]) == 0
    result, downloads, _ = shown(*files, **options)
    assert [path.read_bytes() for path in downloads] == [path.read_bytes() for path in outputs]
    assert "By ECUAS_" in result


def test_other_forms_scales_grades_and_predicted_classes_are_read_and_what_is_not_comparable_is_not_ranked(shown):
    classifier = ROOT / "space" / "examples" / "classifier.csv"
    (row,) = pd.read_csv(shown(classifier)[1][0]).to_dict("records")
    frame = pd.read_csv(classifier)
    wrong = frame.drop(columns="label").to_numpy().argmax(axis=1) != frame["label"]
    assert row["error_rate"] == pytest.approx(wrong.mean())
    expected = shown("confidence,correct\n0.905,1\n0.4,0\n")[1][0].read_bytes()
    scaled = "confidence,correct\n90.5,0.8\n40,0.2\n"
    assert shown(scaled, scale="100", correct_from="0.5")[1][0].read_bytes() == expected
    guesses = "guess,truth,confidence\ncat,cat,0.905\ndog,bird,0.4\n"
    assert shown(guesses, predicted="guess", label="truth")[1][0].read_bytes() == expected
    for rows in ("0.5,1\n0.5,\n", "0.5,1\n0.4,0\n0.3,1\n"):  # correctness is missing, or other questions were answered
        result, *_ = shown("confidence,correct\n" + rows, "confidence,correct\n0.5,1\n0.25,0\n")
        assert "cheapest is not said" in result


WORDING = [
    ("confidence,correct\n,1\n", {}, "Enter a value for them under Options of the first tab."),
    ("label,prob_0,prob_1\n0,2.5,-1\n", {}, "Logits or log-probabilities? Choose them under Options."),
    ("label,prob_0,prob_1\n0,0.5,0.5\n", {"num_classes": "3"}, "Number of possible answers K requires confidences"),
    (ROW, {"predictions_are": "logits"}, "Form of the posteriors requires posteriors"),
    (ROW, {"scale": "∞"}, "Largest confidence must be a number in (0, inf); got inf."),
    (ROW, {"correct_from": "nan"}, "Correct from must be a number in (-inf, inf); got nan."),
    (ROW, {"reject_costs": "2"}, "Reject costs must lie in [0, 1]"),
    ("confidence,correct\n90,1\n", {}, "a.csv: column &#39;confidence&#39; must lie in [0, 1]; got 90.0 in row 2"),
    ("confidence,correct\n90,1\n40,0\n", {}, "Enter 100 under Options, “Largest confidence”."),
    ("confidence,correct\n,1\n", {"missing_confidence": "2"}, "Missing confidence must be a number in [0, 1]"),
]


@pytest.mark.parametrize(("content", "options", "expected"), WORDING)
def test_errors_are_in_the_words_of_the_page_and_nothing_else_is_shown(content, options, expected, shown, tmp_path):
    result, downloads, plots = shown(content, **options)
    assert result.startswith('<div class="message error" role="alert">')
    assert expected in result
    assert not re.search(f"num_classes|predictions_are|reject_costs|--|Traceback|{tmp_path}", result)
    assert [*downloads, plots] == [None] * 4


def test_no_file_is_no_error_and_what_goes_wrong_is_said_without_a_traceback(app, files, shown, monkeypatch, caplog):
    graded = app.show_graded(None, "curated", [], "wrong", True, "", False, "1")
    for message, *_ in (app.show_score(None), app.show_unknown(None, "curated"), graded):
        assert "There is no file yet" in message
        assert 'role="status"' in message
    monkeypatch.setattr(scoring, "score_submissions", lambda *_: 1 / 0)
    assert markup.FAILED.split(".")[0] in shown(*files)[0]
    assert "ZeroDivisionError" in caplog.text


CALLS = [  # a call with a fault -> the error of one line, which names the argument
    ("score", {"files": "x"}, "files must be a list; got 'x'."),
    ("score", {"files": ["/etc/passwd"]}, "system_1 is no upload of this page; got '/etc/passwd'."),
    ("score", {"files": ["https://example.org/a.csv"]}, "system_1 must be a file; got 'https://example.org/a.csv'."),
    ("score", {"files": [ROW] * 51}, "files must be at most 50; got 51."),
    ("score", {"files": []}, "Files are missing."),
    ("score", {"files": [ROW], "intervals": "yes"}, "intervals must be true or false; got 'yes'."),
    ("score", {"files": [ROW], "n": True}, "n must be text or a number or a list; got True."),
    ("score", {"files": [ROW], "n": ["x"]}, "n must be text or a number; got ['x']."),
    ("detect_columns", {"file": 3}, "file must be a file; got 3."),
    ("cost", {"confidence": 2}, "confidence must lie in [0, 1]; got 2."),
    ("cost", {"num_classes": 2.5}, "Number of possible answers K must be a whole number in [2, inf]; got 2.5."),
    ("plan", {"auroc": 0.99999}, "auroc of calibrated confidences is at most"),
    ("plan", {"difference": 1e-300}, "difference is too small"),
    ("plan", {"difference": -1}, "difference must be a number in (0, inf); got -1."),
    ("plan", {"second": 1}, "second must be a number in (0, 1); got 1."),
    ("grade", {"file": "question_id,answer,confidence\n", "others": "x"}, "others must be one of 'bounds', 'wrong'"),
    ("grade", {"file": "question_id,answer,confidence\nq1,x,0.5\n"}, "got 'q1' in row 2 (1 of 1)."),
]


@pytest.mark.parametrize(("name", "given", "expected"), CALLS)
def test_programs_get_errors_of_one_line(name, given, expected, app):
    function = next(one for one in app.api.TOOLS if one.__name__ == name)
    parameters = list(inspect.signature(function).parameters.values())[:-1]
    with pytest.raises(app.gr.Error) as caught:
        function(*(given.get(one.name, one.default) for one in parameters))
    assert expected in caught.value.message
    assert not re.search("\n|<|&", caught.value.message)


@pytest.mark.parametrize(("n", "num_classes"), [(0, None), (1, 4), (2.5, 100)])
def test_the_two_costs_are_those_of_the_metric_and_are_shown_and_drawn(n, num_classes, app):
    found = app.api.cost(n, num_classes, 0.75)
    u_max = 1 if num_classes is None else 1 - 1 / num_classes
    costs = ecuas_cost(candidate_cost=[0, 1], uncertainty=[0.25, 0.25], n=n, max_uncertainty=u_max).tolist()
    assert [found["correct"], found["incorrect"]] == pytest.approx(costs)
    numbers, plot = app.show_cost(n, num_classes or 4, num_classes is None, 0.75)
    assert re.findall(r">([\d.]+)</b>", numbers) == [f"{one:.3f}" for one in costs]
    close(figures_in(plot)["Cost of an answer"]["your confidence"][0], [[0.75, cost] for cost in costs])


def test_the_page_shows_what_programs_get(app):
    assert "Below 1/K = 0.250" in app.show_cost(1, 4, False, 0.1)[0]
    assert "n must be a number" in app.show_cost(None, 4, True, 0.8)[0]  # an emptied box
    assert app.api.cost(1.0, float("inf"), 0.8) == app.api.cost(1.0, None, 0.8)
    assert app.api.cost(1, 4, 0.1) == {"correct": 1, "incorrect": 1, "counts_as_rejected": True}
    assert len(app.api.leaderboard()["rows"]) == 21
    (table,) = app.show_plan(0.3, 0.36, 0.8, 0.5, 0.05)
    rows = app.api.plan()["rows"]
    cells = re.findall("<t[hd](?: scope[^>]*)?>([^<]*)<", table)
    assert cells == [*rows[0], *(text for row in rows for text in row.values())]


def test_a_models_answers_are_graded_decided_and_scored(app, tmp_path):
    api, curated, path = app.api, tables()["curated"], tmp_path / "my model.csv"
    size, weights = len(curated), curated.set_index("question_id")["weight"]
    confidence = np.linspace(0, 1, size).round(3)
    frame = pd.DataFrame({"question_id": curated["question_id"], "answer": "London.", "confidence": confidence})
    frame.to_csv(path, index=False)
    message, unknown = app.show_unknown(str(path), "curated")
    keys = [key for _, key in unknown.choices]
    assert f"{len(keys)} are unknown" in message
    accepted, text = keys[:100], path.read_text()
    right = [key.split("\t")[0] for key in accepted]
    for weighted, expected in ((False, 1 - 100 / size), (True, 1 - weights[right].sum() / weights.sum())):
        result = api.grade(text, "curated", accepted, "wrong", weighted, "0", False)
        assert result["rows"][0]["error_rate"] == pytest.approx(expected)
        assert f"{len(keys)} by you" in result["graded"]
    assert result["leaderboard"]["weighted"]["value"] == pytest.approx(expected)
    result = api.grade(text)
    (row,), board = result["rows"], result["leaderboard"]
    assert result["open"] == keys
    assert (row["error_rate"], row["error_rate_max"]) == (None, 1)  # what the bank knows of this answer is all wrong
    assert row["error_rate_min"] == pytest.approx(1 - row["unlabelled"])
    assert board["weighted"] == pytest.approx({"value": None, "low": row["error_rate_min"], "high": 1})
    assert board["published"]["ecuas_0"]["low"] == pytest.approx(row["ecuas_0_min"])
    assert api.grade(text, "curated", [], "drop")["rows"][0]["error_rate"] == 1
    outputs = app.show_graded(str(path), "curated", accepted, "wrong", True, "0, 1", True, "1")
    token = re.search(r"result=([\w-]+)", outputs[5])[1]
    again = app.restore(token, "1")
    assert "self-reported, not checked" in again[0]  # at the top
    assert "my model (self-reported)" in again[2]  # and in its row
    for ours, theirs in zip(outputs[6:9], again[6:9], strict=True):  # every number
        shown = [Path(button.value["path"]).read_text() for button in (ours, theirs)]
        assert shown[1].replace(" (self-reported)", "").split() == shown[0].split()
    error, result, board, *_ = app.restore("x", "1")
    assert "is not one of this page" in error
    assert (result, board) == (None, {"__type__": "update"})  # no older result, and the board stays


def test_aborted_uploads_and_empty_folders_are_deleted(app, tmp_path):
    (tmp_path / "full").mkdir()
    for name in ("tmpabc", "full/a.csv", "other.txt"):
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    app.sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    app.sweep(tmp_path, age=-1)  # as if that time had passed
    assert {path.name for path in tmp_path.iterdir()} == {"full", "other.txt"}
