import re
import shlex

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import InputError, prepare_submissions, read_submissions, score_frame
from ecuas_metric.errors import FileError
from ecuas_metric.files.cells import NOTHING
from ecuas_metric.files.recipe import HEAD, NAMES, parse_pairs
from ecuas_metric.reporting.command.flags import COMMANDS, flag_name
from tests.conftest import ROOT

PAGE = (ROOT / "docs/files.md").read_text(encoding="utf-8")
NAMED, SAID = (block.splitlines() for block in re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL))


def test_the_page_on_files_has_the_names_of_each_role():
    written = {role: {role, *names} for role, *names in map(str.split, NAMED)}
    assert written == {role: set(names) for role, names in NAMES.items() if names}


@pytest.mark.parametrize("role", ["abstained", "confidence", "correct", "judge", "label", "system"])
def test_two_columns_of_a_role_are_one_if_they_are_equal_and_asked_about_if_not(role):
    frame = pd.DataFrame({"id": range(4), "confidence": [0.9, 0.8, 0.6, 0.4]})
    used = "label" if role == "label" else "correct"
    frame[used] = [1.0, 0, 1, 0]
    if role == "judge":
        frame.loc[0, "correct"] = np.nan
    if role == "label":
        frame["predicted"] = [1, 1, 0, 0]
    first, second = NAMES[role][:2]
    cells = ["a", "b", "a", "b"] if role == "system" else [1, 0, 1, 0]
    alike = frame.assign(**{first: frame.get(first, cells), second: frame.get(first, cells)})
    assert read_submissions(alike)
    apart = alike.assign(**{second: alike[second].to_numpy()[[0, 1, 3, 3]]})
    with pytest.raises(FileError, match=f"two columns may be {role}; got .* differ in 1 of 4"):
        read_submissions(apart)
    assert read_submissions(apart, columns={role: first})


def test_a_judge_counts_where_any_row_has_no_label():
    labels = np.append(np.arange(HEAD) % 2, [np.nan] * 50)
    frame = pd.DataFrame(
        {"confidence": np.linspace(0, 1, HEAD + 50), "correct": labels, "judge": 1}
    )
    (submission,) = read_submissions(frame)
    assert submission.recipe.of("judge") == ("judge",)


def test_two_columns_are_compared_in_all_rows():
    frame = pd.DataFrame(
        {"confidence": np.linspace(0, 1, HEAD + 2), "correct": [0, 1] * (HEAD // 2 + 1)}
    )
    frame["conf"] = frame["confidence"]
    assert read_submissions(frame)
    frame.loc[HEAD + 1, "conf"] = 0.5
    with pytest.raises(
        FileError, match=f"two columns may be confidence; .* in 1 of {HEAD + 2} rows"
    ):
        read_submissions(frame)


ANSWERS = {"confidence": [0.9, 0.8, 0.6, 0.4], "correct": [1, 0, 1, 0]}
CLASSES = {"prob_0": [0.9, 0.8, 0.6, 0.4], "prob_1": [0.1, 0.2, 0.4, 0.6], "label": [0, 0, 1, 1]}


@pytest.mark.parametrize(
    ("columns", "role", "said"),
    [
        (CLASSES, "abstained", "column 'x' requires confidences; the input is posteriors"),
        (CLASSES, "judge", "column 'x' requires confidences; the input is posteriors"),
        (ANSWERS, "audit_probability", "column 'x' changes nothing without a judge's verdicts"),
        (ANSWERS, "rows", "has no several lists of rows, as JSON and Excel may have; got 'x'"),
        (ANSWERS, "skip", "columns cannot skip rows of files that are not read whole; got 'x'"),
    ],
)
def test_a_role_that_is_named_is_used_or_refused(columns, role, said):
    frame = pd.DataFrame({**columns, "x": [0, 1, 0, 0]})
    for read in (read_submissions, score_frame):
        with pytest.raises(InputError, match=re.escape(said)):
            read(frame, columns={role: "x"})


@pytest.mark.parametrize("name", ["abstained", "x"])
def test_marks_of_abstentions_are_0_and_1(name):
    frame = pd.DataFrame({**ANSWERS, name: [0, 1, 2, 0]})
    with pytest.raises(FileError, match=f"column '{name}' must be 0 or 1; got 2 in row 2"):
        read_submissions(frame, columns={"abstained": name})
    words = frame.assign(**{name: ["no", "yes", "no", ""]})
    (submission,) = read_submissions(words, columns={"abstained": name})
    assert submission.per_sample["abstained"] == [False, True, False, False]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("words", ["1 0 1", "yes no yes", "True False True", "C I C"])
def test_a_cell_of_nothing_is_empty_beside_all_words(nothing, words):
    right = "C/I" if words.startswith("C") else None
    for cell in (nothing, f" {nothing.upper()} "):
        frame = pd.DataFrame(
            {"confidence": ANSWERS["confidence"], "correct": [*words.split(), cell]}
        )
        (submission,) = read_submissions(frame, unlabelled="drop", right=right)
        assert submission.references.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("labels", "ham,spam", "labels must be a list of the names of classes; got 'ham,spam'"),
        ("labels", ["a", "a"], "labels must be two or more names that differ; got ('a', 'a')"),
        ("labels", ["0", "1"], "labels requires posteriors; the input is confidences"),
        ("right", ["1"], "right must be a word or a number; got ['1']"),
        ("right", "1/1", "right must have each word on one side of the stroke; got '1/1'"),
        ("right", "1,0/0", "right must have each word on one side of the stroke"),
        ("abstained", [0, 0, 0, 1], "abstained must be a word or a number"),
        ("scale", [1], "scale must be a number in [-inf, inf]; got [1]"),
        ("correct_from", [1], "correct_from must be a number in [-inf, inf]; got [1]"),
        ("predictions_are", "log", "predictions_are must be one of"),
        ("recipe", "recipe.json", "recipe must be that of a submission; got 'recipe.json'"),
    ],
)
def test_what_says_how_a_frame_is_read_has_its_type(option, value, said):
    with pytest.raises(InputError, match=f"^{re.escape(said)}"):
        read_submissions(pd.DataFrame(ANSWERS), **{option: value})


def test_numbers_are_words_and_classes():
    frame = pd.DataFrame({**ANSWERS, "correct": [1, 2, -1, 1]})
    numbers = {"right": np.int64(1), "abstained": -1.0}
    (submission,) = read_submissions(frame, **numbers)
    (expected,) = read_submissions(frame, right="1", abstained="-1")
    assert submission.recipe == expected.recipe
    assert submission.references.tolist() == expected.references.tolist()
    (submission,) = read_submissions(pd.DataFrame(CLASSES), labels=range(2))
    assert submission.recipe.classes == ("0", "1")


def test_an_option_is_said_once_and_of_submissions():
    weighted = pd.DataFrame({**ANSWERS, "w": [1, 2, 1, 1]})
    submissions = read_submissions(weighted, columns={"weight": "w"})
    with pytest.raises(InputError, match="^sample_weight is in a column too"):
        prepare_submissions(submissions, sample_weight=[1, 1, 1, 1])
    with pytest.raises(InputError, match="^submissions must be those of read_submissions; got"):
        prepare_submissions("answers.csv")
    with pytest.raises(InputError, match="^by must be the name of a column"):
        score_frame(weighted, by=["w"])


def test_weights_of_a_meaning_need_a_column():
    said = "weights_are changes nothing without"
    frame = pd.DataFrame(ANSWERS)
    with pytest.raises(InputError, match=said):
        score_frame(frame, weights_are="counts")
    with pytest.raises(InputError, match=said):
        prepare_submissions(read_submissions(frame), weights_are="counts")


@pytest.mark.parametrize("line", SAID)
def test_what_the_page_on_files_says_is_a_flag(line):
    flag, *value = shlex.split(line.partition("   ")[0])
    commands = (COMMANDS[name].parameters() for name in ("score", "compare"))
    assert flag in {flag_name(name) for parameters in commands for name in parameters}
    if flag == "--columns":
        assert list(parse_pairs(*value, flag))


def test_the_line_that_the_page_on_files_shows_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    number = np.arange(900)
    columns = {"conf": number / 900, "correct": number % 2, "question": number // 3}
    columns |= {"llm": np.array(["a", "b", "c"])[number % 3], "seed": number % 3}
    columns |= {"answer": [f"text {one % 812}" for one in number]}
    pd.DataFrame(columns).to_csv("long.csv", index=False)
    first, *_ = read_submissions("long.csv")
    assert f"```\n{first.recipe}\n```" in PAGE
