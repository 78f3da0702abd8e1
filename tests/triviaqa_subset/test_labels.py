"""The curation: the types in which it is read, what each cell may hold, and that its tables hold together."""

import re

import numpy as np
import pandas as pd
import pytest

from triviaqa_subset.checking import require
from triviaqa_subset.labels import FORMER, METHODS, REASONS, STRATA
from triviaqa_subset.selection import weights

HASH, HASH_OR_NOT, FLAG = "[0-9a-f]{64}", "([0-9a-f]{64})?", "True|False"
ID = {"question_id": ".+"}
CELLS = {  # regular expressions that the cells of each column match as a whole
    "questions": ID | {
        "pool_positions": r"\d+( \d+)*", "stratum": "|".join(STRATA), "decision": "keep|discard",
        "reason": "|".join(REASONS), **dict.fromkeys(("selected", *FORMER), FLAG), "weight": r"([\d.]+)?",
        **dict.fromkeys(("question_sha256", "question_start_sha256", "aliases_sha256"), HASH_OR_NOT),
    },
    "answers": ID | {"answer_sha256": HASH, "full_sha256": HASH_OR_NOT}
    | dict.fromkeys(("correct", "debatable", "cut"), FLAG),
    "systems": ID | {"llm": ".+", "method": "|".join(METHODS), "exact_match": FLAG, "correct": FLAG,
                     "answer_sha256": HASH_OR_NOT},
    "errata": {"curation": "[23]", **ID, "answer_sha256": HASH_OR_NOT, "column": "reason|label",
               "before": ".+", "after": ".+", "why": ".+"},
    "decisions": ID | {"rule": "[a-z]+", "decision": "keep|alias|discard", "why": ".+"},
    "gold": ID | {"source": "triviaqa|annotator", "gold_sha256": "[0-9a-f]{16}( [0-9a-f]{16})*"},
    "aliases": {"curation": "[34]", **ID, "alias_sha256": HASH, "why": ".+"},
}  # fmt: skip
OF_ANSWER = ["question_id", "answer_sha256"]
KEYS = {
    "questions": ["question_id"], "answers": OF_ANSWER, "systems": ["question_id", "llm", "method"],
    "errata": ["curation", *OF_ANSWER], "decisions": ["question_id", "rule"], "gold": ["question_id"],
    "aliases": ["question_id", "alias_sha256"],
}  # fmt: skip


def test_the_columns_have_types(labels, curation):
    questions = labels.questions
    assert sorted(questions["pool_positions"].explode()) == list(range(1000))
    assert questions["dropped_aliases"].str.len().sum() == len(curation["aliases"])
    assert labels.gold["gold_sha256"].explode().str.fullmatch("[0-9a-f]{16}").all()
    assert [len(questions), len(labels.answers), len(labels.systems)] == [977, 2683, 977 * 21]


@pytest.mark.parametrize("name", CELLS)
def test_each_cell_has_its_form_each_row_its_key_and_each_question_is_in_the_pool(name, curation):
    table = curation[name]
    assert list(table.columns) == list(CELLS[name])
    for column, pattern in CELLS[name].items():
        assert table[column].astype(str).str.fullmatch(pattern).all(), column
    assert not table.duplicated(KEYS[name]).any()
    assert table["question_id"].isin(curation["questions"]["question_id"]).all()


def test_what_is_kept_and_selected_and_the_hash_of_each_question(labels):
    questions = labels.questions
    kept = questions["decision"] == "keep"
    assert kept.equals(questions["reason"] == "ok")
    first = pd.concat(
        [questions[kept & (questions["stratum"] == name)].head(STRATA[name]) for name in STRATA]
    )
    assert questions["selected"].equals(questions.index.to_series().isin(first.index))
    weight = pd.to_numeric(questions["weight"])
    np.testing.assert_allclose(weight, weights(questions, questions["selected"]), atol=1e-6)
    assert (
        (questions["question_sha256"] == "") != (questions["question_start_sha256"] == "")
    ).all()


def test_each_system_has_each_question_and_the_bank_its_answers_without_an_exact_match(labels):
    answers, systems = labels.answers, labels.systems
    assert not (answers["correct"] & answers["debatable"]).any()
    exact = systems["exact_match"]
    assert systems["correct"][exact].all()
    by_all = exact.groupby(systems["question_id"]).all().reindex(labels.questions["question_id"])
    assert (by_all.to_numpy() == (labels.questions["stratum"] == "exact_match_all")).all()
    assert (systems["answer_sha256"][exact] == "").all()
    banked = systems[~exact].merge(answers, "left", OF_ANSWER, suffixes=("", "_of_bank"))
    assert (banked["correct_of_bank"] == banked["correct"]).all()


def test_the_last_erratum_of_a_question_or_an_answer_is_its_state(labels, curation):
    answers, errata = labels.answers, curation["errata"]
    wrong = np.where(answers["debatable"], "debatable", "incorrect")
    of_answers = answers[OF_ANSWER].assign(state=np.where(answers["correct"], "correct", wrong))
    of_questions = labels.questions[["question_id"]].assign(
        answer_sha256="", state=labels.questions["reason"]
    )
    last = errata.drop_duplicates(OF_ANSWER, keep="last")
    last = last.merge(pd.concat([of_questions, of_answers]), "left", OF_ANSWER)
    assert (last["after"] == last["state"]).all()
    assert ((errata["answer_sha256"] == "") == (errata["column"] == "reason")).all()


def test_what_is_discarded_and_each_dropped_alias_has_a_decision(labels, curation):
    questions, decisions = labels.questions, curation["decisions"]
    by_kind = decisions.groupby("decision")["question_id"].agg(set)
    discarded = set(questions["question_id"][questions["decision"] == "discard"])
    assert by_kind["discard"] == discarded
    assert not discarded & (by_kind["keep"] | by_kind["alias"])
    assert set(curation["aliases"]["question_id"]) <= by_kind["alias"]


def test_an_error_names_the_first_offender_its_index_and_how_many():
    require(bool, [], "x must be anything")
    message = f"x must be short; got '{'a' * 56}... at index 1 (2 of 3). Drop it."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        require(lambda x: x == "b", ["b", "a" * 80, "c"], "x must be short", "Drop it.")
    with pytest.raises(TypeError, match=re.escape("x must be text; got None at index 0 (1 of 1).")):
        require(bool, [None], "x must be text", error=TypeError)
