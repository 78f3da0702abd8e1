"""Draw docs/scale.png: how far apart the bounds are, against the number of bins of a state."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ecuas_metric.metrics import METRICS, Key
from ecuas_metric.scale import State, checked_options, state_of
from ecuas_metric.scale.reading import order_bounds
from ecuas_metric.scale.sketch import PLAIN_LIMIT, Resolution, join

PICTURE = Path(__file__).with_name("scale.png")
ROWS = 10**6
RESOLUTION = Resolution(mirrored=True, top=0.5)
LIMITS = [2**k for k in range(6, PLAIN_LIMIT.bit_length())]


def widths(state: State) -> dict[Key, list[float]]:
    """Return the distance of the bounds of each metric of the order, at each limit."""
    found: dict[Key, list[float]] = {}
    for limit in LIMITS:
        for key, (low, high) in order_bounds(state._replace(sketch=join([state.sketch], limit, RESOLUTION))).items():
            found.setdefault(key, []).append(high - low)
    return found


def main() -> None:
    """Draw the picture."""
    from matplotlib import pyplot as plt

    rng = np.random.default_rng(0)
    confidence = rng.beta(3, 1.2, ROWS)
    correct = rng.random(ROWS) < confidence**1.3
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for key, distances in widths(state_of("confidences", confidence, correct, checked_options())).items():
        axes.loglog(LIMITS, distances, marker="o", markersize=3, label=METRICS[key.metric].title)
    axes.set(xlabel="largest number of bins", ylabel="upper bound minus lower bound")
    axes.axvline(PLAIN_LIMIT, color="grey", linewidth=0.8, linestyle=":")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    main()
