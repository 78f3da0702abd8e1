"""The classes that results inherit to show themselves in a notebook; the folder `notebook` does the work."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Shown:
    """A result that a notebook shows as a table in HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(_module("html").result_html(self))


class Drawn(Shown):
    """A result that also has curves."""

    __slots__ = ()

    def plot(self, kind: str | None = None, *, ax: Axes | None = None) -> Figure | Axes:
        """Draw curves of the systems; of plans, how many samples each difference takes.

        Parameters
        ----------
        kind : {"reject_cost", "order", "risk_coverage", "reliability"}, default "reject_cost"
            Expected cost against reject cost, ECUAS_n against n, risk against coverage, or accuracy against confidence
            (not of sums over rows, which do not have it). Plans have one kind, "samples".
        ax : matplotlib Axes, optional
            Where to draw the curves, of at most six systems.

        Returns
        -------
        Figure or Axes
            A figure, which a notebook shows where it ends a cell; or `ax`.
        """
        drawn: Figure | Axes = _module("plots").plot_result(self, kind, ax)
        return drawn


def is_watched() -> bool:
    """Return whether a person sees the error stream: on a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _module(name: str) -> Any:
    """Return a module of the folder that shows results, imported when one is shown."""
    return import_module(f"{__package__}.notebook.{name}")
