"""Grading: by exact match, label bank and judge, and what stays unknown."""

import hashlib
import os
import random
from pathlib import Path

import pandas as pd
import pytest
from datasets import Dataset

from tests.triviaqa_subset.dressings import held_apart_rates, rates, read_texts, systematic
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.grading import DECIDED_BY, Grades, answer_sha256, grade, judge_key, label_bank
from triviaqa_subset.matching import KINDS, gold_forms, normalize_answer, sha256
from triviaqa_subset.readings import is_refusal

DATASET = {
    "question_id": ["q1", "q2", "q3"],
    "question": ["Capital of France?", "Author of Emma?", "Two plus two?"],
    "answer": [
        {
            "value": "Paris",
            "aliases": ["Paris", "Paris (France)"],
            "normalized_aliases": ["paris", "city of light"],
        },
        {"value": "Jane Austen", "aliases": ["Jane Austen"], "normalized_aliases": ["jane austen"]},
        {"value": None, "aliases": [], "normalized_aliases": ["(4)"]},
    ],
}
BANK = {
    "question_id": ["q1", "q2"],
    "answer_sha256": [
        hashlib.sha256(b"lutetia").hexdigest(),
        hashlib.sha256(b"charlotte bronte").hexdigest(),
    ],
    "correct": [True, False],
}
MINE = {
    "question_id": ["q1", "q1", "q2", "q2", "q2", "q3"],
    "answer": [
        "**Paris**.",
        "Lutetia",
        "Charlotte Bronte (novelist)",
        "Miss Austen",
        "miss austen.",
        "",
    ],
}


def counts(**given):
    return dict.fromkeys(DECIDED_BY, 0) | given


def gold_sha256(question_id, aliases):
    """Return the salted hashes of all forms of a question's gold aliases, as they are in the dataset."""
    forms = gold_forms(aliases)
    texts = [f"{question_id}\n{kind}\n{form}" for kind in KINDS for form in getattr(forms, kind)]
    return sorted({sha256(text)[:16] for text in texts})


def one(answer, question_id="q1", **options):
    """Grade one answer: what was decided, and by what."""
    grades = grade(
        {"question_id": [question_id], "answer": [answer]}, DATASET, **{"bank": BANK} | options
    )
    return grades.correct[0], grades.decided_by[0]


def bank_of(answer, correct, **more):
    return {
        "question_id": ["q1"],
        "answer_sha256": [answer_sha256(answer)],
        "correct": [correct],
    } | more


UNLABELLED = (None, "unlabelled")
TWO = {name: [*bank_of("Lutetia", True)[name], *bank_of("Lyon", False)[name]] for name in BANK}
FIVE = {
    "question_id": ["q3", "q3"],
    "answer_sha256": [answer_sha256("Five"), answer_sha256("5")],
    "correct": [False, False],
}
CONTAINED = {"rule": "containment"}
JUDGED_WHOLE = {
    "bank": bank_of("Lutetia", True, full_sha256=[hashlib.sha256(b"Lutetia (or Lyon)").hexdigest()])
}


@pytest.mark.parametrize(
    "answer, options, expected",
    [
        # An exact match goes before the bank, the official form after it
        ("paris", {"bank": bank_of("Paris", False)}, (True, "exact")),
        ("The City of Light!", {}, (True, "official")), ("(Paris)", {}, (True, "official")),
        ("Paris!", {"bank": bank_of("Paris!", False)}, (False, "bank")),
        # Containment only where asked for, and never against the bank
        ("Near the City of Light!", {}, UNLABELLED), ("Near the City of Light!", CONTAINED, (True, "contained")),
        ("It is Paris.", CONTAINED | {"question_id": "q2"}, UNLABELLED),
        ("Not Paris", CONTAINED | {"bank": bank_of("Not Paris", False)}, (False, "bank")),
        # Frames and markup are taken off for every rule
        ("It is <b>Paris</b>.", {}, (True, "exact")), ("Answer: Lutetia", {}, (True, "bank")),
        ("It is Charlotte Bronte.", {"question_id": "q2"}, (False, "bank")),
        ("It is not Paris.", {}, UNLABELLED), ("It is not Lutetia.", {}, UNLABELLED),
        # A hedge is not taken for its first half, although the bank has that as correct, unless it was judged
        ("Paris (or Lyon)", {}, UNLABELLED), ("Lutetia (or Lyon)", {}, UNLABELLED),
        ("Charlotte Bronte (or Emily)", {"question_id": "q2"}, (False, "bank")),
        ("Charlotte Bronte (no, Jane Austen)", {"question_id": "q2"}, UNLABELLED),
        # A wrong answer with a right one in brackets may mean either
        ("Charlotte Bronte (Jane Austen)", {"question_id": "q2"}, UNLABELLED),
        ("Charlotte Bronte (actually Jane Austen)", {"question_id": "q2"}, UNLABELLED),
        ("Lyon (actually Lutetia)", {"bank": TWO}, UNLABELLED), ("Lyon (in France)", {"bank": TWO}, (False, "bank")),
        # nor is one with a number behind it, and a number with a sign is not the one without
        ("Five [4]", {"question_id": "q3", "bank": FIVE}, UNLABELLED),
        ("5", {"question_id": "q3", "bank": FIVE}, (False, "bank")),
        ("5'", {"question_id": "q3", "bank": FIVE}, UNLABELLED),
        ("Lutetia (or Lyon)", JUDGED_WHOLE, (True, "bank")), ("Lutetia (or Nice)", JUDGED_WHOLE, UNLABELLED),
        # Silence is wrong, and no judge is asked
        *((text, {"judge": lambda *_: True}, (False, "refusal")) for text in ("", "  ", "I don\u2019t know.", "N/A")),
        *((text, {}, (False, "refusal")) for text in ("<think>Paris?</think>", "<think>Paris?", "**Unknown** (95%)")),
        ("Unknown", {"bank": bank_of("Unknown", True)}, (True, "bank")),
    ],
)  # fmt: skip
def test_what_decides(answer, options, expected):
    assert one(answer, **options) == expected


ASKED = [
    "Lutetia",
    "lutetia.",
    "Lutetia (no, Lyon)",
    "Lutetia (or Lyon)",
    "**Lutetia**",
    "Lutetia?",
    "Nice (Lutetia)",
]


def test_grades_do_not_depend_on_order_duplicates_or_the_judges_record():
    """Of a judge whose verdict depends on the whole answer, and that is asked only for what its record lacks."""

    def graded(answers, record):
        def judge(question, answer, gold):
            return record.setdefault(
                judge_key(question, answer), None if "Nice" in answer else "Lyon" not in answer
            )

        mine = {"question_id": ["q1"] * len(answers), "answer": answers}
        grades = grade(mine, DATASET, bank={name: [] for name in BANK}, judge=judge)
        return list(zip(grades.correct, grades.decided_by, strict=True))

    alone = {answer: graded([answer], {})[0] for answer in ASKED}
    assert len(set(alone.values())) == 3
    chance = random.Random(0)
    for _ in range(50):
        record = {}
        # two runs that share a record
        for answers in (chance.choices(ASKED, k=10) for _ in range(2)):
            assert graded(answers, record) == [alone[answer] for answer in answers]


@pytest.mark.parametrize(
    "form", [dict, Dataset.from_dict, lambda data: pd.DataFrame(data, index=[9] * 6)]
)
def test_columns_of_any_form_are_decided_once_in_the_order_of_the_rules(form):
    correct = [True, True, False, None, None, False]
    decided_by = ["exact", "bank", "bank", "unlabelled", "unlabelled", "refusal"]
    expected = Grades(correct, decided_by, counts(exact=1, bank=2, refusal=1, unlabelled=2))
    for table in (dict, Dataset.from_dict, pd.DataFrame):
        assert grade(form(MINE), table(DATASET), bank=table(BANK)) == expected
    assert grade(pd.DataFrame(MINE)[:0], DATASET) == Grades([], [], counts())


def test_a_judge_sees_each_open_answer_once_with_question_and_gold():
    seen = []

    def judge(question, answer, gold):
        seen.append((question, answer, gold))
        return {"Miss Austen": True, "Five": None}[answer]

    mine = MINE | {"answer": [*MINE["answer"][:4], "Miss Austen", "Five"]}
    grades = grade(mine, DATASET, bank=BANK, judge=judge)
    austen = ("Author of Emma?", "Miss Austen", ["Jane Austen", "jane austen"])
    assert sorted(seen) == [austen, ("Two plus two?", "Five", ["(4)"])]
    assert grades.correct == [True, True, False, True, True, None]
    assert grades.decided_by == ["exact", "bank", "bank", "judge", "judge", "unlabelled"]
    assert grades.counts == counts(exact=1, bank=2, judge=2, unlabelled=1)


NO_VERDICT = r"judge must return True, False or None; got .* for q2, 'x'\.$"


@pytest.mark.parametrize(
    "answer, question_id, options, error, message",
    [
        *(
            (one, "q2", {}, TypeError, r"answer must be text; got .* at index 1 \(1 of 2\)\. Pass")
            for one in (None, 4)
        ),
        (
            "a",
            "q9",
            {},
            ValueError,
            r"question_id must be in the dataset; got 'q9' at index 1 \(1 of 2\)\. Drop",
        ),
        (
            "a",
            "q2",
            {"rule": "fuzzy"},
            ValueError,
            r"rule must be one of equality, containment; got 'fuzzy'\.$",
        ),
        *(
            ("x", "q2", {"judge": lambda *_, it=it: it}, TypeError, NO_VERDICT)
            for it in ("yes", 0.5, float("nan"))
        ),
    ],
)
def test_what_cannot_be_graded_is_an_error(answer, question_id, options, error, message):
    with pytest.raises(error, match=f"^{message}"):
        grade({"question_id": ["q1", question_id], "answer": ["Paris", answer]}, DATASET, **options)


@pytest.mark.parametrize(
    ("answers", "column"),
    [
        ({"q1": "Paris"}, "question_id"),
        ({"question_id": ["q1"], "prediction": ["Paris"]}, "answer"),
    ],
)
def test_a_column_that_answers_lack_is_named(answers, column):
    with pytest.raises(ValueError, match=f"^answers must have a column '{column}'. Pass "):
        grade(answers, DATASET)


def test_without_text_salted_hashes_decide_the_same():
    hashes = [
        gold_sha256(own, gold["aliases"])
        for own, gold in zip(DATASET["question_id"], DATASET["answer"], strict=True)
    ]
    bare = {"question_id": DATASET["question_id"], "gold_sha256": hashes}
    assert grade(MINE, bare, bank=BANK) == grade(MINE, DATASET, bank=BANK)
    message = (
        r"^dataset must have questions and gold answers if there is a judge; it has none\. Build"
    )
    with pytest.raises(ValueError, match=message):
        grade(MINE, bare, judge=lambda *_: True)
    here, there = (set(gold_sha256(own, ["Paris"])) for own in ("q1", "q2"))
    assert not here & there  # the question is the salt


def test_the_hashes_that_come_with_the_package_decide_as_the_texts_do(judged, labels):
    dataset, _ = judged
    aliases = dict(
        zip(dataset["question_id"], (gold["aliases"] for gold in dataset["answer"]), strict=True)
    )
    for row in labels.gold[labels.gold["source"] == "triviaqa"].itertuples():
        assert gold_sha256(row.question_id, aliases[row.question_id]) == row.gold_sha256
    bare = {"question_id": dataset["question_id"]}
    for answers in systematic(dataset, 50).values():
        assert grade(answers, bare) == grade(answers, dataset)


@pytest.fixture(scope="module")
def judged(shared, labels):
    """The dataset with its texts, and the judged answers in clear with their labels."""
    questions = labels.questions.set_index("question_id")
    dataset, answers = read_texts(
        shared / "triviaqa" / "pool_text.jsonl", questions["dropped_aliases"].to_dict()
    )
    known = labels.answers.set_index(["question_id", "answer_sha256"])["correct"]
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in answers["normalized"]]
    return dataset, answers.assign(
        correct=known.loc[list(zip(answers["question_id"], keys, strict=True))].to_numpy()
    )


def test_every_judged_answer_has_its_label(judged):
    dataset, answers = judged
    assert [normalize_answer(text) for text in answers["answer"]] == answers["normalized"].tolist()
    for rule in ("equality", "containment"):
        grades = grade(answers, dataset, rule=rule)
        assert grades.counts == counts(bank=2683)
        assert grades.correct == answers["correct"].tolist()


@pytest.fixture(scope="module")
def measured():
    """The rates on the card: of what the rules were mended on, and of what was held apart from them."""
    rows = pd.read_csv(FOLDER / "curation" / "rates.csv")
    is_apart = rows["answers"].str.startswith("held apart")
    return rows[~is_apart], rows[is_apart].reset_index(drop=True)


def test_the_rates_of_what_the_rules_were_mended_on_are_those_of_the_card(judged, measured):
    found = rates(*judged)
    pd.testing.assert_frame_equal(found, measured[0])
    rows = found[found["rule"] == "equality"].set_index("answers")
    sums = rows.groupby(rows.index.str.split(",").str[0])[["number", "accepted", "rejected"]].sum()
    right, wrong = sums.loc["right"], sums.loc["denied"]
    correct, incorrect = rows.loc["judged correct"], rows.loc["judged incorrect"]
    assert (right["number"], wrong["number"]) == (103 * 300, 148 * 300)
    assert (right["accepted"] >= 0.93 * right["number"], right["rejected"]) == (True, 0)
    assert wrong["accepted"] <= 0.005 * wrong["number"]
    assert (correct["accepted"] >= 40, correct["rejected"], incorrect["accepted"]) == (True, 0, 0)


def test_what_is_decided_of_a_judged_answer_without_its_own_label_is_as_it_was_judged(judged, root):
    """Each answer is one to a copy of its question, of which the bank has the labels of the others."""
    dataset, answers = judged
    golds = dict(zip(dataset["question_id"], dataset["answer"], strict=True))
    of_question = pd.DataFrame(
        [(own, key, label) for (own, key), label in label_bank().items()], columns=list(BANK)
    ).groupby("question_id")
    copies = answers.assign(own=answers["question_id"], question_id=range(len(answers)))
    others = []
    for row in copies.itertuples():
        labels = of_question.get_group(row.own).assign(question_id=row.Index)
        is_own = labels["answer_sha256"].isin(
            [answer_sha256(row.answer), sha256(row.answer.strip())]
        )
        others.append(labels[~is_own])
    table = {"question_id": copies["question_id"], "answer": copies["own"].map(golds)}
    grades = grade(copies, table, bank=pd.concat(others)).correct
    decided = [label is not None for label in grades]
    assert [label for label in grades if label is not None] == list(answers["correct"][decided])
    page = (root / "docs" / "dataset.md").read_text()
    assert f"each without its own label, {sum(decided)} are decided" in page


def test_the_rates_of_answers_held_apart_are_those_of_the_card(measured, labels):
    if "ECUAS_EVOUNA" not in os.environ:
        pytest.skip("ECUAS_EVOUNA does not name the file TQ.json of EVOUNA")
    pool = set(labels.questions["question_sha256"])
    found = held_apart_rates(Path(os.environ["ECUAS_EVOUNA"]), pool)
    pd.testing.assert_frame_equal(found, measured[1])


def test_every_gold_alias_is_a_match_and_neither_it_nor_a_correct_answer_a_refusal(judged):
    dataset, answers = judged
    pairs = [
        (i, a)
        for i, gold in zip(dataset["question_id"], dataset["answer"], strict=True)
        for a in gold["aliases"]
    ]
    texts = [*(alias for _, alias in pairs), *answers["answer"][answers["correct"]]]
    assert not [text for text in texts if is_refusal(text)]
    grades = grade(pd.DataFrame(pairs, columns=["question_id", "answer"]), dataset)
    left = [alias for (_, alias), label in zip(pairs, grades.correct, strict=True) if not label]
    assert all(normalize_answer(alias) == "" for alias in left)
    assert grades.counts["exact"] > 7_900
