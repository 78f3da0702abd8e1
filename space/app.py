"""The demo Space: layout and wiring of its tabs, what they show, and how it is served."""

import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr
from gradio.components import Component
from gradio.route_utils import FnIndexInferError
from gradio.routes import templates
from gradio.utils import get_upload_folder
from jinja2 import ChoiceLoader, DictLoader
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import ecuas_metric
from ecuas_metric.files.read import TABLE_SUFFIXES as TABLES

from . import answers, api, markup, scoring, subset, uploads

HERE = Path(__file__).resolve().parent
CARD = Path(ecuas_metric.__file__).resolve().parent / "README.md"
QUESTIONS = "three question-answering systems"
EXAMPLES = {
    QUESTIONS: [str(HERE / f"examples/{name}_model.csv") for name in ("calibrated", "overconfident", "verbal")],
    "a classifier's posteriors": [str(HERE / "examples/classifier.csv")],
}
FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
OFTEN, OLD = 600, 1800  # seconds: how often files of visitors are deleted, and after which time
MAX_BODY = uploads.MAX_BYTES * 3 // 2  # bytes of a request: a file as base64 in JSON
LINK = "result"  # what a link's query holds
TITLE = "ECUAS: which system should you deploy?"
PURPOSE = (
    "**ECUAS_n** is what a model that answers *and says how sure it is* costs its users, who act on some answers and "
    "reject others: the Expected Cost of an Uncertainty-Augmented System. **0 is perfect, 1 no better than no system.**"
)
DESCRIPTION = "Score systems that say how sure they are: which one costs its users least, and is that more than chance?"
RESTORED = f"From a link: {answers.SELF_REPORTED}. It was computed from grades and confidences that anybody can write."
FILES = "Files, one per system, all at once; at most 20 MB each"
NO_UPLOAD = "There is no file yet: upload one, or load an example."
UNIT = (
    "A mistake costs 1, and an answer that is not used the reject cost. ECUAS_n averages over all reject costs, "
    "weighted by n, so that the answer “I don't know” costs 1."
)
LOADING = '<p class="empty">Loading …</p>'
BOARD_IN, BOARD = "subset", "leaderboard"  # tabs that a link opens
PLAN = "Detectable differences, and the number of questions needed for yours"
LEADERBOARD = (
    "21 systems of the paper, by what they cost their users. To put your model among them, let it answer the questions "
    "of the curated TriviaQA subset, and upload its answers."
)
NO_TEXT = (
    "This copy has no text of TriviaQA, so it **cannot find exact matches**: the label bank decides what it knows, and "
    "you decide the rest. To have exact matches found, grade on your machine: `python -m triviaqa_subset.build` "
    "fetches the text, then `python -m space.app` opens this page with it. "
)
ASK = "Answers that neither the gold answers nor the label bank decide: tick the correct ones"
private = partial(gr.on, api_visibility="private")  # programs have functions of their own, see `api`
quiet = partial(private, show_progress="hidden", trigger_mode="always_last")  # of quick events the last
Outputs = tuple[object, ...]  # one value per component
Shower = Callable[..., Outputs]


class LimitedBodies:
    """Refuses requests whose body is too large, whether or not they say so first."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and raise once it has sent too much."""
        limit = uploads.MAX_BYTES_OF_ALL if scope.get("path", "").endswith("/upload") else MAX_BODY
        got = 0

        async def counted() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > limit:
                raise HTTPException(413, f"A request must have at most {limit:,} bytes.")
            return message

        said = int(dict(scope.get("headers", ())).get(b"content-length", b"0"))
        if scope["type"] == "http" and said > limit:
            text, close = f"A request must have at most {limit:,} bytes.", {"connection": "close"}
            await JSONResponse({"detail": text}, 413, close)(scope, receive, send)
            return
        await self.app(scope, counted if scope["type"] == "http" else receive, send)


def no_such_function(_: Request, __: Exception) -> JSONResponse:
    """Answer a call of a function by a number or a name that there is not, which Gradio looks up in vain."""
    return JSONResponse({"detail": "There is no such function: see gradio_api/info."}, 404)


NO_SUCH = dict.fromkeys((KeyError, FnIndexInferError), no_such_function)
THEME = gr.themes.Default(primary_hue="blue", font=FONTS, font_mono=["ui-monospace", "monospace"]).set(
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
)


def use_own_previews() -> None:
    """Put this page's previews in the place of Gradio's, which name and show Gradio."""
    name, env = "frontend/index.html", templates.env
    assert env.loader is not None
    text = re.sub(r'<meta\s+(property|name)="(og|twitter):[^>]*>', "", env.loader.get_source(env, name)[0])
    page = text.replace("</head>", f"{markup.previews(TITLE, DESCRIPTION)}</head>", 1)
    env.loader = ChoiceLoader([DictLoader({name: page}), env.loader])


def show_errors(outputs: int, kept: int = 0) -> Callable[[Shower], Shower]:
    """Make a function show an error in its first output, empty others, and keep the last ones."""

    def decorate(function: Shower) -> Shower:
        def guarded(*arguments: object) -> Outputs:
            result, error = markup.attempt(function, *arguments)
            if result is not None:
                return result
            return markup.html("message", text=error, kind="error"), *[None] * (outputs - kept - 1), *[gr.skip()] * kept

        return guarded

    return decorate


def lay_out(scored: scoring.Scored, title: str, remarks: Sequence[str] = ()) -> Outputs:
    """Return the outputs of `results` for scored systems, and the plots."""
    files = [gr.DownloadButton(value=path, interactive=True) for path in scored.write(own_folder())]
    return scored.html(title=title, remarks=remarks), *files, scored.plots()


@show_errors(1 + len(uploads.COLUMNS))
def show_columns(files: list[str] | None) -> Outputs:
    """Find the role of each column of the first file."""
    names, used = uploads.detect(files[0]) if files else ([], dict.fromkeys(uploads.COLUMNS))
    return gr.skip(), *(gr.Dropdown(choices=names, value=used[role] or "") for role in uploads.COLUMNS)


@show_errors(5)
def show_score(files: list[str] | None, *values: scoring.Numbers | None) -> Outputs:
    """Score the systems in files; the values are those of the controls."""
    if not files:
        return markup.html("message", text=NO_UPLOAD), *[None] * 4
    return lay_out(scoring.score_files(files, dict(zip(scoring.CONTROLS, values, strict=True))), "Your systems")


@show_errors(2)
def show_cost(n: float, num_classes: float, infinitely_many: bool, confidence: float) -> Outputs:
    """Show what a correct and an incorrect answer of one confidence cost, and draw it for all."""
    known = None if infinitely_many else num_classes
    found = api.call_checked(api.cost, n, known, confidence)
    costs = found["correct"], found["incorrect"]
    note = f"Below 1/K = {1 / known:.3f} an answer counts as rejected, which costs 1." if known else ""
    numbers = list(zip(("correct answer", "incorrect answer"), costs, ("slot-1", "slot-2"), strict=True))
    shown = markup.html("answer_costs", costs=numbers, note=note if found["counts_as_rejected"] else "")
    return shown, markup.cost_figure(n, known, confidence, costs)


@show_errors(1)
def show_plan(*given: float) -> Outputs:
    """Plan a comparison: what the subset's questions can detect, and how many a difference needs."""
    rows = api.call_checked(api.plan, *given)["rows"]
    return (markup.html("plain_table", header=list(rows[0]), rows=[list(row.values()) for row in rows], label=PLAN),)


@show_errors(2)
def show_unknown(file: str | None, asked: str) -> Outputs:
    """Grade answers by exact match and label bank, and list those that neither decides."""
    if not file:
        return markup.html("message", text=NO_UPLOAD), gr.CheckboxGroup(choices=[], value=[])
    graded = answers.grade_answers(uploads.read_answers(file), asked)
    found = graded.open_answers()
    remark = f" Here are the first {api.MAX_OPEN:,} of those." if len(found) > api.MAX_OPEN else ""
    shown = gr.CheckboxGroup(choices=found[: api.MAX_OPEN], value=[])
    return markup.html("message", text=graded.summary() + remark), shown


@show_errors(10, kept=8)
def show_graded(
    file: str | None, asked: str, accepted: list[str], rest: str, weighted: bool, n: str, intervals: bool, order: str
) -> Outputs:
    """Grade answers, put the system on the leaderboard, and score it as `show_score` does."""
    if not file:
        return markup.html("message", text=NO_UPLOAD), None, *[gr.skip()] * 8
    graded = answers.grade_answers(uploads.read_answers(file), asked, accepted=accepted or [], rule=rest)
    name = uploads.plain_text(Path(file).stem, answers.LONGEST_NAME) or "your model"
    settings = answers.Settings(n=n, weighted=weighted, intervals=intervals)
    scored, row = api.evaluate(graded, name, "your model", **settings)
    token = answers.pack(graded, name=name, settings=settings)
    held = "It holds grades, confidences and options, not the answers."
    link = (
        f'<a href="?{LINK}={token}" target="_blank" rel="noopener">Link to this result</a><br><small>{held}</small>'
        if token
        else "This result does not fit into a link: send the graded answers instead, which the first tab scores."
    )
    return "", *_on_the_board(graded, scored, row, order, link, graded.summary())


@show_errors(10, kept=8)
def restore(token: str, order: str) -> Outputs:
    """Show the result that a link holds."""
    if not token:
        return (gr.skip(),) * 10
    name, graded, settings = answers.unpack(token)
    scored, row = api.evaluate(graded, name, answers.SELF_REPORTED, **settings)
    warning = markup.html("message", text=RESTORED, kind="warning")
    return warning, *_on_the_board(graded, scored, row, order, "", RESTORED)


def _on_the_board(
    graded: answers.Graded, scored: scoring.Scored, row: subset.Row, order: str, link: str, remark: str
) -> Outputs:
    """Return what `lay_out` does, with the leaderboard with a row, the row, the graded file, and a link."""
    path = own_folder() / "graded.csv"
    graded.write(path)
    result, *rest = lay_out(scored, row.system, [remark])
    return result, board(order, row), row, gr.DownloadButton(value=str(path), interactive=True), link, *rest


def board(order: str, mine: subset.Row | None = None) -> str:
    """Show the leaderboard, the lowest ECUAS of an order first, with a visitor's row where it belongs."""
    return subset.board_html([*subset.known_rows(), *([mine] if mine else [])], order)


def open_board() -> list[gr.Tabs]:
    """Open the tab that a link's result is in."""
    return [gr.Tabs(selected=BOARD_IN), gr.Tabs(selected=BOARD)]


def own_folder() -> Path:
    """Make a folder in Gradio's cache, emptied with it, at an address that cannot be guessed."""
    uploaded = Path(get_upload_folder())
    folder = uploaded / secrets.token_hex(16)
    folder.mkdir(parents=True)
    sweep(uploaded)
    return folder


def sweep(folder: Path, age: float = OLD) -> None:
    """Delete what Gradio leaves: files of aborted uploads, and folders that it emptied."""
    before = time.time() - age
    for path in folder.iterdir():
        with suppress(OSError):  # it is not empty, or somebody else was first
            if path.stat().st_mtime >= before:
                continue
            if path.is_dir():
                path.rmdir()
            elif path.name.startswith("tmp"):
                path.unlink()


def text(label: str, value: str = "", *, elem_classes: str | None = None, script: str | None = None) -> gr.HTML:
    """Lay out HTML; only the API shows its label."""
    return gr.HTML(value, label=label, show_label=False, padding=False, elem_classes=elem_classes, js_on_load=script)


def results(scored: scoring.Scored | None = None) -> list[Component]:
    """Lay out the first outputs of `lay_out`: table and verdict, and downloads."""
    shown = scored.html(title=f"Example: {QUESTIONS}") if scored else ""
    result = text("Result", shown, elem_classes="result", script=(HERE / "page.js").read_text(encoding="utf-8"))
    paths = scored.write(own_folder()) if scored else [None] * 3
    with gr.Row():
        return [
            result,
            *(
                gr.DownloadButton(f"Download {name}", path, size="sm", interactive=path is not None)
                for name, path in zip(("CSV", "Markdown", "LaTeX"), paths, strict=True)
            ),
        ]


def control(name: str) -> Component:
    """Lay out the control of an argument of `score`."""
    kind, default, label, info = scoring.CONTROLS[name]
    if name in uploads.COLUMNS:
        return gr.Dropdown([], value="", label=label, info=uploads.COLUMNS[name], allow_custom_value=True)
    if name == "unlabelled":
        choices = list(uploads.TREATMENTS.items())
        return gr.Dropdown(choices, value=default, label=label, info="The table shows how many there are")
    if kind is bool:
        return gr.Checkbox(default, label=label, info=info)
    if default in get_args(kind):
        return gr.Dropdown(list(get_args(kind)), value=default, label=label, info=info)
    return gr.Textbox(default or "", label=label, info=info)


def score_tab(opening: scoring.Scored) -> None:
    """Files -> table, verdict and plots, at first of an example; above the files, so that a phone shows them first."""
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            result, *downloads = results(opening)
        with gr.Column(scale=3, min_width=320, elem_id="yours"):
            gr.Markdown("## Score your own")
            files = gr.File(label=FILES, file_count="multiple", file_types=list(uploads.SUFFIXES), height=150)
            with gr.Row():
                for name, paths in EXAMPLES.items():
                    load = gr.Button(f"Load {name}", size="sm")
                    private(load.click, lambda paths=paths: paths, None, files)
            gr.Markdown(uploads.HELP)
            with gr.Accordion("Columns", open=False), gr.Row():
                found = [control(name) for name in uploads.COLUMNS]
            with gr.Accordion("Options", open=False), gr.Row():
                options = [control(name) for name in scoring.CONTROLS if name not in uploads.COLUMNS]
            button = gr.Button("Score", variant="primary")
    outputs = [result, *downloads, text("Plots", opening.plots())]
    filled = private(files.change, show_columns, files, [result, *found], show_progress="hidden")
    for event in (filled.success, button.click):
        event(
            show_score,
            [files, *found, *options],
            outputs,
            show_progress_on=result,
            concurrency_limit=4,
            trigger_mode="always_last",
            api_visibility="private",
        )


def as_text(path: Path) -> str:
    """Return Markdown in which a namespace that is not there yet is no HTML tag, which would leave links empty."""
    return path.read_text(encoding="utf-8").replace(f"[{markup.NAMESPACE}", f"[{escape(markup.NAMESPACE)}")


def cost_tab(tab: gr.Tab) -> None:
    """Sliders -> the two costs of an answer, and the curves of all answers."""
    gr.Markdown(f"## What one answer costs under ECUAS_n\n{UNIT}")
    with gr.Row():
        with gr.Column(scale=1, min_width=300):
            inputs: list[gr.Slider | gr.Checkbox] = [
                gr.Slider(0, 16, 1, step=0.1, label="n", info="0 punishes confident mistakes most"),
                gr.Slider(2, 100, 4, step=1, label="K", info="Number of possible answers"),
                gr.Checkbox(True, label="Infinitely many answers", info="E.g. free text; K is not used"),
                gr.Slider(0, 1, 0.8, step=0.01, label="Confidence of the answer"),
            ]
        with gr.Column(scale=2, min_width=320):
            outputs = [text("Costs", LOADING, elem_classes="low"), text("Cost of an answer")]
    quiet([tab.select, *(one.change for one in inputs)], show_cost, inputs, outputs)


def plan_tab(tab: gr.Tab) -> None:
    """Sliders -> the differences that the questions can detect."""
    gr.Markdown(f"## {PLAN}\nA paired comparison of two systems with calibrated confidences, 80 % power, 5 % level.")
    with gr.Row():
        inputs = [
            gr.Slider(0.01, 0.99, 0.3, step=0.01, label="Error rate of one system"),
            gr.Slider(0.01, 0.99, 0.36, step=0.01, label="Error rate of the other"),
            gr.Slider(0.51, 0.99, 0.8, step=0.01, label="AUROC", info="Of their confidences"),
            gr.Slider(-1, 1, 0.5, step=0.05, label="Correlation", info="Of their costs on the same question"),
            gr.Slider(0.005, 0.3, 0.05, step=0.005, label="Difference", info="That you want to detect"),
        ]
    quiet([tab.select, *(one.change for one in inputs)], show_plan, inputs, text(PLAN, LOADING))


def leaderboard_tab() -> tuple[gr.Radio, list[Component]]:
    """Lay out the leaderboard; answers of a visitor's model -> its row there, and what `score_tab` shows."""
    top = text("From a link")
    gr.Markdown(LEADERBOARD)
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            order = gr.Radio(list(subset.ORDERS), value="1", label="n", info="Those that the paper prints")
            table, mine = text("Leaderboard", board("1"), elem_classes="results"), gr.State()
        with gr.Column(scale=2, min_width=320):
            gr.Markdown(f"## Grade your model\n{'' if subset.has_text() else NO_TEXT}")
            file = gr.File(label="Answers of your model", file_types=list(TABLES), height=150)
            gr.Markdown("Columns `question_id`, `answer` and `confidence`; one row for each question; at most 20 MB.")
            curated, kept = (len(subset.questions_of(name)) for name in subset.ASKED)
            sets = zip((f"the {curated} of the subset", f"all {kept} kept ones"), subset.ASKED, strict=True)
            asked = gr.Dropdown(list(sets), value="curated", label="Questions")
            message = text("Message")
            accepted = gr.CheckboxGroup(
                [], label=ASK, info="Listed here once there is a file", elem_classes="open-answers"
            )
            rest = gr.Radio(
                list(uploads.TREATMENTS.items()), value=uploads.RULES[0], label="Answers that are not ticked"
            )
            with gr.Row():
                weighted = gr.Checkbox(True, label="Weight the questions", info="To represent all kept questions")
                settings = [weighted, control("n"), control("intervals")]
            button = gr.Button("Grade and score", variant="primary")
            with gr.Row():
                graded = gr.DownloadButton("Download graded answers", size="sm", interactive=False)
                link = text("Link to this result")
    result, *downloads = results()
    shown = [message, accepted]
    private([file.change, asked.change], show_unknown, [file, asked], shown, show_progress="hidden")
    quiet(order.change, board, [order, mine], table)
    outputs = [top, result, table, mine, graded, link, *downloads, text("Plots")]
    inputs = [file, asked, accepted, rest, *settings, order]
    private(button.click, show_graded, inputs, outputs, show_progress_on=table, concurrency_limit=4)
    return order, outputs


with gr.Blocks(title=TITLE, delete_cache=(OFTEN, OLD), fill_width=True) as demo:
    for tool in api.TOOLS:
        gr.events.api(tool, api_name=tool.__name__, concurrency_limit=4)
    gr.Markdown(f"# {TITLE}\n{PURPOSE}")
    opening = scoring.score_files(EXAMPLES[QUESTIONS], {})
    token = gr.Textbox(visible="hidden", label="What the link of this page holds")
    with gr.Tabs() as tabs:
        with gr.Tab("Score"):
            score_tab(opening)
        with gr.Tab("Cost") as second:
            cost_tab(second)
        with gr.Tab("TriviaQA", id=BOARD_IN), gr.Tabs() as inner_tabs:
            with gr.Tab("Leaderboard", id=BOARD):
                order, outputs = leaderboard_tab()
            with gr.Tab("Plan a comparison") as inner:
                plan_tab(inner)
        with gr.Tab("Code"):
            gr.Markdown(as_text(HERE / "usage.md"))
            with gr.Accordion("The metric card", open=False):
                gr.Markdown(as_text(CARD).split("\n---\n", 1)[1])
    gr.Markdown(markup.links())
    get = f"() => new URLSearchParams(location.search).get('{LINK}') || ''"
    private(demo.load, None, None, token, js=get)
    opened = private(token.change, restore, [token, order], outputs)
    opened.then(open_board, None, [tabs, inner_tabs], api_visibility="private")
demo.queue(default_concurrency_limit=8, max_size=200)
use_own_previews()
launch = partial(
    demo.launch,
    theme=THEME,
    css_paths=HERE / "style.css",
    max_file_size=uploads.MAX_BYTES,
    mcp_server=find_spec("mcp") is not None,
    ssr_mode=False,
    run_history=False,
    enable_monitoring=False,
    show_error=True,  # what Gradio itself refuses has a reason too
    app_kwargs={"middleware": [Middleware(LimitedBodies)], "exception_handlers": NO_SUCH},
)

if __name__ == "__main__":
    launch()
