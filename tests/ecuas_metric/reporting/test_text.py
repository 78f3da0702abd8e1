import re

import numpy as np
import pytest

from ecuas_metric import confidence_system, read_submissions
from ecuas_metric.files.systems import prepare_submissions
from ecuas_metric.metric import Key
from ecuas_metric.reporting import text
from ecuas_metric.reporting.report import p_text
from ecuas_metric.results import compute_results


def explained(submissions, **options):
    return text.explain(prepare_submissions(submissions, **options))


@pytest.fixture
def submissions(files):
    return [submission for path in files for submission in read_submissions(path)]


def test_what_is_special_is_said():
    correct = np.repeat([1, 0, 1, 0], [60, 20, 10, 30])
    sorted_well = confidence_system(correct, np.repeat([0.75, 0.25], [80, 40]))
    lines = text.explain({"a": sorted_well, "b": confidence_system(correct, 1.0 - correct)})
    assert "Recalibration alone would gain less than 1% of ECUAS_0 of a." in lines
    assert any(
        "users of b do better than by accepting all or rejecting all" in line for line in lines
    )


def test_reject_costs_and_recalibration_of_each_system(submissions):
    for name in ("first", "second"):
        useful, gain = (line for line in explained(submissions) if f" of {name} " in line)
        assert re.match(
            rf"Users of {name} to whom a rejection costs between [\d.]+ and [\d.]+ of a mistake",
            useful,
        )
        before, after = map(float, re.search(r"from ([\d.]+) to ([\d.]+) at best", gain).groups())
        assert after < before


def test_calibration_is_told_with_the_p_value_of_the_metric(submissions):
    lines = [line for line in explained(submissions) if "iscalibrat" in line]
    systems = prepare_submissions(submissions, calibration=True)
    for line, (name, system) in zip(lines, systems.items(), strict=True):
        p = compute_results(system).estimates[Key("calibration_p")].value
        assert line.startswith(name)
        assert ("p < 0.001" if p < 0.001 else f"p = {p:.3f}") in line
        assert ("no evidence" in line) == (p > 0.05)


@pytest.mark.parametrize(("confidence", "side"), [(0.9, "0.40 too high"), (0.2, "0.30 too low")])
def test_confidences_that_are_too_high_or_too_low_are_called_so(confidence, side):
    system = confidence_system(np.arange(400) % 2, np.full(400, confidence))
    assert any(f": {side} on average (p < 0.001)" in line for line in text.explain({"a": system}))


def test_the_command_prints_the_sentences_below_the_table(files, submissions, ran):
    out = ran(f"score {' '.join(map(str, files))} --interval 0.95 --explain").out
    assert re.findall("^- (.*)", out, re.MULTILINE) == explained(submissions, confidence_level=0.95)


@pytest.mark.parametrize("p", [0.0496, 0.0504, 0.05, 0.00004, 0.9, 0.04999996])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.0005])
def test_a_printed_p_value_is_on_the_side_of_alpha_on_which_it_is(p, alpha):
    relation, number = p_text(p, alpha).removeprefix("p ").split()
    assert (float(number) <= alpha) == (p <= alpha)
    assert relation == "=" or p < float(number)
    assert p_text(p) == p_text(p, 0.05)
