"""What is said of reject costs that were chosen, or cannot be certified."""

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.reporting.thresholds import chosen_costs, sentences


def said(system, **asked):
    grid, _ = chosen_costs(
        {"a": system}, level=0.95, **({"budget": None, "max_risk": None} | asked)
    )
    (sentence,) = sentences(grid)
    return sentence


@pytest.mark.parametrize("confidence", [0.9996, 0.7, 1 - 1e-5])
def test_a_reject_cost_is_shown_without_what_floats_add(confidence):
    """1 minus a confidence of few digits has few digits too, and accepts the same."""
    system = confidence_system([1, 0], [confidence, confidence / 2])
    text = said(system, budget=0.5).removeprefix("a: reject cost ").partition(";")[0]
    assert len(text) <= 7
    assert float(text) == pytest.approx(1 - confidence, abs=1e-13)


@pytest.mark.parametrize("asked", ["max_risk", "budget"])
def test_what_was_asked_is_repeated_in_full(asked):
    system = confidence_system(np.ones(200, int), np.full(200, 0.9))
    options = {"budget": None, "max_risk": None, asked: 0.1234561}
    grid, _ = chosen_costs({"a": system}, level=0.95, **options)
    assert f"|{asked.replace('_', '-')}:0.1234561|" in grid.signature
    assert [line.count("at most 0.1234561,") for line in grid.above] == [1] * len(grid.above)


def test_what_cannot_be_certified_is_said_with_what_would_help():
    good = confidence_system(np.ones(20, int), np.full(20, 0.9))
    bad = confidence_system(np.zeros(20, int), np.full(20, 0.9))
    start = "a: 20 answers cannot certify this at any reject cost; "
    assert said(good, max_risk=0.01).startswith(f"{start}about ")
    assert said(bad, max_risk=0.01) == f"{start}more of such answers would not help."
