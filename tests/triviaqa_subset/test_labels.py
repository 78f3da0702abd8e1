"""The curation as it is read: types, and the rules that each column must follow."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import COLUMNS, read_labels

OWN = FOLDER / "curation"


@pytest.fixture(scope="module")
def tables():
    return {name: pd.read_csv(OWN / f"{name}.csv", dtype=str, keep_default_na=False) for name in COLUMNS}


def test_the_columns_have_types():
    questions, answers, systems, errata, decisions, aliases = read_labels(OWN)
    for table, flags in (
        (questions, ["selected", "in_curation_1", "in_curation_2"]),
        (answers, ["correct", "debatable", "cut"]),
        (systems, ["exact_match", "correct"]),
    ):
        assert all(pd.api.types.is_bool_dtype(table[flag]) for flag in flags)
    assert questions["weight"].notna().equals(questions["selected"])
    positions = [position for positions in questions["pool_positions"] for position in positions]
    assert sorted(positions) == list(range(1000))
    assert set(errata["column"]) == {"reason", "label"}
    assert set(decisions["decision"]) == {"keep", "alias", "discard"}
    assert questions["dropped_aliases"].str.len().sum() == len(aliases)
    assert [len(questions), len(answers), len(systems)] == [977, 2683, 977 * 21]


@pytest.mark.parametrize(
    ("name", "edits", "message"),
    [
        ("questions", {"stratum": "odd"}, "questions: stratum must match exact_match_all|reviewed; got 'odd'"),
        ("questions", {"pool_positions": "one"}, "questions: pool_positions must match [0-9]+( [0-9]+)*; got 'one'"),
        ("answers", {"correct": "1", "debatable": "1"}, "answers: debatable must be 0 for a correct answer; got '1'"),
        ("systems", {"question_id": "q0"}, "systems: question_id must be in questions; got 'q0'"),
        ("systems", {"correct": ""}, "systems: correct must match [01]; got ''"),
        ("decisions", {"decision": "discard"}, "decisions: decision must be discard for what questions discard, and"),
        ("aliases", {"alias_sha256": "x"}, "aliases: alias_sha256 must match [0-9a-f]{64}; got 'x'"),
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
    with pytest.raises(ValueError, match=r"^answers: question_id, answer_sha256 must be unique; got .* at index 2683"):
        read_labels(folder)


def test_an_erratum_says_what_is(tables, tmp_path):
    folder = Path(shutil.copytree(OWN, tmp_path / "curation"))
    tables["errata"].assign(after="offensive").to_csv(folder / "errata.csv", index=False)
    with pytest.raises(ValueError, match=r"^errata: after must be what questions or answers say; got "):
        read_labels(folder)
