"""The picture that links to the two Spaces show: `python -m publishing.thumbnail` draws it again."""

from pathlib import Path

from matplotlib import rc_context

from ecuas_metric.plotting.curves import confidence_cost
from ecuas_metric.plotting.figures import COLORS, panels

if __name__ == "__main__":
    with rc_context({"font.size": 26, "axes.titlesize": 32, "axes.titlelocation": "left"}):
        (figure, (axes,)), curve = panels(1, width=11.6, height=6.3), confidence_cost(n=0)
        axes.plot(curve.confidence, curve.correct, color=COLORS[0], linewidth=6)
        axes.plot(curve.confidence, curve.incorrect, color=COLORS[1], linewidth=6)
        axes.text(0.5, 0.75, "a right answer", color=COLORS[0])
        axes.text(0.5, 2.1, "a wrong answer", color=COLORS[1])
        axes.set(xlabel="confidence", ylabel="cost", xlim=(0, 1), ylim=(0, 4), xticks=[0, 1], yticks=[0])
        axes.set_title("ECUAS: the expected cost of a system\nthat answers and says how sure it is")
        axes.grid(False)
        figure.savefig(Path(__file__).with_suffix(".png"), dpi=100, metadata={"Software": None})
