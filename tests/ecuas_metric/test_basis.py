"""What a number depends on: every field forbids a comparison, or says why it does not, wherever numbers meet."""

import ast
import json
import re
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest

from ecuas_metric import (
    InputError,
    compare_systems,
    confidence_system,
    make_report,
)
from ecuas_metric.basis import (
    FACTS,
    Basis,
    Digest,
    Purpose,
    _mix_bits,
    make_basis,
    may_rank,
    why_not_comparable,
    why_not_rankable,
)
from ecuas_metric.metric import METRICS, Key
from ecuas_metric.reporting.report import report_grid
from tests.conftest import ROOT, parsed

SIZE = 40
ONE = Basis(
    form="confidences",
    num_samples=5,
    n=(1.0,),
    num_classes=4.0,
    max_uncertainty=0.75,
    cost="zero_one",
    epsilon=1e-7,
    n_bins=10,
    predictions_are="probabilities",
    renormalized="0.05",
    given_max_uncertainty=1.0,
    reject_costs=(0.1,),
    recalibration="affine/5",
    decisions="given",
    audit="100/1000",
    judge=Digest("12ab34cd"),
    drawn=Digest("56ef78ab"),
    abstentions="rejections",
    missing_confidence=0.5,
    weights=Digest("weights"),
    weighting="counts",
    tests="1000/0",
    level=0.95,
    interval_method="analytic",
    draws="1000/0",
    deviates="1000/0",
    pairing="rows",
    groups=Digest("groups"),
    strata=Digest("strata"),
    labels=Digest("labels"),
    ids=Digest("ids"),
    answers=Digest("answers"),
    population="all",
    part="law",
    grading=(("correct_from", "0.5"),),
    reading=(("scale", "100"),),
    recipe="12ab34cd",
    unlabelled="wrong",
    resolution="12 bins",
)
OTHER = {
    "ties": "optimistic",
    "version": "0.0.1",
    "grading": (("correct_from", "0.7"),),
    "reading": (),
}


def changed(name):
    """Return the basis with another value of one field."""
    value = getattr(ONE, name)
    if name in OTHER:
        other = OTHER[name]
    elif isinstance(value, Digest):
        other = Digest("another")
    elif isinstance(value, str):
        other = f"{value} too"
    else:
        other = (7.0,) if isinstance(value, tuple) else 7
    return replace(ONE, **{name: other})


def system(*, seed=0, size=SIZE, ids=True, **options):
    generator = np.random.default_rng(seed)
    names = [f"q{k}" for k in range(size)] if ids else None
    return confidence_system(
        generator.random(size) < 0.7, generator.random(size).round(2), ids=names, **options
    )


def test_every_field_is_a_fact():
    assert all(getattr(ONE, name) not in (None, ()) for name in FACTS)
    assert json.loads(json.dumps(ONE.to_json())).keys() == FACTS.keys()
    labels = [fact.label for fact in FACTS.values() if fact.label]
    assert len(set(labels)) == len(labels)
    assert [part.partition(":")[0] for part in str(ONE).split("|")[1:]] == labels


@pytest.mark.parametrize("purpose", Purpose)
@pytest.mark.parametrize("name", FACTS)
def test_every_field_changed_alone_is_refused_or_said_to_be_harmless(name, purpose):
    reasons = why_not_comparable(ONE, changed(name), purpose=purpose)
    fact = FACTS[name]
    assert reasons == ([] if purpose in fact.harmless else [fact.reason])
    assert why_not_comparable(changed(name), ONE, purpose=purpose) == reasons
    assert why_not_comparable(ONE, ONE, purpose=purpose) == []


def test_what_assesses_the_confidences_only_needs_the_same_answers():
    other = replace(ONE, answers=Digest("other answers"))
    for key in (Key(name, 0.5 if metric.parameter else None) for name, metric in METRICS.items()):
        ranks_confidences = key.assesses == "confidences" and key.entry.higher_is_better is not None
        assert may_rank(key, [ONE, other]) is not ranks_confidences
        assert may_rank(key, [ONE, ONE])


def test_digests_follow_the_ids_and_not_the_order_of_the_rows(rng):
    rows = {
        "correct": rng.integers(0, 2, SIZE),
        "confidence": rng.random(SIZE),
        "ids": np.array([f"q{k}" for k in range(SIZE)]),
        "sample_weight": rng.random(SIZE),
        "groups": np.arange(SIZE) % 7,
    }
    order = rng.permutation(SIZE)
    basis = confidence_system(**rows).basis
    assert (
        confidence_system(**{name: values[order] for name, values in rows.items()}).basis == basis
    )
    for name in ("sample_weight", "groups", "ids"):
        values = np.array(["new", *rows["ids"][1:]]) if name == "ids" else rows[name][::-1]
        other = confidence_system(**rows | {name: values})
        assert len(why_not_comparable(basis, other.basis)) == 1, name


@pytest.mark.parametrize(
    "longest", ["", "q", "id of sixteen ...", "of more than all at once " * 20]
)
def test_digests_of_ids_of_arrow_and_of_python_are_one(longest):
    """Also of a slice, of letters beyond ASCII, and of texts that differ in a last zero byte."""
    texts = ["é", "b", "a\0", "a", "", longest]
    system = confidence_system([1, 0, 1, 1, 0, 1], np.linspace(0, 1, 6))

    def basis_with(ids):
        return make_basis(system.decisions, system.options, ids=ids)

    of_arrow = pa.array(["another", *texts], pa.large_string())[1:]
    assert basis_with(of_arrow) == basis_with(texts)
    assert basis_with(texts[::-1]) != basis_with([*texts[:-1], "other"])
    assert basis_with(["a\0", "b"]) != basis_with(["a", "b"])


UNLIKE = {
    "numbers of samples": {"size": SIZE - 1, "ids": False},
    "weights": {"sample_weight": np.arange(1, SIZE + 1)},
    "levels of intervals": {"confidence_level": 0.5},
    "methods of intervals": {"interval_method": "percentile", "n_resamples": 20},
}


@pytest.mark.parametrize("reason", UNLIKE)
def test_numbers_that_depend_on_other_things_are_neither_ranked_nor_paired(reason):
    options = {"confidence_level": 0.95} | UNLIKE[reason]
    systems = {
        "one": system(ids=options.get("ids", True), confidence_level=0.95),
        "two": system(seed=1, **options),
    }
    report = make_report(systems)
    grid = report_grid(report)
    assert reason in why_not_rankable(one.basis for one in systems.values())
    assert reason in report.differing
    assert any(reason in line for line in grid.above)
    assert not any(cell.is_best for row in grid.rows for cell in row)
    with pytest.raises(InputError, match=re.escape(reason)):
        compare_systems(systems, by_position=True)


HOMES = {"calibration", "costs", "order", "peer_metrics"}  # modules of entries


def compared_in(node):
    """Return the expressions that a node compares, looks up, or makes a key of."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Subscript():
            return [node.slice]
        case ast.Call(func=ast.Name(id="Key")):
            return node.args[:1]
        case ast.MatchValue():
            return [node.value]
    return []


@pytest.mark.long
def test_no_name_of_a_metric_is_compared_outside_its_entry():
    files = [file for file in (ROOT / "ecuas_metric").rglob("*.py") if file.stem not in HOMES]
    for file in files:
        for expression in chain.from_iterable(map(compared_in, ast.walk(parsed(file)))):
            items = getattr(expression, "elts", [expression])
            names = {item.value for item in items if isinstance(item, ast.Constant)}
            assert not names & METRICS.keys(), f"{file}:{expression.lineno}"


def test_hashes_are_mixed_as_splitmix64_is():
    """The numbers that a generator seeded with 1234567 gives first (Steele, Lea and Flood 2014)."""
    golden = 0x9E3779B97F4A7C15
    states = [(1234567 + step * golden) % 2**64 for step in (1, 2, 3)]
    assert _mix_bits(np.array(states, np.uint64)).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
