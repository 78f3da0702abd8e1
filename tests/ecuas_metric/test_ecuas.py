"""The module as Evaluate loads it: by path, from a copy, in one process and in two."""

import ast
import dataclasses
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import evaluate
import numpy as np
import pandas as pd
import pytest

from ecuas_metric.options import DEFAULTS, OPTIONS, checked_options
from tests.conftest import BARE, ROOT
from tests.ecuas_metric.systems import compute

SCRIPT = "ecuas_metric/ecuas.py"
CONFIDENCE, CORRECT = [0.9, 0.8, 0.4, 0.65], [1, 0, 1, 1]
POSTERIORS, LABELS = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]], [0, 2, 0]


@pytest.fixture
def ecuas(tmp_path):
    return evaluate.load(SCRIPT, cache_dir=str(tmp_path))


@pytest.fixture
def expected():
    return compute("confidences", np.array(CONFIDENCE), np.array(CORRECT), checked_options())


def test_the_files_it_imports_are_the_files_its_files_import():
    """Evaluate copies what ecuas.py imports and nothing else."""

    def siblings(path):
        tree = ast.parse(path.read_text())
        return {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1}

    imported = siblings(ROOT / SCRIPT)
    needed, seen = set(imported), set()
    while needed - seen:
        name = (needed - seen).pop()
        seen.add(name)
        needed |= siblings(ROOT / "ecuas_metric" / f"{name}.py")
    assert imported == needed


def test_loads_from_a_copy_of_its_files_anywhere(tmp_path, expected):
    shutil.copytree(ROOT / "ecuas_metric", tmp_path / "elsewhere")
    module = evaluate.load(str(tmp_path / "elsewhere" / "ecuas.py"), cache_dir=str(tmp_path))
    assert module.compute(predictions=CONFIDENCE, references=CORRECT) == expected


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


@pytest.mark.parametrize(
    "convert",
    [list, tuple, np.array, lambda x: np.array(x, np.float64), lambda x: pd.Series(x, index=list("dcba"))],
    ids=["list", "tuple", "array", "floats", "series"],
)
@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_the_container_does_not_matter(convert, keep_in_memory, tmp_path, expected):
    module = evaluate.load(SCRIPT, keep_in_memory=keep_in_memory, cache_dir=str(tmp_path))
    assert module.compute(predictions=convert(CONFIDENCE), references=convert(CORRECT)) == expected


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_compute_add_and_add_batch_agree(keep_in_memory, tmp_path, expected):
    module = evaluate.load(SCRIPT, keep_in_memory=keep_in_memory, cache_dir=str(tmp_path))
    module.add_batch(predictions=CONFIDENCE[:2], references=CORRECT[:2])
    module.add(prediction=CONFIDENCE[2], reference=CORRECT[2])
    assert module.compute(predictions=CONFIDENCE[3:], references=CORRECT[3:]) == expected
    assert module.compute(predictions=CONFIDENCE, references=CORRECT) == expected


def test_posteriors_in_batches(ecuas):
    whole = ecuas.compute(predictions=POSTERIORS, references=LABELS, normalize=True)
    ecuas.add_batch(predictions=POSTERIORS[:2], references=LABELS[:2])
    ecuas.add(prediction=POSTERIORS[2], reference=LABELS[2])
    assert ecuas.compute(normalize=True) == whole
    assert all(type(value) is float for value in whole.values())


@pytest.mark.filterwarnings("ignore:auroc is nan")
def test_float64_goes_through_exactly(ecuas):
    value = ecuas.compute(predictions=[1 - 1e-12], references=[0], n=0, epsilon=1e-15)["ecuas_0"]
    assert value == pytest.approx(-np.log(1 - (1 - 1e-12)), rel=1e-12)


def test_graded(tmp_path):
    module = evaluate.load(SCRIPT, "graded", cache_dir=str(tmp_path))
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
    ({"predictions": [87.0, 0.2], "references": [1, 0]}, "predictions must lie in"),
    ({"predictions": [0.1, np.nan], "references": [1, 0]}, "predictions must not be NaN"),
    ({"predictions": [0.1, np.inf], "references": [1, 0]}, "predictions must lie in"),
    ({"predictions": [[3.0, -1.0]], "references": [0]}, "predictions must lie in"),
    ({"predictions": [[0.5, 0.4]], "references": [0]}, "predictions must have rows that sum to 1"),
    ({"predictions": [[0.5, 0.5]], "references": [2]}, "references must be labels in"),
    ({"predictions": [0.5], "references": [0.5]}, "references must be 0"),
    ({"predictions": [[0.5, 0.5]], "references": [0.5]}, "references must be whole numbers"),
    ({"predictions": [0.5, 0.5], "references": [1]}, "must have the same length"),
    ({"predictions": [], "references": []}, "predictions must not be empty"),
    ({"predictions": [[1.0]], "references": [0]}, "K >= 2"),
    ({"predictions": [[0.5, 0.5], [1.0]], "references": [0, 0]}, "predictions must have rows of one length"),
    ({"predictions": [0.5], "references": [1], "n": -1}, "n must be >= 0"),
    ({"predictions": [0.5], "references": [1], "reject_costs": 1.5}, "reject_costs must lie in"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "cost": "square"}, "cost must be one of"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "cost": np.eye(3)}, "cost must be 'zero_one'"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "cost": -np.eye(2)}, "cost must be finite"),
    ({"predictions": [[0.5, 0.5]], "references": [1], "decisions": [2]}, "decisions must be labels"),
    (
        {"predictions": [[0.5, 0.5]], "references": [1], "decisions": [0], "cost": "log"},
        "decisions cannot be used with",
    ),
    ({"predictions": [0.5], "references": [1], "sample_weight": [-1]}, "sample_weight must be finite"),
    ({"predictions": [0.5], "references": [1], "sample_weight": [0]}, "sample_weight must not be all zero"),
    ({"predictions": [0.5]}, "references must be"),
    ({}, "predictions and references are missing"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_after_an_error_the_module_is_usable_at_once(arguments, message, keep_in_memory, tmp_path, expected):
    module = evaluate.load(SCRIPT, keep_in_memory=keep_in_memory, cache_dir=str(tmp_path))
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
        with pytest.raises(ValueError, match="must"):
            call()
    with pytest.raises(TypeError, match="no option 'bins'"):
        ecuas.compute(bins=3)
    assert ecuas.compute() == expected


def test_batches_must_have_one_shape(ecuas):
    ecuas.add_batch(predictions=POSTERIORS, references=LABELS)
    message = "predictions must have the shape of the batches before, (N, 3); got (N, 2)."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ecuas.add_batch(predictions=[[0.5, 0.5]], references=[1])


@pytest.mark.filterwarnings("ignore:auroc is nan")
def test_two_modules_at_once_do_not_mix(tmp_path, expected):
    first, second = (evaluate.load(SCRIPT, cache_dir=str(tmp_path)) for _ in range(2))
    first.add_batch(predictions=CONFIDENCE[:2], references=CORRECT[:2])
    second.add_batch(predictions=[0.5], references=[1])
    first.add_batch(predictions=CONFIDENCE[2:], references=CORRECT[2:])
    assert second.compute(n=1)["ecuas_1"] == pytest.approx(0.25)
    assert first.compute() == expected


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


def test_combines_with_itself_and_survives_pickling(ecuas, expected):
    both = evaluate.combine([ecuas, evaluate.load(SCRIPT, "default")])
    values = both.compute(predictions=CONFIDENCE, references=CORRECT)
    assert values["ecuas_0_ecuas_1"] == expected["ecuas_1"]
    assert pickle.loads(pickle.dumps(ecuas.info)).description == ecuas.info.description


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


def test_one_module_shared_by_threads_gives_each_its_own_numbers(ecuas, rng):
    systems = [(rng.random(200), rng.integers(0, 2, 200)) for _ in range(48)]
    expected = [compute("confidences", *system, checked_options()) for system in systems]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda system: ecuas.compute(predictions=system[0], references=system[1]), systems))
    assert found == expected


def test_arrays_and_batches_give_the_same(ecuas, rng):
    logits, labels = rng.normal(size=(50, 4)).astype(np.float32), rng.integers(0, 4, 50)
    options = {"predictions_are": "logits", "normalize": True, "confidence_level": 0.9, "n_resamples": 20}
    at_once = ecuas.compute(predictions=logits, references=labels, **options)
    ecuas.add_batch(predictions=logits[:20], references=labels[:20])
    assert ecuas.compute(predictions=logits[20:], references=labels[20:], **options) == at_once


def test_the_options_of_compute_are_spelled_out_as_in_the_table(ecuas):
    """Evaluate's own test of a module allows no `**kwargs`: a reader of the signature sees what there is."""
    _, _, *spelled = inspect.signature(ecuas._compute).parameters.values()
    assert {parameter.name: parameter.default for parameter in spelled} == dataclasses.asdict(DEFAULTS)
    assert [parameter.name for parameter in spelled] == list(OPTIONS)
    assert all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in spelled)


def test_every_default_said_aloud_changes_nothing(ecuas, expected):
    assert ecuas.compute(predictions=CONFIDENCE, references=CORRECT, **dataclasses.asdict(DEFAULTS)) == expected


def test_the_information_names_its_sources_and_reads_its_own_file(ecuas, expected, tmp_path):
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    assert ecuas.compute() == expected
    ecuas.info.write_to_directory(str(tmp_path))
    read = evaluate.MetricInfo.from_directory(str(tmp_path))
    for name in ("description", "citation", "inputs_description", "homepage", "license", "reference_urls"):
        assert getattr(read, name) == getattr(ecuas.info, name) != ""
    assert read.reference_urls == ["https://arxiv.org/abs/2605.20490"]


def test_an_empty_batch_adds_nothing(ecuas, expected):
    ecuas.add_batch(predictions=np.empty((0, 3)), references=[])
    ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT)
    ecuas.add_batch(predictions=[], references=[])
    with pytest.raises(ValueError, match="references must not be empty"):
        ecuas.add_batch(predictions=[0.5], references=[])
    assert ecuas.compute(predictions=[], references=[]) == expected


@pytest.mark.parametrize("name", ["label", "confidence"])
def test_other_inputs_are_refused_in_the_way_of_evaluate(name, ecuas):
    with pytest.raises(ValueError, match=f"^the inputs must be predictions and references; got '{name}'"):
        ecuas.add_batch(predictions=CONFIDENCE, references=CORRECT, **{name: CORRECT})
    with pytest.raises(ValueError, match="^the inputs must be predictions and references"):
        ecuas.add(prediction=0.5, reference=1, **{name: 1})


@pytest.mark.parametrize("empty", [0, 1])
@pytest.mark.parametrize(("predictions", "references"), [(CONFIDENCE, CORRECT), (POSTERIORS, LABELS)])
def test_an_empty_share_of_a_distributed_run_counts_for_nothing(empty, predictions, references, tmp_path):
    """Each process in a thread of its own: Evaluate's locks are of files, and do not know the difference."""
    shared = {"num_process": 2, "experiment_id": "shares", "cache_dir": str(tmp_path), "timeout": 20}
    modules = [evaluate.load(SCRIPT, process_id=process, **shared) for process in (0, 1)]

    def share(process):
        if process == empty:
            return modules[process].compute()
        return modules[process].compute(predictions=predictions, references=references)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(share, 0)
        while not list(tmp_path.rglob("*-0.arrow.lock")) and not first.done():
            time.sleep(0.01)
        answers = [pool.submit(share, 1).result(), first.result()]
    whole = evaluate.load(SCRIPT, cache_dir=str(tmp_path)).compute(predictions=predictions, references=references)
    assert answers == [None, whole]
    assert not list(tmp_path.rglob("*.arrow"))


def test_what_evaluator_passes_is_warned_of(ecuas):
    """`evaluator("text-classification")` and `EvaluationSuite` pass classes, which are no confidences."""
    with pytest.warns(UserWarning, match=r"^All predictions are 0 or 1 .*class labels"):
        ecuas.compute(predictions=[0, 1, 1, 0], references=[0, 1, 1, 0])
    with pytest.raises(ValueError, match="Class labels"):
        ecuas.compute(predictions=[0, 2, 1, 0], references=[0, 2, 1, 0])
