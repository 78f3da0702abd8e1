"""The leaderboard against the dataset's own tables, and where a visitor's model stands."""

import functools
import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import confidence_ecuas_score
from space import answers, subset
from tests.conftest import ROOT
from triviaqa_subset.labels import METHODS  # noqa: F401 (in a query)
from triviaqa_subset.tables import ASKED, table

DATA = ROOT / "triviaqa_subset" / "data"
SYSTEMS = pd.read_parquet(DATA / "systems.parquet")
KNOWN = subset.known_rows("kept")
LABELS = {
    which: 1 - one.system.decisions.candidate_cost
    for which, one in subset.known_systems("kept").items()
}
PUBLISHED = pd.read_parquet(DATA / "published.parquet").query("task == 0")


@pytest.mark.long
@pytest.mark.parametrize("asked", ASKED)
def test_a_systems_own_right_and_wrong_stands_where_the_system_stands(asked):
    """Places are the paired tests', so a copy shares the place of what it copies, one lower at its worst."""
    known = subset.known_rows(asked)
    questions = table(asked).set_index("question_id")
    assert [row.error_rate.value for row in known] == sorted(row.error_rate.value for row in known)
    assert len(known) == 14  # is_true has the answers of sequence_posterior
    for row in known[::7]:
        theirs = SYSTEMS.query("llm == @row.system and method == @METHODS.index(@row.method)")
        correct = theirs.set_index("question_id")["correct"].astype(float)[questions.index]
        rate = np.average(1 - correct, weights=questions["weight"])
        mine, *others = subset.rows_with(asked, "mine", correct, "yours")
        assert mine.error_rate.value == pytest.approx(rate)
        assert mine.error_rate == row.error_rate
        assert mine.error_rate.low < rate < mine.error_rate.high
        copied = next(other for other in others if other.error_rate == row.error_rate)
        assert (mine.first, mine.last) == (copied.first, copied.last)
        assert subset.record(mine)["place"] == [mine.first, mine.last]


def test_what_is_missing_or_unknown_leaves_an_interval_and_no_place(rng):
    """A model that answered 28 questions, of which five are unknown, may be the best or the worst."""
    questions = table("curated").set_index("question_id")["weight"]
    correct = pd.Series(np.r_[np.full(5, np.nan), rng.integers(0, 2, 23)], questions.index[:28])
    mine, *known = subset.rows_with("curated", "<b>mine", correct, "self-reported, not checked")
    assert tuple(known) == subset.known_rows("curated")
    low = questions[correct.index[correct == 0]].sum()
    high = low + questions.sum() - questions[correct.dropna().index].sum()
    assert (mine.error_rate.low, mine.error_rate.high) == pytest.approx(
        (low / questions.sum(), high / questions.sum())
    )
    assert subset.record(mine)["place"] is subset.record(mine)["error_rate"]["value"] is None
    html = subset.board_html("curated", [mine, *known])
    row = re.search('<tr class="own">.*?</tr>', html, flags=re.DOTALL)[0]
    assert "28 of 455 answered, 23 known to be right or wrong: no place" in row
    assert "self-reported, not checked" in row
    assert '<td>-</td>\n<th scope="row"><bdi>&lt;b&gt;mine</bdi>' in row


@pytest.fixture
def sent(monkeypatch, tmp_path):
    """A folder of what was sent to be kept, which is read again."""
    monkeypatch.setattr(answers, "FOLDER", tmp_path)
    again = functools.cache(answers.submissions.__wrapped__)
    for module in (answers, subset):
        monkeypatch.setattr(module, "submissions", again)
    for name in ("known_systems", "known_rows"):
        function = functools.cache(getattr(subset, name).__wrapped__)
        monkeypatch.setattr(subset, name, function)
    (tmp_path / "submissions").mkdir()
    return tmp_path / "submissions"


def graded(correct, **columns):
    """Return answers to all that were kept, which their sender graded."""
    frame = pd.DataFrame({"question_id": table("kept")["question_id"], "answer": "an invented one"})
    added = {"confidence": 0.5, "link": "https://h/m", "date": "2026-11-22"}
    return frame.assign(correct=correct, **added | columns)


def test_what_was_sent_to_be_kept_has_its_place_link_and_date(sent):
    """A copy of the best system's right and wrong stands where it stands; what is not complete stands nowhere."""
    best = KNOWN[0]
    frame = graded(LABELS[best.system, best.method])
    frame.to_csv(sent / "a <b>.csv", index=False)
    frame[1:].to_csv(sent / "part.csv", index=False)
    rows = {row.system: row for row in subset.known_rows("kept")}
    mine = rows["a <b>"]
    assert "part" not in rows
    assert (mine.first, mine.last) == (rows[best.system].first, rows[best.system].last)
    html = subset.board_html("kept", rows.values())
    assert "<bdi>a &lt;b&gt;</bdi>" in html
    assert '<a href="https://h/m" rel="nofollow noopener">source</a> 2026-11-22' in html
    answers.require_whole()


def test_without_confidences_there_is_no_column_for_what_needs_them():
    assert "ECUAS_1" not in subset.board_html("kept", KNOWN).split("</thead>")[0]


def test_who_has_confidences_is_scored_by_them_too(sent):
    """As the metric does, with the weights of the questions; of the others no number is made up."""
    rng = np.random.default_rng(1)
    correct = LABELS[KNOWN[3].system, KNOWN[3].method]
    frame = graded(correct, confidence=rng.random(len(correct)).round(3))
    frame.to_csv(sent / "sure.csv", index=False)
    frame.assign(confidence="").to_csv(sent / "silent.csv", index=False)
    rows = {row.system: row for row in subset.known_rows("curated")}
    questions = table("curated").merge(frame, on="question_id")
    expected = confidence_ecuas_score(
        questions["correct"].to_numpy(int),
        questions["confidence"].to_numpy(float),
        n=1,
        sample_weight=questions["weight"].to_numpy(float),
    )
    found = rows["sure"].ecuas_1
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    assert {name for name, row in rows.items() if row.ecuas_1} == {"sure"}
    html = subset.board_html("curated", rows.values())
    assert f"<td>{found.value:.3f}<small>" in html
    assert html.count("<td><small>unknown</small></td>") == len(rows) - 1
    mine, *_ = subset.rows_with(
        "curated",
        "mine",
        frame.set_index("question_id")["correct"],
        "yours",
        frame.set_index("question_id")["confidence"],
    )
    assert mine.ecuas_1 == found
    assert subset.record(mine)["ecuas_1"]["value"] == found.value


BROKEN = {  # a file -> why it is left out
    "twice": (lambda frame: pd.concat([frame, frame[:1]]), "must not be repeated"),
    "half": (lambda frame: frame.assign(correct=0.5), "column &#39;correct&#39; must be 0 (inc"),
    "two": (lambda frame: frame.assign(correct=2), "column &#39;correct&#39; must be 0 (inc"),
    "no_answer": (lambda frame: frame.drop(columns="answer"), "answer is missing among"),
    "other": (lambda frame: frame.assign(question_id="q"), "must be one of the 918 that are asked"),
}


def test_a_broken_file_is_named_left_out_of_the_leaderboard_and_not_published(sent):
    frame = graded(LABELS[KNOWN[0].system, KNOWN[0].method])
    for name, (change, _) in BROKEN.items():
        change(frame).to_csv(sent / f"{name}.csv", index=False)
    words = frame.assign(correct=frame["correct"].map({1: "yes", 0: "no"}))
    words.drop(columns=["link", "date"]).to_csv(sent / "words.csv", index=False)
    rows = [row for row in subset.known_rows("kept") if row.method == subset.SUBMITTED]
    assert [(row.system, row.link, row.date) for row in rows] == [("words", "", "")]
    assert rows[0].error_rate == KNOWN[0].error_rate
    html = subset.board_html("kept", rows)
    for name, (_, reason) in BROKEN.items():
        assert re.search(f"Left out: {name}.csv: [^:]*{re.escape(reason)}", html)
    with pytest.raises(ValueError, match=r"^submissions/half\.csv: column 'correct' must be 0"):
        answers.require_whole()


def test_what_the_paper_prints_stands_apart_as_printed():
    html = subset.printed_html()
    numbers = np.array(re.findall(r"<td>([\d.]+)", html), float).reshape(-1, 4)
    expected = PUBLISHED.sort_values("ecuas_1")[["ecuas_0", "ecuas_1", "ecuas_128", "error_rate"]]
    np.testing.assert_allclose(numbers, expected, atol=5e-4)
    assert (
        "differ in their selections of questions and rules of grading, so they may not be ranked"
        in html
    )
