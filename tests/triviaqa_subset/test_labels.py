"""The curation as it is read: types, and the rules that each column must follow."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import read_labels

OWN = FOLDER / "curation"


@pytest.fixture(scope="module")
def tables():
    return {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in OWN.glob("*.csv")}


def test_the_columns_have_types():
    questions, answers, systems, errata = read_labels(OWN)
    for table, flags in (
        (questions, ["selected", "in_curation_1"]),
        (answers, ["correct", "debatable", "cut"]),
        (systems, ["exact_match", "correct"]),
    ):
        assert all(pd.api.types.is_bool_dtype(table[flag]) for flag in flags)
    assert questions["weight"].notna().equals(questions["selected"])
    positions = [position for positions in questions["pool_positions"] for position in positions]
    assert sorted(positions) == list(range(1000))
    assert set(errata["column"]) == {"reason", "label"}
    assert [len(questions), len(answers), len(systems)] == [977, 2683, 977 * 21]


@pytest.mark.parametrize(
    ("name", "edits", "message"),
    [
        ("questions", {"stratum": "odd"}, "questions: stratum must be one of exact_match_all, reviewed; got 'odd'"),
        ("questions", {"decision": "maybe"}, "questions: decision must be keep or discard; got 'maybe'"),
        ("questions", {"pool_positions": "one"}, "questions: pool_positions must be whole numbers; got 'one'"),
        ("answers", {"correct": "1", "debatable": "1"}, "answers: debatable must be 0 for a correct answer; got '1'"),
        ("systems", {"method": "guess"}, "systems: method must be one of sequence_posterior, is_true, verbalized; got"),
        ("systems", {"question_id": "q0"}, "systems: question_id must be in questions; got 'q0'"),
        ("systems", {"correct": ""}, "systems: correct must be 0 or 1; got ''"),
        ("errata", {"after": "offensive"}, "errata: after must be what questions or answers say; got"),
        ("errata", {"question_id": "q0"}, "errata: after must be what questions or answers say; got 'q0'"),
        (
            "errata",
            {"column": "label"},
            "errata: column must be label where there is an answer_sha256, and reason else",
        ),
    ],
)
def test_what_breaks_a_rule_is_named(name, edits, message, tables, tmp_path):
    folder = Path(shutil.copytree(OWN, tmp_path / "curation"))
    table = tables[name].copy()
    for column, value in edits.items():
        table.loc[2, column] = value
    table.to_csv(folder / f"{name}.csv", index=False)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}.* at index 2 \\(1 of {len(table)}\\)\\.$"):
        read_labels(folder)


def test_an_answer_is_judged_once(tables, tmp_path):
    folder = Path(shutil.copytree(OWN, tmp_path / "curation"))
    pd.concat([tables["answers"], tables["answers"].head(1)]).to_csv(folder / "answers.csv", index=False)
    with pytest.raises(
        ValueError, match=r"^answers: answer_sha256 must be unique within a question; got .* at index 2683"
    ):
        read_labels(folder)
