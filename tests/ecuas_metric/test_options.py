import dataclasses
import re

import numpy as np
import pytest

from ecuas_metric.inputs import confidences
from ecuas_metric.options import (
    DEFAULTS,
    OPTIONS,
    Options,
    checked_options,
    cost_matrix,
    is_set,
    refuse_options_of_other_forms,
    require_reject_costs,
)
from ecuas_metric.results import prepare


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("n", -1, "n must be >= 0 (inf allowed); got -1.0 at index 0 (1 of 1)."),
        ("n", [0, float("nan")], "n must be >= 0 (inf allowed); got nan at index 1 (1 of 2)."),
        ("n", [], "n must not be empty; got shape (0,)."),
        ("n", "all", "n must be numbers; got 'all' at index 0."),
        ("n", [1, 1.0000001], "n must differ in their first six digits; got 1 more than once."),
        ("n", [[0, 1]], "n must be one-dimensional; got shape (1, 2)."),
        ("reject_costs", "a", "reject_costs must be numbers; got 'a' at index 0."),
        ("reject_costs", -1, "reject_costs must be >= 0; got -1.0 at index 0 (1 of 1)."),
        ("cost", [[0, 1], [1]], "cost must have rows of one length (2 in the first); got 1 at index 1."),
        ("normalize", "no", "normalize must be True or False; got 'no'."),
        ("decompose", 1, "decompose must be True or False; got 1."),
        ("num_classes", 1, "num_classes must be a whole number in [2, inf]; got 1."),
        ("num_classes", 2.5, "num_classes must be a whole number in [2, inf]; got 2.5."),
        (
            "predictions_are",
            "odds",
            "predictions_are must be one of 'probabilities', 'log_probabilities', 'logits', 'positive_probabilities'; "
            "got 'odds'.",
        ),
        ("cost", "quadratic", "cost must be one of 'zero_one', 'log'; got 'quadratic'."),
        ("missing_confidence", 2, "missing_confidence must be a number in [0, 1]; got 2."),
        ("n_bins", 0, "n_bins must be a whole number in [1, 2.14748e+09]; got 0."),
        ("n_bins", 2.5, "n_bins must be a whole number in [1, 2.14748e+09]; got 2.5."),
        ("epsilon", 0, "epsilon must be a number in (0, 0.5); got 0."),
        ("epsilon", 0.5, "epsilon must be a number in (0, 0.5); got 0.5."),
        ("max_uncertainty", 0, "max_uncertainty must be a number in (0, inf); got 0."),
    ],
)
def test_values_out_of_range_are_refused(option, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        checked_options(**{option: value})


def test_an_unknown_option_names_the_known_ones():
    with pytest.raises(TypeError, match=r"^compute takes no option 'bins'; it takes n, num_classes, .*sample_weight"):
        checked_options(bins=10)


@pytest.mark.parametrize(
    ("form", "option", "value", "message"),
    [
        ("posteriors", "num_classes", 3, "num_classes requires confidences; the input is posteriors."),
        ("confidences", "cost", "log", "cost requires posteriors; the input is confidences."),
        ("confidences", "cost", np.eye(2), "cost requires posteriors; the input is confidences."),
        ("confidences", "decisions", [0], "decisions requires posteriors; the input is confidences."),
        ("costs", "predictions_are", "logits", "predictions_are requires posteriors; the input is costs."),
        ("confidences", "max_uncertainty", 1, "max_uncertainty requires costs; the input is confidences."),
        ("costs", "normalize", True, "normalize requires confidences or posteriors; the input is costs."),
        ("posteriors", "missing_confidence", 0.5, "missing_confidence requires confidences; the input is posteriors."),
    ],
)
def test_options_that_mean_nothing_for_the_input_are_refused(form, option, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        refuse_options_of_other_forms(form, checked_options(**{option: value}))


@pytest.mark.parametrize("values", [[0.2, 0.91], [np.inf]])
def test_reject_costs_outside_the_range_of_uncertainties_are_refused(values):
    with pytest.raises(
        ValueError, match=r"^reject_costs must lie in \[0, 0\.9\], the largest sensible uncertainty; got"
    ):
        require_reject_costs(checked_options(reject_costs=values).reject_costs, max_uncertainty=0.9)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], "cost must be 'zero_one', 'log' or have shape (2, D), one row per class; got shape (1, 2)."),
        ([0, 1], "cost must be 'zero_one', 'log' or have shape (2, D), one row per class; got shape (2,)."),
        ([[0, 1], [-1, 0]], "cost must be finite and non-negative; got -1 at index (1, 0) (1 of 4)."),
        ([[0, np.inf], [1, 0]], "cost must be finite and non-negative; got inf at index (0, 1) (1 of 4)."),
    ],
)
def test_cost_matrices_are_checked(matrix, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        cost_matrix(matrix, num_classes=2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "sample_weight must be finite and non-negative; got -1 at index 1 (1 of 2)."),
        ([1, np.nan], "sample_weight must be finite and non-negative; got nan at index 1 (1 of 2)."),
        ([0, 0], "sample_weight must not be all zero; got 2 zeros."),
    ],
)
def test_weights_are_checked(weights, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        checked_options(sample_weight=weights)


@pytest.mark.parametrize("name", ["sample_weight", "groups", "strata"])
def test_there_is_one_value_for_each_sample(name):
    message = f"^predictions and {name} must have the same length; got 2 and 1\\.$"
    with pytest.raises(ValueError, match=message):
        prepare("confidences", *confidences([0.1, 0.2], [0, 1]), checked_options(**{name: [1]}))


def test_the_table_has_every_option_and_none_asks_for_the_default():
    assert list(OPTIONS) == [field.name for field in dataclasses.fields(Options)]
    assert not any(is_set(checked_options(**dict.fromkeys(OPTIONS)), name) for name in OPTIONS)
    assert all(option.help[0].isupper() and option.help[-1] not in ".;" for option in OPTIONS.values())


def test_a_default_passes_its_own_check():
    for name, option in OPTIONS.items():
        default = getattr(DEFAULTS, name)
        if default not in (None, ()):
            assert option.check(default, name) == default


def test_options_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        checked_options().n = (1,)


def test_minus_0_is_0():
    assert str(checked_options(n=-0.0).n) == "(0.0,)"


def test_weights_of_any_size_are_weights():
    for size in (1e-310, 1e-200, 1e308):
        np.testing.assert_allclose(checked_options(sample_weight=[size, size, 0]).sample_weight, [1, 1, 0])


def test_a_missing_group_is_an_error():
    for values in (["a", None], [1.0, np.nan]):
        with pytest.raises(ValueError, match="^groups must name one for every sample"):
            checked_options(groups=values)


def test_counts_are_kept_and_others_add_up_to_their_effective_number():
    assert checked_options(sample_weight=[2, 0, 3], weights_are="counts").sample_weight.tolist() == [2, 0, 3]
    assert checked_options(sample_weight=[100, 0, 100]).sample_weight.tolist() == [1, 0, 1]
    ours = checked_options(sample_weight=[0.1, 0.0, 0.3]).sample_weight
    assert ours == pytest.approx([0.4, 0, 1.2])  # 0.4^2 / (0.1^2 + 0.3^2) = 1.6


@pytest.mark.parametrize("weight", [1.5, 2.0**53])
def test_counts_are_whole_numbers(weight):
    message = "^sample_weight must be whole numbers where weights_are='counts'; got .* at index 1"
    with pytest.raises(ValueError, match=message):
        checked_options(sample_weight=[1, weight], weights_are="counts")
