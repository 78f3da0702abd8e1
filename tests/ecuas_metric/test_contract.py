"""What Evaluate promises of every module, as its own tests have it (tests/test_metric.py, tests/test_metric_common.py).

Each test names those it stands for. They use a module of integer labels; ours takes confidences, posteriors or costs,
and each law holds for all three.
"""

import doctest
import importlib
import inspect
import pickle
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset

from ecuas_metric.options import checked_options
from publishing.staging import PARTS, stage
from tests.ecuas_metric.systems import compute
from tests.ecuas_metric.test_ecuas import SCRIPT

pytestmark = pytest.mark.filterwarnings("ignore:auroc is nan")
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
    return compute(form, predictions, references, checked_options(**options))


@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_three_ways_in_files_and_in_memory(form, way, keep_in_memory, tmp_path):
    """test_dummy_metric, test_metric_with_cache_dir, test_multiple_features, test_metric_with_multilabel."""
    predictions, references, options = data(form)
    module = load(form, tmp_path, experiment_id="one", keep_in_memory=keep_in_memory)
    for _ in range(2):  # once more with the same module
        assert results(module, way, predictions, references, **options) == direct(
            form, predictions, references, options
        )
    assert not list(tmp_path.rglob("*.arrow"))


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_other_lengths_are_refused(form, tmp_path):
    """test_dummy_metric, "Mismatch in the number"."""
    predictions, references, _ = data(form)
    with pytest.raises(ValueError, match="^predictions and references must have the same length; got 6 and 7"):
        load(form, tmp_path).add_batch(predictions=predictions[:-1], references=references)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_compute_is_an_error(form, tmp_path):
    """test_dummy_metric, whose module gives {} for empty columns: there a metric that is missing goes unnoticed."""
    _, _, options = data(form)
    with pytest.raises(ValueError, match="^predictions must not be empty"):
        load(form, tmp_path, keep_in_memory=True).compute(predictions=[], references=[], **options)


@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_modules_of_one_experiment_side_by_side(form, way, keep_in_memory, tmp_path):
    """test_concurrent_metrics: what one is given does not reach the other, whatever the order of the calls."""
    samples = [data(form, seed) for seed in (0, 1)]
    modules = [load(form, tmp_path, experiment_id="both", keep_in_memory=keep_in_memory) for _ in samples]
    options = samples[0][2]
    if way != "compute":
        for at in range(0, 6, 2 if way == "add_batch" else 1):
            step = slice(at, at + 2) if way == "add_batch" else slice(at, at + 1)
            for module, (predictions, references, _) in zip(modules, samples, strict=True):
                module.add_batch(predictions=predictions[step], references=references[step])
        samples = [(predictions[:6], references[:6], options) for predictions, references, _ in samples]
        found = [module.compute(**options) for module in modules]
    else:
        found = [results(module, way, *sample[:2], **options) for module, sample in zip(modules, samples, strict=True)]
    assert found == [direct(form, *sample) for sample in samples]


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


@pytest.mark.parametrize(
    ("way", "form", "parts", "late"),
    [
        ("compute", "confidences", 2, 0),
        ("compute", "posteriors", 2, 1),
        ("add", "costs", 2, 1),
        ("add_batch", "posteriors", 3, 0),
    ],
)
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


def test_what_cannot_be_distributed_is_refused(tmp_path):
    """test_distributed_metrics, keep_in_memory; test_safety_checks_process_vars."""
    for wrong in ({"num_process": 2, "process_id": 0, "keep_in_memory": True}, {"process_id": -2}, {"process_id": 3}):
        with pytest.raises(ValueError, match=r"process|keep_in_memory"):
            load("confidences", tmp_path, **({"num_process": 2} | wrong))


@pytest.mark.parametrize("form", FORMS)
def test_a_module_survives_pickling_before_and_after_it_computed(form, tmp_path):
    """test_dummy_metric_pickle; afterwards most modules do not, since they hold a lock."""
    predictions, references, options = data(form)
    module = load(form, tmp_path)
    for _ in range(2):
        module = pickle.loads(pickle.dumps(module))
        found = module.compute(predictions=predictions, references=references, **options)
        assert found == direct(form, predictions, references, options)


def torch_tensor(values):
    return pytest.importorskip("torch").tensor(values)


CONVERSIONS = {
    "numpy": np.asarray,
    "arrow": lambda values: pa.array(list(values)),
    "column": lambda values: Dataset.from_dict({"x": values})["x"],
    "formatted": lambda values: Dataset.from_dict({"x": values}).with_format("numpy")["x"],
    "torch": torch_tensor,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("library", "way"),  # Evaluate's `add` takes no scalars of Arrow either
    [(library, way) for library in CONVERSIONS for way in WAYS if (library, way) != ("arrow", "add")],
)
def test_arrays_of_any_library(library, way, form, tmp_path):
    """test_input_numpy, test_input_torch; test_input_tf needs TensorFlow, which is not installed with anything here."""
    predictions, references, options = data(form)
    convert = CONVERSIONS[library]
    found = results(load(form, tmp_path), way, convert(predictions), convert(references), **options)
    if library == "formatted":  # Datasets makes float32 of it
        predictions = np.asarray(convert(predictions), np.float64)
        references = np.asarray(convert(references), np.float64 if form == "costs" else np.int64)
    assert found == direct(form, predictions, references, options)


@pytest.mark.parametrize("text", ["0.5", b"0.5", ["0.5"]])
def test_text_is_no_number(text, tmp_path):
    """test_string_casting, the other way round; test_string_casting_tested_once is about that very check."""
    module = load("confidences", tmp_path)
    for call in (module.add, module.add_batch, module.compute):
        names = ("prediction", "reference") if call == module.add else ("predictions", "references")
        values = (text, 1) if call == module.add else ([text], [1])
        with pytest.raises(ValueError, match="^predictions must"):
            call(**dict(zip(names, values, strict=True)))


@pytest.mark.parametrize("call", ["compute", "add_batch", "add"])
def test_inputs_have_the_names_that_were_declared(call, tmp_path):
    """test_metric_with_non_standard_feature_names_{compute,add_batch,add}: ours are predictions and references."""
    module = load("confidences", tmp_path)
    assert {name for features in module.features for name in features} == {"predictions", "references"}
    with pytest.raises((ValueError, TypeError), match="inputs"):
        getattr(module, call)(inputs=[0.5], targets=[1])


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
        if way == "add_batch":
            both.add_batch(predictions=predictions, references=references)
            return both.compute(**options, n=1)
        return both.compute(predictions=predictions, references=references, **options, n=1)

    one, other = load(form, tmp_path), load(form, tmp_path, experiment_id="other")
    assert found([one]) == expected
    assert found({"mine": one}, force_prefix=True) == {f"mine_{key}": value for key, value in expected.items()}
    assert found([one, other]) == {f"ecuas_{i}_{key}": expected[key] for i in (0, 1) for key in expected}
    if form != "costs" and way == "compute":
        assert found([SCRIPT]) == expected


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


class Suite(evaluate.EvaluationSuite):
    """A suite of one task, as a user writes it."""


@pytest.fixture
def evaluator(monkeypatch):
    """Evaluate's evaluator, which does not run with transformers 5: it asks for a class that is gone."""
    base = importlib.import_module("evaluate.evaluator.base")
    gone = types.SimpleNamespace(PreTrainedModel=Suite, TFPreTrainedModel=Suite)
    for name, value in {"TRANSFORMERS_AVAILABLE": True, "SCIPY_AVAILABLE": True, "transformers": gone}.items():
        monkeypatch.setattr(base, name, value, raising=False)
    monkeypatch.setattr(base.Evaluator, "_infer_device", staticmethod(lambda: -1))
    ours = importlib.import_module("evaluate.evaluator.text_classification").TextClassificationEvaluator
    monkeypatch.setattr("evaluate.evaluation_suite.evaluator", ours)
    return ours


def classifier(texts, **_):
    """A pipeline that is always right."""
    return [{"label": text["text"].upper(), "score": 0.9} for text in texts]


classifier.task = "text-classification"


def test_class_labels_that_evaluator_and_suites_pass_are_warned_of(evaluator, tmp_path):
    """They hand on the label of each prediction and drop its score: a perfect classifier would be half wrong."""
    texts = ["no", "yes", "yes", "no"] * 20
    rows = Dataset.from_dict({"text": texts, "label": [int(text == "yes") for text in texts]})
    rows = rows.sort("label")  # not only the first ones are looked at
    about = {"metric": load("confidences", tmp_path), "label_mapping": {"NO": 0, "YES": 1}}
    with pytest.warns(UserWarning, match="^All predictions are 0 or 1 .*class labels"):
        evaluator("text-classification").compute(classifier, rows, **about)

    task = evaluate.evaluation_suite.SubTask("text-classification", data=rows, args_for_task=about)
    suite = Suite("ours")
    suite.suite = [task]
    with pytest.warns(UserWarning, match="^All predictions are 0 or 1 .*class labels"):
        suite.run(classifier)
