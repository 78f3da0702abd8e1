import copy
import importlib
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ecuas_metric import score_confidences, score_posteriors

torch = pytest.importorskip("torch", reason="needs the extra `torchmetrics`")
pytest.importorskip("torchmetrics", reason="needs the extra `torchmetrics`")
plug = importlib.import_module("ecuas_metric.integrations.torchmetrics")


def numbers(metric):
    return {name: value.item() for name, value in metric.compute().items() if not name.endswith("standard_error")}


def test_batches_add_up_to_all_rows(rng):
    confidence, correct = rng.random(300), rng.integers(0, 2, 300)
    metric, weight = plug.ECUAS(n=(0, 1)), rng.random(300) + 0.1
    weighted = plug.ECUAS(n=(0, 1))
    for rows in np.array_split(np.arange(300), 70):  # more batches than are kept apart
        batch = torch.tensor(confidence[rows], requires_grad=True), torch.tensor(correct[rows])
        assert metric(*batch)["error_rate"] == pytest.approx(1 - correct[rows].mean())  # the numbers of the batch
        weighted.update(*batch, sample_weight=weight[rows])
    assert len(metric.parts) <= 64
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
    assert metric.compute() == {}


def test_logits_in_a_collection(rng):
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassAccuracy

    logits, labels = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    ecuas = plug.ECUAS("posteriors", n=1, predictions_are="logits", metric_options={"sync_on_compute": False})
    one = plug.ECUAS("posteriors", only="ecuas_1", n=1, predictions_are="logits")
    both = MetricCollection({"accuracy": MulticlassAccuracy(3, average="micro"), "ecuas": ecuas, "one": one})
    both.update(torch.tensor(logits[:7]), torch.tensor(labels[:7]))
    both.reset()
    for rows in np.array_split(np.arange(90), 4):
        both.update(torch.tensor(logits[rows]), torch.tensor(labels[rows]))
    found = {name: value.item() for name, value in both.compute().items()}
    expected = score_posteriors(labels, logits, n=1, predictions_are="logits")
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert found["accuracy"] == pytest.approx(1 - found["error_rate"], abs=1e-6)
    assert found["one"] == pytest.approx(expected["ecuas_1"], abs=1e-12)
    other = plug.ECUAS("posteriors", only="ecuas_1", n=1, predictions_are="logits")
    other.update(torch.tensor(logits), torch.tensor(labels))
    other.merge_state(both["one"])
    assert other.compute().item() == pytest.approx(expected["ecuas_1"], abs=1e-12)


def test_shapes_of_tokens_ignored_labels_and_bfloat16(rng):
    logits, labels = rng.normal(size=(4, 5, 3)), rng.integers(0, 3, (4, 5))
    logits = torch.tensor(logits).to(torch.bfloat16)
    ignored = rng.random((4, 5)) < 0.3
    kept, weight = ~ignored, rng.random((4, 5))
    expected = score_posteriors(labels[kept], logits.double().numpy()[kept], predictions_are="logits", n=1)
    targets = torch.tensor(np.where(ignored, -100, labels))
    for given in (logits, logits.movedim(-1, 1)):
        metric = plug.ECUAS("posteriors", n=1, predictions_are="logits")
        metric.update(given, targets)
        assert metric(given, torch.full_like(targets, -100)) == {}  # a batch of which nothing is evaluated
        assert numbers(metric) == pytest.approx(expected, abs=1e-12)
    metric = plug.ECUAS("posteriors", n=1, predictions_are="logits", ignore_index=0)
    metric.update(logits, torch.tensor(labels), sample_weight=torch.tensor(weight))
    others = labels != 0
    expected = score_posteriors(
        labels[others], logits.double().numpy()[others], predictions_are="logits", n=1, sample_weight=weight[others],
        labels=range(3),
    )  # fmt: skip
    assert numbers(metric) == pytest.approx(expected, abs=1e-6)
    square, labels = torch.tensor(rng.normal(size=(4, 3, 3))), torch.tensor(rng.integers(0, 3, (4, 3)))
    with pytest.raises(ValueError, match="class_axis must be 1 or -1"):
        plug.ECUAS("posteriors", predictions_are="logits").update(square, labels)
    for axis in (1, -1):
        metric = plug.ECUAS("posteriors", n=1, predictions_are="logits", class_axis=axis)
        metric.update(square, labels)
        rows = square.movedim(axis, -1).reshape(-1, 3).numpy()
        expected = score_posteriors(labels.reshape(-1), rows, predictions_are="logits", n=1, labels=range(3))
        assert numbers(metric) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="labels must be one class for each row of predictions"):
        metric.update(square, labels[:3])


def test_one_number_is_tracked_and_drawn(rng):
    """What `MetricTracker`, plots and loggers take is one number."""
    from torchmetrics import MetricTracker
    from torchmetrics.wrappers import Running

    tracker = MetricTracker(plug.ECUAS(only="ecuas_1"), maximize=False)
    confidence, values = rng.random((3, 50)), []
    for q in confidence:
        correct = rng.random(50) < q
        tracker.increment()
        tracker.update(torch.tensor(q), torch.tensor(correct))
        values.append(score_confidences(correct, q)["ecuas_1"])
    assert [value.item() for value in tracker.compute_all()] == pytest.approx(values, abs=1e-12)
    best, step = tracker.best_metric(return_step=True)
    assert (best, step) == (pytest.approx(min(values)), int(np.argmin(values)))
    for metric in (plug_with(confidence[0], correct, only="ecuas_1"), plug_with(confidence[0], correct)):
        _, axes = metric.plot()
        assert axes is not None
    running = Running(plug.ECUAS(only="ecuas_1"), window=2)
    for q in confidence:
        running(torch.tensor(q), torch.tensor(correct))
    last = np.r_[correct, correct], np.r_[confidence[1], confidence[2]]
    assert running.compute().item() == pytest.approx(score_confidences(*last)["ecuas_1"], abs=1e-12)
    with pytest.raises(ValueError, match="only must be one of ecuas_0"):
        plug_with(confidence[0], correct, only="ecuas_3").compute()


def test_accelerate_gathers_what_a_batch_repeats(rng):
    accelerate = pytest.importorskip("accelerate", reason="needs the extra `local`")
    accelerator = accelerate.Accelerator(cpu=True)
    logits, labels = torch.tensor(rng.normal(size=(10, 3))), torch.tensor(rng.integers(0, 3, 10))
    loader = accelerator.prepare(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), 4))
    metric = plug.ECUAS("posteriors", n=1, predictions_are="logits")
    for batch in loader:
        metric.update(*accelerator.gather_for_metrics(tuple(batch)))
    expected = score_posteriors(labels, logits.numpy(), predictions_are="logits", n=1, labels=range(3))
    assert numbers(metric) == pytest.approx(expected, abs=1e-12)


def plug_with(confidence, correct, **options):
    metric = plug.ECUAS(**options)
    metric.update(torch.tensor(confidence), torch.tensor(correct))
    return metric


def test_processes_of_which_one_has_no_rows(rng):
    """Each sends torchmetrics' gathering what it has; `test_lightning` has real ones."""
    confidence, correct = rng.random(100), rng.integers(0, 2, 100)
    sent, meeting = [None, None], threading.Barrier(2)

    def run(rank):
        def gather(values, group=None):
            sent[rank] = values
            meeting.wait()
            return list(sent)

        hooks = {"dist_sync_fn": gather, "distributed_available_fn": lambda: True}
        metric = plug.ECUAS(n=(0, 1), metric_options=hooks)
        for rows in ([range(30), range(30, 100)], [])[rank]:
            metric.update(torch.tensor(confidence[list(rows)]), torch.tensor(correct[list(rows)]))
        try:
            return numbers(metric)
        except BaseException:
            meeting.abort()  # who fails leaves none waiting
            raise

    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(run, range(2)):
            assert found == pytest.approx(score_confidences(correct, confidence, n=(0, 1)), abs=1e-12)
