"""The rules of the curation: every question that one of them finds is decided, and every decision is carried out."""

import pandas as pd
import pytest

from tests.triviaqa_subset.checks import (
    CHECKS,
    asked,
    dissent,
    further,
    member,
    offensive,
    stranger,
)
from tests.triviaqa_subset.dressings import read_texts
from triviaqa_subset.matching import plain, sha256

READ = ("read", "reread")  # found by reading, not by a rule
ON_ALIASES = ("asked", "stranger", "further", "member")


@pytest.fixture(scope="module")
def texts(shared):
    """The question and the aliases of each question."""
    dataset, _ = read_texts(shared / "triviaqa" / "pool_text.jsonl")
    rows = zip(dataset["question_id"], dataset["question"], dataset["answer"], strict=True)
    return {own: (question, gold["aliases"]) for own, question, gold in rows}


@pytest.fixture(scope="module")
def hits(texts, labels):
    """What each rule finds: of each question the aliases, or nothing in particular."""
    found = {
        (own, rule): list(check(*text))
        for own, text in texts.items()
        for rule, check in CHECKS.items()
    }
    return {key: hit for key, hit in found.items() if hit} | {
        (own, "dissent"): [] for own in dissent(labels.systems)
    }


def test_no_hit_is_undecided_and_no_decision_is_about_nothing(hits, curation):
    assert len({own for own, _ in hits}) > 400
    decided = {
        (row.question_id, row.rule)
        for row in curation["decisions"].itertuples()
        if row.rule not in READ
    }
    assert decided == set(hits)


def test_no_kept_question_contains_an_accepted_answer(texts, labels):
    kept = labels.questions[labels.questions["decision"] == "keep"]
    for own, dropped in zip(kept["question_id"], kept["dropped_aliases"], strict=True):
        question, aliases = texts[own]
        assert not list(
            asked(question, [alias for alias in aliases if sha256(plain(alias)) not in dropped])
        ), own


def test_a_decision_on_aliases_drops_some_of_those_found_and_not_all_of_the_source(
    hits, texts, curation
):
    decisions = curation["decisions"]
    dropped = curation["aliases"].groupby("question_id")["alias_sha256"].agg(set)
    for own, hashes in dropped.items():
        assert hashes < {sha256(plain(alias)) for alias in texts[own][1] if plain(alias)}, own
    for row in decisions[decisions["rule"].isin(ON_ALIASES)].itertuples():
        found = {sha256(plain(alias)) for alias in hits[row.question_id, row.rule]}
        some = bool(found & dropped.get(row.question_id, set()))
        assert some == (row.decision == "alias"), (row.question_id, row.rule)


def test_the_log_quotes_no_question_and_no_alias(texts, curation):
    for table in (curation["decisions"], curation["aliases"], curation["errata"]):
        for own, why in set(zip(table["question_id"], table["why"], strict=True)):
            long = [alias for alias in texts[own][1] if len(plain(alias)) > 6]
            assert not [alias for alias in long if f" {plain(alias)} " in f" {plain(why)} "], own


QUESTION = "Who wrote “The Iliad”, and what is Homer's full name?"


def test_a_rule_on_aliases_finds_those_that_break_it():
    assert list(asked(QUESTION, ["Homer", "homer's", "Ome", "The Iliad!"])) == [
        "Homer",
        "homer's",
        "The Iliad!",
    ]
    assert stranger(QUESTION, ["Homer", "homeros", "Homer (poet)", "Virgil", "Vergil"]) == [
        "Vergil",
        "Virgil",
    ]
    assert list(offensive(QUESTION, ["a Spastic", "Homer"])) == ["a Spastic"]
    aliases = [
        "Homer",
        "City of Homer",
        "Weather in Homer",
        "Homer climate",
        "Ulysses (Homer)",
        "Homer (poet)",
    ]
    assert further(QUESTION, aliases) == ["City of Homer", "Weather in Homer", "Homer climate"]
    assert list(member(QUESTION, aliases)) == ["Ulysses (Homer)"]


def test_each_wording_is_found_by_its_rules():
    for question, rules in {
        "Who is the current champion?": {"time", "holder"},
        "Which is the longest river?": {"record"},
        "Name a river": {"broken", "open"},
        "Who wrote Emma? When?": {"broken"},
        "Who wrote Emma?": set(),
    }.items():
        assert {name for name, rule in CHECKS.items() if list(rule(question, ["x"]))} == rules


def test_dissent_needs_the_same_wrong_answer_of_enough_models():
    systems = pd.DataFrame(
        {
            "question_id": ["q"] * 5 + ["r"],
            "answer_sha256": ["a"] * 4 + ["b"] * 2,
            "llm": [*"wxyzw", "w"],
        }
        | {"exact_match": False, "correct": [False] * 3 + [True] + [False] * 2}
    )
    assert dissent(systems, 3) == ["q"]
    assert dissent(systems, 4) == []
