"""The picture that links to the two Spaces show: `python -m publishing.thumbnail` draws it again."""

from pathlib import Path

from matplotlib.figure import Figure

from ecuas_metric.plotting.curves import confidence_cost
from ecuas_metric.plotting.figures import COLORS

from .staging import THUMBNAIL


def draw(path: Path = THUMBNAIL) -> None:
    """Draw what a right and a wrong answer cost at each confidence, as wide as links are shown."""
    figure = Figure(figsize=(12, 6.3), dpi=100, layout="constrained")
    axes, curve = figure.subplots(), confidence_cost(n=0)
    for cost, name, at, color in (
        (curve.correct, "a right answer", (0.5, 0.75), COLORS[0]),
        (curve.incorrect, "a wrong answer", (0.5, 2.1), COLORS[1]),
    ):
        axes.plot(curve.confidence, cost, color=color, linewidth=6)
        axes.text(*at, name, color=color, fontsize=28)
    axes.set(xlim=(0, 1), ylim=(0, 4), xticks=[0, 1], yticks=[0])
    axes.set_xlabel("confidence", fontsize=26)
    axes.set_ylabel("cost", fontsize=26)
    axes.tick_params(labelsize=22)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(
        "ECUAS: the expected cost of a system\nthat answers and says how sure it is", fontsize=32, loc="left"
    )
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    draw()
