"""The front door: in scikit-learn's hands, against arithmetic, against `compute`, and with bad input."""

import dataclasses
import functools
import inspect
import re
import warnings

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from datasets import Dataset, Features, List, Value
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit

import ecuas_metric
from ecuas_metric import (
    InputError,
    apply_affine,
    apply_isotonic,
    auroc_score,
    choose_reject_cost,
    compare_systems,
    confidence_ecuas_score,
    confidence_system,
    cross_validated,
    decide,
    ece_score,
    ecuas_cost,
    ecuas_score,
    fit_isotonic,
    fit_temperature,
    fixed_reject_cost,
    make_report,
    posterior_system,
    score_confidences,
    score_costs,
    score_frame,
    score_posteriors,
)
from ecuas_metric.metric import Key
from ecuas_metric.options import DEFAULTS, LEVEL, OPTIONS

from .systems import EVERY_OPTION, posterior_systems

Y_TRUE = ["cat", "dog", "dog"]
Y_PROB = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
ORDERS = st.sampled_from([0, 0.5, 1, 2.5, np.inf])


@given(
    posterior_systems(), ORDERS, st.sampled_from(["zero_one", "log"]), st.booleans(), st.booleans()
)
@pytest.mark.filterwarnings("ignore")
def test_ecuas_score_is_that_of_score_posteriors(system, n, cost, normalize, has_weights):
    q, truth = system
    options = {
        "n": n,
        "cost": cost,
        "normalize": normalize,
        "renormalize": True,
        "labels": range(q.shape[1]),
    }
    options["sample_weight"] = np.arange(1.0, len(q) + 1) if has_weights else None
    values = score_posteriors(truth, 0.99 * q, **options)
    score = ecuas_score(truth, 0.99 * q, **options)
    assert score == pytest.approx(
        values[f"{'normalized_' if normalize else ''}ecuas_{n:g}"], nan_ok=True
    )


@given(
    posterior_systems(),
    st.sampled_from([list("abcde"), [-3, 0, 2, 5, 7]]),
    st.randoms(use_true_random=False),
)
@pytest.mark.filterwarnings("ignore")
def test_names_of_classes_change_nothing_and_columns_are_those_of_log_loss(system, names, random):
    q, truth = system
    # else the first column of the best answers
    assume(all(np.count_nonzero(row == row.max()) == 1 for row in q))
    names = np.array(random.sample(names, q.shape[1]))
    sorted_q = q[:, np.argsort(names)]  # the columns in the order of the names
    ours = score_posteriors(names[truth], sorted_q, labels=np.sort(names))
    assert ours["cross_entropy"] == pytest.approx(log_loss(names[truth], sorted_q, labels=names))
    assert ours["ecuas_1"] == pytest.approx(ecuas_score(truth, q, labels=range(q.shape[1])))


LEVEL_OF_90 = {"confidence_level": 0.9}
DRAWS = {"n_resamples": {"calibration": True}, "random_state": {"calibration": True}}
NEEDS = {  # an option -> those without which it changes nothing
    "interval_method": {"confidence_level": 0.9, "n_resamples": 20},
    "weights_are": {"sample_weight": [1, 2, 3]},
    "groups": LEVEL_OF_90,
    "strata": LEVEL_OF_90,
    "audit_probability": {"judge": [1, 0, 1]},
    **DRAWS,
}
OF_COSTS = NEEDS | {name: LEVEL_OF_90 | {"interval_method": "percentile"} for name in DRAWS}
MORE = {"calibration": {"n_resamples": 20}, "decisions": {"cost": EVERY_OPTION["cost"]}}


@functools.wraps(score_costs)
def of_costs(candidate_cost, uncertainty, **options):
    return score_costs(candidate_cost=candidate_cost, uncertainty=uncertainty, **options)


INPUTS = {
    "confidences": (score_confidences, [1, 0, 1], [0.9, 0.8, 0.4]),
    "posteriors": (score_posteriors, [0, 1, 1], Y_PROB),
    "costs": (of_costs, [0.0, 2.0, 1.0], [0.1, 0.5, 1.2]),
}
CASES = [
    (form, name)
    for name, option in OPTIONS.items()
    for form in option.forms
    if name != "max_uncertainty"
]


@pytest.fixture(scope="module")
def modules():
    load = [evaluate.load("ecuas_metric/ecuas.py", name) for name in ("default", "graded")]
    return {"confidences": load[0], "posteriors": load[0], "costs": load[1]}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("form, name", CASES)
def test_every_option_gives_what_compute_gives(form, name, modules):
    score, truth, said = INPUTS[form]
    needs = OF_COSTS if form == "costs" else NEEDS
    options = MORE.get(name, {}) | needs.get(name, {}) | {name: EVERY_OPTION[name]}
    if name == "predictions_are":
        said = np.log(said)
    if name == "missing_confidence":
        said = [0.9, None, 0.4]
    if form == "costs":
        options["max_uncertainty"] = EVERY_OPTION["max_uncertainty"]
    expected = modules[form].compute(predictions=said, references=truth, **options)
    ours = score(truth, said, **options)
    assert list(ours) == list(expected)
    assert ours == pytest.approx(expected, nan_ok=True, abs=0, rel=0)


@pytest.mark.parametrize("name", NEEDS)
def test_an_option_without_the_one_that_it_belongs_to_is_refused(name, modules):
    options = {name: EVERY_OPTION[name]}
    with pytest.raises(InputError, match=f"^{name} changes nothing without"):
        score_confidences([1, 0, 1], [0.9, 0.8, 0.4], **options)
    arrays = {"predictions": [0.9, 0.8, 0.4], "references": [1, 0, 1]}
    with pytest.raises(ValueError, match=f"^{name} changes nothing without"):
        modules["confidences"].compute(**arrays, **options)


@pytest.mark.parametrize("form", INPUTS)
def test_docstrings_name_every_option(form):
    named = re.search(r"(?s)Every option of `compute` for \w+: (.*?)\.\n", INPUTS[form][0].__doc__)[
        1
    ]
    assert re.split(r",\s+", named) == [name for of, name in CASES if of == form]


nan = float("nan")
ONE_FOLD = PredefinedSplit([0] * 3 + [-1] * 6)
AB = ["cat", "dog"]
CD = ["dog", "cat"]
TWO_ROWS = [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
UNSORTED = "Sort them, and the columns of y_prob with them."
NUMBERED = (
    "Pass labels, all classes in the order of the columns: range(K) where they are numbered from 0."
)
POSITIVE = (
    "y_prob must lie in [0, 1] where it has shape (N,), the probability of the second class; got"
)
BAD = [  # the rules themselves are those of test_inputs and test_options
    (lambda: ecuas_score(["cat", "cow", "dog"], Y_PROB, labels=AB), f"y_true must be among the labels {AB}; got 'cow'"),
    (lambda: ecuas_score(["cat", 1, "dog"], Y_PROB), "y_true must be all strings or all numbers; got 1 at index 1."),
    (lambda: ecuas_score([0, nan, 1], Y_PROB), "y_true must not be missing; got nan at index 1 (1 of 3)."),
    (lambda: ecuas_score(Y_TRUE, Y_PROB, labels=CD), f"labels must be distinct and sorted; got {CD}. {UNSORTED}"),
    (lambda: ecuas_score([0, 1], [0.1, 0.2], labels=range(3)), "labels must have as many classes as y_prob, 2; got 3"),
    (lambda: ecuas_score([0, -100, 0], Y_PROB), "y_true must be classes; got -100 at index 1 (1 of 3). Does it mark"),
    (lambda: ecuas_score(["cat"], Y_PROB[:1]), f"y_true must have as many classes as y_prob, 2; got 1. {NUMBERED}"),
    (lambda: ecuas_score(Y_TRUE[:2], Y_PROB), "y_true and y_prob must have the same length; got 2 and 3."),
    (lambda: of_costs([0, 1], [0.1], max_uncertainty=1), "uncertainty and candidate_cost must have the same length;"),
    (lambda: ecuas_score([["cat"], ["dog"], ["dog"]], Y_PROB), "y_true must be one-dimensional; got shape (3, 1)."),
    (lambda: ecuas_score([0, 1], np.ones((2, 2, 2)) / 2), "y_prob must have shape (N,) or (N, K); got shape (2, 2, 2)"),
    (lambda: ecuas_score([0, 1], [0.5, nan]), f"{POSITIVE} nan at index 1 (1 of 2)."),
    (lambda: ecuas_score([0, 1], [-1.5, 2.5]), f"{POSITIVE} -1.5 at index 0 (2 of 2). Logits?"),
    (lambda: ecuas_score(Y_PROB, [0, 1, 1]), "y_true must hold classes; got shape (3, 2). Swapped? y_true comes"),
    (lambda: ecuas_score([0.2, 0.9], [0, 1]), "y_true must hold classes; got numbers between 0 and 1. Swapped? y_true"),
    (lambda: ece_score([0.9, 0.8], [1, 0]), "correct must be 0 (incorrect) or 1 (correct); got 0.9 at index 0 (2 of 2)."
        " Swapped? correct comes first."),
    (lambda: fit_isotonic([1, 0], [0.9, 0.8]), "correct must be 0 (incorrect) or 1 (correct); got 0.9 at index 0 (2 of "
        "2). Swapped? confidence comes first."),
    (lambda: ece_score([1, 2], [0.5, 0.5]), "correct must be 0 (incorrect) or 1 (correct); got 2 at index 1 (1 of 2). "
        "Class labels? score_posteriors takes posteriors of shape (N, K)."),
    (lambda: score_confidences([1, 0], [0.5, nan]), "confidence must not be NaN; got nan at index 1 (1 of 2). "
        "Missing confidences? Set missing_confidence to a number in [0, 1] to replace them."),
    (lambda: ecuas_score(Y_TRUE, Y_PROB, n=[0, 1]), "n must be a number in [0, inf]; got [0, 1]."),
    (lambda: fixed_reject_cost(uncertainty=[0.5], candidate_cost=[1], reject_cost=-1), "reject_cost must be >= 0; got"),
    (lambda: apply_affine(fit_temperature(TWO_ROWS, [0, 0, 1]), [[0.0, 1.0, 2.0]]),
        "log_posteriors must have shape (N, 2), the classes of the fit; got shape (1, 3)."),
    (lambda: cross_validated(fit_isotonic, apply_isotonic, [0.1] * 9, [0, 1] * 4 + [0], splitter=ONE_FOLD),
        "splitter must put every sample in a test fold; got sample 3 in none (6 of 9)."),
]  # fmt: skip


@pytest.mark.parametrize("call, message", BAD, ids=[message[:40] for _, message in BAD])
def test_errors_speak_of_the_callers_arguments(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "predictions " not in str(caught.value)


WARNED = [
    (
        lambda: auroc_score([1, 1], [0.5, 0.4]),
        "auroc is nan: it needs both correct and incorrect samples.",
    ),
    (
        lambda: ecuas_score([0, 0], [0.2, 0.1], labels=[0, 1], normalize=True),
        "The naive system costs nothing, so",
    ),
    (
        lambda: confidence_ecuas_score([1, 0], [0.9, 0.1], num_classes=2),
        "1 of 2 samples (50.0%) have an unc",
    ),
    (
        lambda: score_confidences([1, 0], [0.9, None], missing_confidence=0.5),
        "1 of 2 confidences are missing",
    ),
    (
        lambda: score_costs(candidate_cost=[0, 1], uncertainty=[0.1, 3], max_uncertainty=1),
        "1 of 2 samples (50.0%)",
    ),
]


@pytest.mark.parametrize("call, message", WARNED)
def test_notes_are_warnings_at_the_callers_line(call, message):
    with pytest.warns(UserWarning) as caught:
        call()
    (warning,) = caught
    assert str(warning.message).startswith(message)
    assert warning.filename == __file__
    assert warning.lineno == call.__code__.co_firstlineno


def test_arrays_are_positional_and_everything_else_is_named():
    scores = re.findall(r"\w+_score\b|\w+_system\b|score_\w+", " ".join(ecuas_metric.__all__))
    for name in scores:
        first, second, *options = inspect.signature(getattr(ecuas_metric, name)).parameters.values()
        is_positional = name != "score_costs"  # either order of these arrays would give numbers
        for array in (first, second):
            assert (array.kind is array.POSITIONAL_OR_KEYWORD) == is_positional, name
        assert all(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in options), name


# one number; none of costs; what a file's columns say
OWN_DEFAULTS = {"n", "max_uncertainty", "predictions_are"}


def test_defaults_are_those_of_the_table_of_options():
    public = [getattr(ecuas_metric, name) for name in ecuas_metric.__all__]
    for function in filter(inspect.isfunction, public):
        expected = dataclasses.asdict(DEFAULTS)
        if function is ecuas_metric.choose_reject_cost:
            expected["confidence_level"] = LEVEL  # there always is one
        for name, parameter in inspect.signature(function).parameters.items():
            if name in OPTIONS.keys() - OWN_DEFAULTS and parameter.default is not parameter.empty:
                assert parameter.default == expected[name], (function, name)


def test_columns_of_a_data_frame_are_found_by_their_names(rng):
    names = np.array(["cat", "dog", "ship"])
    y_prob = rng.dirichlet(np.ones(3), 50)
    y = names[rng.integers(0, 3, 50)]
    shuffled = pd.DataFrame(y_prob, columns=names)[["ship", "cat", "dog"]]
    for frame in (shuffled, pa.Table.from_pandas(shuffled)):
        assert ecuas_score(y, frame) == ecuas_score(y, y_prob)
        decided = decide(frame, reject_cost=0.5)
        assert decided.decision.tolist() == names[y_prob.argmax(axis=1)].tolist()


def test_systems_without_names_are_numbered_and_arrays_are_refused():
    system = confidence_system([1, 0, 1], [0.9, 0.8, 0.4], confidence_level=0.95, n_resamples=20)
    assert list(make_report([system, system]).results) == ["system 1", "system 2"]
    assert compare_systems([system, system], by_position=True)[0].difference == 0
    one = "systems must be a mapping of names to systems, or a list; got one System"
    arrays = "systems must be of confidence_system, .* got ndarray for 'a'"
    for function in (make_report, compare_systems):
        with pytest.raises(InputError, match=one):
            function(system)
        with pytest.raises(InputError, match=arrays):
            function({"a": np.ones(3), "b": np.ones(3)})


ROWS = list("abcd")
BY_LABEL = {  # functions of arrays -> their arrays with one index
    score_posteriors: {"y_true": [0, 1, 1, 0], "y_prob": [0.2, 0.7, 0.6, 0.4]},
    score_confidences: {"correct": [1, 0, 1, 1], "confidence": [0.9, 0.8, 0.4, 0.6]},
    score_costs: {"candidate_cost": [0, 0.5, 1, 0], "uncertainty": [0.1, 0.2, 0.9, 0.4]},
    ecuas_cost: {"candidate_cost": [0, 0.5, 1, 0], "uncertainty": [0.1, 0.2, 0.9, 0.4]},
    fit_isotonic: {"confidence": [0.6, 0.7, 0.8, 0.9], "correct": [0, 1, 0, 1]},
}
PER_SAMPLE = {"sample_weight": [1.0, 2.0, 3.0, 4.0], "groups": [1, 1, 2, 3], "strata": [1, 1, 2, 2]}


@pytest.mark.parametrize("function", BY_LABEL, ids=lambda function: function.__name__)
def test_the_same_labels_in_another_order_are_refused(function):
    indexed = {name: pd.Series(values, ROWS) for name, values in BY_LABEL[function].items()}
    options = {"max_uncertainty": 1.0} if function is score_costs else {}
    call = functools.partial(function, **options)
    expected = str(call(**BY_LABEL[function]))
    assert str(call(**indexed)) == expected
    first, second = indexed
    turned = {**indexed, second: indexed[second].iloc[::-1]}
    with pytest.raises(
        InputError, match=f"^{first} and {second} must have their rows in one order"
    ):
        call(**turned)
    by_position = {**turned, second: BY_LABEL[function][second]}
    assert str(call(**by_position)) == expected
    # other labels pair nothing, as in scikit-learn
    assert str(call(**{**indexed, second: indexed[second].set_axis(range(4))})) == expected


@pytest.mark.parametrize("name", PER_SAMPLE)
def test_so_are_those_of_what_each_sample_has(name):
    arrays = BY_LABEL[score_confidences]
    correct = pd.Series(arrays["correct"], ROWS)
    given = pd.Series(PER_SAMPLE[name], ROWS)
    options = {"confidence_level": 0.9}
    expected = score_confidences(correct, arrays["confidence"], **options, **{name: given})
    plain = score_confidences(**arrays, **options, **{name: PER_SAMPLE[name]})
    np.testing.assert_equal(expected, plain)
    with pytest.raises(InputError, match=f"^correct and {name} must have their rows in one order"):
        score_confidences(correct, arrays["confidence"], **{name: given.iloc[::-1]})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("beyond", [2.3e-16, 1e-7])
def test_probabilities_beyond_1_by_rounding_are_alike_in_every_form(beyond):
    positive = np.array([1 + beyond, 0.2, -beyond])
    truth = [1, 0, 1]
    expected = score_posteriors(truth, [[0, 1], [0.8, 0.2], [1, 0]], reject_costs=0.2)
    both = np.stack([1 - positive, positive], axis=1)
    for posteriors in (positive, both):
        assert score_posteriors(truth, posteriors, reject_costs=0.2) == expected
        decided = decide(posteriors, reject_cost=0.2)
        assert decided.accepted.all()
    with np.errstate(divide="ignore"):
        logs = np.log([1, 0.2, 0])
    logs[0] = beyond
    options = {"predictions_are": "log_probabilities", "reject_costs": 0.2}
    found = score_posteriors(truth, logs, **options)
    assert found == {key: pytest.approx(value) for key, value in expected.items()}
    assert score_confidences(truth, positive) == score_confidences(truth, [1, 0.2, 0])


NAMED = pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], columns=[1, 0])


@pytest.mark.parametrize("kind", ["int64", "float64", "object", "bool"])
@pytest.mark.parametrize("prefix", ["", "prob_", "p"])
def test_columns_are_found_by_name_whatever_the_type_of_the_truth(kind, prefix):
    frame = NAMED.rename(columns=lambda name: f"{prefix}{name}" if prefix else name)
    truth = pd.Series([1, 0, 1], dtype=kind)
    expected = score_posteriors([1, 0, 1], NAMED[[0, 1]].to_numpy())
    assert score_posteriors(truth, frame) == expected
    assert score_posteriors(truth, frame, labels=[0.0, 1.0]) == expected
    assert score_posteriors(truth, pa.Table.from_pandas(frame)) == expected


def test_numbers_beside_the_arrays_have_their_precision():
    confidence = [0.95, 0.9, 0.85, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45]
    system = confidence_system([1, 1, 1, 0, 0, 1, 1, 0, 1, 1], confidence)
    for budget in (0.2, 0.4, 0.7, 0.9):
        expected = choose_reject_cost(system, budget=budget).reject_cost
        assert choose_reject_cost(system, budget=np.float32(budget)).reject_cost == expected
    for share in (0.3, 0.6, 0.7, 0.9):
        single = np.float32(share)
        cost = {"candidate_cost": [1.0], "uncertainty": [share]}
        assert fixed_reject_cost(**cost, reject_cost=single) == [1.0]
        assert ecuas_cost(**cost, n=np.inf, max_uncertainty=single) == [1.0]
        key = Key("coverage", single)
        report = make_report([system], only=[key])
        assert str(next(iter(report.keys))) == f"coverage_{share}"


def test_classes_of_named_costs_and_ordered_categories_are_noted_too():
    names = [f"class_{number}" for number in range(12)]
    posteriors = np.eye(12) * 0.9 + 0.1 / 12
    for call in (ecuas_score, lambda _, q, cost: decide(q, cost=cost, reject_cost=0.3)):
        with pytest.warns(UserWarning, match="in the order of their names as texts"):
            call(names, posteriors, cost=dict.fromkeys(names, 1))
    levels = ["low", "mid", "high"]
    truth = pd.Series(pd.Categorical(levels, levels, ordered=True))
    with pytest.warns(UserWarning, match="in the order of their names as texts"):
        ecuas_score(truth, np.eye(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ecuas_score(["-1", "0", "1"], np.eye(3))


def test_so_are_those_that_something_counts_by_place():
    rows = [[0.9, 0.1], [0.2, 0.8]]
    named = pd.DataFrame(rows, columns=["9", "10"])
    by_place = {"cost": [[0, 1], [5, 0]]}, {"decisions": [0, 1]}
    for options in by_place:
        with pytest.warns(UserWarning, match="in the order of their names as texts"):
            score_posteriors(["9", "10"], named, **options)
    with pytest.warns(UserWarning, match="in the order of their names as texts"):
        ecuas_score(["9", "10"], [0.1, 0.8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ecuas_score(["9", "10"], named, cost={"9": 1, "10": 5})
        ecuas_score(["9", "10"], [0.1, 0.8], labels=["10", "9"])


@pytest.mark.parametrize(
    "call", [ecuas_score, lambda truth, q: decide(q, reject_cost=0.5, labels=truth)]
)
def test_columns_of_other_names_than_the_classes_are_refused(call):
    rows = [[0.9, 0.1], [0.2, 0.8]]
    for names in (["Cat", "Dog"], ["ape", "bee"], ["cat_p", "dog_p"], ["p_1", "p_0"], ["1", "2"]):
        with pytest.raises(InputError, match=r"^y_prob must have columns with .* \['cat', 'dog'\]"):
            call(["cat", "dog"], pd.DataFrame(rows, columns=names))
    for names in (None, ["0", "1"], ["column_0", "column_1"]):  # which say a place
        call(["cat", "dog"], pd.DataFrame(rows, columns=names))
    for classes in (["cat", "dog"], [0, 1]):
        first = pd.Series([0.9, 0.2], name=str(classes[0]))
        with pytest.raises(InputError, match=f"must be of the second class, {classes[1]}; got"):
            call(classes, first)
        call(classes, first.to_numpy())  # as the error says
        call(classes, first.rename(str(classes[1])))
        call(classes, first.rename(0))


NAMED_COST = pd.DataFrame([[0, 1], [5, 0]], index=[1, 0], columns=["keep", "drop"])


@pytest.mark.parametrize(
    ("cost", "matrix"),
    [
        (NAMED_COST, [[5, 0], [0, 1]]),
        (NAMED_COST.T.to_dict(), [[5, 0], [0, 1]]),
        ({1: 5, 0: 1}, [[0, 1], [5, 0]]),
    ],
)
def test_costs_by_name_are_used_where_classes_have_names_and_refused_elsewhere(cost, matrix):
    q, truth = np.array([[0.7, 0.3], [0.2, 0.8]]), [0, 1]
    frame = pd.DataFrame(q, columns=["prob_0", "prob_1"]).assign(label=truth)
    ecuas = evaluate.load("ecuas_metric/ecuas.py")
    for call in (
        lambda: ecuas.compute(predictions=q, references=truth, cost=cost),
        lambda: score_frame(frame, cost=cost),
        lambda: make_report(frame, cost=cost),
    ):
        with pytest.raises(ValueError, match="^cost must be an array here, where no class has a"):
            call()
    assert score_posteriors(truth, q, cost=cost) == score_posteriors(truth, q, cost=matrix)
    by_place = pd.DataFrame(matrix, index=[0, 1], columns=["0", "1"])  # as read from a CSV
    assert score_frame(frame, cost=by_place).flat() == score_frame(frame, cost=matrix).flat()


@pytest.mark.parametrize("axis", ["index", "columns"])
def test_names_of_costs_differ(axis):
    twice = NAMED_COST.set_axis(["a", "a"], axis=axis)
    with pytest.raises(InputError, match="^cost must have different names .* got 'a'"):
        ecuas_score(["a", "b"], [[0.7, 0.3], [0.2, 0.8]], cost=twice)


@pytest.mark.parametrize("name", ["groups", "strata", "ids", "y_true"])
@pytest.mark.parametrize("names", [["a", "b", "a"], [1, 2, 1], [2.0**60, 1, 2.0**60]])
def test_a_masked_name_is_a_missing_one(name, names):
    arrays = {"y_true": [0, 1, 0], "y_prob": [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]}
    unmasked = np.ma.masked_array(names, mask=[False, False, False])
    assert posterior_system(**arrays | {name: unmasked}).num_samples == 3
    masked = np.ma.masked_array(names, mask=[False, False, True])
    with pytest.raises(InputError, match=f"^{name} must .* at index 2"):
        posterior_system(**arrays | {name: masked})


def test_columns_of_datasets_have_the_precision_of_their_features():
    numbers = {"p": Value("float32"), "q": List(Value("float16"))}
    rows = Dataset.from_dict(
        {"p": [0.9, 0.8, 0.4], "q": [[0.9, 0.1]] * 3}, features=Features(numbers)
    )
    expected = score_confidences([1, 0, 1], [0.9, 0.8, 0.4], reject_costs=0.1)
    assert score_confidences([1, 0, 1], rows["p"], reject_costs=0.1) == expected
    assert decide(rows["q"], reject_cost=0.1).accepted.all()


@pytest.mark.parametrize("given", [[1e-16, 4e-16, 2e-16, 4.5e-16], [1e-15, 3e-15, 2e-15, 4e-15]])
def test_small_uncertainties_keep_the_order_that_their_complements_have(given):
    expected = score_confidences([1, 0, 1, 0], 1 - np.array(given))["auroc"]
    assert score_confidences([1, 0, 1, 0], uncertainty=given)["auroc"] == expected
