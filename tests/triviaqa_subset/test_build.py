"""The build: sources good and bad, the redraw, selections, and what stays when a build fails."""

import json
import re
import shutil
from dataclasses import replace
from functools import partial

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
from triviaqa_subset.labels import CURATION
from triviaqa_subset.matching import plain, sha256
from triviaqa_subset.pool import draw_pool, read_source
from triviaqa_subset.selection import choose, weights

OWN = read_once(CURATION).questions
IDS = OWN["question_id"].tolist()
BY_START = OWN["question_id"][OWN["question_sha256"] == ""].tolist()
HASHED = set(OWN["question_id"][OWN["aliases_sha256"] != ""])
# a question that was drawn twice
TWICE = OWN["question_id"][OWN["pool_positions"].str.len() == 2].iloc[0]


def split_rows():
    """Return a split of 1,200 invented rows from which the recipe of the paper draws our pool, copies included."""
    at = OWN.explode("pool_positions").set_index("pool_positions")["question_id"]
    split = [f"other_{i}" for i in range(1200)]
    drawn = Dataset.from_dict({"row": range(1200)}).shuffle(seed=42).select(range(1000))["row"]
    for position, row in enumerate(drawn):
        split[row] = at[position]
    return list(map(as_row, split))


SOURCES = {"pool": list(map(as_row, sorted(IDS))), "split": split_rows()}
COPIES = [i for i, row in enumerate(SOURCES["split"]) if row["question_id"] == TWICE]


def fingerprint(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def table(out, name="curated"):
    return pq.read_table(out / "data" / f"{name}.parquet").to_pandas()


def write_rows(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """Our curation, with the hashes of invented questions. Not to be written to."""
    folder = tmp_path_factory.mktemp("invented") / "curation"
    write_curation(folder)
    return folder


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


@pytest.mark.long
def test_whatever_the_source_the_texts_are_the_same_and_a_split_is_redrawn(tmp_path, invented):
    questions = read_once(invented).questions
    split = [row | {"question_source": "invented"} for row in SOURCES["split"]]
    pools = [
        draw_pool(read_source(write_rows(tmp_path / name, rows)), questions)
        for name, rows in (("split.json", split), ("pool.parquet", SOURCES["pool"][::-1]))
    ]
    assert [pool.redrawn for pool in pools] == [True, False]
    assert replace(pools[0], redrawn=False) == pools[1]
    assert list(pools[0].aliases) == [own for own in IDS if own in HASHED]
    assert {own: row["question"] for own, row in pools[0].texts.items()} == {
        own: as_row(own)["question"] for own in IDS
    }


def gold_of(aliases):
    return {"value": None, "aliases": aliases, "normalized_aliases": []}


@pytest.mark.e2e
def test_what_of_a_source_is_unchecked_is_reported(tmp_path, invented):
    other = [own for own in IDS if own in HASHED][:5]
    aliases = (
        {own: [f"City {own}", "city"] for own in IDS}
        | {own: ["Lutetia"] for own in other}
        | {other[0]: []}
    )
    rows = [
        {"question_id": own, "question": as_row(own)["question"], "answer": gold_of(aliases[own])}
        for own in sorted(IDS)
    ]
    lines = build(tmp_path / "o", source=write_rows(tmp_path / "s.jsonl", rows), curation=invented)
    assert lines[:4] == [
        "the source has the pool's questions only: joined by question_id, the redraw was not checked",
        "question texts checked by hash: 977 of 977; by that of their first 200 characters: "
        + ", ".join(BY_START),
        f"gold aliases checked by hash: 763 of 977; other than those of the curation: 5 ({', '.join(other[:3])}, ...)",
        "questions without a gold alias in this source: 1",
    ]
    pool = table(tmp_path / "o", "pool").set_index("question_id")
    assert {
        own: (gold["value"], list(gold["aliases"])) for own, gold in pool["answer"].items()
    } == {own: (None, names) for own, names in aliases.items()}
    assert pool["question"].to_dict() == {own: as_row(own)["question"] for own in IDS}


@pytest.mark.e2e
def test_without_text_a_source_is_checked_and_changes_nothing(tmp_path, invented, built):
    source = write_rows(tmp_path / "s.jsonl", SOURCES["split"])
    lines = build(tmp_path / "checked", source=source, without_text=True, curation=invented)
    assert lines[0] == "the redraw agrees with the curation"
    assert fingerprint(tmp_path / "checked") == fingerprint(built)  # another build, the same bytes


def test_the_real_split_is_redrawn_and_the_real_texts_lose_the_dropped_aliases(
    tmp_path, shared, rows_of_text
):
    texts = {row["question_id"]: row for row in rows_of_text}
    split = (shared / "triviaqa" / "validation_ids.txt").read_text().split()
    assert len(split) == 17_944
    other = {"question": "", "aliases": ["x"]}
    rows = [
        {"question_id": own, "question": row["question"], "answer": gold_of(row["aliases"])}
        for own, row in ((own, texts.get(own, other)) for own in split)
    ]
    of_pool = [row for row in rows if row["question_id"] in texts]
    files = {
        "s.parquet": rows,
        "pool.jsonl": list({row["question_id"]: row for row in of_pool}.values()),
    }
    redrawn, alone = (
        draw_pool(read_source(write_rows(tmp_path / name, chosen)), OWN)
        for name, chosen in files.items()
    )
    assert replace(alone, redrawn=True) == redrawn
    assert {own: row["question"] for own, row in redrawn.texts.items()} == {
        own: texts[own]["question"] for own in IDS
    }
    assert list(redrawn.aliases.values()) == [True] * 763
    assert set(redrawn.by_start) == {own for own, row in texts.items() if row["truncated"]}
    for own, dropped in zip(IDS, OWN["dropped_aliases"], strict=True):
        left = [alias for alias in texts[own]["aliases"] if sha256(plain(alias)) not in dropped]
        assert redrawn.texts[own]["answer"]["aliases"] == left
    assert (OWN["dropped_aliases"].str.len() > 0).sum() == 492


OTHERS = {"value": "x", "aliases": ["WRONG ALIAS"], "normalized_aliases": []}


def edited(place=2, **values):
    """Return what gives the row at a place other values."""
    return lambda rows: [*rows[:place], rows[place] | values, *rows[place + 1 :]]


def restarted(rows):
    return [
        r | {"question": "x" + r["question"][1:]} if r["question_id"] in BY_START else r
        for r in rows
    ]


LISTS = (
    r"\S+: answer must have aliases, normalized_aliases \(lists\); got .* at index 2 \(1 of 977\)\."
)
TYPES = r"\S+ must have question_id, question \(text\) and answer \{.*\}; .*"
ROWS = "pool rows must be those of the curation; got "
TEXT = ROWS + r"another text of "
COPY = TEXT + rf"{TWICE} at index \d+ \(1 of 1000\)\. The source has 1200 rows, the split 17944\."
ORDER = r"(\S+ instead of \S+ at index \d+,? ){3}\(\d+ of 1000\)\. The source has 1199 rows, the split 17944\."
BAD_SOURCES = {
    "drop": (
        lambda rows: rows[1:],
        r"source must have all 977 questions of the pool; \S+ is missing \(1 of 977\)\.",
    ),
    "repeat": (
        lambda rows: [*rows, rows[7]],
        r"question_id must be unique .*; got '\S+' at index 7 \(2 of 978\)\.",
    ),
    "reword": (edited(question="Another?"), TEXT + r"\S+ at index \d+ \(1 of 977\)\."),
    "unname": (
        edited(question=None),
        r"\S+: question must be given; got None at index 2 \(1 of 977\)\.",
    ),
    "misanswer": (edited(answer=OTHERS | {"aliases": "City"}), LISTS),
    "mistype": (edited(answer=OTHERS | {"aliases": [7]}), TYPES),
    "misalias": (
        lambda rows: [r | {"answer": OTHERS} for r in rows],
        r"gold aliases must .* \(763 of 763\)\.",
    ),
    "restart": (restarted, TEXT + r".*\(10 of 977\)\."),
    "stranger": (
        lambda rows: [*rows, as_row("other_1")],
        r"source must be the whole split .*; got 978 rows .*\.",
    ),
    "split, reordered": (lambda rows: rows[1:], ROWS + ORDER),
    "split, first copy": (edited(COPIES[0], question="Another?"), COPY),
    "split, second copy": (edited(COPIES[1], question="Another?"), COPY),
}


@pytest.mark.long
@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_bad_source_stops_the_build_and_leaves_the_old(
    name, tmp_path, invented, built, monkeypatch, capsys
):
    spoil, message = BAD_SOURCES[name]
    source = write_rows(
        tmp_path / "s.jsonl", spoil(SOURCES["split" if name.startswith("split") else "pool"])
    )
    monkeypatch.setattr(building, "build", partial(build, curation=invented))
    assert main(["--source", source, "--out", str(built)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(f"build: {message}\n", err)


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """A folder with a broken source, and releases of other columns and questions."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "s.parquet").write_bytes(b"PAR1 nonsense")
    (folder / "r.csv").write_text("idx,text\n1,a\n")
    (folder / "q.csv").write_text(f"question\nAnother?\nA long one{LONG * 2}\n")
    return folder


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("--source {}/s.parquet", ".*s.parquet.*"),
        ("--source {}/s.jsonl", r".*No such file or directory: '\S+s.jsonl'"),
        (
            "--without-text --selection {}/r.csv",
            r"\S+ must have a column question_id or question; got idx, text\.",
        ),
        (
            "--without-text --selection {}/q.csv",
            r"\S+ must have questions of the pool in question; got none, the .*",
        ),
        # Out of reach of the Hub
        (
            "",
            r".*'mandarjoshi/trivia_qa'.*Without network give the rows as a local file with --source\.",
        ),
        ("--without-text --selection authors", ".*'ErikErnst/triviaqa-extended-subset'.*"),
    ],
)
def test_what_cannot_be_built_is_said_in_a_line_and_leaves_the_old(
    arguments, message, bad, built, capsys
):
    assert main([*arguments.format(bad).split(), "--out", str(built)]) == 2
    assert re.fullmatch(f"build: {message}\n", capsys.readouterr().err)


@pytest.mark.parametrize("column", ["question_id", "question"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_selection_by_id_or_by_text(column, suffix, tmp_path, invented):
    """Also of texts of which only the start has a hash."""
    questions = read_once(invented).questions
    # one of them twice
    wanted = [as_row(own)[column] for own in (*IDS[100:300], IDS[150], *BY_START)]
    release = pd.DataFrame({column: [*wanted, "somewhere else"], "llm": "x"})
    file = tmp_path / f"release{suffix}"
    release.to_csv(file, index=False) if suffix == ".csv" else release.to_parquet(file)
    selected, remark = choose(questions, str(file))
    expected = {*IDS[100:300], *BY_START}
    assert set(questions["question_id"][selected]) == expected
    size = f"{len(expected)} questions of {file} instead of ours, reweighted; "
    assert remark == f"{size}1 of its {len(expected) + 1} questions are not in the pool"


@pytest.mark.long
def test_the_earlier_selections_can_be_built(tmp_path):
    remark = "the 455 questions of curation-1, reweighted"
    assert remark in build(tmp_path, without_text=True, selection="curation-1")
    assert f"> This copy: {remark}." in (tmp_path / "README.md").read_text()
    curated, pool = table(tmp_path), table(tmp_path, "pool")
    assert curated["question_id"].tolist() == pool["question_id"][pool["in_curation_1"]].tolist()
    assert (pool["selected"] == pool["in_curation_1"]).all()
    assert curated["weight"].mean() == pytest.approx(1, abs=1e-12)
    assert choose(OWN, "curation-2")[0].equals(OWN["in_curation_2"])


def test_weights_need_every_stratum():
    one = OWN["selected"] & (OWN["stratum"] == "exact_match_all")
    message = r"^the selection must have questions of every stratum; got none of reviewed"
    with pytest.raises(ValueError, match=message):
        weights(OWN, one)


def test_where_a_build_goes_by_default(monkeypatch, capsys):
    monkeypatch.setattr(building, "build", lambda out, **options: [])
    for arguments, folder in (
        ("--without-text", FOLDER),
        ("--without-text --selection authors", BUILT),
        ("", BUILT),
    ):
        assert main(arguments.split()) == 0
        assert capsys.readouterr().out == f"written to {folder}\n"
