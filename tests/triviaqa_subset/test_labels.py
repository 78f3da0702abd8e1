"""The curation as it is read: types, and the rules that each column must follow."""

import re

import pandas as pd
import pytest

from triviaqa_subset.checking import require
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import COLUMNS, read_labels


@pytest.fixture(scope="module")
def tables():
    """The curation of the first hundred questions, as a pool of its own."""
    whole = {
        name: pd.read_csv(FOLDER / f"curation/{name}.csv", dtype=str, keep_default_na=False)
        for name in COLUMNS
    }
    first = whole["questions"]["question_id"][:100]
    small = {
        name: table[table["question_id"].isin(first)].reset_index(drop=True)
        for name, table in whole.items()
    }
    return small | {
        "questions": small["questions"].assign(pool_positions=list(map(str, range(100))))
    }


def test_the_columns_have_types(labels):
    questions = labels.questions
    flags = (
        questions[["selected", "in_curation_1", "in_curation_2"]],
        labels.answers[["correct", "debatable", "cut"]],
    )
    types = [table.dtypes for table in (*flags, labels.systems[["exact_match", "correct"]])]
    assert {str(dtype) for dtypes in types for dtype in dtypes} == {"bool"}
    assert questions["weight"].notna().equals(questions["selected"])
    assert sorted(questions["pool_positions"].explode()) == list(range(1000))
    assert questions["dropped_aliases"].str.len().sum() == len(labels.aliases)
    assert [len(questions), len(labels.answers), len(labels.systems)] == [977, 2683, 977 * 21]


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        (
            "questions",
            {"selected": "0"},
            "weight must be given for what is selected, and for nothing else; got",
        ),
        (
            "questions",
            {"decision": "discard"},
            "reason must be ok for what is kept, and for nothing else; got 'ok'",
        ),
        (
            "questions",
            {"decision": "discard", "reason": "bad_gold"},
            "selected must be 0 for what is discarded; got",
        ),
        ("questions", {"stratum": "odd"}, "stratum must match exact_match_all|reviewed; got 'odd'"),
        (
            "questions",
            {"stratum": "exact_match_all"},
            "stratum must be exact_match_all where every system has an",
        ),
        (
            "questions",
            {"question_sha256": ""},
            "question_start_sha256 must be given where question_sha256 is not, and",
        ),
        (
            "questions",
            {"pool_positions": "one"},
            "pool_positions must match [0-9]+( [0-9]+)*; got 'one'",
        ),
        (
            "questions",
            lambda table: table.assign(pool_positions="1"),
            "pool_positions must hold 0 to 99 once each; got",
        ),
        (
            "answers",
            {"correct": "1", "debatable": "1"},
            "debatable must be 0 for a correct answer; got '1'",
        ),
        ("answers", {"question_id": "nowhere"}, "question_id must be in questions; got 'nowhere'"),
        (
            "answers",
            lambda table: pd.concat([table, table[:1]]),
            "question_id, answer_sha256 must be unique; got",
        ),
        (
            "answers",
            lambda table: table[["correct"]],
            "must have the columns question_id, answer_sha256, full_sha256,",
        ),
        ("systems", {"correct": ""}, "correct must match [01]; got ''"),
        (
            "systems",
            {"answer_sha256": ""},
            "answer_sha256 must be that of an answer in answers with the same correct",
        ),
        ("systems", {"exact_match": "1"}, "correct must be 1 for an exact match; got '0'"),
        (
            "systems",
            lambda table: table[1:],
            "llm must have all 100 questions with each method; got",
        ),
        (
            "decisions",
            {"decision": "discard"},
            "decision must be discard for what questions discard, and for nothing",
        ),
        ("decisions", lambda table: table[:0], "question_id must hold all that is discarded; got"),
        (
            "decisions",
            lambda table: table[table["decision"] != "alias"],
            "question_id must have a decision alias; got",
        ),
        ("aliases", {"alias_sha256": "x"}, "alias_sha256 must match [0-9a-f]{64}; got 'x'"),
        (
            "errata",
            {"column": "label"},
            "column must be label where there is an answer_sha256, and reason elsewhere",
        ),
        (
            "errata",
            lambda table: table.assign(after="offensive"),
            "after must be what questions or answers say; got",
        ),
    ],
)
def test_what_breaks_a_rule_is_named(name, edit, message, tables, tmp_path):
    edited = tables[name].copy()
    if callable(edit):
        edited = edit(edited)
    else:
        edited.loc[2, list(edit)] = list(edit.values())
    for other, table in (tables | {name: edited}).items():
        table.to_csv(tmp_path / f"{other}.csv", index=False)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read_labels(tmp_path)
    assert callable(edit) or re.fullmatch(
        rf"{name}: .* at index 2 \(1 of {len(edited)}\)\.", str(raised.value)
    )


def test_an_error_names_the_first_offender_its_index_and_how_many():
    require([], [], "x must be anything")
    message = f"x must be short; got '{'a' * 56}... at index 1 (2 of 3). Drop it."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require([True, False, False], ["b", "a" * 80, "c"], "x must be short", "Drop it.")
    with pytest.raises(TypeError, match=re.escape("x must be text; got None at index 0 (1 of 1).")):
        require([False], [None], "x must be text", error=TypeError)
