"""The paper's temperature experiment: worse and worse candidates, with confidences that stay calibrated.

Candidates are sampled from softmax(log q / t); the confidence is q of the sampled class. ECUAS_n must rise with t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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


class TemperatureCurve(NamedTuple):
    """Lower quartile, median and upper quartile over seeds of each ECUAS_n, shape (T,), at each temperature."""

    temperature: Floats
    low: dict[str, Floats]
    median: dict[str, Floats]
    high: dict[str, Floats]


def temperature_curve(
    log_posteriors: Floats, labels: NDArray[np.int64], *, temperatures: Floats = TEMPERATURES, num_seeds: int = 20
) -> TemperatureCurve:
    """Sample candidates from log-posteriors (N, K) at temperatures (T,), and compute their ECUAS_0 and ECUAS_1.

    K is infinite since the uncertainty of a sampled candidate may exceed 1 - 1/K. Each seed has one generator for all
    temperatures. See the paper's figure "ECUAS_n values when temperature scaling is applied".
    """
    generators = [np.random.default_rng(seed) for seed in range(num_seeds)]
    values: dict[str, list[list[float]]] = {f"ecuas_{n:g}": [] for n in ORDERS}
    for temperature in tqdm(temperatures, desc="temperature", delay=1):
        until = np.cumsum(softmax(log_posteriors / temperature, axis=1), axis=1)
        rows = [_sampled_ecuas(log_posteriors, until, labels, generator) for generator in generators]
        for key, column in values.items():
            column.append([row[key] for row in rows])
    quartiles = {key: np.quantile(np.array(column), [0.25, 0.5, 0.75], axis=1) for key, column in values.items()}
    low, median, high = ({key: rows[i] for key, rows in quartiles.items()} for i in range(3))
    return TemperatureCurve(np.asarray(temperatures), low, median, high)


def temperature_figure(curves: dict[str, TemperatureCurve]) -> Figure:
    """Draw ECUAS_0 and ECUAS_1 against temperature: medians as lines, quartiles as bands."""
    from ecuas_metric.plotting.figures import COLORS, panels

    figure, grid = panels(len(ORDERS), width=4.2)
    for axes, n in zip(grid, ORDERS, strict=True):
        key = f"ecuas_{n:g}"
        for index, (name, curve) in enumerate(curves.items()):
            color, line = COLORS[index % len(COLORS)], ("-", "--")[index // len(COLORS) % 2]
            axes.plot(curve.temperature, curve.median[key], label=name, color=color, linestyle=line)
            axes.fill_between(curve.temperature, curve.low[key], curve.high[key], color=color, alpha=0.25)
        axes.set(xlabel="temperature", ylabel=f"ECUAS$_{n:g}$", xscale="log")
        axes.set_ylim(bottom=0)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize="small")
    return figure


def _sampled_ecuas(
    log_posteriors: Floats, until: Floats, labels: NDArray[np.int64], generator: np.random.Generator
) -> dict[str, float]:
    """Draw one class per row by the inverse of the cumulative distribution, and score the draws."""
    draws = generator.random((len(until), 1)) * until[:, -1:]
    candidate = (until <= draws).sum(axis=1)
    confidence = np.minimum(np.exp(log_posteriors[np.arange(len(until)), candidate]), 1.0)
    incorrect = candidate != labels
    return {
        f"ecuas_{n:g}": float(ecuas_cost(candidate_cost=incorrect, uncertainty=1 - confidence, n=n).mean())
        for n in ORDERS
    }
