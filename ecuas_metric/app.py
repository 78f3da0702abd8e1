"""The metric's page: compute from a table that is typed or pasted in, and read the card."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
import pandas as pd
from markupsafe import Markup

HERE = Path(__file__).resolve().parent
CONFIDENCES = "confidence, correct\n0.95, 1\n0.90, 1\n0.80, 0\n0.60, 1\n0.40, 0"
POSTERIORS = (
    "label, p_0, p_1, p_2\n0, 0.7, 0.2, 0.1\n2, 0.1, 0.1, 0.8\n0, 0.3, 0.4, 0.3\n1, 0.2, 0.6, 0.2"
)
HELP = "Columns confidence, correct; or label, p_0, p_1, ..: the true class and the probability of each."

metric = evaluate.load(str(HERE / "ecuas.py"))
# Evaluate's copy of ecuas.py, with the functions that it imports
core = sys.modules[type(metric).__module__]
ARROWS = {True: "↑", False: "↓", None: ""}
NAMESPACE = "<namespace>"  # publishing writes the real one here
PAPER = "https://arxiv.org/abs/2605.20490"
HUB = "https://huggingface.co"
LINKS = f"[Paper]({PAPER})"
DEMO = "the demo, the folder “space” of the source repository"
if not NAMESPACE.startswith("<"):
    DEMO = f"the demo, {HUB}/spaces/{NAMESPACE}/ecuas-demo"
    LINKS += f" · [Compare systems in the demo]({HUB}/spaces/{NAMESPACE}/ecuas-demo)"
    LINKS += f" · [Dataset]({HUB}/datasets/{NAMESPACE}/triviaqa-curated)"
OTHER_FORM = f"This page reads two forms only. {HELP} For all others see {DEMO}."
THEME = gr.themes.Default(  # that of the demo, which is not beside this file on the Hub
    primary_hue="blue", font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
).set(
    button_primary_background_fill="*primary_600",
    button_primary_background_fill_hover="*primary_700",
    body_text_color_subdued="*neutral_500",
    block_info_text_color="*neutral_500",
    body_text_color_subdued_dark="*neutral_300",
    block_info_text_color_dark="*neutral_300",
    link_text_color_dark="*primary_400",
)
WORDS = {  # arguments, and ids of advice, of the metric -> the page's own words
    "references": "The truth",
    "pass_posteriors": "Class labels? Then the other columns must be the probabilities of all classes.",
    "logits_not_exponentials": "Logits? This page takes probabilities.",
    "set_missing_confidence": "Missing confidences? Fill them in, or leave out their lines.",
    "name_form": "Logits or log-probabilities? This page takes probabilities.",
    "are_logits": "Logits? This page takes probabilities.",
    "choose_form": "Logits or log-probabilities? This page takes probabilities.",
}


# filled in, these escape what they are given
REFUSED = Markup("<p><b>This table cannot be scored.</b> {}</p>")
NOTE = Markup("<p><b>Note.</b> {}</p>")


def read_table(text: str) -> tuple[list[object], list[object]]:
    """Return predictions and references of a pasted table of one of the two forms; any other is refused."""
    first_line = text.strip().partition("\n")[0]
    separator = "\t" if "\t" in first_line else ","
    table = pd.read_csv(io.StringIO(text), sep=separator, skipinitialspace=True)
    names = set(table.columns)
    is_whole = isinstance(table.index, pd.RangeIndex)  # else rows are longer than the header
    if not is_whole or not all(map(pd.api.types.is_numeric_dtype, table.dtypes)):
        raise ValueError(f"There must be a header, and below it numbers alone. {OTHER_FORM}")
    if names == {"confidence", "correct"}:
        return table["confidence"].tolist(), table["correct"].tolist()
    for prefix in ("p", "prob"):
        classes = [f"{prefix}_{i}" for i in range(len(names) - 1)]
        if len(classes) > 1 and names == {"label", *classes}:
            return table[classes].to_numpy().tolist(), table["label"].tolist()
    raise ValueError(OTHER_FORM)


def score_rows(
    table: str, n: str = "0, 1, 128", normalize: bool = False
) -> tuple[pd.DataFrame, Markup]:
    """Compute all metrics of the system in `table`; the message is empty, or says what is wrong or worth knowing."""
    words = WORDS
    try:
        predictions, references = read_table(table)
        options = core.checked_options(n=_numbers(n), normalize=normalize)
        form = "posteriors" if isinstance(predictions[0], list) else "confidences"
        words = WORDS | {
            "predictions": "The probabilities" if form == "posteriors" else "The confidences"
        }
        checked = core.FORM_CHECKS[form](predictions, references)
        results = core.compute_results(core.prepare_with_judge(form, *checked, options))
    except core.InputError as error:
        return _table({}), REFUSED.format(error.render(words))
    except (ValueError, TypeError) as error:  # pandas' errors of a malformed table are ValueErrors
        return _table({}), REFUSED.format(error)
    notes = (NOTE.format(note.render(words)) for note in results.notes)
    return _table(results.estimates), Markup().join(notes)


def card() -> str:
    """Return the metric card without its front matter."""
    return (HERE / "README.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").replace(";", " ").split()]
    except ValueError:
        raise core.InputError("n", "not_numbers_and_commas", value=text) from None


def _table(estimates: Mapping[Any, Any]) -> pd.DataFrame:
    names = [
        f"{key} {ARROWS[core.METRICS[key.metric].higher_is_better]}".rstrip() for key in estimates
    ]
    return pd.DataFrame(
        {"metric": names, "value": [f"{one.value:.3f}" for one in estimates.values()]}
    )


with gr.Blocks(title="ECUAS") as demo:
    gr.Markdown(
        "# ECUAS_n: the expected cost of a system that says how sure it is\n"
        f"0 is perfect, 1 is what rejecting every answer costs. Arrows: ↓ lower is better, ↑ higher.\n\n{LINKS}"
    )
    with gr.Row():
        with gr.Column():
            table = gr.Textbox(CONFIDENCES, label="Table", info=HELP, lines=10, max_lines=20)
            gr.Examples(
                [[CONFIDENCES], [POSTERIORS]], table, example_labels=["Confidences", "Posteriors"]
            )
            info = "One or several numbers >= 0; the smaller n, the more a confident mistake costs"
            n = gr.Textbox("0, 1, 128", label="n", info=info)
            normalize = gr.Checkbox(
                label="Normalize", info="Divide by the value of a system that ignores its input"
            )
            button = gr.Button("Compute", variant="primary")
        with gr.Column():
            message = gr.HTML("")
            values = gr.Dataframe(score_rows(CONFIDENCES)[0], label="Metrics", interactive=False)
    gr.Markdown(card())
    button.click(score_rows, [table, n, normalize], [values, message], api_name="score")

if __name__ == "__main__":
    demo.launch(theme=THEME)
