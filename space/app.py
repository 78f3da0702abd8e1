"""The demo Space: layout and wiring of its five tabs."""

import os
from collections.abc import Iterable
from dataclasses import replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr

import ecuas_metric
from ecuas_metric.files.read import SUFFIXES as TABLES
from ecuas_metric.files.submissions import read_submissions
from triviaqa_subset.labels import METHODS, REASONS, STRATA

from . import answers, api, components, handlers, leaderboard, links, markup, scoring, subset, uploads
from .components import PRIVATE
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
        link_text_color_dark="*primary_400",
        link_text_color_hover_dark="*primary_300",
        link_text_color_active_dark="*primary_400",
        link_text_color_visited_dark="*primary_400",
    ),
    "css_paths": HERE / "style.css",
    "max_file_size": uploads.MAX_BYTES,
    "mcp_server": find_spec("mcp") is not None,
    "ssr_mode": False,
    "run_history": False,
    "enable_monitoring": False,
}
OFTEN = 600  # seconds between deletions of old files
FILES = "Files, one per system, all at once; at most 20 MB each"
SIGNATURE = "Signature of the last result"
PURPOSE = (
    "**ECUAS_n** is what a system costs its users, averaged over all reject costs: wrong answers that they act on, and "
    "answers that they reject for lack of confidence."
)
OPENING = (
    "Example: three simulated question-answering systems. Which would you deploy? Set what it costs you that an answer "
    "is rejected, under the table."
)
SUBSET, BOARD = "subset", "leaderboard"  # tabs that a link opens
LEADERBOARD = (
    "Error rates of 21 systems on the curated TriviaQA subset. To put your model among them, let it answer the 455 "
    "questions, and upload its answers."
)
NO_TEXT = (
    "This copy has no text of TriviaQA, so it **cannot find exact matches**: the label bank decides what it knows, and "
    "you decide the rest. To have exact matches found, grade on your machine: `python -m triviaqa_subset.build` "
    "fetches the text, then `python -m space.app` opens this page with it. "
)
LABELS_ARE = "correct: an exact match, or judged to be correct"
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
            gr.Markdown("## Score your own")
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
    run: dict[str, Any] = {"fn": handlers.score, "inputs": [files, *found, *options], "outputs": [*shown, *last]}
    run |= {"show_progress_on": shown[1], "concurrency_limit": 4, "trigger_mode": "always_last"} | PRIVATE
    detected = files.change(handlers.detect_columns, files, [shown[0], *found], show_progress="hidden", **PRIVATE)
    detected.success(**run)
    button.click(**run)


def example_buttons(files: gr.File) -> None:
    """Lay out buttons that put the example files where uploads go."""
    with gr.Row():
        for name, systems in EXAMPLES.items():
            paths = list(map(str, example_files(systems)))
            button = gr.Button(f"Load {name}", size="sm")
            button.click(lambda paths=paths: paths, None, files, **PRIVATE)


def example_files(systems: Iterable[str]) -> list[Path]:
    """Return the files of example systems."""
    return [HERE / "examples" / f"{system}.csv" for system in systems]


def scored_example() -> Shown:
    """Score the first example, so that the page opens on a result; once for all visitors."""
    paths = example_files(next(iter(EXAMPLES.values())))
    submissions = [submission for path in paths for submission in read_submissions(path)]
    shown = scoring.score(submissions, scoring.page_options(), handlers.own_folder())
    return replace(shown, message=markup.message(OPENING))


def as_text(path: Path) -> str:
    """Return Markdown in which a namespace that is not there yet is no HTML tag, which would leave links empty."""
    return path.read_text(encoding="utf-8").replace(f"[{links.NAMESPACE}", f"[{escape(links.NAMESPACE)}")


def cost_tab(*tabs: gr.Tab) -> None:
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
    components.live(handlers.cost, inputs, [numbers, plot], *tabs)


def simulation_tab(*tabs: gr.Tab) -> None:
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
    components.live(handlers.simulate, inputs, shown, *tabs)


def browse_tab(*tabs: gr.Tab) -> None:
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
            verdicts = components.text(handlers.VERDICTS)
    components.live(handlers.questions, filters, [count, listed], *tabs)
    components.live(handlers.question, [chosen], [detail, verdicts], *tabs)
    listed.select(handlers.select_question, None, chosen, show_progress="hidden", **PRIVATE)


def plan_tab(*tabs: gr.Tab) -> None:
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
    gr.Markdown(handlers.PLANNED)
    table = components.text(handlers.PLANNED)
    components.live(handlers.plan, inputs, [message, table], *tabs)


def leaderboard_tab(last: list[Any]) -> list[Any]:
    """Error rates of 21 systems; answers of a visitor's model -> its row among them, and what `score_tab` shows.

    Returns what `restored` needs.
    """
    gr.Markdown(LEADERBOARD)
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            labels = gr.Dropdown(list(leaderboard.LABELS), label="What counts as correct", info=LABELS_ARE)
            board = components.text(
                "Leaderboard", handlers.leaderboard_table(leaderboard.LABELS[0]), elem_classes="results"
            )
            mine = gr.State()
        with gr.Column(scale=2, min_width=320):
            gr.Markdown(f"## Grade your model\n{'' if subset.has_text() else NO_TEXT}")
            file = gr.File(label="Answers of your model", file_types=list(TABLES), height=150)
            gr.Markdown("Columns `question_id`, `answer` and `confidence`; one row for each question; at most 20 MB.")
            asked, message, accepted, rest, settings = open_answers()
            button = gr.Button("Grade and score", variant="primary")
            with gr.Row():
                graded = gr.DownloadButton("Download graded answers", size="sm", interactive=False)
                link = components.text("Link to this result")
    shown = components.results()
    check = {"inputs": [file, asked], "outputs": [message, accepted], "show_progress": "hidden"} | PRIVATE
    gr.on([file.change, asked.change], handlers.grade_answers, **check)
    components.live(handlers.leaderboard_table, [labels, mine], [board])
    outputs = [shown[0], board, mine, graded, link, *shown[1:], *last]
    run: dict[str, Any] = {"inputs": [file, asked, accepted, rest, *settings, labels], "outputs": outputs}
    button.click(handlers.score_answers, **run, show_progress_on=board, concurrency_limit=4, **PRIVATE)
    return [labels, outputs]


def open_answers() -> tuple[gr.Dropdown, gr.HTML, gr.CheckboxGroup, gr.Radio, list[Any]]:
    """Lay out which questions were asked, and the answers that the visitor decides."""
    sets = [("the 455 of the subset", "curated"), ("all 918 kept questions", "kept")]
    asked = gr.Dropdown(sets, value="curated", label="Questions")
    message = components.text("Message")
    accepted = gr.CheckboxGroup([], label=OPEN, info=OPEN_INFO, elem_classes="open-answers")
    rest = gr.Radio(list(answers.REST), value=answers.REST[0], label="Answers that are not ticked are")
    with gr.Row():
        weighted = gr.Checkbox(True, label="Weight the questions", info="To represent the 918 kept questions")
        settings = [weighted, components.orders(), components.intervals()]
    return asked, message, accepted, rest, settings


def restored(token: gr.Textbox, all_tabs: Iterable[gr.Tabs], labels: gr.Dropdown, outputs: list[Any]) -> None:
    """Show the result of a link, if the page was opened by one, and the tab that it is in."""
    get = f"() => new URLSearchParams(location.search).get('{handlers.LINK}') || ''"
    demo.load(None, None, token, js=get, **PRIVATE)
    opened = token.change(handlers.restore, [token, labels], outputs, **PRIVATE)
    opened.then(lambda: [gr.Tabs(selected=SUBSET), gr.Tabs(selected=BOARD)], None, list(all_tabs), **PRIVATE)


with gr.Blocks(
    title="ECUAS: systems that say how sure they are", delete_cache=(OFTEN, handlers.OLD), fill_width=True
) as demo:
    for tool in api.TOOLS:
        gr.events.api(tool, api_name=tool.__name__, concurrency_limit=4)
    gr.Markdown(f"# ECUAS: how good is a system that answers *and* says how sure it is?\n{PURPOSE}\n\n{links.links()}")
    opening = scored_example()
    line: Any = gr.Textbox(opening.signature, label=SIGNATURE, interactive=False, render=False)
    record: Any = gr.HTML(markup.folded_json(opening.record, handlers.LAST), render=False, padding=False)
    token = gr.Textbox(visible="hidden", label="What the link of this page holds")
    with gr.Tabs() as tabs:
        with gr.Tab("Score your systems"):
            score_tab([line, record], opening)
        with gr.Tab("What does the cost look like?") as tab:
            cost_tab(tab)
        with gr.Tab("Simulate a system") as tab:
            simulation_tab(tab)
        with gr.Tab("The curated TriviaQA subset", id=SUBSET), gr.Tabs() as inner_tabs:
            with gr.Tab("Leaderboard", id=BOARD):
                board = leaderboard_tab([line, record])
            with gr.Tab("Browse") as inner:
                browse_tab(inner)
            with gr.Tab("Plan a comparison") as inner:
                plan_tab(inner)
        with gr.Tab("Use it in code"):
            line.render()
            record.render()
            gr.Markdown(as_text(HERE / "usage.md"))
            with gr.Accordion("The metric card", open=False):
                gr.Markdown(as_text(CARD).split("\n---\n", 1)[1])
    restored(token, (tabs, inner_tabs), *board)
demo.queue(default_concurrency_limit=8, max_size=200)

if __name__ == "__main__":
    demo.launch(**LAUNCH)
