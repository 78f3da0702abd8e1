import json
import shlex
from pathlib import Path

import pytest

from ecuas_metric.reporting import cli
from tests.ecuas_metric.files.tables import TRUTH, read_content


@pytest.fixture
def score(tmp_path, monkeypatch, capsys):
    """Return what writes a file and runs the command on it: its exit code, its rows, and what it says on stderr."""
    monkeypatch.chdir(tmp_path)

    def score(command, content=None):
        path, *flags = shlex.split(command)
        if content is not None:
            Path(path).write_bytes(read_content(content, Path(path).suffix))
        code = cli.main(["score", path, *flags, "--output", "out.json"])
        rows = json.loads(Path("out.json").read_text(encoding="utf-8"))["rows"] if code == 0 else []
        captured = capsys.readouterr()
        return (
            code,
            rows,
            captured.err if code else captured.out.partition("\n")[0] + "\n" + captured.err,
        )

    return score


@pytest.fixture
def assert_scores(score):
    """Return what asserts that a file is scored, and that all its systems have the numbers of one of `TRUTH`."""

    def assert_scores(whose, command, content=None):
        code, rows, said = score(command, content)
        assert code == 0, said
        for row in rows:
            assert {key: row[key] for key in TRUTH[whose]} == pytest.approx(TRUTH[whose], rel=1e-6)
        return [row["system"] for row in rows]

    return assert_scores
