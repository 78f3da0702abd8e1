"""The module as Evaluate loads it: by path, from a copy, in one process and in several, and all that Evaluate promises.

Tests that stand for one of Evaluate's own (tests/test_metric.py, tests/test_metric_common.py) name it. Those use a
module of integer labels; ours takes confidences, posteriors or costs, and each law holds for all three.
"""

import ast
import dataclasses
import doctest
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from datasets import Dataset

from ecuas_metric.options import DEFAULTS, OPTIONS, checked_options
from publishing.staging import PARTS, stage
from tests.conftest import BARE
from tests.ecuas_metric.systems import compute

pytestmark = pytest.mark.filterwarnings("ignore:auroc is nan")
SCRIPT = "ecuas_metric/ecuas.py"
CONFIDENCE, CORRECT = [0.9, 0.8, 0.4, 0.65], [1, 0, 1, 1]
POSTERIORS, LABELS = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]], [0, 2, 0]
FORMS = ("confidences", "posteriors", "costs")
WAYS = ("compute", "add_batch", "add")


def data(form, seed=0, size=7):
    """Return inputs of a form: predictions, references and the options that they need."""
    rng = np.random.default_rng(seed + 2)
    predictions = rng.dirichlet(np.ones(3), size) if form == "posteriors" else rng.random(size)
    references = rng.random(size) * 2 if form == "costs" else rng.permutation(np.arange(size) % 2)
    return predictions, references, {"max_uncertainty": 1.0} if form == "costs" else {}


def load(form, folder, **more):
    return evaluate.load(SCRIPT, "graded" if form == "costs" else None, cache_dir=str(folder), **more)


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
    return compute(form, np.asarray(predictions), np.asarray(references), checked_options(**options))


@pytest.fixture
def ecuas(tmp_path):
    return evaluate.load(SCRIPT, cache_dir=str(tmp_path))


@pytest.fixture
def expected():
    return direct("confidences", CONFIDENCE, CORRECT, {})


@pytest.mark.e2e
def test_needs_nothing_but_numpy_and_what_evaluate_brings(tmp_path):
    code = (
        "import sys\n"
        "for name in ('sklearn', 'matplotlib', 'gradio'): sys.modules[name] = None\n"
        "import evaluate\n"
        f"ecuas = evaluate.load({SCRIPT!r}, cache_dir={str(tmp_path)!r})\n"
        f"print(ecuas.compute(predictions={CONFIDENCE}, references={CORRECT}, n=1)['ecuas_1'])\n"
    )
    call, env = [sys.executable, "-c", code], os.environ | BARE
    out = subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
    assert float(out) > 0


@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_three_ways_in_files_and_in_memory(form, way, keep_in_memory, tmp_path):
    """test_dummy_metric, test_metric_with_cache_dir, test_multiple_features, test_metric_with_multilabel."""
    predictions, references, options = data(form)
    module = load(form, tmp_path, experiment_id="one", keep_in_memory=keep_in_memory)
    for _ in range(2):  # once more with the same module
        found = results(module, way, predictions, references, **options)
        assert found == direct(form, predictions, references, options)
    assert not list(tmp_path.rglob("*.arrow"))


def test_arrays_and_batches_of_logits_give_the_same(ecuas, rng):
    logits, labels = rng.normal(size=(50, 4)).astype(np.float32), rng.integers(0, 4, 50)
    options = {"predictions_are": "logits", "normalize": True, "confidence_level": 0.9, "n_resamples": 20}
    at_once = ecuas.compute(predictions=logits, references=labels, **options)
    ecuas.add_batch(predictions=logits[:20], references=labels[:20])
    ecuas.add(prediction=logits[20], reference=labels[20])
    assert ecuas.compute(predictions=logits[21:], references=labels[21:], **options) == at_once
    assert all(type(value) is float for value in at_once.values())


def test_float64_goes_through_exactly(ecuas):
    value = ecuas.compute(predictions=[1 - 1e-12], references=[0], n=0, epsilon=1e-15)["ecuas_0"]
    assert value == pytest.approx(-np.log(1 - (1 - 1e-12)), rel=1e-12)


def test_graded(tmp_path):
    module = load("costs", tmp_path)
    values = module.compute(predictions=[0.1, 0.5], references=[0, 2.5], max_uncertainty=1.6, n=1)
    by_hand = ((0.1 / 1.6) ** 2 + (0.5 / 1.6) ** 2 + 2.5 * 2 / 1.6 * (1 - 0.5 / 1.6)) / 2
    assert values["ecuas_1"] == pytest.approx(by_hand)
    assert list(values) == ["ecuas_1", "risk", "aurc", "augrc"]
    with pytest.raises(ValueError, match="^max_uncertainty is missing"):
        module.compute(predictions=[0.1], references=[0])


def test_keys_in_order(ecuas):
    rest = ["error_rate", "ece", "auroc", "confidence_cross_entropy", "confidence_brier_score"]
    values = ecuas.compute(predictions=CONFIDENCE, references=CORRECT, n=[2, 0.5, np.inf], reject_costs=0.3)
    areas, at = ["aurc", "augrc"], ["expected_cost_0.3", "coverage_0.3", "selective_risk_0.3"]
    assert list(values) == ["ecuas_2", "ecuas_0.5", "ecuas_inf", *rest, *areas, *at]
    values = ecuas.compute(predictions=POSTERIORS, references=LABELS, n=1)
    assert list(values) == ["ecuas_1", *rest, *areas, "cross_entropy", "brier_score"]
    for cost in ("log", [[0, 1], [1, 0], [2, 2]]):
        values = ecuas.compute(predictions=POSTERIORS, references=LABELS, n=1, cost=cost)
        assert list(values) == ["ecuas_1", "risk", *areas, "cross_entropy", "brier_score"]


BAD = [
    ({"predictions": [0.1, np.inf], "references": [1, 0]}, "predictions must lie in"),
    ({"predictions": [[0.5, 0.4]], "references": [0]}, "predictions must have rows that sum to 1"),
    ({"predictions": [0.5, 0.5], "references": [1]}, "must have the same length"),
    ({"predictions": [0.5], "references": [1], "n": -1}, "n must be >= 0"),
    ({"predictions": [0.5], "references": [1], "reject_costs": 1.5}, "reject_costs must lie in"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "cost": np.eye(3)}, "cost must be 'zero_one'"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "decisions": [2]}, "decisions must be labels"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "decisions": [0], "cost": "log"}, "decisions cannot be used"),
    ({"predictions": [0.5]}, "references must be"),
    ({}, "predictions and references are missing"),
]


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_after_an_error_the_module_is_usable_at_once(keep_in_memory, tmp_path, expected):
    module = evaluate.load(SCRIPT, keep_in_memory=keep_in_memory, cache_dir=str(tmp_path))
    for arguments, message in BAD:
        with pytest.raises(ValueError, match=message):
            module.compute(**arguments)
        assert not list(tmp_path.rglob("*.arrow"))
        # A lock still held would make Evaluate wait, then take a file of another name.
        module.add_batch(predictions=CONFIDENCE, references=CORRECT)
        assert all(path.name == "default_experiment-1-0.arrow" for path in tmp_path.rglob("*.arrow"))
        assert module.compute() == expected


def test_a_bad_batch_or_option_leaves_what_was_added(ecuas, expected):
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    for call in (
        lambda: ecuas.add_batch(predictions=[2.0], references=[1]),
        lambda: ecuas.add_batch(predictions=[[0.5, 0.5]], references=[1]),
        lambda: ecuas.compute(n=-1),
        lambda: ecuas.compute(predictions=[2.0], references=[1]),
    ):
        message = r"must (have the shape of the batches before, \(N,\); got \(N, 2\)|lie|be)"
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="no option 'bins'"):
        ecuas.compute(bins=3)
    assert ecuas.compute() == expected


def test_an_empty_batch_adds_nothing(ecuas, expected):
    ecuas.add_batch(predictions=np.empty((0, 3)), references=[])
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    ecuas.add_batch(predictions=[], references=[])
    with pytest.raises(ValueError, match="references must not be empty"):
        ecuas.add_batch(predictions=[0.5], references=[])
    assert ecuas.compute(predictions=[], references=[]) == expected


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_other_lengths_and_empty_ones_are_refused(form, tmp_path):
    """test_dummy_metric, "Mismatch in the number", and whose module gives {} for empty columns."""
    predictions, references, options = data(form)
    module = load(form, tmp_path)
    with pytest.raises(ValueError, match="^predictions and references must have the same length; got 6 and 7"):
        module.add_batch(predictions=predictions[:-1], references=references)
    with pytest.raises(ValueError, match="^predictions must not be empty"):
        module.compute(predictions=[], references=[], **options)


@pytest.mark.e2e
@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_modules_of_one_experiment_side_by_side(way, keep_in_memory, tmp_path):
    """test_concurrent_metrics: what one is given does not reach the other, whatever the order of the calls."""
    samples = [data("posteriors", seed, size=6)[:2] for seed in (0, 1)]
    modules = [load("posteriors", tmp_path, experiment_id="both", keep_in_memory=keep_in_memory) for _ in samples]
    step = {"compute": 6, "add_batch": 2, "add": 1}[way]
    for at in range(0, 6 - step, step):
        for module, (predictions, references) in zip(modules, samples, strict=True):
            module.add_batch(predictions=predictions[at : at + step], references=references[at : at + step])
    for module, (predictions, references) in zip(modules, samples, strict=True):
        found = module.compute(predictions=predictions[-step:], references=references[-step:])
        assert found == direct("posteriors", predictions, references, {})


def together(*jobs):
    """Run each job in a thread, as if in a process of its own: Evaluate's locks are of files."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [job.result() for job in [pool.submit(job) for job in jobs]]


def until(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.005)
    pytest.fail("nobody came")


@pytest.mark.e2e
@pytest.mark.parametrize("way", WAYS)
def test_experiments_in_parallel_that_share_a_cache(way, tmp_path):
    """test_separate_experiments_in_parallel: the second one finds the lock and takes another file."""
    both_hold = threading.Barrier(2)

    def experiment(seed):
        predictions, references, _ = data("confidences", seed)
        module = load("confidences", tmp_path)
        module.add_batch(predictions=predictions[:2], references=references[:2])
        both_hold.wait(20)
        return results(module, way, predictions[2:], references[2:])

    expected = [direct("confidences", *data("confidences", seed)) for seed in (0, 1)]
    assert together(lambda: experiment(0), lambda: experiment(1)) == expected


SHARES = [("compute", "confidences", 2, 0), ("compute", "posteriors", 2, 1), ("add", "costs", 2, 1)]


@pytest.mark.parametrize(("way", "form", "parts", "late"), [*SHARES, ("add_batch", "posteriors", 3, 0)])
def test_shares_of_several_processes_are_one(way, form, parts, late, tmp_path):
    """test_distributed_metrics: process 0 has the values of all samples, whoever comes late; the others None."""
    predictions, references, options = data(form, size=9)
    ahead = f"*-{(late + 1) % parts}.arrow.lock"  # of another process, which is there before the late one

    def share(process):
        about = {"num_process": parts, "process_id": process, "experiment_id": "shares", "timeout": 20}
        module = load(form, tmp_path, **about)
        if process == late:
            until(lambda: list(tmp_path.rglob(ahead)))
        return results(module, way, predictions[process::parts], references[process::parts], **options)

    first, *others = together(*[lambda process=process: share(process) for process in range(parts)])
    order = np.concatenate([np.arange(9)[process::parts] for process in range(parts)])
    assert first == direct(form, predictions[order], references[order], options)
    assert others == [None] * (parts - 1)


@pytest.mark.parametrize("empty", [0, 1])
@pytest.mark.parametrize("form", ["confidences", "posteriors"])
def test_an_empty_share_of_a_distributed_run_counts_for_nothing(form, empty, tmp_path):
    predictions, references, _ = data(form)

    def share(process):
        module = load(form, tmp_path, num_process=2, process_id=process, experiment_id="shares", timeout=20)
        if process == 1:
            until(lambda: list(tmp_path.rglob("*-0.arrow.lock")))
        return module.compute(**{} if process == empty else {"predictions": predictions, "references": references})

    assert together(lambda: share(0), lambda: share(1)) == [direct(form, predictions, references, {}), None]
    assert not list(tmp_path.rglob("*.arrow"))


@pytest.mark.e2e
def test_two_processes_give_what_one_gives(tmp_path, expected):
    code = (
        "import sys, evaluate\n"
        "process, halves = int(sys.argv[1]), (slice(0, 1), slice(1, None))\n"
        f"module = evaluate.load({SCRIPT!r}, num_process=2, process_id=process, experiment_id='two',\n"
        f"                       cache_dir={str(tmp_path)!r})\n"
        f"print(module.compute(predictions={CONFIDENCE}[halves[process]], references={CORRECT}[halves[process]]))\n"
    )
    processes = []
    for process in ("0", "1"):
        call, env = [sys.executable, "-c", code, process], os.environ | BARE
        processes.append(subprocess.Popen(call, env=env, stdout=subprocess.PIPE, text=True))
        while process == "0" and not list(tmp_path.rglob("*-0.arrow.lock")):
            assert processes[0].poll() is None
            time.sleep(0.05)
    answers = [ast.literal_eval(process.communicate(timeout=60)[0]) for process in processes]
    assert answers == [expected, None]


def test_what_cannot_be_distributed_is_refused(tmp_path):
    """test_distributed_metrics, keep_in_memory; test_safety_checks_process_vars."""
    for wrong in ({"num_process": 2, "process_id": 0, "keep_in_memory": True}, {"process_id": -2}, {"process_id": 3}):
        with pytest.raises(ValueError, match=r"process|keep_in_memory"):
            load("confidences", tmp_path, **({"num_process": 2} | wrong))


def test_one_module_shared_by_threads_gives_each_its_own_numbers(ecuas, rng):
    systems = [(rng.random(200), rng.integers(0, 2, 200)) for _ in range(24)]
    expected = [direct("confidences", *system, {}) for system in systems]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda system: ecuas.compute(predictions=system[0], references=system[1]), systems))
    assert found == expected


@pytest.mark.parametrize("form", FORMS)
def test_a_module_survives_pickling_before_and_after_it_computed(form, tmp_path):
    """test_dummy_metric_pickle; afterwards most modules do not, since they hold a lock."""
    predictions, references, options = data(form)
    module = load(form, tmp_path)
    for _ in range(2):
        module = pickle.loads(pickle.dumps(module))
        found = module.compute(predictions=predictions, references=references, **options)
        assert found == direct(form, predictions, references, options)


CONVERSIONS = {
    "lists": lambda values: values.tolist(),
    "tuples": lambda values: tuple(values.tolist()),
    "series": lambda values: pd.Series(list(values), index=list("gfedcba")),
    "arrow": lambda values: pa.array(list(values)),
    "column": lambda values: Dataset.from_dict({"x": values})["x"],
    "formatted": lambda values: Dataset.from_dict({"x": values}).with_format("numpy")["x"],
    "torch": lambda values: pytest.importorskip("torch").tensor(values),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", CONVERSIONS)
def test_containers_of_any_library(library, form, tmp_path):
    """test_input_numpy, test_input_torch; test_input_tf needs TensorFlow, which is not installed with anything here."""
    predictions, references, options = data(form)
    convert = CONVERSIONS[library]
    module, given = load(form, tmp_path), (convert(predictions), convert(references))
    if library == "formatted":  # Datasets makes float32 of it
        predictions = np.asarray(given[0], np.float64)
        references = np.asarray(given[1], np.float64 if form == "costs" else np.int64)
    expected = direct(form, predictions, references, options)
    for way in WAYS if library != "arrow" else WAYS[:2]:  # Evaluate's `add` takes no scalars of Arrow either
        assert results(module, way, *given, **options) == expected


@pytest.mark.parametrize("name", ["label", "confidence"])
def test_inputs_have_the_names_that_were_declared(name, ecuas):
    """test_metric_with_non_standard_feature_names_{compute,add_batch,add}: ours are predictions and references."""
    assert {name for features in ecuas.features for name in features} == {"predictions", "references"}
    with pytest.raises(ValueError, match=f"^the inputs must be predictions and references; got '{name}'"):
        ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT, **{name: CORRECT})
    with pytest.raises(ValueError, match="^the inputs must be predictions and references"):
        ecuas.add(prediction=0.5, reference=1, **{name: 1})
    with pytest.raises(TypeError, match=name):
        ecuas.compute(predictions=CONFIDENCE, references=CORRECT, **{name: CORRECT})


def test_add_takes_the_names_of_evaluates_own_docstring(ecuas, expected):
    for confidence, correct in zip(CONFIDENCE[:2], CORRECT[:2], strict=True):
        ecuas.add(predictions=confidence, references=correct)
    both = evaluate.combine([ecuas])
    for confidence, correct in zip(CONFIDENCE[2:], CORRECT[2:], strict=True):
        both.add(confidence, correct)
    assert ecuas.compute() == expected


def test_an_unknown_configuration_is_named():
    with pytest.raises(ValueError, match="^the configuration must be 'default' or 'graded'; got 'gradde'"):
        evaluate.load(SCRIPT, "gradde")


def test_warnings_reach_the_user(ecuas):
    with pytest.warns(UserWarning, match="^1 of 2 confidences are missing"):
        ecuas.compute(predictions=[np.nan, 0.4], references=[0, 1], missing_confidence=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ecuas.compute(predictions=[0.4, 0.6], references=[0, 1])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_a_combination_gives_what_its_modules_give(form, way, tmp_path):
    """The eight tests of combined evaluations, test_single_module to test_modules_from_string_poslabel."""
    predictions, references, options = data(form)
    expected = direct(form, predictions, references, options | {"n": 1})

    def found(modules, **how):
        both = evaluate.combine(modules, **how)
        if way == "add":
            for prediction, reference in zip(predictions, references, strict=True):
                both.add(prediction, reference)
            return both.compute(**options, n=1)
        return results(both, way, predictions, references, **options, n=1)

    one, other = load(form, tmp_path), load(form, tmp_path, experiment_id="other")
    assert found([one]) == expected
    assert found({"mine": one}, force_prefix=True) == {f"mine_{key}": value for key, value in expected.items()}
    assert found([one, other]) == {f"ecuas_{i}_{key}": expected[key] for i in (0, 1) for key in expected}
    if form != "costs" and way == "compute":
        assert found([SCRIPT]) == expected


def test_the_options_of_compute_are_spelled_out_as_in_the_table(ecuas, expected):
    """Evaluate's own test of a module allows no `**kwargs`: a reader of the signature sees what there is."""
    _, _, *spelled = inspect.signature(ecuas._compute).parameters.values()
    assert {parameter.name: parameter.default for parameter in spelled} == dataclasses.asdict(DEFAULTS)
    assert [parameter.name for parameter in spelled] == list(OPTIONS)
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in spelled)
    assert ecuas.compute(predictions=CONFIDENCE, references=CORRECT, **dataclasses.asdict(DEFAULTS)) == expected


def test_the_information_names_its_sources_and_reads_its_own_file(ecuas, expected, tmp_path):
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    assert ecuas.compute() == expected
    ecuas.info.write_to_directory(str(tmp_path))
    read = evaluate.MetricInfo.from_directory(str(tmp_path))
    for name in ("description", "citation", "inputs_description", "homepage", "license", "reference_urls"):
        assert getattr(read, name) == getattr(ecuas.info, name) != ""
    assert read.reference_urls == ["https://arxiv.org/abs/2605.20490"]


def test_evaluates_test_of_a_module_in_its_repository(tmp_path, monkeypatch):
    """LocalModuleTest.test_load on what is published as Evaluate's own, in the folder where it would lie there."""
    stage(PARTS["metric"], tmp_path / "metrics" / "ecuas", "evaluate-metric")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(evaluate.loading.evaluation_module_factory("metrics/ecuas", "metric").module_path)
    main = evaluate.loading.import_main_class(module.__name__)
    parameters = inspect.signature(main._compute).parameters.values()
    assert all(parameter.kind != parameter.VAR_KEYWORD for parameter in parameters)
    load_there = evaluate.load
    monkeypatch.setattr("evaluate.load", lambda name, *more, **named: load_there(f"metrics/{name}", *more, **named))
    done = doctest.testmod(module, raise_on_error=True)
    assert (done.failed, done.attempted > 1) == (0, True)
