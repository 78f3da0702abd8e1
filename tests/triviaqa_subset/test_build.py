"""The build: sources good and bad, the redraw, selections, and what stays when a build fails."""

import hashlib
import json
import re
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset

from tests.triviaqa_subset.conftest import read_once
from tests.triviaqa_subset.invented import LONG, as_row, write_curation
from triviaqa_subset import build as building
from triviaqa_subset.build import build, main
from triviaqa_subset.folders import BUILT, FOLDER
from triviaqa_subset.labels import read_labels
from triviaqa_subset.matching import plain, sha256
from triviaqa_subset.selection import check_ours, choose, weights

CONFIGS = ("curated", "kept", "pool", "systems", "answers", "published")
OWN = read_once(FOLDER / "curation").questions
IDS = OWN["question_id"].tolist()
BY_START = OWN["question_id"][OWN["question_sha256"] == ""].tolist()
HASHED = dict(zip(IDS, OWN["aliases_sha256"] != "", strict=True))


def fingerprint(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def table(out, name="curated"):
    return pq.read_table(out / "data" / f"{name}.parquet").to_pandas()


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """Our curation, with the hashes of invented questions. Not to be written to."""
    folder = tmp_path_factory.mktemp("invented") / "curation"
    write_curation(folder)
    return folder


@pytest.fixture
def pool_rows():
    return list(map(as_row, sorted(IDS)))


@pytest.fixture
def whole_rows():
    """A split of 1,200 invented rows from which the recipe of the paper draws our pool, copies included."""
    at = OWN.explode("pool_positions").set_index("pool_positions")["question_id"]
    split = [f"other_{i}" for i in range(1200)]
    drawn = Dataset.from_dict({"row": range(1200)}).shuffle(seed=42).select(range(1000))["row"]
    for position, row in enumerate(drawn):
        split[row] = at[position]
    return list(map(as_row, split))


@pytest.fixture(scope="module")
def first_build(invented, tmp_path_factory):
    out = tmp_path_factory.mktemp("build") / "out"
    build(out, without_text=True, curation=invented)
    return out


@pytest.fixture
def built(first_build, tmp_path):
    """A build, which is found as it was at the end."""
    out = shutil.copytree(first_build, tmp_path / "out")
    before = fingerprint(out)
    yield out
    assert fingerprint(out) == before


@pytest.mark.e2e
def test_a_source_of_the_pool_is_joined_and_the_unchecked_redraw_is_reported(tmp_path, invented, pool_rows):
    lines = build(tmp_path / "o", source=write_jsonl(tmp_path / "s.jsonl", pool_rows), curation=invented)
    assert lines[0] == "the source has the pool's questions only: joined by question_id, the redraw was not checked"
    assert lines[1].startswith("question texts checked by hash: 977 of 977; by that of their first 200 characters: ")
    assert len(lines[1].split(": ")[-1].split(", ")) == 10
    assert lines[2] == "gold aliases checked by hash: 763 of 977; other than those of the curation: none"
    for name in ("curated", "kept", "pool"):
        for row in table(tmp_path / "o", name).to_dict("records"):
            assert row["question"] == as_row(row["question_id"])["question"]
            assert row["answer"]["value"] == f"City {row['question_id']}"


@pytest.mark.e2e
def test_whatever_the_source_the_result_is_the_same_and_a_split_is_redrawn(tmp_path, invented, pool_rows, whole_rows):
    whole = write_jsonl(tmp_path / "whole.json", [row | {"question_source": "invented"} for row in whole_rows])
    assert build(tmp_path / "0", source=whole, curation=invented)[0] == "the redraw agrees with the curation"
    build(tmp_path / "1", source=write_parquet(tmp_path / "pool.parquet", pool_rows[::-1]), curation=invented)
    assert fingerprint(tmp_path / "0") == fingerprint(tmp_path / "1")


@pytest.mark.e2e
def test_a_list_of_aliases_replaces_the_answer_and_other_aliases_are_reported(tmp_path, invented, pool_rows):
    rows = [{"aliases": [*row.pop("answer")["aliases"], "city"], **row} for row in map(dict, pool_rows)]
    rows[0]["aliases"] = []
    lines = build(tmp_path / "o", source=write_jsonl(tmp_path / "s.jsonl", rows), curation=invented)
    assert "questions without a gold alias in this source: 1" in lines
    pool = table(tmp_path / "o", "pool").set_index("question_id")
    assert pool.loc[rows[1]["question_id"], "answer"]["value"] is None
    assert list(pool.loc[rows[1]["question_id"], "answer"]["aliases"]) == rows[1]["aliases"]
    known = [own for own in IDS if own != rows[0]["question_id"] and HASHED[own]][:4]
    for row in rows:
        row["aliases"] = ["Lutetia"] if row["question_id"] in known else row["aliases"]
    lines = build(tmp_path / "o", source=write_jsonl(tmp_path / "s.jsonl", rows), curation=invented)
    assert f"other than those of the curation: {4 + HASHED[rows[0]['question_id']]} (" in lines[2]


@pytest.mark.e2e
def test_without_text_differs_by_the_text_alone_and_the_sums_hold(tmp_path, invented, pool_rows, built):
    source = write_jsonl(tmp_path / "s.jsonl", pool_rows)
    build(tmp_path / "text", source=source, curation=invented)
    build(tmp_path / "checked", source=source, without_text=True, curation=invented)
    assert fingerprint(tmp_path / "checked") == fingerprint(built)  # another build, the same bytes
    for name in CONFIGS:
        full = table(tmp_path / "text", name)
        pd.testing.assert_frame_equal(table(built, name), full.drop(columns=["question", "answer"], errors="ignore"))
    sums = dict(reversed(line.split("  ")) for line in (built / "data" / "SHA256SUMS").read_text().splitlines())
    files = {f"{name}.parquet": (built / "data" / f"{name}.parquet").read_bytes() for name in CONFIGS}
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


@pytest.fixture(scope="module")
def real_texts(rows_of_text):
    return {row["question_id"]: row for row in rows_of_text}


def test_the_real_split_is_redrawn(tmp_path, shared, real_texts):
    split = (shared / "triviaqa" / "validation_ids.txt").read_text().split()
    assert len(split) == 17_944
    texts = [(own, real_texts.get(own, {})) for own in split]
    rows = [as_row(own, text.get("question"), text.get("aliases")) for own, text in texts]
    for row in rows:
        row["answer"]["normalized_aliases"] = []
    source = write_parquet(tmp_path / "s.parquet", rows)
    assert build(tmp_path / "o", source=source)[0] == "the redraw agrees with the curation"
    curated = table(tmp_path / "o")
    assert len(curated) == 455
    assert curated["question"].tolist() == [real_texts[own]["question"] for own in curated["question_id"]]


def test_the_real_texts_alone_build_without_the_dropped_aliases(tmp_path, shared, real_texts):
    lines = build(tmp_path / "o", source=str(shared / "triviaqa" / "pool_text.jsonl"))
    assert "redraw was not checked" in lines[0]
    assert lines[1].startswith("question texts checked by hash: 977 of 977")
    assert lines[2] == "gold aliases checked by hash: 763 of 977; other than those of the curation: none"
    unhashed = set(lines[1].split(": ")[-1].split(", "))
    assert unhashed == {question_id for question_id, row in real_texts.items() if row["truncated"]}
    pool = table(tmp_path / "o", "pool")
    for row in pool.itertuples():
        left = {sha256(plain(alias)) for alias in row.answer["aliases"]}
        assert not left & set(row.dropped_aliases)
        assert len(row.answer["aliases"]) <= len(real_texts[row.question_id]["aliases"])
    assert (pool["dropped_aliases"].str.len() > 0).sum() == 272


OTHERS = {"value": "x", "aliases": ["WRONG ALIAS"], "normalized_aliases": []}


def edited(**values):
    """Return what gives the third row other values."""
    return lambda rows: [*rows[:2], rows[2] | values, *rows[3:]]


def restarted(rows):
    return [r | {"question": "x" + r["question"][1:]} if r["question_id"] in BY_START else r for r in rows]


LISTS = r"\S+: answer must have aliases, normalized_aliases \(lists\); got .* at index 2 \(1 of 977\)\."
TYPES = r"\S+ must have question_id, question \(text\) and answer \{.*\}; .*"
TEXT = r"pool rows must be those of the curation; got another text of "
BAD_POOLS = {
    "drop": (lambda rows: rows[1:], r"source must have all 977 questions of the pool; \S+ is missing \(1 of 977\)\."),
    "repeat": (lambda rows: [*rows, rows[7]], r"question_id must be unique .*; got '\S+' at index 7 \(2 of 978\)\."),
    "reword": (edited(question="Another?"), TEXT + r"\S+ at index \d+ \(1 of 977\)\."),
    "unname": (edited(question=None), r"\S+: question must be given; got None at index 2 \(1 of 977\)\."),
    "misanswer": (edited(answer=OTHERS | {"aliases": "City"}), LISTS),
    "mistype": (edited(answer=OTHERS | {"aliases": [7]}), TYPES),
    "misalias": (lambda rows: [r | {"answer": OTHERS} for r in rows], r"gold aliases must .* \(763 of 763\)\."),
    "restart": (restarted, TEXT + r".*\(10 of 977\)\."),
    "stranger": (lambda rows: [*rows, as_row("other_1")], r"source must be the whole split .*; got 978 rows .*\."),
}


@pytest.mark.parametrize(("spoil", "message"), BAD_POOLS.values(), ids=BAD_POOLS)
def test_a_bad_source_stops_the_build_and_leaves_the_old(spoil, message, tmp_path, invented, pool_rows, built, capsys):
    source = write_jsonl(tmp_path / "s.jsonl", spoil(pool_rows))
    assert main(["--source", source, "--curation", str(invented), "--out", str(built)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(f"build: {message}\n", err)


def test_a_split_in_another_order_names_the_first_rows(tmp_path, invented, whole_rows, built):
    source = write_jsonl(tmp_path / "s.jsonl", whole_rows[1:])
    first = r"(\S+ instead of \S+ at index \d+,? ){3}\(\d+ of 1000\)\. The source has 1199 rows, the split 17944\.$"
    with pytest.raises(ValueError, match="^pool rows must be those of the curation; got " + first):
        build(built, source=source, curation=invented)


@pytest.mark.e2e
def test_both_copies_of_a_question_drawn_twice_are_checked(tmp_path, invented, whole_rows):
    twice = OWN["question_id"][OWN["pool_positions"].str.len() == 2].iloc[0]
    first, second = (row for row in whole_rows if row["question_id"] == twice)
    for copy in (first, second):
        good, copy["question"] = copy["question"], "Another?"
        with pytest.raises(ValueError, match=rf"; got another text of {twice} at index \d+ \(1 of 1000\)\."):
            build(tmp_path / "o", source=write_jsonl(tmp_path / "s.jsonl", whole_rows), curation=invented)
        copy["question"] = good


def test_an_unreadable_source_stops_the_build_and_leaves_the_old(tmp_path, built, capsys):
    (tmp_path / "s.parquet").write_bytes(b"PAR1 nonsense")
    for name, named in (("s.parquet", r".*s.parquet.*"), ("s.jsonl", r".*No such file or directory: '\S+s.jsonl'")):
        assert main(["--source", str(tmp_path / name), "--out", str(built)]) == 2
        assert re.fullmatch(f"build: {named}\n", capsys.readouterr().err)


def test_a_failure_between_data_and_card_puts_the_data_back(tmp_path, built):
    (tmp_path / "stage" / "data").mkdir(parents=True)
    with pytest.raises(FileNotFoundError):
        building._replace(tmp_path / "stage", built, ("data", "README.md"))


def test_bad_labels_stop_the_build(invented, tmp_path, built, capsys):
    curation = shutil.copytree(invented, tmp_path / "curation")
    labels = pd.read_csv(curation / "questions.csv", dtype=str, keep_default_na=False)
    labels.loc[0, "weight"] = "1.7"
    labels.to_csv(curation / "questions.csv", index=False)
    assert main(["--without-text", "--curation", str(curation), "--out", str(built)]) == 2
    message = r"build: questions: weight must be the stratum's .*; got 1\.7 at index 0 \(1 of 455\)\.\n"
    assert re.fullmatch(message, capsys.readouterr().err)
    (curation / "answers.csv").write_text("id,label\n1,1\n")
    with pytest.raises(ValueError, match=r"must have the columns question_id, answer_sha256, .*; got id, label\.$"):
        read_labels(curation)


def write_release(path, columns):
    frame = pd.DataFrame(columns)
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    return str(path)


@pytest.mark.e2e
@pytest.mark.parametrize(("suffix", "column"), [(".csv", "question_id"), (".parquet", "question")])
def test_a_selection_by_id_or_by_text(suffix, column, tmp_path, invented, pool_rows):
    wanted = [as_row(own)[column] for own in (*IDS[100:300], IDS[150])]  # one of them twice
    release = write_release(tmp_path / f"release{suffix}", {column: [*wanted, "somewhere else"], "llm": "x"})
    source = write_jsonl(tmp_path / "s.jsonl", pool_rows)
    lines = build(tmp_path / "o", source=source, selection=release, curation=invented)
    remark = f"200 questions of {release} instead of ours, reweighted; 1 of its 201 questions are not in the pool"
    assert remark in lines
    assert f"> This copy: {remark}." in (tmp_path / "o" / "README.md").read_text()
    curated, pool = table(tmp_path / "o"), table(tmp_path / "o", "pool")
    assert curated["question_id"].tolist() == IDS[100:300] == pool["question_id"][pool["selected"]].tolist()
    assert curated["weight"].mean() == pytest.approx(1, abs=1e-12)
    kept = pool[pool["decision"] == "keep"]
    for stratum in (0, 1):
        share = curated["weight"][curated["stratum"] == stratum].sum() / len(curated)
        assert share == pytest.approx((kept["stratum"] == stratum).mean(), abs=1e-12)


def test_the_earlier_selections_can_be_built(tmp_path):
    lines = build(tmp_path, without_text=True, selection="curation-1")
    assert "the 455 questions of curation-1, reweighted" in lines
    curated, pool = table(tmp_path), table(tmp_path, "pool")
    assert curated["question_id"].tolist() == pool["question_id"][pool["in_curation_1"]].tolist()
    assert (pool["selected"] == pool["in_curation_1"]).all()
    assert curated["weight"].mean() == pytest.approx(1, abs=1e-12)
    assert choose(OWN, "curation-2", {})[0].equals(OWN["in_curation_2"])


def test_a_text_of_which_the_start_has_a_hash_is_found_with_and_without_a_source(tmp_path, invented, pool_rows):
    questions = read_labels(invented).questions
    release = write_release(tmp_path / "r.csv", {"question": [as_row(own)["question"] for own in BY_START]})
    for known in ({row["question_id"]: row for row in pool_rows}, {}):
        selected, _ = choose(questions, release, known)
        assert questions["question_id"][selected].tolist() == BY_START
    release = write_release(tmp_path / "r.csv", {"question": ["Another?", "A long one" + LONG * 2]})
    message = r"^\S+ must have questions of the pool in question; got none, the first is .*\.$"
    with pytest.raises(ValueError, match=message):
        choose(questions, release, {})


def test_another_selection_than_the_first_kept_is_refused():
    questions = OWN.copy()
    questions.loc[questions["selected"].idxmax(), "selected"] = False
    with pytest.raises(ValueError, match=r"^questions: selected must be 1 for the first \{.*\} kept .*; got '\w+' at"):
        check_ours(questions)


def test_weights_are_inverse_sampling_rates_and_need_every_stratum():
    strata, decisions = ["exact_match_all"] * 4 + ["reviewed"] * 8, ["keep"] * 10 + ["discard"] * 2
    questions = pd.DataFrame({"stratum": strata, "decision": decisions})
    selected = pd.Series([True] * 3 + [False] + [True] * 2 + [False] * 6)
    expected = [(4 / 10) / (3 / 5)] * 3 + [np.nan] + [(6 / 10) / (2 / 5)] * 2 + [np.nan] * 6
    np.testing.assert_allclose(weights(questions, selected), expected, rtol=1e-15)
    with pytest.raises(ValueError, match=r"^the selection must have questions of every stratum; got none of reviewed"):
        weights(questions, selected & (questions["stratum"] == "exact_match_all"))


def test_a_selection_without_a_known_column_lists_those_found(tmp_path, built, capsys):
    release = write_release(tmp_path / "r.csv", {"idx": [1], "text": ["a"]})
    assert main(["--without-text", "--selection", release, "--out", str(built)]) == 2
    assert capsys.readouterr().err == f"build: {release} must have a column question_id or question; got idx, text.\n"


def test_out_of_reach_of_the_hub(tmp_path, capsys):
    for arguments, named in (
        ([], r"'mandarjoshi/trivia_qa'.*Without network give the rows as a local file with --source\."),
        (["--without-text", "--selection", "authors"], "'ErikErnst/triviaqa-extended-subset'.*"),
    ):
        assert main([*arguments, "--out", str(tmp_path / "here")]) == 2
        assert re.fullmatch(f"build: .*{named}\n", capsys.readouterr().err)
        assert not (tmp_path / "here").exists()


def test_where_a_build_goes_by_default(monkeypatch, capsys):
    monkeypatch.setattr(building, "build", lambda out, **options: [])
    bare = "--without-text"
    for arguments, folder in ([bare], FOLDER), ([bare, "--selection", "authors"], BUILT), ([], BUILT):
        assert main(arguments) == 0
        assert capsys.readouterr().out == f"written to {folder}\n"
