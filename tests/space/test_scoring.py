import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ecuas_metric import confidence_system
from ecuas_metric.errors import InputError
from ecuas_metric.options import OPTIONS, Options
from ecuas_metric.reporting import cli
from space import scoring, verdict
from space.markup import LABELS
from tests.ecuas_metric.systems import counted_sorts

SUFFIXES = ("csv", "md", "tex")


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
        (5, [5]),
        ([0, 1.5], [0, 1.5]),
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


def test_empty_controls_ask_for_the_defaults():
    empty = {name: "" if control.kind is not bool else False for name, control in scoring.CONTROLS.items()}
    assert vars(scoring.options_of(empty)) == vars(scoring.options_of({"intervals": False})) == vars(Options())
    given = {name: control.default for name, control in scoring.CONTROLS.items()}
    assert vars(scoring.options_of(given)) == vars(Options(confidence_level=scoring.LEVEL))


def test_controls_have_the_help_of_the_table_of_options():
    for name in LABELS:
        if name != "confidence_level":  # a number there, yes or no here
            assert scoring.CONTROLS[name].help.startswith(OPTIONS[name].help)


@pytest.mark.parametrize("level", [0.95, None])
def test_files_and_numbers_are_those_of_the_command_line(level, files, tmp_path):
    outputs = [str(tmp_path / f"cli.{suffix}") for suffix in (*SUFFIXES, "json")]
    arguments = ["score", *map(str, files), "--n", "0,2", *(["--interval", str(level)] if level else [])]
    assert cli.main([*arguments, *(part for path in outputs for part in ("--output", path))]) == 0
    scored = scoring.score_files(list(map(str, files)), {"n": "0, 2", "intervals": level is not None})
    for path, ours in zip(outputs, scored.write(tmp_path), strict=False):
        with open(path, "rb") as theirs, open(ours, "rb") as file:
            assert file.read() == theirs.read()
    with open(outputs[-1]) as file:
        expected = json.load(file)
    found = scored.json(explained=True)
    assert (found["rows"], found["signature"]) == (expected["rows"], expected["signature"])
    assert len(found["in_words"]) > 2


def test_words_and_verdict_are_in_the_same_piece_as_the_table(files):
    scored = scoring.score_files(list(map(str, files)), {})
    html = scored.html(title="<T>", remarks=["Graded."])
    assert [html.count(mark) for mark in ("<h2><bdi>&lt;T&gt;", 'class="decision"', "<table", "Graded.")] == [
        1,
        1,
        2,
        1,
    ]
    assert verdict.headline(scored.decision.orders[1.0], "By ECUAS_1", scored.decision) in " ".join(scored.sentences())


def test_notes_are_in_the_message_once_each(tmp_path):
    (tmp_path / "a.csv").write_text("confidence,correct,w\n,1,1\n0.5,0,2\n")
    given = {"weight": "w", "missing_confidence": 0.5, "intervals": False}
    scored = scoring.score_files([str(tmp_path / "a.csv")], given)
    assert scored.notes() == ["a: 1 of 2 confidences are missing (NaN) and count as 0.5."]


@pytest.mark.parametrize("rows", ["0.5,1\n0.5,\n", "0.5,1\n0.4,0\n0.3,1\n"])
def test_who_is_cheapest_is_not_said_of_what_must_not_be_ranked(rows, tmp_path):
    """Where correctness is missing, or other questions were answered."""
    (tmp_path / "a.csv").write_text("confidence,correct\n" + rows)
    (tmp_path / "b.csv").write_text("confidence,correct\n0.5,1\n0.25,0\n")
    scored = scoring.score_files([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], {"unlabelled": "bounds"})
    assert scored.decision.remark == verdict.NOT_SAID
    assert "cheapest is not said" in scored.html(title="")


def test_each_system_is_sorted_once(files):
    """For table, intervals, comparison, recalibration and five plots; and the one that answers nothing."""
    with counted_sorts(120) as sorts:
        scored = scoring.score_files(list(map(str, files)), {"decompose": True})
        scored.html(title="")
        scored.plots()
    assert len([shape for shape in sorts if shape == (120,)]) == 3


def test_four_scores_run_side_by_side_and_their_notes_do_not_mix(tmp_path):
    together = threading.Barrier(4, timeout=60)

    def visit(missing):
        path = tmp_path / f"{missing}.csv"
        path.write_text("".join(["confidence,correct\n", *([",1\n"] * missing), *(["0.5,1\n0.4,0\n"] * 500)]))
        together.wait()
        return scoring.score_files([str(path)], {"missing_confidence": 0.5}).notes()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(visit, range(4)))
    assert found[0] == []
    for missing, notes in enumerate(found[1:], start=1):
        assert [f"{missing} of {1000 + missing} confidences are missing" in note for note in notes] == [True]


def test_a_system_without_confidence_level_is_compared_too(rng):
    confidence = rng.random(50)
    system = confidence_system((rng.random(50) < confidence).astype(int), confidence)
    levels = [verdict.decide({"a": one}).verdicts for one in (system, confidence_of(system))]
    assert levels[0] == levels[1]


def confidence_of(system):
    """The same system, given in the same order with a level."""
    decisions = system.decisions
    return confidence_system(1 - decisions.candidate_cost, decisions.confidence, confidence_level=0.95)
