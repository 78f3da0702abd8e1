import copy
import importlib
import itertools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ecuas_metric import InputError, score_confidences, score_posteriors
from tests.ecuas_metric.integrations.live import close, run

torch = pytest.importorskip("torch", reason="needs the extra `torchmetrics`")
pytest.importorskip("torchmetrics", reason="needs the extra `torchmetrics`")
plug = importlib.import_module("ecuas_metric.integrations.torchmetrics")
LOGITS = {"form": "posteriors", "n": 1, "predictions_are": "logits"}


def updated(*rows, **options):
    metric = plug.ECUAS(**options)
    metric.update(*map(torch.as_tensor, rows))
    return metric


def numbers(metric):
    return {
        name: value.item()
        for name, value in metric.compute().items()
        if not name.endswith("standard_error")
    }


def same(metric, expected):
    """Return whether a metric has these numbers, and no others but standard errors."""
    return numbers(metric) == pytest.approx(expected, abs=1e-12)


def of_logits(labels, logits, **options):
    return score_posteriors(
        labels, logits, predictions_are="logits", n=1, labels=range(3), **options
    )


def test_batches_add_up_to_all_rows(rng):
    confidence, correct, weight = rng.random(300), rng.integers(0, 2, 300), rng.random(300) + 0.1
    metric, weighted = plug.ECUAS(n=(0, 1)), plug.ECUAS(n=(0, 1))
    for rows in np.array_split(np.arange(300), 70):  # more batches than are kept apart
        batch = torch.tensor(confidence[rows], requires_grad=True), torch.tensor(correct[rows])
        # the numbers of the batch
        assert metric(*batch)["error_rate"] == pytest.approx(1 - correct[rows].mean())
        weighted.update(*batch, sample_weight=weight[rows])
    assert len(metric.parts) <= 64
    expected = score_confidences(correct, confidence, n=(0, 1))
    pickled = pickle.loads(pickle.dumps(metric))
    assert all(
        same(one, expected) for one in (metric, copy.deepcopy(metric), pickled, metric.clone())
    )
    expected = score_confidences(correct, confidence, n=(0, 1), sample_weight=weight)
    assert same(weighted, expected)
    other = updated(confidence[:9], correct[:9], n=(0, 1))
    other.merge_state(metric)
    doubled = np.r_[correct[:9], correct], np.r_[confidence[:9], confidence]
    assert same(other, score_confidences(*doubled, n=(0, 1)))
    metric.reset()
    assert metric.compute() == {}


def test_logits_in_a_collection(rng):
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassAccuracy

    logits, labels = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    ecuas, one = (
        plug.ECUAS(**LOGITS, metric_options={"sync_on_compute": False}),
        plug.ECUAS(**LOGITS, only="ecuas_1"),
    )
    both = MetricCollection(
        {"accuracy": MulticlassAccuracy(3, average="micro"), "ecuas": ecuas, "one": one}
    )
    both.update(torch.tensor(logits[:7]), torch.tensor(labels[:7]))
    both.reset()
    for rows in np.array_split(np.arange(90), 4):
        both.update(torch.tensor(logits[rows]), torch.tensor(labels[rows]))
    found = {name: value.item() for name, value in both.compute().items()}
    expected = of_logits(labels, logits)
    assert close(found, expected)
    assert found["accuracy"] == pytest.approx(1 - found["error_rate"], abs=1e-6)
    assert found["one"] == pytest.approx(expected["ecuas_1"], abs=1e-12)


def test_shapes_of_tokens_ignored_labels_and_bfloat16(rng):
    logits, labels = (
        torch.tensor(rng.normal(size=(4, 5, 3))).to(torch.bfloat16),
        rng.integers(0, 3, (4, 5)),
    )
    rows, weight, ignored = logits.double().numpy(), rng.random((4, 5)), rng.random((4, 5)) < 0.3
    targets = torch.tensor(np.where(ignored, -100, labels))
    for given in (logits, logits.movedim(-1, 1)):
        metric = updated(given, targets, **LOGITS, shift=False)
        # a batch of which nothing is evaluated
        assert metric(given, torch.full_like(targets, -100)) == {}
        assert same(metric, of_logits(labels[~ignored], rows[~ignored]))
    causal = ~ignored[:, 1:]
    expected = of_logits(labels[:, 1:][causal], rows[:, :-1][causal])
    assert same(updated(logits, targets, **LOGITS, shift=True), expected)
    with pytest.raises(ValueError, match="shift must be set for logits of tokens"):
        updated(logits, targets, **LOGITS)
    kept = labels != 0
    expected = of_logits(labels[kept], rows[kept], sample_weight=weight[kept])
    options = {**LOGITS, "ignore_index": 0, "shift": False}
    assert same(updated(logits, labels, weight, **options), expected)


def test_the_axis_of_the_classes_is_asked_for_where_two_fit(rng):
    square, labels = (
        torch.tensor(rng.normal(size=(4, 3, 3))),
        torch.tensor(rng.integers(0, 3, (4, 3))),
    )
    with pytest.raises(ValueError, match="class_axis must be 1 or -1"):
        updated(square, labels, **LOGITS)
    for axis in (1, -1):
        expected = of_logits(labels.reshape(-1), square.movedim(axis, -1).reshape(-1, 3).numpy())
        metric = updated(square, labels, **LOGITS, class_axis=axis, shift=False)
        assert same(metric, expected)
    with pytest.raises(ValueError, match="labels must be one class for each row of predictions"):
        updated(square, labels[:3], **LOGITS)


def test_one_number_is_tracked_and_drawn(rng):
    """What `MetricTracker`, plots and loggers take is one number."""
    from torchmetrics import MetricTracker
    from torchmetrics.wrappers import Running

    confidence = rng.random((3, 50))
    correct = rng.random((3, 50)) < confidence
    values = [score_confidences(*rows)["ecuas_1"] for rows in zip(correct, confidence, strict=True)]
    tracker, running = (
        MetricTracker(plug.ECUAS(only="ecuas_1"), False),
        Running(plug.ECUAS(only="ecuas_1"), window=2),
    )
    for rows in zip(*map(torch.tensor, (confidence, correct)), strict=True):
        tracker.increment()
        tracker.update(*rows)
        running(*rows)
    assert [value.item() for value in tracker.compute_all()] == pytest.approx(values, abs=1e-12)
    assert tracker.best_metric(return_step=True) == (
        pytest.approx(min(values)),
        int(np.argmin(values)),
    )
    assert running.compute().item() == pytest.approx(np.mean(values[1:]), abs=1e-12)
    for only in ("ecuas_1", None):
        assert updated(confidence[0], correct[0], only=only).plot()[1] is not None
    with pytest.raises(ValueError, match="only must be one of error_rate"):
        updated(confidence[0], correct[0], only="ecuas_3").compute()


PROCESS = """
import json, sys
import numpy as np
import torch
import torch.distributed as dist
from ecuas_metric.integrations.torchmetrics import ECUAS
from ecuas_metric.scale.training import StreamedMetrics

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
rng = np.random.default_rng(0)
confidence, correct = rng.random(100), rng.integers(0, 2, 100)
metric, streamed = ECUAS(n=(0, 1)), StreamedMetrics(n=(0, 1))
for rows in ([slice(30), slice(30, 100)], [])[rank]:
    metric.update(torch.tensor(confidence[rows]), torch.tensor(correct[rows]))
    streamed.update(confidence[rows], correct[rows])
sent = [None] * dist.get_world_size()
dist.all_gather_object(sent, streamed.packed())
streamed.reset()
for packed in sent:
    streamed.load(packed)
print(json.dumps([streamed.compute(), {name: value.item() for name, value in metric.compute().items()}]))
dist.destroy_process_group()
"""


@pytest.mark.e2e
def test_two_processes_of_which_one_has_no_rows(tmp_path, offline, rng):
    calls = [
        [sys.executable, "-W", "ignore", "-c", PROCESS, str(rank), str(tmp_path / "store")]
        for rank in range(2)
    ]
    started = [
        subprocess.Popen(call, stdout=subprocess.PIPE, env=offline, text=True) for call in calls
    ]
    printed = [
        json.loads(process.communicate(timeout=120)[0].splitlines()[-1]) for process in started
    ]
    confidence, correct = rng.random(100), rng.integers(0, 2, 100)
    expected = score_confidences(correct, confidence, n=(0, 1))
    assert all(close(found, expected) for found in itertools.chain(*printed))


LIGHTNING = """
import json
import lightning
import torch
from ecuas_metric.integrations.torchmetrics import ECUAS

torch.manual_seed(0)
X, y = torch.randn(50, 4, dtype=torch.float64), torch.randint(0, 3, (50,))

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3, dtype=torch.float64)
        self.one = ECUAS("posteriors", only="ecuas_1", predictions_are="logits")

    def test_step(self, batch, index):
        logits = self.layer(batch[0])
        self.one(logits, batch[1])
        self.log("one", self.one, on_step=False, on_epoch=True)

loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), 8)
quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
module = Module()
logged = [lightning.Trainer(accelerator="cpu", **quiet).test(module, loader, verbose=False)[0] for _ in range(2)]
print(json.dumps({"logged": logged, "logits": module.layer(X).tolist(), "labels": y.tolist()}))
"""


@pytest.mark.e2e
@pytest.mark.integrations
def test_a_module_of_lightning_logs_what_the_functions_of_arrays_give(tmp_path):
    found = json.loads(run("lightning", tmp_path, "-c", LIGHTNING).stdout.splitlines()[-1])
    expected = of_logits(found["labels"], found["logits"])["ecuas_1"]
    for logged in found["logged"]:  # the second time over, nothing is left of the first
        assert logged["one"] == pytest.approx(expected, abs=1e-6)  # Lightning logs float32


@pytest.mark.parametrize("setting", [{"ignore_index": 0}, {"class_axis": 1}, {"shift": False}])
def test_settings_of_classes_are_refused_for_confidences(setting):
    with pytest.raises(InputError, match=f"^{next(iter(setting))} requires posteriors"):
        plug.ECUAS(**setting)


def test_a_checkpoint_of_other_options_is_refused():
    saved = updated([0.9, 0.2, 0.6], [1, 0, 0])
    saved.persistent(True)
    loaded = plug.ECUAS(n_bins=5)
    loaded.load_state_dict(saved.state_dict())
    with pytest.raises(InputError, match="differ in their numbers of bins"):
        loaded.compute()
