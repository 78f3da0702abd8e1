"""The demo Space: layout and wiring of its five tabs."""

import os
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr

import ecuas_metric
from ecuas_metric.reporting.files import SUFFIXES as TABLES
from ecuas_metric.reporting.submissions import read_submissions
from triviaqa_subset.labels import METHODS, REASONS, STRATA

from . import answers, api, components, links, markup, scoring, subset, uploads
from .scoring import Shown

HERE = Path(__file__).resolve().parent
CARD = Path(ecuas_metric.__file__).resolve().parent / "README.md"
EXAMPLES = {
    "three question-answering systems": ("calibrated_model", "overconfident_model", "verbal_model"),
    "a classifier's posteriors": ("classifier",),
}
FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
LAUNCH: dict[str, Any] = {
    "theme": gr.themes.Default(primary_hue="blue", font=FONTS, font_mono=["ui-monospace", "monospace"]).set(
        button_primary_background_fill="*primary_600",  # white on Gradio's own blue, *primary_500, has 3.7:1
        button_primary_background_fill_hover="*primary_700",
        body_text_color_subdued="*neutral_500",  # Gradio's own grey is too pale to read
        block_info_text_color="*neutral_500",
        body_text_color_subdued_dark="*neutral_300",
        block_info_text_color_dark="*neutral_300",
    ),
    "css_paths": HERE / "style.css",
    "max_file_size": uploads.MAX_BYTES,
    "mcp_server": find_spec("mcp") is not None,
    "ssr_mode": False,
    "run_history": False,
    "enable_monitoring": False,
}
OFTEN, OLD = 600, 1800  # seconds: files older than OLD are deleted, every OFTEN
FILES = "Files, one per system; at most 20 MB each"
SIGNATURE = "Signature of the last result"
PURPOSE = (
    "**ECUAS_n** is what a system costs its users, averaged over all reject costs: wrong answers that they act on, and "
    "answers that they reject for lack of confidence."
)
OPENING = "Example: three simulated question-answering systems."
OPEN_INFO = "Listed here once there is a file"
OPEN = "Answers that neither the gold answers nor the label bank decide: tick the correct ones"


def score_tab(last: list[Any], opening: Shown) -> None:
    """Files -> table, explanation and plots, at first of an example; `last` are the components for signature and JSON.

    The result comes before the files: on a phone, too, the page opens on it.
    """
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            shown = components.first_results(opening)
            costs = gr.State(opening.costs)
            components.reject_cost(costs)
        with gr.Column(scale=3, min_width=320):
            gr.Markdown("### Score your own")
            files = gr.File(label=FILES, file_count="multiple", file_types=list(uploads.SUFFIXES), height=150)
            gr.Markdown(uploads.HELP)
            example_buttons(files)
            with gr.Accordion("Columns", open=False), gr.Row():
                found = [
                    gr.Dropdown([], value="", label=role, info=content, allow_custom_value=True)
                    for role, content in uploads.COLUMNS.items()
                ]
            with gr.Accordion("Options", open=False), gr.Row():
                options = components.options()
            button = gr.Button("Score", variant="primary")
    shown += [*components.more_results(opening), costs]
    run: dict[str, Any] = {"fn": api.score, "inputs": [files, *found, *options], "outputs": [*shown, *last]}
    run |= {"show_progress_on": shown[1], "concurrency_limit": 4, "trigger_mode": "always_last"}
    detected = files.change(api.detect_columns, files, [shown[0], *found], show_progress="hidden")
    detected.success(**run, api_name="score_files", api_visibility="private")
    button.click(**run)


def example_buttons(files: gr.File) -> None:
    """Lay out buttons that put the example files where uploads go."""
    with gr.Row():
        for name, systems in EXAMPLES.items():
            paths = list(map(str, example_files(systems)))
            button = gr.Button(f"Load {name}", size="sm")
            button.click(lambda paths=paths: paths, None, files, api_visibility="private", api_name="example")


def example_files(systems: Iterable[str]) -> list[Path]:
    """Return the files of example systems."""
    return [HERE / "examples" / f"{system}.csv" for system in systems]


def scored_example() -> Shown:
    """Score the first example, so that the page opens on a result; once for all visitors."""
    paths = example_files(next(iter(EXAMPLES.values())))
    submissions = [submission for path in paths for submission in read_submissions(path)]
    shown = scoring.score(submissions, scoring.page_options(), api.own_folder())
    return replace(shown, message=markup.message(OPENING))


def cost_tab(demo: gr.Blocks) -> None:
    """Sliders -> the two costs of an answer, and the curves of all answers."""
    gr.Markdown("The cost of one answer under ECUAS_n, depending on its confidence. Answering “I don't know” costs 1.")
    with gr.Row():
        with gr.Column(scale=1, min_width=300):
            inputs = [
                gr.Slider(0, 16, 1, step=0.1, label="n", info="0 punishes confident mistakes most"),
                gr.Slider(2, 100, 4, step=1, label="K", info="Number of possible answers"),
                gr.Checkbox(True, label="Infinitely many answers", info="E.g. free text; K is not used"),
                gr.Slider(0, 1, 0.8, step=0.01, label="Confidence of the answer"),
            ]
        with gr.Column(scale=2, min_width=320):
            numbers = components.text("Costs", elem_classes="low")
            plot = components.figure("Cost of an answer")
    components.live(api.cost, inputs, [numbers, plot], demo=demo)


def simulation_tab(demo: gr.Blocks) -> None:
    """Sliders -> a simulated system beside the same system calibrated."""
    gr.Markdown("A simulated system with 2,000 answers. The third slider changes only its confidences.")
    with gr.Row():
        inputs = [
            gr.Slider(0.5, 0.99, 0.8, step=0.01, label="Accuracy", info="Share of correct answers"),
            gr.Slider(0, 3, 1.5, step=0.1, label="Separation", info="Distance between correct and wrong answers"),
            gr.Slider(0.25, 4, 2.5, step=0.05, label="Overconfidence", info="1 / temperature; 1 means none"),
        ]
    shown = [components.text("Message", elem_classes="low"), components.text("Table", elem_classes="low")]
    with gr.Row():
        shown += [components.figure("Metrics against overconfidence"), components.figure("Reliability")]
    components.live(api.simulate, inputs, shown, demo=demo)


def browse_tab(demo: gr.Blocks) -> None:
    """List the questions that pass the filters, and show one of them in full."""
    with gr.Row():
        filters: list[Any] = [
            gr.Checkbox(True, label="Only the curated subset", info="455 of 977 questions"),
            gr.Dropdown([subset.ANY, *STRATA], value=subset.ANY, label="Stratum"),
            gr.Dropdown([subset.ANY, "keep", "discard"], value=subset.ANY, label="Decision"),
            gr.Dropdown([subset.ANY, *REASONS], value=subset.ANY, label="Reason"),
        ]
    with gr.Row():
        filters += [
            gr.Dropdown([subset.ANY, *subset.VERDICTS], value=subset.ANY, label="Answer of this system"),
            gr.Dropdown(subset.llms(), label="Language model"),
            gr.Dropdown(list(METHODS), label="Confidence method"),
        ]
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            count = components.text("Message")
            listed = gr.Dataframe(interactive=False, label="Questions: select one", max_height=400)
        with gr.Column(scale=2, min_width=320):
            chosen = gr.Textbox("sfq_178", label="Question id")
            detail = components.text("Question", elem_classes="low")
            verdicts = gr.Dataframe(interactive=False, label="How each system's answer was graded", max_height=260)
    components.live(api.questions, filters, [count, listed], demo=demo)
    components.live(api.question, [chosen], [detail, verdicts], demo=demo)
    listed.select(api.select_question, None, chosen, api_visibility="private", show_progress="hidden")


def error_rates(demo: gr.Blocks) -> None:
    """Show the error rates of all systems by two choices."""
    gr.Markdown("### Error rates\nOn the subset, on the subset weighted to represent the pool, and on the pool itself.")
    with gr.Row():
        method = gr.Dropdown(list(METHODS), value=METHODS[-1], label="Method")
        labels = gr.Dropdown(["correct", "exact_match"], label="What counts as correct")
    message = components.text("Message")
    plot = components.figure("Error rates")
    rates = gr.Dataframe(interactive=False, label="Error rates", wrap=True)
    components.live(api.error_rates, [method, labels], [message, plot, rates], demo=demo)


def plan_tab(demo: gr.Blocks) -> None:
    """Sliders -> the differences that the questions can detect."""
    gr.Markdown(
        "The difference between two systems that a paired comparison detects with 80 % power at the 5 % level, if "
        "their confidences are calibrated. Smaller differences are often missed."
    )
    with gr.Row():
        inputs = [
            gr.Slider(0.01, 0.99, 0.3, step=0.01, label="Error rate of one system"),
            gr.Slider(0.01, 0.99, 0.36, step=0.01, label="Error rate of the other"),
            gr.Slider(0.51, 0.99, 0.8, step=0.01, label="AUROC", info="Of their confidences"),
            gr.Slider(-1, 1, 0.5, step=0.05, label="Correlation", info="Of their costs on the same question"),
            gr.Slider(0.005, 0.3, 0.05, step=0.005, label="Difference", info="That you want to detect"),
        ]
    message = components.text("Message")
    table = gr.Dataframe(
        interactive=False, label="Detectable differences, and the number of questions needed for yours"
    )
    components.live(api.plan, inputs, [message, table], demo=demo)


def grade_tab(last: list[Any]) -> None:
    """Answers of a visitor's model -> graded, the open ones by the visitor -> what `score_tab` shows."""
    with gr.Row():
        with gr.Column(scale=1, min_width=300):
            file = gr.File(label="Answers of your model", file_types=list(TABLES))
            gr.Markdown("Columns `question_id`, `answer` and `confidence`; one row for each question; at most 20 MB.")
            sets = [("the 455 of the subset", "curated"), ("all 926 kept questions", "kept")]
            asked = gr.Dropdown(sets, value="curated", label="Questions")
            message = components.text("Message")
        with gr.Column(scale=2, min_width=300):
            accepted = gr.CheckboxGroup([], label=OPEN, info=OPEN_INFO, elem_classes="open-answers")
            rest = gr.Radio(list(answers.REST), value=answers.REST[0], label="Answers that are not ticked are")
            with gr.Row():
                inputs = [
                    gr.Checkbox(True, label="Weight the questions", info="To represent the 926 kept questions"),
                    components.orders(),
                    components.intervals(),
                ]
            button = gr.Button("Grade and score", variant="primary")
    shown = components.results()
    graded: dict[str, Any] = {"inputs": [file, asked], "outputs": [message, accepted], "show_progress": "hidden"}
    file.change(api.grade_answers, **graded)
    asked.change(api.grade_answers, **graded, api_visibility="private", api_name="grade_again")
    run: dict[str, Any] = {"inputs": [file, asked, accepted, rest, *inputs], "outputs": [*shown, *last]}
    button.click(api.score_answers, **run, show_progress_on=shown[1], concurrency_limit=4)


with gr.Blocks(title="ECUAS: systems that say how sure they are", delete_cache=(OFTEN, OLD), fill_width=True) as demo:
    gr.Markdown(f"# ECUAS: how good is a system that answers *and* says how sure it is?\n{PURPOSE}\n\n{links.links()}")
    opening = scored_example()
    line: Any = gr.Textbox(opening.signature, label=SIGNATURE, interactive=False, render=False)
    record: Any = gr.JSON(opening.record, label="The last result", render=False)
    with gr.Tabs():
        with gr.Tab("Score your systems"):
            score_tab([line, record], opening)
        with gr.Tab("What does the cost look like?"):
            cost_tab(demo)
        with gr.Tab("Simulate a system"):
            simulation_tab(demo)
        with gr.Tab("The curated TriviaQA subset"), gr.Tabs():
            with gr.Tab("Browse"):
                browse_tab(demo)
                error_rates(demo)
            with gr.Tab("Grade my model"):
                grade_tab([line, record])
            with gr.Tab("Plan a comparison"):
                plan_tab(demo)
        with gr.Tab("Use it in code"):
            line.render()
            record.render()
            gr.Markdown((HERE / "usage.md").read_text(encoding="utf-8"))
            with gr.Accordion("The metric card", open=False):
                gr.Markdown(CARD.read_text(encoding="utf-8").split("\n---\n", 1)[1])
demo.queue(default_concurrency_limit=8, max_size=200)

if __name__ == "__main__":
    demo.launch(**LAUNCH)
