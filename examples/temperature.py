"""The paper's temperature experiment: worse and worse candidates, with confidences that stay calibrated.

Candidates are sampled from softmax(log q / t); the confidence is q of the sampled class. ECUAS_n must rise with t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from tqdm.auto import tqdm

from ecuas_metric import ecuas_cost

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
TEMPERATURES = np.geomspace(0.05, 10, 16)
ORDERS = (0.0, 1.0)
QUARTILES = (0.25, 0.5, 0.75)


def temperature_curve(
    log_posteriors: Floats,
    labels: NDArray[np.int64],
    *,
    temperatures: Floats = TEMPERATURES,
    num_seeds: int = 20,
) -> Floats:
    """Sample candidates from log-posteriors (N, K) at temperatures (T,), and compute their ECUAS_0 and ECUAS_1.

    Returned are the quartiles over seeds, (3, 2, T). K is infinite since the uncertainty of a sampled candidate may
    exceed 1 - 1/K. Each seed has one generator for all temperatures. See the paper's figure "ECUAS_n values when
    temperature scaling is applied".
    """
    generators = [np.random.default_rng(seed) for seed in range(num_seeds)]
    values = np.empty((len(ORDERS), len(temperatures), num_seeds))
    for place, temperature in enumerate(tqdm(temperatures, desc="temperature", delay=1)):
        until = np.cumsum(softmax(log_posteriors / temperature, axis=1), axis=1)
        for seed, generator in enumerate(generators):
            values[:, place, seed] = _sampled_ecuas(log_posteriors, until, labels, generator)
    return np.quantile(values, QUARTILES, axis=2)


def temperature_figure(curves: dict[str, Floats]) -> Figure:
    """Draw ECUAS_0 and ECUAS_1 against temperature: medians as lines, quartiles as bands."""
    from ecuas_metric.plotting.figures import COLORS, panels

    figure, grid = panels(len(ORDERS), width=4.2)
    for place, (axes, n) in enumerate(zip(grid, ORDERS, strict=True)):
        for index, (name, curve) in enumerate(curves.items()):
            low, median, high = curve[:, place]
            color = COLORS[index % len(COLORS)]
            line = "-" if index < len(COLORS) else "--"
            axes.plot(TEMPERATURES, median, label=name, color=color, linestyle=line)
            axes.fill_between(TEMPERATURES, low, high, color=color, alpha=0.25)
        axes.set(xlabel="temperature", ylabel=f"ECUAS$_{n:g}$", xscale="log")
        axes.set_ylim(bottom=0)
    figure.legend(
        *grid[0].get_legend_handles_labels(),
        loc="outside right center",
        frameon=False,
        fontsize="small",
    )
    return figure


def _sampled_ecuas(
    log_posteriors: Floats,
    until: Floats,
    labels: NDArray[np.int64],
    generator: np.random.Generator,
) -> list[float]:
    """Draw one class per row by the inverse of the cumulative distribution, and score the draws by each ECUAS_n."""
    num_samples = len(until)
    draws = generator.random((num_samples, 1)) * until[:, -1:]
    candidate = (until <= draws).sum(axis=1)
    log_confidence = log_posteriors[np.arange(num_samples), candidate]
    uncertainty = 1 - np.minimum(np.exp(log_confidence), 1.0)
    incorrect = candidate != labels
    return [
        float(ecuas_cost(candidate_cost=incorrect, uncertainty=uncertainty, n=n).mean())
        for n in ORDERS
    ]
