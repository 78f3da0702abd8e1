"""What is 0.9 in float32, float16 or bfloat16 is 0.9, whichever way it comes in."""

import math

import evaluate
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ecuas_metric import (
    choose_reject_cost,
    confidence_system,
    decide,
    decide_confidences,
    ecuas_cost,
    fit_recalibration,
    fixed_reject_cost,
    make_report,
    prepare_submissions,
    read_submissions,
    score_confidences,
    score_costs,
    score_posteriors,
)
from ecuas_metric.inputs import complement, parse_numbers
from ecuas_metric.plotting.curves import reliability
from ecuas_metric.precision import widen
from tests.conftest import ROOT

OPTIONS = {"reject_costs": (0.05, 0.1, 0.3), "n": (0, 1), "calibration": True}
SHORT = (np.float32, np.float16)


def printed(values):
    """Return what NumPy prints, as float64: an outside witness."""
    return np.array([float(str(value)) for value in values])


@pytest.mark.parametrize("dtype", SHORT)
def test_floats_are_what_numpy_prints(dtype, rng):
    powers = 2.0 ** np.arange(np.finfo(dtype).minexp - np.finfo(dtype).nmant, 10)
    sizes = 10.0 ** rng.integers(-6, 3, 20_000)
    values = np.concatenate([rng.random(20_000), -rng.random(20_000) * sizes, powers, -powers])
    values = np.append(values, [0.0, -0.0, math.inf, -math.inf, math.nan]).astype(dtype)
    widened = widen(values)
    # powers of 10 beyond 22 digits are themselves rounded
    np.testing.assert_allclose(widened, printed(values), rtol=3e-16, atol=0)
    np.testing.assert_array_equal(widened.astype(dtype), values)


def test_bfloat16_has_the_fewest_digits_that_round_to_it():
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    bits = torch.arange(0, 2**15, 3, dtype=torch.int32).to(torch.int16)
    values = bits.view(torch.bfloat16)
    values = values[torch.isfinite(values) & (values < 100) & (values > 1e-15)]

    def rounded(decimals):
        return torch.tensor(decimals, dtype=torch.float64).to(torch.bfloat16)

    widened = parse_numbers(values, "values")
    assert bool((rounded(widened) == values).all())
    for value, found in zip(values.double().tolist(), widened.tolist(), strict=True):
        digits = len(np.format_float_scientific(found, trim="-").split("e")[0].replace(".", ""))
        assert digits < 2 or float(rounded(float(f"{value:.{digits - 2}e}"))) != value


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9), st.sampled_from(SHORT))
def test_lists_of_mixed_precision_and_frames_of_columns(thousandths, dtype):
    values = np.array(thousandths) / 1000
    short = values.astype(dtype)
    mixed = [*short, *values]
    assert parse_numbers(mixed, "x").tolist() == [*values, *values]
    assert parse_numbers([[one, 0.5] for one in short], "x").tolist() == [
        [one, 0.5] for one in values
    ]
    columns = {"a": short, "b": values}
    frames = [pd.DataFrame(columns), pa.table(columns)]
    if dtype == np.float32:
        kinds = ("Float32", "float[pyarrow]")
        frames += [pl.DataFrame(columns), *(frames[0].astype({"a": kind}) for kind in kinds)]
    for frame in frames:
        assert parse_numbers(frame, "x").tolist() == np.stack([values, values], axis=1).tolist()
    assert parse_numbers(pd.Series(list(mixed), dtype=object), "x").tolist() == [*values, *values]
    assert parse_numbers(np.ma.masked_array(short, [True] + [False] * (len(short) - 1)), "x")[
        1:
    ].tolist() == list(values[1:])


def drawn(run):
    """Return confidences of tenths, twentieths or hundredths, and which answers are right."""
    rng = np.random.default_rng(run)
    steps = (10, 20, 100)[run % 3]
    confidence = rng.integers(0, steps + 1, rng.integers(20, 80)) / steps
    return confidence, (rng.random(len(confidence)) < confidence).astype(int)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = str(ROOT / "ecuas_metric" / "ecuas.py")
    return evaluate.load(path, cache_dir=str(tmp_path_factory.mktemp("cache")))


def by_evaluate(module, confidence, correct):
    module.add_batch(predictions=confidence[:7], references=correct[:7])
    module.add_batch(predictions=confidence[7:], references=correct[7:])
    return module.compute(**OPTIONS)


RUNS = [range(0, 300, 20), pytest.param(range(300), marks=pytest.mark.slow)]


@pytest.mark.long
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_same_printed_numbers_have_the_same_results(runs, module):
    """Of functions and Evaluate: every decision, bin and number, to the last bit."""
    for run in runs:
        confidence, correct = drawn(run)
        expected = score_confidences(correct, confidence, **OPTIONS)
        accepted = decide_confidences(confidence, 0.1).accepted
        bins = reliability(confidence_system(correct, confidence)).counts
        for dtype in SHORT:
            short = confidence.astype(dtype)
            np.testing.assert_equal(score_confidences(correct, short, **OPTIONS), expected)
            np.testing.assert_equal(by_evaluate(module, short, correct), expected)
            np.testing.assert_equal(decide_confidences(short, dtype(0.1)).accepted, accepted)
            system = confidence_system(correct, short)
            np.testing.assert_equal(reliability(system).counts, bins)
            chosen = choose_reject_cost(system, budget=0.5).reject_cost
            again = choose_reject_cost(confidence_system(correct, confidence), budget=0.5)
            assert chosen == again.reject_cost


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", SHORT)
def test_posteriors_costs_and_maps_of_any_precision(dtype, rng):
    tenths = rng.multinomial(10, [0.6, 0.3, 0.1], 90) / 10
    label = rng.integers(0, 3, 90)
    short = tenths.astype(dtype)
    options = {"reject_costs": (0.1, 0.4), "labels": range(3)}
    assert score_posteriors(label, short, **options) == score_posteriors(label, tenths, **options)
    matrix = np.array([[0, 0.9, 0.3], [0.7, 0, 0.3], [0.1, 0.2, 0]])
    for cost in ("zero_one", matrix, pd.DataFrame(matrix)):
        narrow = cost if isinstance(cost, str) else cost.astype(dtype)
        expected = decide(tenths, reject_cost=0.1, cost=cost)
        found = decide(short, reject_cost=dtype(0.1), cost=narrow)
        for field in ("decision", "uncertainty", "accepted"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    u, c = tenths[:, 0], tenths[:, 1]
    assert score_costs(
        uncertainty=u.astype(dtype), candidate_cost=c.astype(dtype), max_uncertainty=dtype(1)
    ) == score_costs(uncertainty=u, candidate_cost=c, max_uncertainty=1)
    for function, options in ((ecuas_cost, {}), (fixed_reject_cost, {"reject_cost": 0.3})):
        found = function(candidate_cost=c.astype(dtype), uncertainty=u.astype(dtype), **options)
        assert found.tolist() == function(candidate_cost=c, uncertainty=u, **options).tolist()
    maps = [fit_recalibration(values, label).apply(values) for values in (tenths, short)]
    assert maps[0].tolist() == maps[1].tolist()


def scored(path, **options):
    systems = prepare_submissions(read_submissions(path), **options)
    (results,) = make_report(systems).results.values()
    return results.flat()


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("dtype", SHORT)
def test_files_of_any_precision(dtype, runs, tmp_path):
    for run in runs:
        confidence, correct = drawn(run)
        values = {}
        for name, kind in (("short", dtype), ("double", np.float64)):
            path = tmp_path / f"{name}.parquet"
            columns = {"confidence": confidence.astype(kind), "correct": correct}
            parquet.write_table(pa.table(columns), path)
            values[name] = scored(path, **OPTIONS)
        np.testing.assert_equal(values["short"], values["double"])


@given(st.integers(0, 1000), st.sampled_from([1, 10, 100]))
def test_a_complement_is_that_of_the_written_number(thousandths, whole):
    value = thousandths * whole / 1000
    assert complement(np.array([value]), whole)[0] == (1000 - thousandths) * whole / 1000


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_uncertainties_are_complements_of_confidences():
    for run in range(60):
        confidence, correct = drawn(run)
        hundredths = np.rint(100 * confidence)
        uncertainty = (100 - hundredths) / 100
        expected = score_confidences(correct, hundredths / 100, num_classes=5, **OPTIONS)
        found = score_confidences(correct, uncertainty=uncertainty, num_classes=5, **OPTIONS)
        np.testing.assert_equal(found, expected)
    with pytest.raises(ValueError, match="confidence and uncertainty are two forms of one thing"):
        score_confidences(correct, confidence, uncertainty=uncertainty)
    with pytest.raises(ValueError, match=r"^uncertainty must lie in \[0, 1\]; got 2"):
        score_confidences([1, 0], uncertainty=[0.5, 2.0])
