"""The demo Space: layout and wiring of its tabs, what they show, and how it is served."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any, get_args

from .serving.bounded import bounded, start

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
start()  # while Gradio is imported

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.components import Component
from gradio.route_utils import FnIndexInferError
from gradio.routes import templates
from gradio.utils import get_upload_folder
from jinja2 import ChoiceLoader, DictLoader
from markupsafe import Markup
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from ecuas_metric.errors import InputError
from triviaqa_subset import tables

from . import api, links, markup, subset, tasks, uploads
from .serving import memory, requests, storage
from .uploads import LIMITS
from .words import CONTROLS, Control, Numbers

HERE = Path(__file__).resolve().parent
QUESTIONS = "three question-answering models"
EXAMPLES = [
    str(HERE / f"examples/{name}_model.csv") for name in ("calibrated", "overconfident", "verbal")
]
CLASSIFIER = [str(HERE / "examples/classifier.csv")]
QUESTION = "which model costs your users least?"
TITLE = f"ECUAS: {QUESTION}"
PURPOSE = "For models that answer and say how sure they are: people use the sure answers and reject the others."
DESCRIPTION = "Score systems that say how sure they are: which one costs its users least, and is that more than chance?"
RESTORED = f"From a link: {links.SELF_REPORTED}. It was computed from grades and confidences that anybody can write."
FILES = "One file for each model"
NO_UPLOAD = f"There is no file yet, so this is the example: put yours into “{FILES}”."
NO_ANSWERS = "There is no file yet: put one into “Answers of your model”."
TRIVIAQA = "triviaqa"  # the tab that a link opens
LEADERBOARD = (
    "## Leaderboard\nThe systems of the paper, by how often they are wrong. A system is a language model and a way to "
    "get its confidence: *verbalized* is a number that it states, *sequence posterior* the probability of the words of "
    "its answer. Of 977 questions that were drawn from TriviaQA, the 918 that are clear and have a right answer were "
    "kept. To put your model among the systems, let it answer these, or the 455 of the curated subset, which are "
    "weighted to stand for all 918, and upload its answers."
)
ANSWERS = (
    "Columns `question_id`, `answer` and `confidence`; one row for each question; at most 20 MB. We grade the answers "
    "by those of TriviaQA and by labels of earlier ones. What these leave open you can grade yourself: download the "
    "graded answers, write 1 or 0 into the column `correct`, and upload them."
)
SCORE = "Score with these options"
OUTDATED = (
    f"The options have changed, and the result is still that of the old ones: press “{SCORE}”."
)
# all that the page puts into its address
ADDRESSED = ("tab", "by", "wrong", "rejected", "files", "result", *CONTROLS)
# a part of the address that is gone with what it led to
NO_FILES = dict.fromkeys(("files", *CONTROLS), "")
NO_RESULT = {"result": ""}
HEADER = markup.html("header", title=QUESTION, purpose=PURPOSE)
KNOWN = subset.board_html("kept", subset.known_rows("kept"))
# programs have functions of their own, see `api`; not in the queue: Gradio's page may miss an event that it queues as
# the one before ends, and wait for ever
direct = partial(gr.on, api_visibility="private", queue=False)
# of Gradio's head: what it is configured by, which holds all of the page
CONFIGURATION = r"<script>window\.gradio_config.*?</script>"
# its style, in its place, but so that nothing waits for it to be painted
STYLE = ('rel="stylesheet"', """rel="stylesheet" media="print" onload="this.media='all'\"""")
# where a page that is not on the Hub is, only the browser knows
AT_THIS_ADDRESS = (
    f"(text) => text.replaceAll('{markup.LOCAL_PAGE}', location.origin + location.pathname)"
)
# of the functions for programs, the first of which has none
DEFAULTS = {
    tool.__name__: [one.default for one in signature(tool).parameters.values()]
    for tool in api.TOOLS
}
Outputs = tuple[Any, ...]  # one value per component
Shower = Callable[..., Outputs]


THEME = gr.themes.Default(
    primary_hue="blue",
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
    font_mono=["ui-monospace", "monospace"],
)


class Page(gr.Blocks):
    """Blocks whose functions for programs have defaults, also where a call gives arguments by their places."""

    async def preprocess_data(
        self,
        block_fn: BlockFunction,
        inputs: list[Any],
        *others: Any,
        **named: Any,
    ) -> Any:
        """Return what a function is called with."""
        defaults = DEFAULTS.get(str(block_fn.api_name), []) if inputs else []
        whole = [*inputs, *defaults[len(inputs) :]]
        return await super().preprocess_data(block_fn, whole, *others, **named)


def use_own_head(opening: Markup, averages: Markup) -> None:
    """Put this page's previews in the place of Gradio's, and show the opening result while Gradio is loaded.

    What Gradio needs comes after it: hundreds of kilobytes, which a slow connection takes seconds for.
    """
    name = "frontend/index.html"
    env = templates.env
    assert env.loader is not None
    source, *_ = env.loader.get_source(env, name)
    page = re.sub(r'<meta\s+(property|name)="(og|twitter):[^>]*>', "", source)
    late = re.findall(CONFIGURATION, page)
    page = re.sub(CONFIGURATION, "", page).replace(*STYLE)
    page = page.replace("</head>", f"{markup.previews(TITLE, DESCRIPTION)}</head>", 1)
    early = markup.html(
        "early",
        header=HEADER,
        opening=opening,
        averages=averages,
        style=Markup(read_file("style.css")),
    )
    shown = f"{{% raw %}}{early}{{% endraw %}}{''.join(late)}<gradio-app"
    page = page.replace("<gradio-app", shown, 1)
    env.loader = ChoiceLoader([DictLoader({name: page}), env.loader])


def read_file(name: str) -> str:
    """Return a file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def plain(paths: Sequence[str]) -> list[str]:
    """Return paths as plain texts: those of Gradio would make a process import Gradio, which takes seconds."""
    return list(map(str, paths))


# ---- what the tabs show


def show_errors(
    *others: object,
    address: Mapping[str, str] = {},
) -> Callable[[Shower], Shower]:
    """Make a function show an error in its first output, these values in the others, and change the address."""

    def decorate(function: Shower) -> Shower:
        @wraps(function)  # Gradio reads the types
        def guarded(*arguments: object) -> Outputs:
            result, error = markup.attempt(function, *arguments)
            if result is not None:
                return result
            said = markup.html("message", text=error, kind="error", changes=address)
            return said, *others

        return guarded

    return decorate


def compute(task: Callable[..., tuple[object, ...]], *arguments: object) -> Outputs:
    """Return what a task lays out, whose last argument is a folder for files, which are deleted in time."""
    if demo.is_running:  # what the page opens with is written in any case
        storage.require_room()
    *shown, files = bounded(task, *arguments, storage.own_folder())
    demo.upload_file_set.update(files)
    return tuple(shown)


def show_example(remark: str = "") -> Outputs:
    """Show the result of the example."""
    changes = NO_FILES if remark else {}
    title = f"Example: {QUESTIONS}. Change the two prices to yours."
    return compute(tasks.score_html, EXAMPLES, {}, title, changes, remark)


@show_errors("", "", address=NO_FILES)
def show_score(
    files: list[str] | None,
    *values: Numbers | None,
) -> Outputs:
    """Score the systems in files; the values are those of the controls."""
    if not files:
        return show_example(NO_UPLOAD)
    given = dict(zip(CONTROLS, values, strict=True))
    address = {
        name: "" if value in (None, CONTROLS[name].default) else str(value)
        for name, value in given.items()
    }
    address["files"] = "|".join("/".join(Path(path).parts[-2:]) for path in files)
    return compute(tasks.score_html, plain(files), given, "Your models", address, "")


@show_errors()
def show_curves(
    files: list[str] | None,
    *values: Numbers | None,
) -> Outputs:
    """Draw further curves of the systems in files, or those of the example."""
    given = dict(zip(CONTROLS, values, strict=True)) if files else {}
    return compute(tasks.curves_html, plain(files or EXAMPLES), given)


@show_errors(*[gr.skip()] * (1 + len(CONTROLS)))
def restore_files(request: gr.Request) -> Outputs:
    """Return the uploads and the options of the address of a result; nothing else changes."""
    given = dict(request.query_params)
    return (
        gr.skip(),
        _uploads_of(given),
        *(given.get(name, gr.skip()) for name in CONTROLS),
    )


def _uploads_of(given: Mapping[str, str]) -> object:
    """Return the uploads of an address, if it holds some."""
    if "files" not in given:
        return gr.skip()
    try:
        return [
            api.uploaded(f"{get_upload_folder()}/{place}", "a file")
            for place in given["files"].split("|")
        ]
    except InputError:
        least, most = storage.OLD // 60, (storage.OLD + storage.OFTEN) // 60
        raise InputError(
            "The files of this address", "uploads_deleted", least=least, most=most
        ) from None


@show_errors(KNOWN, "", "", "", address=NO_RESULT)
def show_graded(file: str | None, asked: str) -> Outputs:
    """Grade answers, put the system on the leaderboard, and score it as `show_score` does."""
    if not file:
        notice = markup.html("message", text=NO_ANSWERS, changes=NO_RESULT)
        return notice, KNOWN, "", "", ""
    return "", *compute(tasks.graded_html, *plain([file]), asked, {"tab": TRIVIAQA})


@show_errors(*[gr.skip()] * 4)
def restore(request: gr.Request) -> Outputs:
    """Show the result that the address holds, if it does."""
    token = dict(request.query_params).get("result")
    if not token:
        return gr.skip(), *[gr.skip()] * 4
    address = {"result": token, "tab": TRIVIAQA}
    notice = markup.html("message", text=RESTORED, kind="warning")
    return notice, *compute(tasks.link_html, token, address)


# ---- layout


def lay_out_control(control: Control) -> Component:
    """Lay out the control of an argument of `score`."""
    shown = {"value": control.default, "label": control.label, "info": control.help}
    choices = get_args(control.kind)
    if control.default not in choices:
        return gr.Textbox(**shown)
    return gr.Dropdown([(uploads.TREATMENTS.get(one, one), one) for one in choices], **shown)


def options_controls(files: gr.File) -> tuple[list[Component], gr.Button]:
    """Lay out the options, and say where they are not those of the result."""
    controls = list(map(lay_out_control, CONTROLS.values()))
    button = gr.Button(SCORE, variant="primary")
    # those of the result; in the browser: `gr.State` would keep them here
    kept = gr.JSON([control.default for control in CONTROLS.values()], visible=False)
    notice = gr.HTML("")
    direct(
        [files.change, button.click],
        lambda *values: (list(values), ""),
        controls,
        [kept, notice],
        trigger_mode="always_last",
    )

    def compare(kept: list[object], *values: object) -> str:
        pairs = zip(kept, values, strict=True)
        # what was never filled in is None, and what is empty again a text
        is_same = all((one or "") == (other or "") for one, other in pairs)
        return "" if is_same else markup.html("message", text=OUTDATED, kind="warning")

    # every control has this event, but Component has not
    changes = [getattr(control, "change") for control in controls]  # noqa: B009
    direct(changes, compare, [kept, *controls], notice, trigger_mode="always_last")
    return controls, button


def compare_tab() -> tuple[Markup, Markup]:
    """Files -> who is cheapest, averages and all scores; at first of an example, whose first two are returned."""
    opening: Markup
    averages: Markup
    opening, averages, details = show_example()
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            result = gr.HTML(opening, elem_classes="result")
        with gr.Column(scale=2, min_width=300, elem_id="yours"):
            gr.HTML("<h2>Compare your own</h2>")
            # of all types: Gradio's own refusal would take the name of a file for HTML
            files = gr.File(label=FILES, file_count="multiple", height=150)
            gr.HTML(markup.html("example_file", help=uploads.HELP))
            load = gr.Button("Show a classifier instead", size="sm", elem_classes="link")
            with gr.Accordion("Options", open=False):
                controls, button = options_controls(files)
            mean = gr.HTML(averages, elem_classes="averages")
    more = gr.HTML(details, elem_classes="more")
    draw = gr.Button("Draw further curves", size="sm", elem_classes="link")
    curves = gr.HTML("")
    direct(load.click, lambda: CLASSIFIER, None, files)
    direct(demo.load, restore_files, None, [result, files, *controls], show_progress="hidden")
    inputs = [files, *controls]
    direct(
        [files.change, button.click],
        show_score,
        inputs,
        [result, mean, more],
        show_progress_on=result,
        trigger_mode="always_last",
    )
    # those of a result before are gone
    direct([files.change, button.click], lambda: "", None, curves)
    direct(draw.click, show_curves, inputs, curves, show_progress_on=draw)
    return opening, averages


def forms() -> dict[str, str]:
    """Write the questions of each set with their ids, for answers to be filled in; return the paths of the files."""
    folder = storage.own_folder()
    paths = {asked: folder / f"{asked}.csv" for asked in tables.ASKED}
    for asked, path in paths.items():
        tables.write_form(asked, path)
        storage.keep(path)
    return {subset.POPULATIONS[asked]: str(path) for asked, path in paths.items()}


def leaderboard_tab() -> None:
    """Lay out the leaderboard; answers of a visitor's model -> his row there, and what `compare_tab` shows."""
    notice = gr.HTML("")
    with gr.Row():
        with gr.Column(scale=3, min_width=320):
            gr.Markdown(LEADERBOARD)
            board = gr.HTML(KNOWN)
            with gr.Accordion("What the paper prints", open=False):
                gr.HTML(subset.printed_html())
        with gr.Column(scale=2, min_width=320):
            gr.Markdown(f"## Grade your model\n{ANSWERS}")
            gr.HTML(markup.html("forms", files=forms()))
            file = gr.File(label="Answers of your model", height=150)
            sets = [(subset.POPULATIONS[asked], asked) for asked in tables.ASKED]
            asked = gr.Dropdown(sets, value="curated", label="Questions")
            button = gr.Button("Grade and score", variant="primary")
    shown = [gr.HTML("", elem_classes=style) for style in ("result", "averages", "more")]
    outputs = [notice, board, *shown]
    inputs = [file, asked]
    direct(button.click, show_graded, inputs, outputs, show_progress_on=board)
    direct(demo.load, restore, None, outputs, show_progress="hidden")


with Page(
    title=TITLE,
    delete_cache=(storage.OFTEN, storage.OLD),
    fill_width=True,
) as demo:
    for tool in api.TOOLS:
        gr.events.api(tool, api_name=tool.__name__, concurrency_limit=None)
    gr.HTML(HEADER)
    with gr.Tabs():
        with gr.Tab("Compare"):
            opening, averages = compare_tab()
        with gr.Tab("TriviaQA"):
            leaderboard_tab()
        with gr.Tab("Code"):
            # the name of this page on the Hub, or else its usual address
            place = os.environ.get("SPACE_ID", markup.LOCAL_PAGE)
            usage = gr.Markdown(read_file("usage.md").replace("PAGE", place))
            direct(demo.load, None, usage, usage, js=AT_THIS_ADDRESS)
    gr.Markdown(markup.links())
for path in demo.upload_file_set:  # of the example
    storage.keep(Path(path))
demo.upload_file_set.clear()
storage.sweep_always()
demo.queue(max_size=2 * LIMITS.waiting)
memory.bound(demo)
use_own_head(opening, averages)
launch = partial(
    demo.launch,
    theme=THEME,
    css_paths=HERE / "style.css",
    head=f"<script>const ADDRESSED = {json.dumps(ADDRESSED)};\n{read_file('page.js')}</script>",
    max_file_size=LIMITS.file_bytes,
    state_session_capacity=1,  # nothing is kept between two requests: visitors bring what it was
    max_threads=2 * LIMITS.waiting,  # most of which wait, see `bounded`
    mcp_server=find_spec("mcp") is not None,
    ssr_mode=False,
    run_history=False,
    enable_monitoring=False,
    show_error=True,  # what Gradio itself refuses has a reason too
    app_kwargs={
        "middleware": [Middleware(requests.Door)],
        # of a function by a number or a name that there is not, which Gradio looks up in vain
        "exception_handlers": dict.fromkeys(
            (KeyError, FnIndexInferError),
            lambda _request, _error: JSONResponse(requests.NO_SUCH, 404),
        ),
    },
)

if __name__ == "__main__":
    launch()
