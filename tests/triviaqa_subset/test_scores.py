"""Scores of two of the paper's classifiers: from the dataset to the paper's numbers."""

import pandas as pd
import pytest

from ecuas_metric import score_posteriors
from examples import paper
from triviaqa_subset.folders import FOLDER

MODELS = {"gpt2": "GPT-2 (0-shot)", "gpt2_4shot": "GPT-2 (4-shot)"}


@pytest.mark.parametrize("system", MODELS)
def test_they_give_what_the_paper_prints(system):
    rows = pd.read_parquet(FOLDER / "data" / "scores.parquet").query("system == @system")
    values = score_posteriors(
        rows["label"].to_numpy(),
        rows["logits"].tolist(),
        predictions_are="logits",
        normalize=True,
    )
    printed = paper.printed_rows()[("SST-2", MODELS[system], "raw")]
    shown = {
        "normalized_error_rate": "norm_error_rate",
        **{name: name for name in ("ece", "auroc", "aurc")},
        **{f"normalized_ecuas_{n}": f"norm_ecuas_{n}" for n in (0, 1, 128)},
    }
    for key, column in shown.items():
        assert values[key] == pytest.approx(printed[column], abs=1e-4), key


def test_their_licence_goes_with_them():
    text = (FOLDER / "data" / "scores_LICENSE.txt").read_text("utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) 2023 Luciana Ferrer\n")
    assert text == (FOLDER / "curation" / "scores_LICENSE.txt").read_text("utf-8")
