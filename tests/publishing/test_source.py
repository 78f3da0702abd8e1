"""The build of the dataset from the Hub: the real client library, over HTTP."""

import hashlib
import io
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.publishing.conftest import environment
from triviaqa_subset.labels import COLUMNS


def parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


@pytest.fixture
def curation(root, tmp_path):
    """Our curation with the hashes of the invented questions below."""
    folder = tmp_path / "curation"
    folder.mkdir()
    for name in COLUMNS:
        table = pd.read_csv(root / "triviaqa_subset" / "curation" / f"{name}.csv", dtype=str, keep_default_na=False)
        if name == "questions":
            table["question_sha256"] = [hashlib.sha256(f"{i}?".encode()).hexdigest() for i in table["question_id"]]
            table[["question_start_sha256", "aliases_sha256"]] = ""
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_trivia_qa_and_the_authors_release_come_from_the_hub(hub, root, tmp_path, curation):
    ids = pd.read_csv(curation / "questions.csv")["question_id"].tolist()
    card = """---
configs:
- config_name: rc.nocontext
  data_files:
  - split: train
    path: rc.nocontext/train.parquet
  - split: validation
    path: rc.nocontext/validation.parquet
- config_name: rc
  data_files: rc/*.parquet
---
"""
    answer = {"aliases": ["A"], "normalized_aliases": ["a"], "value": "A", "type": "Wikipedia"}
    rows = [{"question": f"{i}?", "question_id": i, "question_source": "", "answer": answer} for i in ids]
    authors = [{"question": f"{i}?", "llm": llm} for i in ids[200:500] for llm in ("one", "two")]
    files = {"rc.nocontext/train.parquet": parquet(rows[:3]), "rc/validation.parquet": parquet(rows[:3])}
    files |= {"README.md": card.encode(), "rc.nocontext/validation.parquet": parquet(rows)}
    hub.put("datasets", "mandarjoshi/trivia_qa", files)
    hub.put("datasets", "ErikErnst/triviaqa-extended-subset", {"test.parquet": parquet(authors)})
    call = [sys.executable, "-m", "triviaqa_subset.build", "--curation", curation, "--selection", "authors"]
    env = environment(tmp_path / "hf", hub.url, PYTHONPATH=str(root))
    done = subprocess.run([*call, "--out", "built"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    remark = "300 questions of authors instead of ours, reweighted; 0 of its 300 questions are not in the pool"
    assert remark in done.stdout
    curated = pd.read_parquet(tmp_path / "built" / "data" / "curated.parquet")
    assert curated["question"].tolist() == [f"{i}?" for i in ids[200:500]]
    assert {name: list(texts) for name, texts in curated["answer"][0].items()} == {
        "value": ["A"],
        "aliases": ["A"],
        "normalized_aliases": ["a"],
    }
