"""The planning of comparisons: its model against simulation and the metric itself, its command."""

import re

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import auroc_score
from ecuas_metric.costs import ecuas_cost
from triviaqa_subset import power
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.power import COSTS, cost_deviation, detectable_difference, main, paired_deviation, questions_needed


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("cost", [0.0, 1.0])
def test_the_costs_are_those_of_the_metric(n, cost):
    u = np.r_[np.linspace(0, 1, 101), 1e-9]
    np.testing.assert_allclose(COSTS[f"ecuas_{n}"](u, cost), ecuas_cost(u, np.full_like(u, cost), n=n), atol=1e-12)


@pytest.mark.parametrize(("error_rate", "auroc"), [(0.03, 0.8), (0.3, 0.6), (0.5, 0.9)])
def test_the_model_has_the_error_rate_and_the_auroc_it_is_asked_for(error_rate, auroc, rng):
    confidence = rng.choice(power._confidences(error_rate, auroc), 200_000)
    correct = rng.random(200_000) < confidence
    assert 1 - correct.mean() == pytest.approx(error_rate, abs=0.004)
    assert auroc_score(correct.astype(int), confidence) == pytest.approx(auroc, abs=0.01)
    for metric, cost in COSTS.items():
        simulated = np.where(correct, cost(1 - confidence, 0.0), cost(1 - confidence, 1.0)).std()
        assert cost_deviation(metric, error_rate, auroc) == pytest.approx(simulated, rel=0.03)


def test_a_detectable_difference_is_detected_as_often_as_it_says(rng):
    found = detectable_difference(0.5, 400)
    means = rng.normal(found, 0.5 / np.sqrt(400), 20_000)
    assert np.mean(np.abs(means) > 1.959964 * 0.5 / np.sqrt(400)) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize("deviation", [0.1, 0.5, 1.3])
def test_the_number_needed_is_the_inverse(deviation):
    for difference in (0.02, 0.05, 0.1):
        needed = questions_needed(deviation, difference)
        assert detectable_difference(deviation, needed) <= difference < detectable_difference(deviation, needed - 1)
    assert detectable_difference(deviation, 4 * 455) == pytest.approx(detectable_difference(deviation, 455) / 2)


def test_correlated_systems_are_easier_to_tell_apart():
    deviations = [paired_deviation("ecuas_1", (0.3, 0.3), correlation=r) for r in (-1, 0, 0.5, 1)]
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] == pytest.approx(0, abs=1e-12)
    assert deviations[1] == pytest.approx(np.sqrt(2) * cost_deviation("ecuas_1", 0.3, 0.8))


def test_the_design_effect_is_that_of_the_weights():
    weight = pd.read_parquet(FOLDER / "data" / "curated.parquet")["weight"]
    assert pytest.approx((weight**2).mean() / weight.mean() ** 2, abs=5e-5) == power.WEIGHTED


def test_the_command_prints_what_the_card_shows(capsys):
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```console\n\$ python -m triviaqa_subset\.power (.*?)\n(.*?)```", card, re.DOTALL)
    assert main(shown[0].split()) == 0
    assert capsys.readouterr().out == shown[1]


def test_other_numbers_of_questions(capsys):
    assert main(["--error-rates", "0.3", "0.4", "--questions", "100", "400"]) == 0
    header, few, many = capsys.readouterr().out.splitlines()
    assert header.split() == ["questions", *COSTS]
    pairs = zip(few.split()[1:], many.split()[1:], strict=True)
    assert all(float(a) == pytest.approx(2 * float(b), abs=0.002) for a, b in pairs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--error-rates", "0", "0.3"], "error rate must lie in (0, 1); got 0."),
        (["--error-rates", "0.2", "nan"], "error rate must lie in (0, 1); got nan."),
        (["--error-rates", "0.2", "0.3", "--auroc", "0.5"], "AUROC must lie in (0.5, 1); got 0.5."),
        (["--error-rates", "0.2", "0.3", "--auroc", "0.99999"], "AUROC must be below "),
        (["--error-rates", "0.2", "0.3", "--correlation", "2"], "correlation must lie in [-1, 1]; got 2."),
        (["--error-rates", "0.2", "0.3", "--questions", "0"], "questions must be finite and above 0; got 0."),
        (["--error-rates", "0.2", "0.3", "--difference", "0"], "difference must be finite and above 0; got 0."),
        (["--error-rates", "0.2", "0.3", "--power", "1"], "power must lie in (0, 1); got 1."),
        (["--error-rates", "0.2", "0.3", "--level", "5"], "level must lie in (0, 1); got 5."),
    ],
)
def test_bad_values_are_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"power: {message}")
    assert err.count("\n") == 1


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match=r"^metric must be one of error_rate, ecuas_0, ecuas_1; got 'aurc'\.$"):
        cost_deviation("aurc", 0.3, 0.8)
