"""Faulty servers and kills: `eval-set` goes on where it was, and nothing is lost, doubled or altered."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.triviaqa_subset.elicitation.servers import (
    posterior,
    row,
    serving,
    truth,
    write,
)

pytest.importorskip("inspect_ai")

COUNT = int(os.environ.get("QUESTIONS", "40"))


def faulty(number):
    """43 % of the requests fail, each in its way."""
    rare = {7: "cut", 30: "malformed"}  # which the client, and Inspect, wait for longer
    return (
        rare.get(number % 50, ("503", "429", "500")[number % 3]) if number * 43 % 100 < 43 else None
    )


@pytest.mark.e2e
def test_nothing_is_lost_doubled_or_altered(tmp_path):
    from ecuas_metric import read_submissions

    rows = [row(i, question_id=f"q-{i}", weight=1 + i % 2) for i in range(COUNT)]
    file = write(tmp_path / "questions.jsonl", rows)
    options = f"-T file={file} -T methods=sequence_posterior,is_true --log-dir {tmp_path / 'logs'} --log-buffer 5"
    model = "--model openai-api/x/m -M max_retries=30 --max-connections 4 --retry-on-error 9 --display none"
    inspect = Path(sys.executable).with_name("inspect")
    command = [inspect, "eval-set", "ecuas/questions", *options.split(), *model.split()]
    with serving() as server:
        server.fault = faulty
        env = os.environ | {"X_BASE_URL": server.url, "X_API_KEY": "k"}
        for kill_at in (COUNT, 2 * COUNT):
            started = subprocess.Popen(
                command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while len(server.requests) < kill_at and started.poll() is None:
                server.over.wait(0.01)
            started.send_signal(signal.SIGKILL)
            started.wait()
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    systems = {system.name.split()[-1]: system for system in read_submissions(tmp_path / "logs")}
    assert list(systems) == ["sequence_posterior", "is_true"]
    for method, system in systems.items():
        numbers = [int(str(text).removeprefix("q-")) for text in system.ids]
        assert sorted(numbers) == list(range(COUNT))
        shares = [true / (true + false) for true, false in map(truth, numbers)]
        expected = list(map(posterior, numbers)) if method == "sequence_posterior" else shares
        assert list(system.predictions) == pytest.approx(expected, rel=1e-9)
        assert list(system.references) == [1] * COUNT
        assert list(system.per_sample["sample_weight"]) == [1 + number % 2 for number in numbers]
