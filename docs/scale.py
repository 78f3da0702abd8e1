"""Draw docs/scale.png: how far apart the bounds are, against the number of bins of a state."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.scale import checked_options, state_of
from ecuas_metric.scale.reading import order_bounds
from ecuas_metric.scale.sketch import PLAIN_LIMIT, Resolution, join

ROWS = 10**6
RESOLUTION = Resolution(mirrored=True, top=0.5)
LIMITS = [2**k for k in range(6, PLAIN_LIMIT.bit_length())]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    confidence = rng.beta(3, 1.2, ROWS)
    state = state_of("confidences", confidence, rng.random(ROWS) < confidence**1.3, checked_options())
    widths: dict[Key, list[float]] = {}
    for limit in LIMITS:
        for key, (low, high) in order_bounds(state._replace(sketch=join([state.sketch], limit, RESOLUTION))).items():
            widths.setdefault(key, []).append(high - low)
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for key, distances in widths.items():
        axes.loglog(LIMITS, distances, marker="o", markersize=3, label=METRICS[key.metric].title)
    axes.set(xlabel="largest number of bins", ylabel="upper bound minus lower bound")
    axes.axvline(PLAIN_LIMIT, color="grey", linewidth=0.8, linestyle=":")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=150)
