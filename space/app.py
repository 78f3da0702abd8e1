"""The demo Space: layout and wiring of its tabs, what they show, and how it is served."""

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
from .words import CONTROLS, LABELS_OF_TARGETS, Control, Numbers

HERE = Path(__file__).resolve().parent
QUESTIONS = "three question-answering systems"
EXAMPLES = {
    QUESTIONS: [
        str(HERE / f"examples/{name}_model.csv")
        for name in ("calibrated", "overconfident", "verbal")
    ],
    "a classifier's posteriors": [str(HERE / "examples/classifier.csv")],
}
TITLE = "ECUAS: which system should you deploy?"
PURPOSE = (
    "What does a model that answers *and says how sure it is* cost its users, who act on some answers and reject "
    "others? First at your reject cost, where a wrong answer costs 1; then averaged over all reject costs and scaled, "
    "as **ECUAS_n**, the Expected Cost of an Uncertainty-Augmented System: 0 is perfect, 1 what rejecting everything "
    "costs."
)
DESCRIPTION = "Score systems that say how sure they are: which one costs its users least, and is that more than chance?"
RESTORED = f"From a link: {links.SELF_REPORTED}. It was computed from grades and confidences that anybody can write."
FILES = "Files, one per system"
NO_UPLOAD = "There is no file yet, so this is the example: upload one, or load an example."
NO_ANSWERS = "There is no file yet: upload the answers of your model."
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
TARGETS = {  # what a reject cost is chosen by -> largest value, first one, and what that means
    "budget": (
        0.99,
        0.2,
        "Answers the least reject cost at which people get no more of the answers than this",
    ),
    "max_risk": (
        0.5,
        0.05,
        "Answers the largest reject cost at which, with 95% confidence, no more of the accepted answers are wrong",
    ),
}
LEAST_SHARE = 0.01  # and the step of both sliders
OF_EXAMPLE = "of the example, since there is no file"
OUTDATED = "The options have changed, and the result is still that of the old ones: press Score."
# all that the page puts into its address
ADDRESSED = ("tab", "by", "reject_cost", "files", "result", *TARGETS, *CONTROLS)
# a part of the address that is gone with what it led to
NO_FILES = dict.fromkeys(("files", *CONTROLS), "")
NO_RESULT = {"result": ""}
KNOWN = subset.board_html("kept", subset.known_rows("kept"))
# programs have functions of their own, see `api`; not in the queue: Gradio's page may miss an event that it queues as
# the one before ends, and wait for ever
direct = partial(gr.on, api_visibility="private", queue=False)
# of Gradio's head: what it is configured by, and its style, without which nothing would be painted
LATE = r"<script>window\.gradio_config.*?</script>|<link rel=\"stylesheet\"[^>]*>"
# of the functions for programs, the first of which has none
DEFAULTS = {
    tool.__name__: [one.default for one in signature(tool).parameters.values()]
    for tool in api.TOOLS
}
Outputs = tuple[Any, ...]  # one value per component
Shower = Callable[..., Outputs]


# anything can be typed beside a slider: Gradio answers with a server error, `show_choice` in words
gr.Slider.preprocess = lambda _, payload: payload  # type: ignore[method-assign,assignment]


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


def use_own_head(opening: Markup) -> None:
    """Put this page's previews in the place of Gradio's, and show the opening result while Gradio is loaded.

    What Gradio needs comes after it: hundreds of kilobytes, which a slow connection takes seconds for.
    """
    name = "frontend/index.html"
    env = templates.env
    assert env.loader is not None
    source, *_ = env.loader.get_source(env, name)
    page = re.sub(r'<meta\s+(property|name)="(og|twitter):[^>]*>', "", source)
    late = re.findall(LATE, page)
    page = re.sub(LATE, "", page)
    page = page.replace("</head>", f"{markup.previews(TITLE, DESCRIPTION)}</head>", 1)
    early = markup.html(
        "early",
        title=TITLE,
        opening=opening,
        style=Markup((HERE / "style.css").read_text(encoding="utf-8")),
    )
    shown = f"{{% raw %}}{early}{{% endraw %}}{''.join(late)}<gradio-app"
    page = page.replace("<gradio-app", shown, 1)
    env.loader = ChoiceLoader([DictLoader({name: page}), env.loader])


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
    title = f"Example: {QUESTIONS}"
    return compute(tasks.score_html, EXAMPLES[QUESTIONS], {}, title, changes, remark)


@show_errors("", address=NO_FILES)
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
    return compute(tasks.score_html, plain(files), given, "Your systems", address, "")


@show_errors(gr.skip())
def show_choice(
    target: str,
    files: list[str] | None,
    *values: Numbers | None,
) -> Outputs:
    """Say which reject cost to take, of uploaded systems or those of the example, by what was set last."""
    if target not in TARGETS:  # and an answer that came meanwhile stays
        return gr.skip(), gr.skip()
    names = (*TARGETS, *CONTROLS)
    given: dict[str, Any] = dict(zip(names, values, strict=True))
    wanted = given[target]
    address = dict.fromkeys(TARGETS, "") | {target: str(wanted)}
    label = f"{LABELS_OF_TARGETS[target]}: {wanted:g}"
    page = bounded(
        tasks.choice_html,
        plain(files or EXAMPLES[QUESTIONS]),
        given,
        {target: wanted},
        label if files else f"{label}, {OF_EXAMPLE}",
        address,
    )
    return page, target


def show_choice_of_result(
    target: str,
    files: list[str] | None,
    *shares_and_options: Any,
) -> Outputs:
    """Say which reject cost to take by the options of the result, which are the last argument."""
    *shares, options = shares_and_options
    return show_choice(target, files, *shares, *options)


@show_errors(*[gr.skip()] * (2 + len(TARGETS) + len(CONTROLS)))
def restore_files(request: gr.Request) -> Outputs:
    """Return the uploads, the options and the slider of the address of a result; nothing else changes."""
    given = dict(request.query_params)
    target = next((name for name in TARGETS if name in given), "")
    return (
        gr.skip(),
        _uploads_of(given),
        target,
        *(_share_in(given.get(name, ""), most) for name, (most, *_) in TARGETS.items()),
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


def _share_in(text: str, most: float) -> object:
    """Return the share that an address asks for, if a slider has it."""
    try:
        share = float(text)
    except ValueError:
        return gr.skip()
    return share if LEAST_SHARE <= share <= most else gr.skip()


@show_errors(KNOWN, "", "", address=NO_RESULT)
def show_graded(file: str | None, asked: str) -> Outputs:
    """Grade answers, put the system on the leaderboard, and score it as `show_score` does."""
    if not file:
        notice = markup.html("message", text=NO_ANSWERS, changes=NO_RESULT)
        return notice, KNOWN, "", ""
    return "", *compute(tasks.graded_html, *plain([file]), asked, {"tab": TRIVIAQA})


@show_errors(*[gr.skip()] * 3)
def restore(request: gr.Request) -> Outputs:
    """Show the result that the address holds, if it does."""
    token = dict(request.query_params).get("result")
    if not token:
        return gr.skip(), *[gr.skip()] * 3
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


def options_controls(
    again: Sequence[Callable[..., object]],
    controls: list[Component],
) -> gr.JSON:
    """Say where options differ from those of the result, which are kept when it is computed `again`."""
    # in the browser: `gr.State` would keep it here
    kept = gr.JSON([control.default for control in CONTROLS.values()], visible=False)
    notice = gr.HTML("")
    direct(
        again,
        lambda *values: (list(values), ""),
        controls,
        [kept, notice],
        trigger_mode="always_last",
    )
    # every control has this event, but Component has not
    changes = [getattr(control, "change") for control in controls]  # noqa: B009

    def compare(kept: list[object], *values: object) -> str:
        pairs = zip(kept, values, strict=True)
        # what was never filled in is None, and what is empty again a text
        is_same = all((one or "") == (other or "") for one, other in pairs)
        return "" if is_same else markup.html("message", text=OUTDATED, kind="warning")

    direct(changes, compare, [kept, *controls], notice, trigger_mode="always_last")
    return kept


def choice_sliders(
    files: gr.File,
    controls: list[Component],
    kept: gr.JSON,
    again: Sequence[Callable[..., object]],
) -> list[Component]:
    """Lay out two ways to ask for a reject cost; the last one that was set is answered, `again` for new files.

    Options are those of the result, which are kept, even if controls have other values by now.

    Returned are what was set last, and the sliders.
    """
    gr.Markdown("## What reject cost should I take?")
    sliders = [
        gr.Slider(
            LEAST_SHARE,
            most,
            value=start,
            step=LEAST_SHARE,
            label=LABELS_OF_TARGETS[target],
            info=info,
        )
        for target, (most, start, info) in TARGETS.items()
    ]
    answer = gr.HTML("")
    last = gr.Textbox("", visible=False)
    inputs = [files, *sliders, *controls]
    outputs = [answer, last]
    direct(again, show_choice, [last, *inputs], outputs, trigger_mode="always_last")
    inputs = [files, *sliders, kept]
    for target, slider in zip(TARGETS, sliders, strict=True):
        show = partial(show_choice_of_result, target)
        # a value that is set again is released, and no change
        events = [slider.change, slider.release]
        direct(events, show, inputs, outputs, trigger_mode="always_last")
    return [last, *sliders]


def score_tab() -> Markup:
    """Files -> table, verdict and plots, at first of an example, which is returned; above the files, as on a phone."""
    opening: Markup
    opening, curves = show_example()
    with gr.Row():
        with gr.Column(scale=5, min_width=320):
            result = gr.HTML(opening, elem_classes="result")
        with gr.Column(scale=3, min_width=320, elem_id="yours"):
            gr.Markdown("## Score your own")
            # of all types: Gradio's own refusal would take the name of a file for HTML
            files = gr.File(
                label=FILES,
                file_count="multiple",
                height=150,
            )
            with gr.Row():
                for name, paths in EXAMPLES.items():
                    load = gr.Button(f"Load {name}", size="sm")
                    direct(load.click, partial(list, paths), None, files)
            gr.Markdown(uploads.HELP)
            with gr.Accordion("Options", open=False), gr.Row():
                controls = list(map(lay_out_control, CONTROLS.values()))
            button = gr.Button("Score", variant="primary")
            again = [files.change, button.click]
            kept = options_controls(again, controls)
            choice = choice_sliders(files, controls, kept, again)
    restored = [result, files, *choice, *controls]
    direct(demo.load, restore_files, None, restored, show_progress="hidden")
    inputs = [files, *controls]
    outputs = [result, gr.HTML(curves)]
    direct(
        again,
        show_score,
        inputs,
        outputs,
        show_progress_on=result,
        trigger_mode="always_last",
    )
    return opening


def forms() -> dict[str, str]:
    """Write the questions of each set with their ids, for answers to be filled in; return the paths of the files."""
    folder = storage.own_folder()
    paths = {asked: folder / f"{asked}.csv" for asked in tables.ASKED}
    for asked, path in paths.items():
        tables.write_form(asked, path)
        storage.keep(path)
    return {subset.POPULATIONS[asked]: str(path) for asked, path in paths.items()}


def leaderboard_tab() -> None:
    """Lay out the leaderboard; answers of a visitor's model -> his row there, and what `score_tab` shows."""
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
    outputs = [notice, board, gr.HTML("", elem_classes="result"), gr.HTML("")]
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
    gr.Markdown(f"# {TITLE}\n{PURPOSE}")
    with gr.Tabs():
        with gr.Tab("Score"):
            opening = score_tab()
        with gr.Tab("TriviaQA"):
            leaderboard_tab()
        with gr.Tab("Code"):
            usage = (HERE / "usage.md").read_text(encoding="utf-8")
            gr.Markdown(markup.usage(usage))
    gr.Markdown(markup.links())
for path in demo.upload_file_set:  # of the example
    storage.keep(Path(path))
demo.upload_file_set.clear()
storage.sweep_always()
demo.queue(max_size=2 * LIMITS.waiting)
memory.bound(demo)
use_own_head(opening)
launch = partial(
    demo.launch,
    theme=THEME,
    css_paths=HERE / "style.css",
    head=markup.script((HERE / "page.js").read_text(encoding="utf-8"), ADDRESSED=ADDRESSED),
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
