"""The build from the Hub: the real client library, over HTTP, from a read-only Hub on loopback."""

import hashlib
import io
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

REVISION = "0" * 40


def parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def handler(repositories):
    """Answer what the client asks of dataset repositories given as {id: {path: bytes}}; 404 for all else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.split("?")[0]
            for name, files in repositories.items():
                if path in (f"/api/datasets/{name}", f"/api/datasets/{name}/revision/{REVISION}"):
                    siblings = [{"rfilename": file} for file in files]
                    return self.reply(json.dumps({"id": name, "sha": REVISION, "siblings": siblings}).encode())
                if path.startswith(f"/api/datasets/{name}/tree/{REVISION}"):
                    folder = path.removeprefix(f"/api/datasets/{name}/tree/{REVISION}").strip("/")
                    found = [f for f in files if f.startswith(folder)]
                    return self.reply(json.dumps([self.entry(f, files[f]) for f in found]).encode())
                file = path.removeprefix(f"/datasets/{name}/resolve/").partition("/")[2]
                if path.startswith(f"/datasets/{name}/resolve/") and file in files:
                    return self.reply(files[file])
            return self.reply(b"", status=404)

        do_HEAD = do_GET

        @staticmethod
        def entry(file, content):
            return {"type": "file", "path": file, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}

        def reply(self, content, status=200):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", REVISION)
            if status == 404:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture
def serve(tmp_path, root):
    servers = []

    def start(repositories):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler(repositories))
        Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {
            "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
            "HF_HOME": str(tmp_path / "hf"),
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_HUB_DISABLE_XET": "1",
            "PYTHONPATH": str(root),
        }

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def curation(root, tmp_path):
    """Our curation with the hashes of the invented questions below."""
    folder = tmp_path / "curation"
    folder.mkdir()
    for name in ("questions", "answers", "systems"):
        table = pd.read_csv(root / "triviaqa_subset" / "curation" / f"{name}.csv", dtype=str, keep_default_na=False)
        if name == "questions":
            table["question_sha256"] = [hashlib.sha256(f"{i}?".encode()).hexdigest() for i in table["question_id"]]
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_trivia_qa_and_the_authors_release_come_from_the_hub(serve, tmp_path, curation):
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
    env = serve(
        {
            "mandarjoshi/trivia_qa": {
                "README.md": card.encode(),
                "rc.nocontext/train.parquet": parquet(rows[:3]),
                "rc.nocontext/validation.parquet": parquet(rows),
                "rc/validation.parquet": parquet(rows[:3]),
            },
            "ErikErnst/triviaqa-extended-subset": {"test.parquet": parquet(authors)},
        }
    )
    command = [sys.executable, "-m", "triviaqa_subset.build", "--curation", str(curation), "--selection", "authors"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (
        "300 questions of authors in place of ours, reweighted; 0 of its 300 questions are not in the pool"
        in done.stdout
    )
    curated = pd.read_parquet(tmp_path / "build" / "triviaqa_subset" / "data" / "curated.parquet")
    assert curated["question"].tolist() == [f"{i}?" for i in ids[200:500]]
    assert {name: list(texts) for name, texts in curated["answer"][0].items()} == {
        "value": ["A"],
        "aliases": ["A"],
        "normalized_aliases": ["a"],
    }
