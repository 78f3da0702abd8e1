import dataclasses
import math
import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import __version__, score_confidences
from ecuas_metric.basis import make_options_basis
from ecuas_metric.inputs import POSTERIOR_FORMS
from ecuas_metric.options import (
    DEFAULTS,
    OPTIONS,
    PER_SAMPLE,
    Options,
    checked_options,
    is_set,
)
from tests.ecuas_metric.systems import EVERY_OPTION, compute


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("n", [0, float("nan")], "n must be >= 0 (inf allowed); got nan at index 1 (1 of 2)."),
        ("n", [], "n must not be empty; got shape (0,)."),
        ("n", [1, 1.0000001], "n must differ in their first six digits; got 1 more than once."),
        ("n", [[0, 1]], "n must be one-dimensional; got shape (1, 2)."),
        ("reject_costs", -1, "reject_costs must be >= 0; got -1.0 at index 0 (1 of 1)."),
        ("decompose", 1, "decompose must be True or False; got 1."),
        ("num_classes", 1, "num_classes must be a whole number in [2, inf]; got 1."),
        ("num_classes", 2.5, "num_classes must be a whole number in [2, inf]; got 2.5."),
        (
            "predictions_are",
            "odds",
            f"predictions_are must be one of {str(POSTERIOR_FORMS)[1:-1]}; got 'odds'.",
        ),
        (
            "cost",
            "quadratic",
            "cost must be one of 'zero_one', 'log', 'absolute', 'squared'; got 'quadratic'.",
        ),
        ("missing_confidence", 2, "missing_confidence must be a number in [0, 1]; got 2."),
        ("n_bins", 0, "n_bins must be a whole number in [1, 2.14748e+09]; got 0."),
        ("n_resamples", 0, "n_resamples must be a whole number in [1, 2.14748e+09]; got 0."),
        ("random_state", -1, "random_state must be a whole number in [0, 9.22337e+18]; got -1."),
        ("confidence_level", 1, "confidence_level must be a number in (0, 1); got 1."),
        ("confidence_level", 100, "confidence_level must be a number in (0, 1); got 100."),
        (
            "confidence_level",
            90,
            "confidence_level must be a number in (0, 1); got 90. A percentage? Write 0.9.",
        ),
        (
            "confidence_level",
            0.05,
            "confidence_level must be at least 0.5, the share of such intervals that hold the true value; got 0.05. "
            "Did you mean 0.95?",
        ),
        ("epsilon", 0.5, "epsilon must be a number in (0, 0.5); got 0.5."),
        ("max_uncertainty", 0, "max_uncertainty must be a number in (0, inf); got 0."),
        (
            "sample_weight",
            [1, -1],
            "sample_weight must be finite and non-negative; got -1 at index 1 (1 of 2).",
        ),
        ("sample_weight", [[1, 1]], "sample_weight must be one-dimensional; got shape (1, 2)."),
        ("sample_weight", [0, 0], "sample_weight must not be all zero; got 2 zeros."),
        (
            "confidence_level",
            np.array([0.9]),
            "confidence_level must be a number in (0, 1); got array([0.9]).",
        ),
    ],
)
def test_values_out_of_range_are_refused(option, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        checked_options(**{option: value})


MISSING = {
    "None": ["a", None],
    "nan": [1.0, np.nan],
    "<NA>": pd.array(["a", pd.NA]),
    "None ": np.array(["2026-01-01", "NaT"], np.datetime64),
}


@pytest.mark.parametrize("got", MISSING)
def test_groups_name_one_for_every_sample(got):
    message = f"groups must name one for every sample; got {got.strip()} at index 1 (1 of 2)."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        checked_options(groups=MISSING[got])


def test_an_unknown_option_names_the_known_ones():
    with pytest.raises(
        TypeError,
        match=r"^There is no option 'verbose'\. It takes n, num_classes, .*sample_weight",
    ):
        checked_options(verbose=10)
    for name in OPTIONS:
        with pytest.raises(TypeError, match=f"Did you mean '{name}'"):
            checked_options(**{f"{name}s": 1})


SYSTEMS = {
    "confidences": (np.array([0.9, 0.2]), np.array([1, 0])),
    "posteriors": (np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 1])),
    "costs": (np.array([0.9, 0.2]), np.array([0.0, 2.5])),
}
REJECT = "reject_costs must lie in [0, 0.9], the largest sensible uncertainty; got"
MATRIX = "cost must be 'zero_one', 'log' or have shape (2, D), one row per class; got"
COSTS = "cost must be finite and non-negative; got"
SHAPE = "predictions must have shape (N,) where they are positive_probabilities; got"


@pytest.mark.parametrize(
    "form, options, message",
    [
        (
            "posteriors",
            {"num_classes": 3},
            "num_classes requires confidences; the input is posteriors.",
        ),
        (
            "confidences",
            {"max_uncertainty": 1},
            "max_uncertainty requires costs; the input is confidences.",
        ),
        (
            "costs",
            {"normalize": True},
            "normalize requires confidences or posteriors; the input is costs.",
        ),
        (
            "costs",
            {},
            "max_uncertainty is missing: the uncertainty of a system that knows nothing.",
        ),
        *(
            ("confidences", {name: [1]}, f"predictions and {name} must have the same length")
            for name in PER_SAMPLE
        ),
        (
            "confidences",
            {"num_classes": 10, "reject_costs": [0.2, 0.91]},
            f"{REJECT} 0.91 at index 1 (1 of 2). It is a share of the cost of a wrong answer, such as 0.2.",
        ),
        ("posteriors", {"cost": [[0, 1]]}, f"{MATRIX} shape (1, 2)."),
        ("posteriors", {"cost": [[0, 1], [-1, 0]]}, f"{COSTS} -1.0 at index (1, 0) (1 of 4)."),
        ("posteriors", {"predictions_are": "positive_probabilities"}, f"{SHAPE} shape (2, 2)."),
        (
            "posteriors",
            {"predictions_are": "logits", "renormalize": True},
            "renormalize requires probabilities; got",
        ),
    ],
)
def test_options_that_do_not_fit_the_input_are_refused(form, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        compute(form, *SYSTEMS[form], checked_options(**options))


def test_the_largest_reject_cost_may_be_rounded():
    values = score_confidences([1, 0], [0.9, 0.5], num_classes=3, reject_costs=np.float32(2 / 3))
    assert values["expected_cost_0.666667"] == 0.5


def test_the_table_has_every_option_whose_default_is_none_or_passes_its_check():
    assert list(OPTIONS) == [field.name for field in dataclasses.fields(Options)]
    assert not any(is_set(checked_options(**dict.fromkeys(OPTIONS)), name) for name in OPTIONS)
    assert all(
        option.help[0].isupper() and option.help[-1] not in ".;" for option in OPTIONS.values()
    )
    assert str(checked_options(n=-0.0).n) == "(0.0,)"
    for name, option in OPTIONS.items():
        default = getattr(DEFAULTS, name)
        if default not in (None, ()):
            assert option.check(default, name) == default


def test_counts_are_kept_and_others_add_up_to_their_effective_number():
    assert checked_options(
        sample_weight=[2, 0, 3], weights_are="counts"
    ).sample_weight.tolist() == [2, 0, 3]
    for size in (1e-310, 1e-200, 100, 1e308):
        np.testing.assert_allclose(
            checked_options(sample_weight=[size, 0, size]).sample_weight, [1, 0, 1]
        )
    ours = checked_options(sample_weight=[0.1, 0.0, 0.3]).sample_weight
    assert ours == pytest.approx([0.4, 0, 1.2])  # 0.4^2 / (0.1^2 + 0.3^2) = 1.6
    for weight in (1.5, 2.0**53):
        message = (
            "^sample_weight must be whole numbers where weights_are='counts'; got .* at index 1"
        )
        with pytest.raises(ValueError, match=message):
            checked_options(sample_weight=[1, weight], weights_are="counts")


CHANGES_NO_NUMBER = {"normalize", "decompose"}  # they add keys
OF_INTERVALS = {
    "confidence_level",
    "interval_method",
    "n_resamples",
    "random_state",
    "groups",
    "strata",
}


@pytest.mark.parametrize("option", sorted(set(OPTIONS) - CHANGES_NO_NUMBER))
def test_every_option_a_number_depends_on_shows(option):
    base = {"confidence_level": 0.95} if option in OF_INTERVALS else {}
    if option in ("n_resamples", "random_state"):
        base["interval_method"] = "percentile"
    changed = checked_options(**base | {option: EVERY_OPTION[option]})
    assert signature(changed) != signature(checked_options(**base))


def signature(options):
    return str(make_options_basis(options))


def test_numbers_are_signed_in_full_in_order_and_whatever_their_type():
    def sign(**options):
        return signature(checked_options(confidence_level=0.95, **options))

    assert sign(n=0.1234567) != sign(n=0.12345674)
    assert (
        sign(cost=[[0, 1], [1, 0]])
        == sign(cost=np.array([[0.0, 1], [1, 0]]))
        != sign(cost=[[0, 2], [1, 0]])
    )
    for name in ("sample_weight", "groups"):
        assert (
            sign(**{name: [1, 2, 3]})
            == sign(**{name: np.array([1.0, 2.0, 3.0])})
            != sign(**{name: [3, 2, 1]})
        )
    line = sign(max_uncertainty=1.6)  # graded input has no classes
    assert "|cost:graded|" in line
    assert "|K:" not in line


def test_it_is_one_line_of_named_parts():
    line = signature(checked_options(**EVERY_OPTION))
    assert re.fullmatch(r"ecuas(\|[a-zA-Z]+:[^|\n]+)+", line)
    assert line.endswith(f"|v:{__version__}")


@pytest.mark.parametrize("spread", [0, 1, 8, 300], ids="by 1e{}".format)
def test_weights_are_scaled_by_the_same_number_in_any_order(spread, rng):
    """The sum over the sum of squares, of weights relative to the largest, as exact sums have it."""
    weights = 10 ** (-spread * rng.random(5000))
    scaled = checked_options(sample_weight=weights).sample_weight
    relative = weights / weights.max()
    scale = math.fsum(relative) / math.fsum(relative**2)
    np.testing.assert_allclose(scaled, relative * scale, rtol=1e-15)
    for _ in range(20):
        order = rng.permutation(len(weights))
        in_order = checked_options(sample_weight=weights[order]).sample_weight
        assert in_order.tobytes() == scaled[order].tobytes()
