import json
import threading
import warnings

import pytest

from ecuas_metric.reporting import cli
from space import scoring
from space.uploads import read_uploads


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0", [0]), (" 0, 1 ,128 ", [0, 1, 128]), ("0 1;2", [0, 1, 2]), ("∞,inf", [float("inf")] * 2), ("-1", [-1])],
)
def test_numbers_are_separated_as_people_do(text, numbers):
    assert scoring.numbers(text, "n") == numbers


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^n takes 1 to 20 numbers, separated by commas; got 0\.$"),
        ("0," * 21, r"^n takes 1 to 20 numbers, separated by commas; got 21\.$"),
        ("low", r"^n takes numbers, separated by commas; got 'low'\.$"),
    ],
)
def test_what_is_no_number_is_an_error(text, message):
    with pytest.raises(ValueError, match=message):
        scoring.numbers(text, "n")


def test_an_empty_box_is_no_number():
    assert [scoring.number(text, "K") for text in ("", " ", "∞", "4")] == [None, None, None, 4]
    with pytest.raises(ValueError, match=r"^K must be one number; got '1, 2'\.$"):
        scoring.number("1, 2", "K")


def test_files_and_numbers_are_those_of_the_command_line(files, tmp_path, capsys):
    outputs = [str(tmp_path / f"cli.{ending}") for ending in (*scoring.ENDINGS, "json")]
    arguments = ["score", *map(str, files), "--interval", "0.95", "--n", "0,2"]
    assert cli.main([*arguments, *(part for path in outputs for part in ("--output", path))]) == 0
    scored = scoring.score(read_uploads(list(map(str, files))), intervals=True, n=[0, 2])
    for path, ours in zip(outputs, scoring.write_tables(scored.report, tmp_path), strict=False):
        with open(path, "rb") as theirs, open(ours, "rb") as file:
            assert file.read() == theirs.read()
    with open(outputs[-1]) as file:
        assert scoring.as_json(scored.report) == json.load(file)


def test_many_samples_get_no_intervals_and_a_note(files, monkeypatch):
    monkeypatch.setattr(scoring, "MAX_RESAMPLED", 239)
    scored = scoring.score(read_uploads(list(map(str, files))), intervals=True)
    assert not any(key.endswith("_low") for key in scored.report.values["first"])
    assert "level" not in scored.report.signature
    assert scored.notes[0].startswith("No intervals: 240 samples are more than 239.")


def test_warnings_are_notes(tmp_path):
    (tmp_path / "a.csv").write_text("confidence,correct,w\n,1,1\n0.5,0,2\n")
    tables = read_uploads([str(tmp_path / "a.csv")], columns={"weight": "w"})
    notes = scoring.score(tables, intervals=False, missing_confidence=0.5).notes
    assert notes == ["a: 1 of 2 confidences are missing (NaN) and count as 0.5."]


def test_warnings_of_one_thread_are_no_notes_of_another(files):
    tables, stop = read_uploads(list(map(str, files))), threading.Event()

    def other():
        while not stop.is_set():
            with scoring.WARNINGS:
                warnings.warn("of another visitor", stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread = threading.Thread(target=other)
        thread.start()
        try:
            notes = [scoring.score(tables, intervals=False).notes for _ in range(20)]
        finally:
            stop.set()
            thread.join()
    assert notes == [[]] * 20
