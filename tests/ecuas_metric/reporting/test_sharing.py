import numpy as np

from ecuas_metric import compare_systems, confidence_system, make_report
from ecuas_metric.plotting import figures
from tests.ecuas_metric.systems import counted_sorts

NUM_SAMPLES = 211
KINDS = ("risk_coverage", "reject_cost", "reliability", "order")
DRAWN = [getattr(figures, f"{kind}_figure") for kind in KINDS]


def two_systems(rng, **options):
    correct = rng.integers(0, 2, NUM_SAMPLES)
    return {name: confidence_system(correct, rng.random(NUM_SAMPLES).round(2), **options) for name in ("one", "two")}


def test_each_system_is_sorted_once(rng, monkeypatch):
    monkeypatch.setattr(np, "lexsort", None)  # it would not be counted
    options = {"normalize": True, "decompose": True, "reject_costs": 0.2, "n_resamples": 10}
    for level in (None, 0.9):
        with counted_sorts(NUM_SAMPLES) as sorts:
            systems = two_systems(rng, confidence_level=level, **options)
            make_report(systems)
            if level is not None:
                compare_systems(systems)
            for draw in DRAWN:
                draw(systems)
        # Older versions of NumPy sort the places of both systems together to find the distinct ones.
        assert [size for size in sorts if size == (NUM_SAMPLES,)] == [(NUM_SAMPLES,)] * 2


def test_weights_and_bins_reach_the_figures():
    given = ({}, {"sample_weight": np.arange(NUM_SAMPLES) % 2}, {"n_bins": 5})
    plain, weighted, binned = (two_systems(np.random.default_rng(0), **options) for options in given)
    for draw in DRAWN:
        assert lines_of(draw(plain)) != lines_of(draw(weighted)), draw.__name__
    bins = [figures.reliability_figure(systems).axes[2].patches for systems in (plain, binned)]
    assert [len(patches) for patches in bins] == [10, 5]


def lines_of(figure):
    return str([line.get_xydata().tolist() for axes in figure.axes for line in axes.lines])  # text, where nan is nan
