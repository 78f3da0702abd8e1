"""The curation as it is read: types, and the rules that each column must follow."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from triviaqa_subset.checking import require
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import COLUMNS, read_labels

OWN = FOLDER / "curation"


@pytest.fixture(scope="module")
def tables():
    return {name: pd.read_csv(OWN / f"{name}.csv", dtype=str, keep_default_na=False) for name in COLUMNS}


def test_the_columns_have_types(labels):
    questions, answers, systems, errata, decisions, aliases = labels
    flags = questions[["selected", "in_curation_1", "in_curation_2"]], answers[["correct", "debatable", "cut"]]
    assert {str(dtype) for table in (*flags, systems[["exact_match", "correct"]]) for dtype in table.dtypes} == {"bool"}
    assert questions["weight"].notna().equals(questions["selected"])
    assert sorted(questions["pool_positions"].explode()) == list(range(1000))
    assert set(errata["column"]) == {"reason", "label"}
    assert set(decisions["decision"]) == {"keep", "alias", "discard"}
    assert questions["dropped_aliases"].str.len().sum() == len(aliases)
    assert [len(questions), len(answers), len(systems)] == [977, 2683, 977 * 21]


@pytest.mark.parametrize(
    ("name", "edits", "message"),
    [
        ("questions", {"selected": "0"}, "weight must be given for what is selected, and for nothing else; got"),
        ("questions", {"decision": "discard"}, "reason must be ok for what is kept, and for nothing else; got 'ok'"),
        ("questions", {"stratum": "odd"}, "stratum must match exact_match_all|reviewed; got 'odd'"),
        ("questions", {"stratum": "exact_match_all"}, "stratum must be exact_match_all where every system has an"),
        ("questions", {"question_sha256": ""}, "question_start_sha256 must be given where question_sha256 is not, and"),
        ("questions", {"pool_positions": "one"}, "pool_positions must match [0-9]+( [0-9]+)*; got 'one'"),
        ("answers", {"correct": "1", "debatable": "1"}, "debatable must be 0 for a correct answer; got '1'"),
        ("answers", {"question_id": "nowhere"}, "question_id must be in questions; got 'nowhere'"),
        ("systems", {"correct": ""}, "correct must match [01]; got ''"),
        ("systems", {"answer_sha256": ""}, "answer_sha256 must be that of an answer in answers with the same correct"),
        ("systems", {"exact_match": "1"}, "correct must be 1 for an exact match; got '0'"),
        ("decisions", {"decision": "discard"}, "decision must be discard for what questions discard, and for nothing"),
        ("aliases", {"alias_sha256": "x"}, "alias_sha256 must match [0-9a-f]{64}; got 'x'"),
        ("errata", {"column": "label"}, "column must be label where there is an answer_sha256, and reason elsewhere"),
    ],
)
def test_what_breaks_a_rule_is_named(name, edits, message, tables, tmp_path):
    folder = Path(shutil.copytree(OWN, tmp_path / "curation"))
    table = tables[name].copy()
    for column, value in edits.items():
        table.loc[2, column] = value
    table.to_csv(folder / f"{name}.csv", index=False)
    with pytest.raises(ValueError, match=f"^{name}: {re.escape(message)}.* at index 2 \\(1 of {len(table)}\\)\\.$"):
        read_labels(folder)


def test_what_breaks_a_rule_over_several_rows_is_named(tables, tmp_path):
    answers, questions = tables["answers"], tables["questions"].assign(pool_positions="1")
    for name, table, message in (
        ("questions", questions, "pool_positions must hold 0 to 976 once each; got 1"),
        ("answers", pd.concat([answers, answers[:1]]), "question_id, answer_sha256 must be unique; got .* index 2683"),
        ("errata", tables["errata"].assign(after="offensive"), "after must be what questions or answers say; got "),
    ):
        folder = Path(shutil.copytree(OWN, tmp_path / name))
        table.to_csv(folder / f"{name}.csv", index=False)
        with pytest.raises(ValueError, match=f"^{name}: {message}"):
            read_labels(folder)


def test_an_error_names_the_first_offender_its_index_and_how_many():
    require([], [], "x must be anything")
    message = f"x must be short; got '{'a' * 56}... at index 1 (2 of 3). Drop it."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require([True, False, False], ["b", "a" * 80, "c"], "x must be short", "Drop it.")
    with pytest.raises(TypeError, match=re.escape("x must be text; got None at index 0 (1 of 1).")):
        require([False], [None], "x must be text", error=TypeError)
