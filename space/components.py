"""Groups of components that several tabs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

EMPTY = '<p class="empty">The table will stand here.</p>'
FORMS = ["probabilities", "log_probabilities", "logits"]


def text(label: str, value: str = "", **options: Any) -> gr.HTML:
    """Lay out HTML; only the API shows its label."""
    return gr.HTML(value, label=label, show_label=False, padding=False, **options)


def figure(label: str) -> gr.HTML:
    """Lay out a plot that is not drawn yet."""
    with gr.Column(min_width=320):  # below each other where two do not fit
        return text(label, elem_classes="figure")


def results() -> list[Any]:
    """Lay out what `api.score` returns, but for signature and JSON."""
    message = text("Message")
    table = text("Table", EMPTY, elem_classes="results")
    words = text("In plain words")
    with gr.Row():
        downloads = [gr.DownloadButton(f"Download {name}", size="sm") for name in ("CSV", "Markdown", "LaTeX")]
    with gr.Row():
        curves = [figure("Cost against reject cost"), figure("ECUAS_n against n")]
    with gr.Row():
        curves += [figure("Risk against coverage"), figure("Reliability")]
    return [message, table, words, *downloads, *curves, figure("Samples by confidence")]


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


def live(function: Callable[..., Any], inputs: list[Any], outputs: list[Any], *, demo: gr.Blocks) -> None:
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
