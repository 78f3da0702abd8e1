"""The selection of the subset: how many questions, and their weights; releases are tested with the build."""

import numpy as np
import pandas as pd
import pytest

from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import read_labels
from triviaqa_subset.selection import check_ours, weights


def test_another_selection_than_the_first_kept_is_refused():
    questions = read_labels(FOLDER / "curation").questions
    questions.loc[questions["selected"].idxmax(), "selected"] = False
    with pytest.raises(ValueError, match=r"^questions: selected must be 1 for the first \{.*\} kept .*; got '\w+' at"):
        check_ours(questions)


def test_weights_are_inverse_sampling_rates():
    questions = pd.DataFrame(
        {"stratum": ["exact_match_all"] * 4 + ["reviewed"] * 8, "decision": ["keep"] * 10 + ["discard"] * 2}
    )
    selected = pd.Series([True] * 3 + [False] + [True] * 2 + [False] * 6)
    expected = [(4 / 10) / (3 / 5)] * 3 + [np.nan] + [(6 / 10) / (2 / 5)] * 2 + [np.nan] * 6
    np.testing.assert_allclose(weights(questions, selected), expected, rtol=1e-15)


def test_weights_need_every_stratum():
    questions = pd.DataFrame({"stratum": ["exact_match_all", "reviewed"], "decision": ["keep", "keep"]})
    with pytest.raises(
        ValueError, match=r"^the selection must have questions of every stratum; got none of reviewed\.$"
    ):
        weights(questions, pd.Series([True, False]))
