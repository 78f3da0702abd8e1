"""The metric of torchmetrics, with the real one: batches, processes and copies give the numbers of all rows at once."""

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ecuas_metric import score_confidences, score_posteriors
from ecuas_metric.integrations import torchmetrics as plug

torch = pytest.importorskip("torch", reason="needs the extra `torchmetrics`")
pytest.importorskip("torchmetrics", reason="needs the extra `torchmetrics`")
LOOP = """
import json, sys
import numpy as np
import torch
import torch.distributed as dist
from ecuas_metric.integrations.torchmetrics import ECUAS

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
rng = np.random.default_rng(0)
confidence, correct = torch.tensor(rng.random(100)), torch.tensor(rng.integers(0, 2, 100))
metric = ECUAS(n=(0, 1))
for rows in ([range(30), range(30, 100)], [])[rank]:
    metric.update(confidence[list(rows)], correct[list(rows)])
print(json.dumps({name: value.item() for name, value in metric.compute().items()}))
dist.destroy_process_group()
"""


def numbers(metric):
    return {name: value.item() for name, value in metric.compute().items() if not name.endswith("standard_error")}


def test_batches_add_up_to_all_rows(rng):
    confidence, correct = rng.random(300), rng.integers(0, 2, 300)
    metric, weight = plug.ECUAS(n=(0, 1)), rng.random(300) + 0.1
    weighted = plug.ECUAS(n=(0, 1))
    for rows in np.array_split(np.arange(300), 70):  # more batches than are kept apart
        batch = torch.tensor(confidence[rows], requires_grad=True), torch.tensor(correct[rows])
        assert metric(*batch)["error_rate"] == pytest.approx(
            1 - correct[rows].mean()
        )  # a call gives the numbers of the batch
        weighted.update(*batch, sample_weight=weight[rows])
    assert len(metric.parts) <= plug.MANY
    expected = score_confidences(correct, confidence, n=(0, 1))
    assert numbers(metric) == pytest.approx(expected, abs=1e-12)
    expected = score_confidences(correct, confidence, n=(0, 1), sample_weight=weight)
    assert numbers(weighted) == pytest.approx(expected, abs=1e-6)  # weights are rounded to parts of a billion
    for same in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.clone()):
        assert numbers(same) == numbers(metric)
    other = plug.ECUAS(n=(0, 1))
    other.update(torch.tensor(confidence[:9]), torch.tensor(correct[:9]))
    other.merge_state(metric)
    doubled = np.r_[confidence[:9], confidence], np.r_[correct[:9], correct]
    assert numbers(other) == pytest.approx(score_confidences(*doubled[::-1], n=(0, 1)), abs=1e-12)
    metric.reset()
    with pytest.raises(ValueError, match="call update first"):
        metric.compute()


def test_logits_in_a_collection(rng):
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassAccuracy

    logits, labels = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    ecuas = plug.ECUAS("posteriors", n=1, predictions_are="logits", metric_options={"sync_on_compute": False})
    both = MetricCollection({"accuracy": MulticlassAccuracy(3, average="micro"), "ecuas": ecuas})
    for rows in np.array_split(np.arange(90), 4):
        both.update(torch.tensor(logits[rows]), torch.tensor(labels[rows]))
    found = {name: value.item() for name, value in both.compute().items()}
    expected = score_posteriors(labels, logits, n=1, predictions_are="logits")
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert found["accuracy"] == pytest.approx(1 - found["error_rate"], abs=1e-6)


def test_options_are_checked_at_once_and_a_missing_library_is_named(monkeypatch):
    with pytest.raises(TypeError, match="takes no option 'm'"):
        plug.ECUAS(m=1)
    plug._ecuas.cache_clear()
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    with pytest.raises(ImportError, match="pip install torchmetrics$"):
        plug.ECUAS()
    with pytest.raises(AttributeError, match="no attribute 'ecuas'"):
        plug.ecuas()


@pytest.mark.e2e
def test_two_processes_of_which_one_has_no_rows(tmp_path, offline):
    command = [sys.executable, "-W", "ignore", "-c", LOOP]
    started = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "store")], env=offline, stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    printed = [process.communicate(timeout=120)[0].splitlines()[-1] for process in started]
    assert len(set(printed)) == 1
    rng, found = np.random.default_rng(0), json.loads(printed[0])
    expected = score_confidences(*(rng.random(100), rng.integers(0, 2, 100))[::-1], n=(0, 1))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
