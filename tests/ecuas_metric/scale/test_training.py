import numpy as np
import pytest

from ecuas_metric.errors import InputError
from ecuas_metric.options import checked_options
from ecuas_metric.scale.rows import state_of
from ecuas_metric.scale.training import StreamedMetrics
from tests.ecuas_metric.scale.parts import packed


def batches(rng, count=4):
    return [(rng.random(20), rng.integers(0, 2, 20)) for _ in range(count)]


def test_batches_add_up_to_the_state_of_all_rows(rng):
    metrics = StreamedMetrics("confidences", n=[0, 2], normalize=True, confidence_level=0.9)
    rows = batches(rng)
    for confidence, correct in rows:
        metrics.update(confidence.tolist(), correct)
    whole = state_of(
        "confidences", *map(np.concatenate, zip(*rows, strict=True)), checked_options(n=[0, 2])
    )
    assert packed(metrics.state) == packed(whole)
    numbers = metrics.compute()
    assert {
        "ecuas_2",
        "ecuas_2_low",
        "ecuas_2_standard_error",
        "normalized_confidence_brier_score",
    } <= set(numbers)


def test_states_of_several_processes_are_loaded_into_one(rng):
    one, two, none = (StreamedMetrics() for _ in range(3))
    for metrics, rows in zip((one, two), batches(rng), strict=False):
        metrics.update(*rows)
    sent = [metrics.packed() for metrics in (one, two, none)]
    for metrics in (one, two):
        metrics.reset()
        assert metrics.packed() == b""
        with pytest.raises(ValueError, match="call update first"):
            metrics.compute()
    for metrics, order in ((one, sent), (two, sent[::-1])):
        for packed_state in order:
            metrics.load(packed_state)
    assert packed(one.state) == packed(two.state)
    assert one.state.rows == 40
    assert two.compute() == pytest.approx(one.compute(), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    "form, options, reason",
    [
        ("confidences", {"n": 7}, "n"),
        ("confidences", {"n_bins": 5}, "numbers of bins"),
        ("confidences", {"reject_costs": [0.1]}, "reject costs"),
        ("confidences", {"num_classes": 4}, "numbers of classes"),
        ("posteriors", {}, "forms"),
    ],
)
def test_a_state_of_other_options_is_refused_and_its_numbers_never_shown(
    form, options, reason, rng
):
    sent = StreamedMetrics()
    sent.update(*batches(rng)[0])
    other = StreamedMetrics(form, **options)
    with pytest.raises(InputError, match=f"differ in their .*{reason}"):
        other.load(sent.packed())
    assert other.state is None


@pytest.mark.parametrize(
    "options",
    [
        {"cost": [[0, 1, 2], [3, 0, 1], [1, 1, 0]], "n": [0.5, 3]},
        {"cost": "log"},
        {"predictions_are": "logits", "reject_costs": [0.1, 0.2], "n_bins": 3},
        {"renormalize": True, "epsilon": 1e-9},
    ],
)
def test_a_state_of_the_same_options_is_loaded(options, rng):
    sent, received = (StreamedMetrics("posteriors", **options) for _ in range(2))
    sent.update(rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20), sample_weight=range(1, 21))
    received.load(sent.packed())
    assert received.compute() == pytest.approx(sent.compute(), abs=0, rel=0, nan_ok=True)


def test_options_are_checked_at_once():
    with pytest.raises(TypeError, match="takes no option 'n_resamples'"):
        StreamedMetrics(n_resamples=10)
    with pytest.raises(InputError, match="confidence_level"):
        StreamedMetrics(confidence_level=2)
    with pytest.raises(
        InputError, match="form must be one of 'confidences', 'posteriors', 'costs'"
    ):
        StreamedMetrics("posterior")
