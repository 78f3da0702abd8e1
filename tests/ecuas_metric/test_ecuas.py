"""The module as Evaluate loads it: by path, from a copy, in one process and in several, and all that Evaluate promises.

Tests that stand for one of Evaluate's own (tests/test_metric.py, tests/test_metric_common.py) name it. Those use a
module of integer labels; ours takes confidences, posteriors or costs, and each law holds for all three.
"""

import ast
import dataclasses
import doctest
import functools
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from datasets import Dataset
from evaluate.loading import evaluation_module_factory, import_main_class

from ecuas_metric.options import DEFAULTS, OPTIONS, checked_options
from publishing.staging import PARTS, stage
from tests.conftest import BARE
from tests.ecuas_metric.registry import shown_keys
from tests.ecuas_metric.systems import compute

pytestmark = pytest.mark.filterwarnings("ignore:auroc is nan")
SCRIPT = "ecuas_metric/ecuas.py"
CONFIDENCE = [0.9, 0.8, 0.4, 0.65]
CORRECT = [1, 0, 1, 1]
POSTERIORS = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]]
LABELS = [0, 2, 0]
FORMS = ("confidences", "posteriors", "costs")
WAYS = ("compute", "add_batch", "add")


def data(form, seed=0, size=7):
    """Return inputs of a form: predictions, references and the options that they need."""
    rng = np.random.default_rng(seed + 2)
    predictions = rng.dirichlet(np.ones(3), size) if form == "posteriors" else rng.random(size)
    references = rng.random(size) * 2 if form == "costs" else rng.permutation(np.arange(size) % 2)
    return predictions, references, {"max_uncertainty": 1.0} if form == "costs" else {}


@functools.cache
def copied():
    """Return Evaluate's copy of the module, of which `evaluate.load` makes one each time."""
    return evaluation_module_factory(SCRIPT)


def load(form, folder, **more):
    main = import_main_class(copied().module_path)
    name = "graded" if form == "costs" else None
    return main(config_name=name, cache_dir=str(folder), hash=copied().hash, **more)


def results(module, way, predictions, references, **options):
    """Bring in the data in one of Evaluate's three ways, and compute."""
    if way == "compute":
        return module.compute(predictions=predictions, references=references, **options)
    if way == "add_batch":
        module.add_batch(predictions=predictions, references=references)
    else:
        for prediction, reference in zip(predictions, references, strict=True):
            module.add(prediction=prediction, reference=reference)
    return module.compute(**options)


def direct(form, predictions, references, options):
    return compute(
        form, np.asarray(predictions), np.asarray(references), checked_options(**options)
    )


@pytest.fixture
def ecuas(tmp_path):
    return load("confidences", tmp_path)


@pytest.fixture
def expected():
    return direct("confidences", CONFIDENCE, CORRECT, {})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_three_ways_in_files_and_in_memory(form, way, tmp_path):
    """test_dummy_metric, test_metric_with_cache_dir, test_multiple_features, test_metric_with_multilabel."""
    predictions, references, options = data(form)
    options |= {"n": (0, 2), "decompose": True, "reject_costs": 0.6}
    expected = direct(form, predictions, references, options)
    for keep_in_memory in (False, True):
        module = load(form, tmp_path, experiment_id="one", keep_in_memory=keep_in_memory)
        for _ in range(2):  # once more with the same module
            assert results(module, way, predictions, references, **options) == expected
    assert not list(tmp_path.rglob("*.arrow"))


def test_keys_in_order(ecuas, tmp_path):
    values = ecuas.compute(
        predictions=CONFIDENCE, references=CORRECT, n=[2, 0.5, np.inf], reject_costs=0.3
    )
    assert list(values) == shown_keys("confidences", n=[2, 0.5, np.inf], reject_costs=[0.3])
    values = ecuas.compute(predictions=POSTERIORS, references=LABELS, n=1)
    assert list(values) == shown_keys("confidences", "posteriors", n=[1])
    for cost in ("log", [[0, 1], [1, 0], [2, 2]]):
        values = ecuas.compute(predictions=POSTERIORS, references=LABELS, n=1, cost=cost)
        assert list(values) == shown_keys("costs", "posteriors", n=[1])
    values = load("costs", tmp_path).compute(
        predictions=[0.5], references=[2.5], max_uncertainty=1.6, n=1
    )
    assert list(values) == shown_keys("costs", n=[1])


REFUSED = [
    ("add_batch", {"predictions": [2.0], "references": [1]}, "predictions must lie"),
    (
        "add_batch",
        {"predictions": POSTERIORS, "references": LABELS},
        r"predictions .*\(N,\); got \(N, 3\)",
    ),
    ("add_batch", {"predictions": [0.5], "references": []}, "references must not be empty"),
    ("add_batch", {"predictions": [], "references": [1]}, "predictions must not be empty"),
    (
        "add_batch",
        {"predictions": [1], "references": [1], "label": [1]},
        "the inputs must be predictions and refer",
    ),
    (
        "add",
        {"prediction": 0.5, "reference": 1, "label": 1},
        "the inputs must be predictions and references; got 'l",
    ),
    ("compute", {"n": -1}, "n must be"),
    ("compute", {"predictions": [0.5]}, "references are missing"),
    ("compute", {"predictions": [2.0], "references": [1]}, "predictions must lie"),
    ("compute", {"bins": 3}, "There is no option 'bins'. Did you mean 'n_bins'"),
]


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_an_empty_or_bad_batch_or_option_leaves_what_was_added(keep_in_memory, tmp_path, expected):
    """test_metric_with_non_standard_feature_names: ours are predictions and references."""
    ecuas = load("confidences", tmp_path, keep_in_memory=keep_in_memory)
    assert {name for features in ecuas.features for name in features} == {
        "predictions",
        "references",
    }
    ecuas.add_batch(predictions=np.empty((0, 3)), references=[])
    for confidence, correct in zip(CONFIDENCE, CORRECT, strict=True):
        ecuas.add(predictions=confidence, references=correct)  # as in Evaluate's own docstring
    for method, arguments, message in REFUSED:
        with pytest.raises((ValueError, TypeError), match=f"^{message}"):
            getattr(ecuas, method)(**arguments)
    assert ecuas.compute(predictions=[], references=[]) == expected
    with pytest.raises(ValueError, match="^predictions and references are missing"):
        ecuas.compute()
    assert not list(tmp_path.rglob("*.arrow"))


MISSING = [0.9, np.nan, 0.4, 0.65]
TO_MEND = [  # samples, options that do not fit, those that the error asks for
    (MISSING, CORRECT, {}, {"missing_confidence": 0.5}),
    (CONFIDENCE, CORRECT, {"sample_weight": [1]}, {"sample_weight": [1, 1, 2, 3]}),
    (CONFIDENCE, CORRECT, {"reject_costs": 0.9, "num_classes": 2}, {"reject_costs": 0.9}),
    (POSTERIORS, LABELS, {"cost": np.ones((2, 2))}, {"cost": 1 - np.eye(3)}),
    (POSTERIORS, LABELS, {"decisions": [5, 5, 5]}, {"decisions": [0, 2, 0]}),
]


@pytest.mark.filterwarnings("ignore:.*are missing")
@pytest.mark.parametrize("how", ["added", "passed", "both"])
@pytest.mark.parametrize("predictions, references, wrong, right", TO_MEND)
def test_after_an_error_the_same_call_mended_scores_each_sample_once(
    predictions, references, wrong, right, how, ecuas
):
    added = {"added": 3, "passed": 0, "both": 2}[how]
    pair = {"predictions": predictions[:added], "references": references[:added]}
    rest = {"predictions": predictions[added:], "references": references[added:]}
    passed = rest if len(rest["references"]) else {}
    form = "posteriors" if predictions is POSTERIORS else "confidences"
    expected = direct(form, predictions, references, right)
    for _ in range(2):
        ecuas.add_batch(**pair)
        for _ in range(2):
            with pytest.raises(ValueError, match="must"):
                ecuas.compute(**passed, **wrong)
            assert len(ecuas) == added
        np.testing.assert_equal(ecuas.compute(**passed, **right), expected)
        assert len(ecuas) == 0


def test_arrays_of_a_batch_may_be_written_to(ecuas, expected):
    confidence, correct = np.array(CONFIDENCE), np.array(CORRECT)
    ecuas.add_batch(predictions=confidence, references=correct)
    confidence[:], correct[:] = 0, 0
    assert ecuas.compute() == expected


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_of_load_is_used_or_refused(option, tmp_path):
    """Each is checked there as by compute."""
    with pytest.raises(ValueError, match=rf"^{option} must|^{option} "):
        load("confidences", tmp_path, **{option: {"not": "a value"}})
    with pytest.raises(TypeError, match=f"Did you mean {option!r}"):
        load("confidences", tmp_path, **{f"{option}_": 1})


def test_the_signature_has_the_options_of_load_and_columns_their_names(tmp_path):
    module = load("confidences", tmp_path, n=5, num_classes=4)
    assert module.signature() == load("confidences", tmp_path).signature(n=5, num_classes=4)
    graded = load("costs", tmp_path, max_uncertainty=1.6)
    assert graded.signature() == load("costs", tmp_path).signature(max_uncertainty=1.6)
    posteriors = pd.DataFrame(POSTERIORS)
    turned = posteriors[[2, 0, 1]]
    module = load("posteriors", tmp_path)
    expected = module.compute(predictions=posteriors, references=LABELS)
    assert module.compute(predictions=turned, references=LABELS) == expected


def test_indices_in_another_order_are_refused(ecuas):
    confidence = pd.Series(CONFIDENCE, index=list("abcd"))
    correct = pd.Series(CORRECT, index=list("abcd"))
    expected = ecuas.compute(predictions=confidence, references=correct)
    assert ecuas.compute(predictions=confidence, references=correct.to_numpy()) == expected
    turned = correct.loc[list("dcba")]
    for name, values in {"references": turned, "sample_weight": turned + 1.0}.items():
        with pytest.raises(ValueError, match=f"predictions and {name} must have their rows in one"):
            ecuas.compute(**({"references": correct} | {name: values}), predictions=confidence)
    with pytest.raises(ValueError, match="predictions and references must have their rows in one"):
        ecuas.add_batch(predictions=confidence, references=turned)
    for rows in (slice(0, 1), slice(1, 4)):
        ecuas.add_batch(predictions=confidence[rows], references=CORRECT[rows])
    for turned_one in ({"sample_weight": turned + 1.0}, {"groups": turned}):
        (name,) = turned_one
        with pytest.raises(ValueError, match=f"predictions and {name} must have their rows in one"):
            ecuas.compute(confidence_level=0.9, **turned_one)
    weight = pd.Series([1.0, 2.0, 1.0, 3.0], index=correct.index)
    weighted = ecuas.compute(sample_weight=weight)
    of_arrays = {"predictions": CONFIDENCE, "references": CORRECT}
    assert weighted == ecuas.compute(**of_arrays, sample_weight=weight.to_numpy())


@pytest.mark.e2e
@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_modules_of_one_experiment_side_by_side(keep_in_memory, tmp_path):
    """test_concurrent_metrics, test_separate_experiments_in_parallel: the second one waits, and takes another file."""
    samples = [data("posteriors", seed, size=6)[:2] for seed in (0, 1)]
    modules = [
        load("posteriors", tmp_path, experiment_id="both", keep_in_memory=keep_in_memory)
        for _ in samples
    ]
    for rows in (slice(0, 1), slice(1, 3)):
        for module, (predictions, references) in zip(modules, samples, strict=True):
            module.add_batch(predictions=predictions[rows], references=references[rows])
    for module, (predictions, references) in zip(modules, samples, strict=True):
        found = module.compute(predictions=predictions[3:], references=references[3:])
        assert found == direct("posteriors", predictions, references, {})


def until(condition):
    for _ in range(12_000):
        if condition():
            return
        time.sleep(0.005)
    pytest.fail("nobody came")


EVEN = slice(0, None, 2)
ODD = slice(1, None, 2)
ALL = slice(None)
NONE = slice(0)
SHARES = [
    ("compute", "confidences", (EVEN, ODD), 0),
    ("compute", "posteriors", (EVEN, ODD), 1),
    ("add", "costs", (EVEN, ODD), 1),
    ("add_batch", "posteriors", (slice(4), slice(4, 5), slice(5, None)), 0),
    ("compute", "confidences", (NONE, ALL), 1),
    ("compute", "confidences", (ALL, NONE), 1),
    ("add_batch", "posteriors", (NONE, ALL), 1),
    ("add_batch", "posteriors", (ALL, NONE), 1),
]


def shares_of(function, count):
    """Call a function for each process at once: threads, as if they were processes, for Evaluate locks files."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(function, range(count)))


def load_share(form, folder, process, count=2):
    return load(
        form, folder, num_process=count, process_id=process, experiment_id="shares", timeout=20
    )


@pytest.mark.parametrize("way, form, parts, late", SHARES)
def test_shares_of_several_processes_are_one_also_where_some_are_empty(
    way, form, parts, late, tmp_path
):
    """test_distributed_metrics: process 0 has the values of all samples, whoever comes late; the others None."""
    predictions, references, options = data(form, size=9)
    ahead = f"*-{(late + 1) % len(parts)}.arrow.lock"  # of another process, which is there before the late one

    def share(process):
        module = load_share(form, tmp_path, process, len(parts))
        if process == late:
            until(lambda: list(tmp_path.rglob(ahead)))
        return results(
            module, way, predictions[parts[process]], references[parts[process]], **options
        )

    first, *others = shares_of(share, len(parts))
    order = np.concatenate([np.arange(9)[rows] for rows in parts])
    assert first == direct(form, predictions[order], references[order], options)
    assert others == [None] * (len(parts) - 1)
    assert not list(tmp_path.rglob("*.arrow"))


@pytest.mark.parametrize(
    "other, rule", [(CONFIDENCE, "one form"), ([[0.5, 0.5]], "the same number of classes")]
)
def test_shares_of_another_form_are_refused(other, rule, tmp_path):
    def share(process):
        predictions = other if process else POSTERIORS
        module = load_share("posteriors", tmp_path, process)
        return module.compute(predictions=predictions, references=[1] * len(predictions))

    with pytest.raises(ValueError, match=f"^predictions must have {rule}"):
        shares_of(share, 2)


@pytest.mark.e2e
def test_two_processes_give_what_one_gives_with_nothing_but_numpy_and_what_evaluate_brings(
    tmp_path, expected
):
    """This process is the second one: it must come while the first one waits, which is when that holds its lock."""
    about = {"num_process": 2, "experiment_id": "two", "cache_dir": str(tmp_path)}
    code = (
        "import sys\n"
        "for name in ('sklearn', 'matplotlib', 'gradio'): sys.modules[name] = None\n"
        "import evaluate\n"
        f"module = evaluate.load({SCRIPT!r}, process_id=0, **{about})\n"
        f"print(module.compute(predictions={CONFIDENCE[:1]}, references={CORRECT[:1]}))\n"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | BARE, stdout=subprocess.PIPE, text=True
    )
    until(lambda: list(tmp_path.rglob("*-0.arrow.lock")) or first.poll() is not None)
    assert first.poll() is None
    second = evaluate.load(SCRIPT, process_id=1, **about)
    assert second.compute(predictions=CONFIDENCE[1:], references=CORRECT[1:]) is None
    assert ast.literal_eval(first.communicate(timeout=60)[0]) == expected


def test_one_module_shared_by_threads_gives_each_its_own_numbers(ecuas):
    systems = [data("confidences", seed, size=50) for seed in range(8)]

    def compute_one(number):
        predictions, references, _ = systems[number]
        return ecuas.compute(predictions=predictions, references=references)

    assert shares_of(compute_one, 8) == [direct("confidences", *system) for system in systems]


@pytest.mark.parametrize("form", FORMS)
def test_a_module_survives_pickling_before_and_after_it_computed(form, tmp_path):
    """test_dummy_metric_pickle; afterwards most modules do not, since they hold a lock."""
    predictions, references, options = data(form)
    module = load(form, tmp_path)
    for _ in range(2):
        module = pickle.loads(pickle.dumps(module))
        module.add_batch(predictions=predictions[:3], references=references[:3])
        module = pickle.loads(pickle.dumps(module))
        found = module.compute(predictions=predictions[3:], references=references[3:], **options)
        assert found == direct(form, predictions, references, options)


CONVERSIONS = {
    "lists": lambda values: values.tolist(),
    "series": lambda values: pd.Series(list(values), index=list("gfedcba")),
    "arrow": lambda values: pa.array(list(values)),
    "column": lambda values: Dataset.from_dict({"x": values})["x"],
    "formatted": lambda values: Dataset.from_dict({"x": values}).with_format("numpy")["x"],
    "torch": lambda values: pytest.importorskip("torch").tensor(values),
}


def as_printed(values):
    return np.reshape([float(str(value)) for value in np.ravel(values)], np.shape(values))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", CONVERSIONS)
def test_containers_of_any_library(library, form, tmp_path):
    """test_input_numpy, test_input_torch; test_input_tf needs TensorFlow, which is not installed with anything here."""
    predictions, references, options = data(form)
    convert = CONVERSIONS[library]
    module, given = load(form, tmp_path), (convert(predictions), convert(references))
    if library == "formatted":  # Datasets makes float32 of it, which is read as it is printed
        predictions = as_printed(given[0])
        references = as_printed(given[1]) if form == "costs" else np.asarray(given[1])
    expected = direct(form, predictions, references, options)
    # Evaluate's `add` takes no scalars of Arrow either
    for way in WAYS if library != "arrow" else WAYS[:2]:
        assert results(module, way, *given, **options) == expected


def test_an_unknown_configuration_is_named():
    with pytest.raises(
        ValueError, match="^the configuration must be 'default' or 'graded'; got 'gradde'"
    ):
        evaluate.load(SCRIPT, "gradde")


def test_warnings_reach_the_user(ecuas):
    with pytest.warns(UserWarning, match="^1 of 2 confidences are missing"):
        ecuas.compute(predictions=[np.nan, 0.4], references=[0, 1], missing_confidence=0.5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_a_combination_gives_what_its_modules_give(form, way, tmp_path):
    """The eight tests of combined evaluations, test_single_module to test_modules_from_string_poslabel."""
    predictions, references, options = data(form)
    expected = direct(form, predictions, references, options | {"n": 1})

    def found(modules, **how):
        return results(
            evaluate.combine(modules, **how), way, predictions, references, **options, n=1
        )

    one = load(form, tmp_path)
    other = load(form, tmp_path, experiment_id="other")
    assert found([one]) == expected
    assert found({"mine": one}, force_prefix=True) == {
        f"mine_{key}": value for key, value in expected.items()
    }
    assert found([one, other]) == {
        f"ecuas_{i}_{key}": expected[key] for i in (0, 1) for key in expected
    }
    if form != "costs" and way == "compute":
        assert found([SCRIPT]) == expected


def test_the_options_of_compute_are_spelled_out_as_in_the_table(ecuas, expected):
    """Evaluate's own test of a module allows no `**kwargs`: a reader of the signature sees what there is."""
    _, _, *spelled = inspect.signature(ecuas._compute).parameters.values()
    assert {parameter.name: parameter.default for parameter in spelled} == dataclasses.asdict(
        DEFAULTS
    )
    assert [parameter.name for parameter in spelled] == list(OPTIONS)
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in spelled)
    assert (
        ecuas.compute(predictions=CONFIDENCE, references=CORRECT, **dataclasses.asdict(DEFAULTS))
        == expected
    )


def test_the_information_names_its_sources_and_reads_its_own_file(ecuas, expected, tmp_path):
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    assert ecuas.compute() == expected
    ecuas.info.write_to_directory(str(tmp_path))
    read = evaluate.MetricInfo.from_directory(str(tmp_path))
    for name in (
        "description",
        "citation",
        "inputs_description",
        "homepage",
        "license",
        "reference_urls",
    ):
        assert getattr(read, name) == getattr(ecuas.info, name) != ""
    assert read.reference_urls == ["https://arxiv.org/abs/2605.20490"]


@pytest.mark.long
def test_evaluates_test_of_a_module_in_its_repository(tmp_path, monkeypatch):
    """LocalModuleTest.test_load on what is published as Evaluate's own, in the folder where it would lie there."""
    stage(PARTS["metric"], tmp_path / "metrics" / "ecuas", "evaluate-metric")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(
        evaluation_module_factory("metrics/ecuas", "metric").module_path
    )
    main = import_main_class(module.__name__)
    parameters = inspect.signature(main._compute).parameters.values()
    assert all(parameter.kind != parameter.VAR_KEYWORD for parameter in parameters)
    load_there = evaluate.load
    monkeypatch.setattr(
        "evaluate.load", lambda name, *more, **named: load_there(f"metrics/{name}", *more, **named)
    )
    done = doctest.testmod(module, raise_on_error=True)
    assert (done.failed, done.attempted > 1) == (0, True)
