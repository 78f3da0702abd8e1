import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ecuas_metric.inputs import (
    check_distributions,
    clip_to_unit_interval,
    parse_confidences,
    parse_costs,
    parse_numbers,
    parse_posteriors,
)
from ecuas_metric.messages import ADVICE

NAN = float("nan")
INF = float("inf")
LENGTH = "predictions must have rows of one length (2 in the first); got"
LABELS = "references must be labels in [0, 2); got"
LOGIT = "predictions must have a finite logit in each row; got"
NON_NEGATIVE = "must be finite and non-negative; got"
UNIT = "predictions must lie in [0, 1]; got"
SUMS = "predictions must have rows that sum to 1 (tolerance 0.001); got"
FINITE = "predictions must be finite, or -inf for a probability of 0; got"
TRUTH = "references must be 0 (incorrect) or 1 (correct); got"


@pytest.mark.parametrize(
    "check, predictions, references, message",
    [
        (
            parse_confidences,
            [0.1, 87.0, 12.0],
            [1] * 3,
            f"{UNIT} 87.0 at index 1 (2 of 3). {ADVICE['divide_by_100']}",
        ),
        (
            parse_confidences,
            [-0.3, -0.2],
            [1, 1],
            f"{UNIT} -0.3 at index 0 (2 of 2). {ADVICE['exponentiate']}",
        ),
        (parse_confidences, [0.2, INF], [1, 0], f"{UNIT} inf at index 1 (1 of 2)."),
        (
            parse_confidences,
            [0, 2, 1],
            [0, 2, 2],
            f"{UNIT} 2.0 at index 1 (1 of 3). {ADVICE['pass_posteriors']}",
        ),
        (
            parse_confidences,
            [0.2, 0.3],
            [1, 2],
            f"{TRUTH} 2 at index 1 (1 of 2). {ADVICE['pass_posteriors']}",
        ),
        (
            parse_confidences,
            [0.2, 0.3],
            [0.5, 1],
            f"{TRUTH} 0.5 at index 0 (1 of 2). {ADVICE['choose_lowest_grade']}",
        ),
        (
            parse_confidences,
            [0.2, 0.3],
            [-1, 1],
            f"{TRUTH} -1 at index 0 (1 of 2). {ADVICE['write_1_for_right']}",
        ),
        (
            parse_confidences,
            [1, 0],
            [0.2, 0.9],
            f"{TRUTH} 0.2 at index 0 (2 of 2). {ADVICE['swap_arguments']}",
        ),
        (
            parse_confidences,
            [0.2, 0.3],
            [NAN, 1],
            f"{TRUTH} nan at index 0 (1 of 2). No label? Leave these answers out, which makes most systems look better "
            "than they are, or count them as wrong, 0; of a file, read_submissions gives bounds with "
            "unlabelled='bounds'.",
        ),
        (parse_confidences, [], [], "predictions must not be empty; got shape (0,)."),
        (
            parse_confidences,
            [0.2, "x", None],
            [1, 0, 1],
            "predictions must be numbers; got 'x' at index 1.",
        ),
        (
            parse_confidences,
            [10**400],
            [1],
            "predictions must be numbers of float64; got one of 401 digits.",
        ),
        (parse_confidences, None, [1], "predictions must be one-dimensional; got shape ()."),
        (parse_posteriors, [[1, 0], [1]], [0, 1], f"{LENGTH} 1 at index 1."),
        (
            parse_posteriors,
            [[1]],
            [0],
            f"predictions must have K >= 2 classes; got shape (1, 1). {ADVICE['pass_flat_list']}",
        ),
        (
            parse_posteriors,
            [[0.5, 0.5]],
            [2],
            f"{LABELS} 2 at index 0 (1 of 1). {ADVICE['count_from_0']}",
        ),
        (
            parse_posteriors,
            [[0.5, 0.5]],
            [-1],
            f"{LABELS} -1 at index 0 (1 of 1). {ADVICE['count_from_0']}",
        ),
        (
            parse_posteriors,
            [[0.5, 0.5]],
            [0.5],
            "references must be whole numbers; got 0.5 at index 0 (1 of 1).",
        ),
        (parse_posteriors, [[], []], [0, 1], "predictions must not be empty; got shape (2, 0)."),
        (parse_costs, [0.1, -0.1], [0, 1], f"predictions {NON_NEGATIVE} -0.1 at index 1 (1 of 2)."),
        (parse_costs, [NAN, INF], [0, 1], f"predictions {NON_NEGATIVE} nan at index 0 (2 of 2)."),
        (parse_costs, [0.1, 0.1], [0, INF], f"references {NON_NEGATIVE} inf at index 1 (1 of 2)."),
    ],
)
def test_arrays_that_are_not_of_their_form_are_refused(check, predictions, references, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(predictions, references)


@pytest.mark.parametrize(
    "form, rows, message",
    [
        (
            "probabilities",
            [[0.5, 0.5], [0.5, 0.4]],
            f"{SUMS} 0.9 at index 1 (1 of 2). Are classes missing? Each row needs the probability of every class.",
        ),
        (
            "probabilities",
            [[0.33, 0.66], [0.5, 0.5]],
            f"{SUMS} 0.99 at index 0 (1 of 2). {ADVICE['divide_by_sums']}",
        ),
        (
            "probabilities",
            [[2.0, -1.0], [0.5, 0.5]],
            f"{UNIT} 2.0 at index (0, 0) (1 of 2). {ADVICE['are_logits']}",
        ),
        (
            "probabilities",
            [[90.0, 10.0], [50.0, 49.9]],
            f"{UNIT} 90.0 at index (0, 0) (2 of 2). {ADVICE['divide_by_100']}",
        ),
        (
            "probabilities",
            [[0.5, 0.5], [0.5, NAN]],
            "predictions must not be NaN; got nan at index (1, 1) (1 of 2).",
        ),
        (
            "log_probabilities",
            [[-1.0, -1.0]],
            f"{SUMS} 0.7357588823428847 at index 0 (1 of 1). {ADVICE['logits_not_exponentials']}",
        ),
        ("logits", [[0.0, INF]], f"{FINITE} inf at index (0, 1) (1 of 1)."),
        ("logits", [[0, 1], [-INF, -INF]], f"{LOGIT} -inf at index (1, 0) (1 of 2)."),
    ],
)
def test_rows_that_are_no_distribution_are_refused(form, rows, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_distributions(np.array(rows), predictions_are=form)


MASKED = np.ma.masked_array([0.1, 0.9], mask=[False, True])
ROWS = [[0.7, 0.3], [0.4, 0.6]]
SERIES = pd.Series([1, 0, 1], index=["a", "b", "c"])


@pytest.mark.parametrize(
    "values, expected",
    [
        ([1 - 1e-15], [1 - 1e-15]),
        (np.array([0.9, None, 0.4], dtype=object), [0.9, NAN, 0.4]),
        *(
            (missing, [0.1, NAN])
            for missing in ([0.1, None], pd.Series([0.1, None], index=[7, 9]), MASKED)
        ),
        (pd.array([0.1, pd.NA], dtype="Float64"), [0.1, NAN]),
        *(
            (lists, ROWS)
            for lists in (
                pd.Series(ROWS),
                pd.Series([np.array(row) for row in ROWS]),
                pa.array(ROWS),
            )
        ),
        *(
            (ones, [1, 0, 1])
            for ones in ((True, False, True), np.array([1.0, 0, 1]), SERIES, SERIES.astype("Int64"))
        ),
    ],
)
def test_equal_values_in_any_container_are_equal_arrays_and_missing_ones_are_nan(values, expected):
    before = str(list(values))
    np.testing.assert_array_equal(parse_numbers(values, "predictions"), expected)
    assert str(list(values)) == before


def test_tensors_are_taken():
    """Gradients and bfloat16 must be taken off first."""
    torch = pytest.importorskip("torch")
    said = torch.tensor([0.25, 0.5], dtype=torch.bfloat16, requires_grad=True)
    assert [values.tolist() for values in parse_confidences(said, torch.tensor([1, 0]))] == [
        [0.25, 0.5],
        [1, 0],
    ]


def test_what_lies_outside_by_rounding_is_clipped_and_noted():
    values, (note,) = clip_to_unit_interval(np.array([1 + 1e-6, -1e-9, 0.5, NAN]))
    np.testing.assert_array_equal(values, [1, 0, 0.5, NAN])
    assert note.id == "clipped"
    assert "2 of 4 predictions" in note.fact
    assert clip_to_unit_interval(np.array([0.0, 1.0])) == (pytest.approx([0, 1]), ())
    with pytest.raises(ValueError, match="must lie in"):
        parse_confidences([1 + 2e-6, 0.5], [1, 0])
