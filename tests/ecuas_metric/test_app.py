import ast
import re
from html import unescape
from pathlib import Path

import pytest
from gradio_client import Client

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore:.*silent_downcasting", "ignore:The copy keyword"
    ),
]


HEADER = "confidence, correct\n"


@pytest.fixture(scope="module")
def app():
    """The module of the page, which imports Gradio for seconds: not in processes that do not test it."""
    from ecuas_metric import app

    return app


@pytest.mark.parametrize("example", ["CONFIDENCES", "POSTERIORS"])
def test_scores_both_forms_as_the_metric_does(app, example):
    table = getattr(app, example)
    values, message = app.score_rows(table, "0, 1")
    predictions, references = app.read_table(table)
    expected = app.metric.compute(predictions=predictions, references=references, n=[0, 1])
    shown = dict(values.to_numpy())
    assert {key.split(" ")[0]: value for key, value in shown.items()} == {
        key: f"{value:.3f}" for key, value in expected.items()
    }
    assert {"ecuas_0 ↓", "auroc ↑"} <= shown.keys()
    assert message == ""


FORMS = [  # other forms, which an own reader would guess at, and what is no table
    *(
        "",
        "0.9, 1\n0.8, 0",
        "0.9, 1\n0.8",
        "confidence, correct\n0.9, yes",
        "confidence, correct\n0.9, 1, 0\n0.8, 1, 1",
    ),
    *(
        "p_1, label\n0.9, 1\n0.2, 0",
        "uncertainty, correct\n0.1, 1",
        "system, confidence, correct\n1, 0.9, 1",
    ),
    *(
        "confidence, correct, weight\n0.9, 1, 2",
        "confidence; correct\n0,9; 1",
        "label, p_1, p_2\n1, 0.4, 0.6",
    ),
]


@pytest.mark.parametrize(
    "table, n, message",
    [
        *((table, "0", "") for table in FORMS),
        ("confidence, correct\n90, 1\n80, 0", "0", "Percentages? Divide by 100."),
        (f"{HEADER}0.9, 1\n0.8, 0", "-1", "n must be >= 0"),
        (f"{HEADER}0.9, 1\n0.8, 0", "many", "n takes numbers, separated by commas; got 'many'."),
        (f"{HEADER}0.9, 1\n0.8, 0", "<u>x</u>", "separated by commas; got '<u>x</u>'."),
        (f"{HEADER}0.9, 1\n0.8, 0", "", "n must not be empty; got shape (0,)."),
        (
            f"{HEADER}0.9, 2\n0.8, 1",
            "0",
            "Class labels? Then the other columns must be the probabilities of all",
        ),
        (f"{HEADER}0.9, 1\n0.8,", "0", "nan"),
        (
            "p_0, p_1, label\n0.9, 0.2, 1",
            "0",
            "The probabilities must have rows that sum to 1 (tolerance 0.001); got 1.1",
        ),
        (
            f"{HEADER}, 1\n0.8, 0",
            "0",
            "The confidences must not be NaN; got nan at index 0 (1 of 2). Missing confidences?",
        ),
    ],
)
def test_what_it_does_not_read_is_refused(app, table, n, message):
    values, shown = app.score_rows(table, n)
    assert values.empty
    assert shown.startswith("<p><b>This table cannot be scored.</b> ")
    assert set(re.findall(r"<(\w+)", shown)) == {"p", "b"}
    assert message in unescape(shown)
    assert table not in FORMS or "the folder “space”" in shown or not table


def test_notes_are_shown_through_the_server(app):
    app.demo.launch(prevent_thread_lock=True, server_name="127.0.0.1", quiet=True)
    values, message = Client(app.demo.local_url, verbose=False).predict(
        f"{HEADER}0.9, 1\n0.8, 1", "0", True, api_name="/score"
    )
    app.demo.close()
    assert values["headers"] == ["metric", "value"]
    assert "<b>Note.</b> auroc is nan" in message
    assert "<b>Note.</b> The naive system costs nothing" in message


@pytest.mark.parametrize("separator", [",", ", ", "\t"])
def test_columns_may_stand_in_any_order(separator, app):
    read = app.read_table("correct,confidence\n1,0.9\n0,0.4".replace(",", separator))
    assert read == ([0.9, 0.4], [1, 0])
    assert app.read_table("prob_1,prob_0,label\n0.9,0.1,1\n") == ([[0.1, 0.9]], [1])


def test_the_page_needs_nothing_that_is_not_beside_it_on_the_hub(app):
    tree = ast.parse(Path(app.__file__).read_text("utf-8"))
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    origins = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules | origins == {
        *(
            "io",
            "sys",
            "collections.abc",
            "pathlib",
            "typing",
            "evaluate",
            "gradio",
            "pandas",
            "markupsafe",
        )
    }
    assert app.core.__name__.startswith("evaluate_modules.")
