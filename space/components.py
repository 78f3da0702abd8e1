"""Groups of components that several tabs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

HEIGHT = 300
EMPTY = '<p class="empty">The table will stand here.</p>'
FORMS = ["probabilities", "log_probabilities", "logits"]


def line(x: str, y: str, *, color: str = "system", kind: Any = gr.LinePlot, **options: Any) -> Any:
    """Lay out an empty plot of lines, or of another kind."""
    titles = {"x_title": x.replace("_", " "), "y_title": y.replace("_", " ")}
    settings: dict[str, Any] = {
        "y_lim": [0, None],
        "tooltip": "all",
        "color_title": " ",
        "height": HEIGHT,
        "buttons": ["fullscreen"],
    }
    if kind is gr.LinePlot and x != "n":
        settings["x_axis_format"] = "~g"
    label = options.get("title", f"{y} against {x}")
    return kind(x=x, y=y, color=color, label=label, show_label=False, **(settings | titles | options))


def text(label: str, value: str = "", **options: Any) -> gr.HTML:
    """Lay out HTML; only the API shows its label."""
    return gr.HTML(value, label=label, show_label=False, padding=False, **options)


def results(orders: Sequence[str]) -> list[Any]:
    """Lay out what `api.score` returns, but for signature and JSON; `orders` are the names of n along a plot."""
    message = text("Message")
    table = text("Table", EMPTY, elem_classes="results")
    words = text("In plain words")
    with gr.Row():
        downloads = [gr.DownloadButton(f"Download {name}", size="sm") for name in ("CSV", "Markdown", "LaTeX")]
    gr.Markdown("Colours as in the table. In the first plot: faint, accepting all answers; grey, rejecting all.")
    with gr.Row():
        cost = line("reject_cost", "expected_cost", title="Cost against reject cost")
        order = line("n", "ecuas", title="ECUAS_n against n", y_title="ECUAS_n", sort=list(orders), x_label_angle=-45)
    with gr.Row():
        risk = line("coverage", "risk", title="Risk against coverage", x_lim=[0, 1])
        reliable = line("confidence", "accuracy", title="Reliability", x_lim=[0, 1], y_lim=[0, 1])
    counts = line("bin", "samples", kind=gr.BarPlot, x_label_angle=-45, title="Samples by confidence")
    return [message, table, words, *downloads, cost, order, risk, reliable, counts]


def options() -> list[Any]:
    """Lay out the options of `api.score`, in its order."""
    return [
        gr.Textbox("0, 1, 128", label="n", info="One or several; small n punishes confident mistakes"),
        gr.Textbox("", label="Number of possible answers K", info="Empty: infinitely many, as of free text"),
        gr.Dropdown(FORMS, value=FORMS[0], label="Posteriors are"),
        gr.Textbox("", label="Reject costs", info="As 0.1, 0.3: adds cost, coverage and risk for these users"),
        gr.Textbox("", label="A missing confidence counts as", info="Empty: it is an error"),
        gr.Checkbox(False, label="Normalise", info="Also divide by the value of a system that ignores its input"),
        gr.Checkbox(False, label="Decompose", info="Also show what the best recalibration would save"),
        gr.Checkbox(True, label="Intervals", info="95 %, by bootstrap"),
        gr.Checkbox(False, label="Leave out answers without a verdict"),
    ]


def live(function: Callable, inputs: list[Any], outputs: list[Any], *, demo: gr.Blocks) -> None:
    """Call a function at the start and whenever an input changes; of quick changes the last one counts."""
    gr.on(
        [demo.load, *(component.change for component in inputs)],
        function,
        inputs,
        outputs,
        api_name=function.__name__,
        show_progress="hidden",
        trigger_mode="always_last",
    )
