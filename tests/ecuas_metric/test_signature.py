import re

import evaluate
import numpy as np
import pytest

from ecuas_metric import __version__
from ecuas_metric.files.submissions import read_submissions
from ecuas_metric.options import OPTIONS, checked_options, signature
from ecuas_metric.reporting.report import prepare_submissions
from ecuas_metric.results import signature_of

OTHERS = {
    "n": 3,
    "num_classes": 7,
    "predictions_are": "logits",
    "renormalize": True,
    "cost": "log",
    "decisions": [0, 1],
    "max_uncertainty": 2,
    "reject_costs": 0.25,
    "missing_confidence": 0.5,
    "n_bins": 15,
    "epsilon": 1e-6,
    "sample_weight": [1, 2],
    "weights_are": "counts",
    "calibration": True,
}
OF_INTERVALS = {
    "confidence_level": 0.9,
    "interval_method": "bca",
    "n_resamples": 99,
    "random_state": 7,
    "groups": [0, 1],
    "strata": [0, 1],
}
CHANGES_NO_NUMBER = {"normalize", "decompose"}  # they add keys


@pytest.mark.parametrize(("option", "value"), [*OTHERS.items(), *OF_INTERVALS.items()])
def test_every_option_a_number_depends_on_shows(option, value):
    base = {"confidence_level": 0.95} if option in OF_INTERVALS else {}
    if option in ("n_resamples", "random_state"):
        base["interval_method"] = "percentile"
    assert signature(checked_options(**base | {option: value})) != signature(checked_options(**base))


def test_groups_show_where_a_test_depends_on_them():
    lines = [signature(checked_options(calibration=True, groups=groups)) for groups in (None, [0, 1], [0, 0])]
    assert len(set(lines)) == 3
    assert signature(checked_options(groups=[0, 1])) == signature(checked_options())


def test_no_option_was_forgotten():
    assert set(OPTIONS) == set(OTHERS) | set(OF_INTERVALS) | CHANGES_NO_NUMBER


def test_equal_costs_have_equal_signatures():
    one, other = ([[0, 1], [1, 0]], np.array([[0, 1], [1, 0]]))
    assert signature(checked_options(cost=one)) == signature(checked_options(cost=other))
    assert signature(checked_options(cost=one)) != signature(checked_options(cost=[[0, 2], [1, 0]]))


def test_equal_numbers_of_other_types_have_equal_signatures():
    for name in ("sample_weight", "groups"):
        base = {"confidence_level": 0.95, name: [1, 2, 3]}
        other = base | {name: np.array([1.0, 2.0, 3.0])}
        assert signature(checked_options(**base)) == signature(checked_options(**other))


def test_n_is_signed_in_full():
    assert signature(checked_options(n=0.1234567)) != signature(checked_options(n=0.12345674))


def test_graded_input_has_no_classes():
    line = signature(checked_options(max_uncertainty=1.6))
    assert "|cost:graded|" in line
    assert "|K:" not in line


def test_the_module_and_a_report_sign_alike(tmp_path):
    weights = [0.5, 1.5, 2.5]
    (tmp_path / "a.csv").write_text("confidence,correct,w\n0.5,1,0.5\n0.7,0,1.5\n0.6,1,2.5\n")
    submissions = read_submissions(tmp_path / "a.csv", columns={"weight": "w"})
    module = evaluate.load("ecuas_metric/ecuas.py", cache_dir=str(tmp_path))
    for options in ({}, {"confidence_level": 0.9}):  # the samples are sorted where there are intervals
        system = prepare_submissions(submissions, n=1, **options)["a"]
        assert signature_of(system) == module.signature(n=1, sample_weight=weights, **options)


def test_it_is_one_line_of_named_parts():
    line = signature(checked_options(**OTHERS, **OF_INTERVALS))
    assert re.fullmatch(r"ecuas(\|[a-zA-Z]+:[^|\n]+)+", line)
    assert line.endswith(f"|v:{__version__}")


def test_the_module_knows_k_of_the_posteriors_it_computed(tmp_path):
    module = evaluate.load("ecuas_metric/ecuas.py", cache_dir=str(tmp_path))
    assert "|K:inf|" in module.signature()
    module.compute(predictions=[[0.2, 0.5, 0.3]], references=[1], n=1)
    assert "|K:3|" in module.signature()
    module.compute(predictions=[0.2, 0.4], references=[1, 0], n=1)
    assert "|K:4|" in module.signature(num_classes=4)


def test_the_order_of_weights_and_groups_is_signed():
    for name in ("sample_weight", "groups"):
        one, other = [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]
        lines = {signature(checked_options(confidence_level=0.95, **{name: values})) for values in (one, other)}
        assert len(lines) == 2
