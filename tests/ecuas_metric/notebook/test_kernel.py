"""Real notebooks, run by Jupyter's own client."""

import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

pytestmark = pytest.mark.e2e
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
CELLS = {
    "verdict": "import pandas\nfrom ecuas_metric import *\nframe = pandas.read_csv('both.csv')\n"
    "rows = compare_systems(frame)\nrows",
    "report": "report = make_report(frame, progress=True)\nreport",
    "numbers": "score_frame(frame, confidence_level=0.95)",
    "figure": "rows.plot()",
    "figure of sums": "score_frame(frame).plot()",
    "pyplot imported": "import matplotlib.pyplot as plt\nrows.plot('order')",
    "axes of pyplot": "figure, (left, right) = plt.subplots(1, 2)\n_ = rows.plot(ax=left)\n"
    "_ = report.plot('reliability', ax=right)",
    "with magic": "%matplotlib inline\nrows.plot()",
    "with magic, not the last": "rows.plot();",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Run all cells in one notebook; return what each left."""
    folder = tmp_path_factory.mktemp("notebook")
    rng = np.random.default_rng(0)
    parts = []
    for name, power in (("sharp", 1), ("vague", 3)):
        confidence = rng.random(200).round(3)
        columns = {"system": name, "id": range(200), "confidence": confidence}
        correct = rng.random(200) < confidence**power
        parts.append(pd.DataFrame({**columns, "correct": correct.astype(int)}))
    pd.concat(parts).to_csv(folder / "both.csv", index=False)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def pictures(outputs):
    """Return the pictures among outputs."""
    found = [output.get("data", {}).get("image/png") for output in outputs]
    return [Image.open(io.BytesIO(base64.b64decode(one))) for one in found if one]


def test_nothing_is_written_beside_results(outputs):
    streams = [
        one for of_cell in outputs.values() for one in of_cell if one.output_type == "stream"
    ]
    assert streams == []


@pytest.mark.parametrize("cell", ["verdict", "report", "numbers"])
def test_a_result_is_html_beside_its_text(outputs, cell):
    (output,) = outputs[cell]
    assert {*output.data} == {"text/plain", "text/html"}
    assert "sharp" in output.data["text/html"]
    assert "SummaryResults(" not in output.data["text/plain"]


@pytest.mark.parametrize(
    "cell", ["figure", "figure of sums", "pyplot imported", "axes of pyplot", "with magic"]
)
def test_a_figure_is_shown_once(outputs, cell):
    (picture,) = pictures(outputs[cell])
    shades = np.asarray(picture.convert("L"))
    assert shades.shape[0] > 200
    assert len(np.unique(shades)) > 20  # something is drawn


def test_a_semicolon_shows_nothing(outputs):
    assert outputs["with magic, not the last"] == []
