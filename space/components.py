"""Groups of components that several tabs share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.options import DEFAULTS, OPTIONS

from . import deployment
from .scoring import LEVEL, Shown
from .words import LABELS, LABELS_OF_READING, RULES, UNJUDGED

EMPTY = (
    '<p class="empty">Here come ECUAS_n of each system with intervals, every other metric, what they say in plain '
    "words, files to download, and five plots.</p>"
)
PRIVATE: Any = {"api_visibility": "private"}  # programs have functions of their own, see `api`
REJECT_COST = 0.3
REJECT_COST_IS = "What an answer costs that is not used because the system is not sure enough; a mistake costs 1"
OPTION_NAMES = (  # of `options`, in its order
    *("n", "num_classes", "predictions_are", "reject_costs", "missing_confidence", "normalize", "decompose"),
    *("calibration", "intervals", "unjudged", "scale", "correct_from"),
)
DEFAULT_N = ", ".join(f"{n:g}" for n in DEFAULTS.n)


def text(label: str, value: str = "", *, elem_classes: str | None = None) -> gr.HTML:
    """Lay out HTML; only the API shows its label."""
    return gr.HTML(value, label=label, show_label=False, padding=False, elem_classes=elem_classes)


def figure(label: str, value: str = "") -> gr.HTML:
    """Lay out a plot, or the place of one that is not drawn yet."""
    empty = f'<p class="empty">Plot: {label.lower().replace("ecuas", "ECUAS")}</p>'
    with gr.Column(min_width=320):  # two that do not fit side by side are stacked
        return text(label, value or empty, elem_classes="figure")


def results() -> list[Any]:
    """Lay out what `scoring.Shown` holds, except signature and record."""
    return [*first_results(), *more_results(), gr.State()]


def first_results(shown: Shown | None = None) -> list[Any]:
    """Lay out message and table, of a result that is there already or to come."""
    return [
        text("Message", shown.message if shown else "", elem_classes="room"),
        text("Table", shown.table if shown else EMPTY, elem_classes="results"),
    ]


def reject_cost(costs: gr.State) -> None:
    """Lay out a reject cost, and which of the systems with these costs it makes the cheapest."""
    slider = gr.Slider(0, 1, REJECT_COST, step=0.01, label="Reject cost", info=REJECT_COST_IS)
    verdict = text("Which system to deploy", deployment.deployment(costs.value, REJECT_COST), elem_classes="deployment")
    gr.on(
        [slider.change, costs.change],
        deployment.deployment,
        [costs, slider],
        verdict,
        **PRIVATE,
        show_progress="hidden",
        trigger_mode="always_last",
    )


def more_results(shown: Shown | None = None) -> list[Any]:
    """Lay out the rest of `results`, except the costs for `reject_cost`."""
    explanation = text("In plain words", shown.explanation if shown else "")
    with gr.Row():
        paths = (shown.csv, shown.markdown, shown.latex) if shown else (None, None, None)
        downloads = [
            gr.DownloadButton(f"Download {name}", path, size="sm", interactive=path is not None)
            for name, path in zip(("CSV", "Markdown", "LaTeX"), paths, strict=True)
        ]
    with gr.Row():
        curves = [
            figure("Cost against reject cost", shown.reject_costs if shown else ""),
            figure("ECUAS_n against n", shown.orders if shown else ""),
        ]
    with gr.Row():
        curves += [
            figure("Risk against coverage", shown.risk_coverage if shown else ""),
            figure("Reliability", shown.reliability if shown else ""),
        ]
    return [explanation, *downloads, *curves, figure("Samples by confidence", shown.confidences if shown else "")]


def options() -> list[Any]:
    """Lay out `OPTION_NAMES`."""
    return [
        orders(),
        option(gr.Textbox, "num_classes", ""),
        gr.Dropdown(
            list(POSTERIOR_FORMS),
            value=DEFAULTS.predictions_are,
            label=LABELS["predictions_are"],
            info=OPTIONS["predictions_are"].help,
        ),
        option(gr.Textbox, "reject_costs", "", info=f"{OPTIONS['reject_costs'].help}, e.g. 0.1, 0.3"),
        option(gr.Textbox, "missing_confidence", ""),
        option(gr.Checkbox, "normalize", DEFAULTS.normalize),
        option(gr.Checkbox, "decompose", DEFAULTS.decompose),
        option(gr.Checkbox, "calibration", DEFAULTS.calibration),
        intervals(),
        gr.Dropdown(list(RULES.items()), value="bounds", label=UNJUDGED, info="The table shows how many there are"),
        gr.Textbox("", label=LABELS_OF_READING["scale"], info="What a confidence of 1 is in the files, e.g. 100"),
        gr.Textbox("", label=LABELS_OF_READING["correct_from"], info="Lowest grade that counts as correct, e.g. 0.5"),
    ]


def orders() -> gr.Textbox:
    """Lay out the n of ECUAS_n."""
    box: gr.Textbox = option(gr.Textbox, "n", DEFAULT_N)
    return box


def intervals() -> gr.Checkbox:
    """Lay out the box that asks for intervals."""
    box: gr.Checkbox = option(gr.Checkbox, "confidence_level", True, info=f"{LEVEL:.0%}")
    return box


def option(kind: Callable[..., Any], name: str, value: str | bool, *, info: str = "") -> Any:
    """Lay out a control of an option of the metric, with the help of the table of options."""
    return kind(value, label=LABELS[name], info=info or OPTIONS[name].help)


def live(function: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Any], *tabs: gr.Tab) -> None:
    """Call a function when one of its tabs is opened, and on each change of an input; of quick changes the last counts.

    Not when the page is: most visitors open only some of its tabs.
    """
    gr.on(
        [*(tab.select for tab in tabs), *(component.change for component in inputs)],
        function,
        inputs,
        outputs,
        **PRIVATE,
        show_progress="hidden",
        trigger_mode="always_last",
    )
