import ast
from pathlib import Path

import pytest
from gradio_client import Client

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*silent_downcasting", "ignore:The copy keyword"),
]


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


@pytest.mark.parametrize(
    ("table", "n", "message"),
    [
        ("confidence, correct\n90, 1\n80, 0", "0", "Percentages? Divide by 100."),
        ("0.9, 1\n0.8", "0", "nan"),
        ("", "0", "The table is empty."),
        ("0.9\n0.8", "0", "at least two columns"),
        ("0.9, yes\n0.8, no", "0", "Unable to parse string"),
        ("0.9, 1\n0.8, 0", "-1", "n must be >= 0"),
        ("0.9, 1\n0.8, 0", "many", "n takes numbers, separated by commas; got 'many'."),
        ("0.9, 1\n0.8, 0", "", "n must not be empty; got shape (0,)."),
        ("0.9, 2\n0.8, 1", "0", "Class labels? Then each line must begin with the probability of every class."),
        ("0.9, 0.2, 1", "0", "The probabilities must have rows that sum to 1 (tolerance 0.001); got 1.1 at index 0"),
        (", 1\n0.8, 0", "0", "The confidences must not be NaN; got nan at index 0 (1 of 2). Missing confidences? Fill"),
    ],
)
def test_bad_input_shows_its_error(app, table, n, message):
    values, shown = app.score_rows(table, n)
    assert values.empty
    assert shown.startswith("**This table cannot be scored.**")
    assert message in shown


def test_notes_are_shown_through_the_server(app):
    app.demo.launch(prevent_thread_lock=True, server_name="127.0.0.1", quiet=True)
    values, message = Client(app.demo.local_url, verbose=False).predict("0.9, 1\n0.8, 1", "0", True, api_name="/score")
    app.demo.close()
    assert values["headers"] == ["metric", "value"]
    assert "**Note.** auroc is nan" in message
    assert "**Note.** The naive system costs nothing" in message


@pytest.mark.parametrize(
    "table",
    [
        *(f"0.9{separator}1\n0.4{separator}0" for separator in (",", "\t", ";", "  ")),
        *(f"confidence{separator}correct\n0.9{separator}1\n0.4{separator}0" for separator in (",", "\t", ";", "  ")),
        "confidence;correct\n0,9;TRUE\n0,4;FALSE",  # as pasted from spreadsheets
        "id,correct,Confidence\n7,1,0.9\n8,0,0.4",
    ],
)
def test_any_separator_with_and_without_a_header(table, app):
    assert app.read_table(table) == ([0.9, 0.4], [1, 0])


def test_the_page_needs_nothing_that_is_not_beside_it_on_the_hub(app):
    tree = ast.parse(Path(app.__file__).read_text(encoding="utf-8"))
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    origins = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules | origins == {*("io", "sys", "collections.abc", "pathlib", "typing", "evaluate", "gradio", "pandas")}
    assert app.core.__name__.startswith("evaluate_modules.")
