from collections import Counter
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ecuas_metric import confidence_system, read_submissions
from ecuas_metric.comparison.compare import (
    Family,
    compare_strata,
    compare_systems,
    in_common,
    match_ids,
)
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.options import PER_SAMPLE, checked_options
from ecuas_metric.results import compute_values, prepare_system, value_keys
from tests.ecuas_metric.files.submitted import submission

OPTIONS = {"confidence_level": 0.95, "n_resamples": 400, "interval_method": "percentile"}
ARRAYS = np.array([0.5, 0.6, 0.7]), np.array([0, 1, 1])


@pytest.fixture
def outputs(rng):
    """Two systems that answer alike, of which the second is overconfident, and a third that answers otherwise."""
    p = rng.beta(3, 1.5, 400)
    correct = (rng.random(400) < p).astype(int)
    other = rng.beta(3, 1.5, 400)
    return {
        "calibrated": (p, correct),
        "overconfident": (1 - (1 - p) ** 3, correct),
        "other": (other, (rng.random(400) < other).astype(int)),
    }


def systems_of(outputs, *, ids=None, **options):
    checked = checked_options(**OPTIONS | options)
    ids = ids or {}
    return {
        name: prepare_system("confidences", *arrays, checked, ids=ids.get(name))
        for name, arrays in outputs.items()
    }


def rows_of(outputs, **options):
    """Return all comparisons, of one family of tests."""
    systems = systems_of(outputs, **options)
    compared = compare_systems(systems, only=every_key(systems), by_position=True)
    return {(row.first, row.second, str(row.key)): row for row in compared}


def every_key(systems):
    first = next(iter(systems.values()))
    return value_keys(first.decisions, first.options)


@pytest.mark.parametrize("count", [False, True])
def test_differences_are_those_of_the_metrics(outputs, count, rng):
    options = {}
    if count:
        options = {"sample_weight": rng.integers(0, 3, 400), "groups": np.arange(400) // 5}
        options["weights_are"] = "counts"
    values = {
        name: compute_values(system) for name, system in systems_of(outputs, **options).items()
    }
    for (first, second, _), row in rows_of(outputs, **options).items():
        assert row.difference == pytest.approx(
            values[first][row.key] - values[second][row.key], abs=1e-12
        )
        assert row.low <= row.difference <= row.high or row.key == Key("ece")


@pytest.mark.long
def test_a_metric_compared_alone_has_the_rows_that_it_has_among_all(outputs):
    systems = systems_of(outputs, decompose=True, normalize=True, n=1)
    every = compare_systems(systems, by_position=True)
    of_ecuas = (Key("ecuas", 1.0, variant) for variant in ("recalibrated", "normalized"))
    for key in (Key("auroc"), Key("aurc"), Key("error_rate"), *of_ecuas):
        alone = compare_systems(systems, only=[key], by_position=True)
        expected = [row for row in every if row.key == key]
        # but for the tests, which are of other families
        assert [astuple(row)[:6] for row in alone] == [astuple(row)[:6] for row in expected]


def test_swapping_systems_flips_the_sign(outputs):
    there = rows_of({name: outputs[name] for name in ("calibrated", "other")})
    back = rows_of({name: outputs[name] for name in ("other", "calibrated")})
    for (first, second, key), row in there.items():
        *names, swapped_key = astuple(back[second, first, key])[:3]
        numbers = astuple(back[second, first, key])[3:]
        turned = astuple(row.turned())
        assert (*names, swapped_key) == turned[:3]
        # but for p adjusted, of other draws
        assert numbers == pytest.approx(turned[3:], abs=0.01, nan_ok=True)
        assert back[second, first, key].p == pytest.approx(row.p, rel=1e-9, nan_ok=True)


def test_numbers_of_confidences_are_marked_where_the_answers_differ(outputs):
    only_confidences = {"ece", "auroc", "confidence_cross_entropy", "confidence_brier_score"}
    for row in rows_of(outputs, normalize=True, decompose=True, n=1).values():
        same_answers = {row.first, row.second} == {"calibrated", "overconfident"}
        is_of_both = (
            row.key.metric not in only_confidences and row.key.variant != "calibration_loss"
        )
        assert row.comparable == (same_answers or is_of_both), row


def test_within_strata_each_is_compared_alone_and_p_holds_for_all(outputs):
    part = np.arange(400) % 3
    keys = [Key("error_rate"), Key("aurc")]
    within = compare_strata(systems_of(outputs, strata=part), only=keys)
    assert [*within] == [0, 1, 2]
    for stratum, rows in within.items():
        alone = {
            name: [values[part == stratum] for values in arrays] for name, arrays in outputs.items()
        }
        compared = compare_systems(systems_of(alone), only=keys, by_position=True)
        for row, expected in zip(rows, compared, strict=True):
            p_adjusted = min(3 * expected.p_adjusted, 1)
            assert replace(row, verdict=expected.verdict) == replace(
                expected, p_adjusted=p_adjusted
            )
            assert (row.verdict in ("first", "second")) == (p_adjusted <= 0.05)
    with pytest.raises(InputError, match="strata"):
        compare_strata(systems_of(outputs), only=keys)


def test_differences_that_rest_on_unseen_mistakes_say_so_and_of_which_system(rng):
    sure = np.where(np.arange(120) < 69, 1.0, 0.5)
    vague = np.full(120, 0.6)
    correct = ((sure == 1) | (rng.random(120) > 0.3)).astype(int)
    compared = compare_systems(
        systems_of({"sure": (sure, correct), "vague": (vague, correct)}, n=0), by_position=True
    )
    (note,) = (note for name, note in compared.notes if name == "sure")
    assert note.fact.startswith("No mistake was seen among 69 answers with confidence 1")
    assert "ecuas_0" in note.fact
    assert f"sure: {note}" in repr(compared)


@pytest.mark.long
def test_ids_bring_samples_together_and_ties_too(rng):
    tied = {name: (rng.integers(0, 5, 60) / 4, rng.integers(0, 2, 60)) for name in "abc"}
    one, other = (
        [astuple(row) for row in compare_systems(systems)]
        for systems in (with_ids(tied), with_ids(tied, moved="b", rng=rng))
    )
    np.testing.assert_equal(one, other)  # to which nan is nan


@pytest.mark.long
def test_weights_and_groups_follow_the_ids(outputs, rng):
    options = {
        "sample_weight": 10 ** rng.uniform(-6, 3, 400),
        "groups": np.arange(400) // 4,
        "n_resamples": 50,
    }
    there, here = (
        with_ids(outputs, moved=moved, rng=rng, **options)
        for moved in ((), ("overconfident", "other"))
    )
    for row, same in zip(compare_systems(here), compare_systems(there), strict=True):
        numbers, expected = astuple(row)[3:], astuple(same)[3:]
        assert numbers == pytest.approx(expected, abs=1e-12, nan_ok=True), row.key
    others = with_ids({"other": outputs["other"]}, **options | {"sample_weight": rng.random(400)})
    with pytest.raises(
        InputError, match="^calibrated and other cannot be paired: these differ: weights"
    ):
        compare_systems(there | others)


def with_ids(outputs, *, moved=(), rng=None, **options):
    """Return systems with ids, the samples of some of which are moved to other rows."""
    systems = {}
    for name, arrays in outputs.items():
        order = rng.permutation(len(arrays[0])) if name in moved else np.arange(len(arrays[0]))
        own = {
            option: values[order] if option in PER_SAMPLE else values
            for option, values in options.items()
        }
        ids = {name: [f"q{i}" for i in order]}
        systems |= systems_of({name: [array[order] for array in arrays]}, ids=ids, **own)
    return systems


def small(*, ids="abc", arrays=ARRAYS, **options):
    return systems_of({"system": arrays}, ids={"system": ids and list(ids)}, **options)["system"]


def of_classes(labels):
    return prepare_system(
        "posteriors",
        np.array([[0.6, 0.4], [0.3, 0.7]]),
        np.array(labels),
        checked_options(**OPTIONS),
    )


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([small()], "^a comparison needs at least two systems; got 1. Add another one"),
        ([small(), small(ids="abd")], "^one and two have different samples.*'c' is not in two"),
        ([small(), small(ids="abb")], "^two: sample ids must be unique; got 'b' repeatedly"),
        (
            [small(), small(ids=None)],
            "^one and two cannot be paired: only one of them has sample ids",
        ),
        (
            [small(ids=None), small(ids=None, arrays=np.eye(2, dtype=int))],
            "these differ: numbers of samples",
        ),
        (
            [of_classes([0, 1]), of_classes([1, 1])],
            "^one and two cannot be paired: these differ: .*true classes",
        ),
        (
            [small(), small(sample_weight=[1, 2, 3])],
            "^one and two cannot be paired: these differ: weights",
        ),
        (
            [small(confidence_level=None)] * 2,
            "^confidence_level is missing: the level of the intervals of differences",
        ),
    ],
)
def test_systems_that_do_not_match_are_refused(systems, message):
    with pytest.raises(InputError, match=message):
        compare_systems(dict(zip(("one", "two"), systems, strict=False)), by_position=True)


@pytest.mark.long
def test_rows_are_paired_by_position_only_where_that_is_asked_for_and_the_output_says_so(outputs):
    systems = systems_of({name: outputs[name] for name in ("calibrated", "other")})
    with pytest.raises(InputError, match="^ids are missing: .*by_position=True"):
        compare_systems(systems)
    by_position = compare_systems(systems, by_position=True)
    assert repr(by_position).endswith("there are no ids: 400 samples are paired by their position.")
    by_id = compare_systems(with_ids({name: outputs[name] for name in systems}))
    assert "position" not in repr(by_id)


def test_common_samples_are_those_of_the_same_part(rng):
    ids = {("one", "x"): "abcd", ("one", "y"): "ab", ("two", "x"): "acd", ("two", "y"): "ab"}
    parts = [
        replace(submission(" ".join(names), rng, size=len(own), ids=list(own)), part=names[1])
        for names, own in ids.items()
    ]
    kept = ["".join(one.ids.tolist()) for one in in_common(parts)]
    assert kept == ["acd", "ab", "acd", "ab"]
    with pytest.raises(InputError, match="got none in y"):
        in_common(parts[:3])


@pytest.mark.parametrize("rule", ["bounds", "wrong"])
@pytest.mark.parametrize("kept", [slice(0, 4), slice(3, 9)])  # two of these are unlabelled, none
def test_common_samples_are_as_a_file_of_these_alone(rule, kept, tmp_path):
    table = pd.DataFrame({"id": range(9), "confidence": np.linspace(0.1, 0.9, 9), "correct": 1})
    table["weight"] = range(1, 10)
    table["correct"] = table["correct"].where(~table.index.isin([0, 2]))
    files = {"all": table, "part": table[kept], "other": table[kept][::-1].assign(correct=1)}
    systems = {}
    for name, rows in files.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        (systems[name],) = read_submissions(
            tmp_path / f"{name}.csv", unlabelled=rule, columns={"weight": "weight"}
        )
    common, _ = in_common([systems["all"], systems["other"]])
    part = systems["part"]
    *notes, left_out = common.notes
    lost = 9 - len(part.predictions)
    assert left_out.fact == f"{lost} of 9 samples left out, because other systems do not have them."
    assert notes == list(part.notes)
    assert common.rows.tolist() == systems["all"].rows[kept].tolist()
    assert common.ids.tolist() == part.ids.tolist()
    for name in ("predictions", "references", "per_sample"):
        np.testing.assert_equal(getattr(common, name), getattr(part, name))
    np.testing.assert_equal(_unlabelled(common), _unlabelled(part))


def _unlabelled(one):
    return one.unlabelled and (one.unlabelled.share, one.unlabelled.rows)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_mistakes_of_one_of_two_systems_tell_what_the_test_of_signs_does(count, rng):
    """However dear they are: between its mid-p-value, nearly, and its p-value."""
    confidence = rng.beta(3, 1, 300).round(2)
    confidence[:60] = 1.0
    correct = (rng.random(300) < confidence).astype(int)
    wrong = np.where(np.arange(300) < count, 0, correct)
    systems = {
        name: confidence_system(one, confidence, n=(0, 1), confidence_level=0.95)
        for name, one in (("a", correct), ("b", wrong))
    }
    family = Family(systems)
    rows = {str(test.key): test.inference.p_value() for test in family.tests if test.inference}
    exact = stats.binomtest(0, count).pvalue
    for key in ("error_rate", "confidence_cross_entropy", "ecuas_0", "ecuas_1"):
        assert 0.7 * exact / 2 <= rows[key] <= exact


@pytest.mark.parametrize("effect", [0.0, 1.0, 3.0])
def test_tails_have_the_degrees_of_freedom_of_equal_groups_whatever_these_do(effect, rng):
    group = np.arange(240) % 12
    p = 1 / (1 + np.exp(-rng.normal(1, 1, (2, 240)) - effect * rng.normal(size=(2, 12))[:, group]))
    right = (rng.random((2, 240)) < p).astype(int)
    outputs = dict(zip("ab", zip(p, right, strict=True), strict=True))
    for groups, freedom in ((group, 11), (np.arange(240), 239), (None, 239)):
        family = Family(systems_of(outputs, groups=groups), [Key("error_rate"), Key("aurc")])
        for test in family.tests:
            sides = test.inference.lower, test.inference.upper
            assert [side.freedom for side in sides] == pytest.approx([freedom] * 2)


def grouped_systems(seed, num_groups, *, count=2, size=200, difficulty=1.0, effect=1.0):
    """Return equal systems of samples of some difficulty, with an effect of each group on each system."""
    rng = np.random.default_rng(seed)
    group = np.arange(size) % num_groups
    outputs = {}
    for name in range(count):
        logit = 1 + difficulty * rng.normal(size=size) + effect * rng.normal(size=num_groups)[group]
        p = 1 / (1 + np.exp(-logit - rng.normal(size=size)))
        outputs[f"s{name}"] = (p, (rng.random(size) < p).astype(int))
    return systems_of(outputs, groups=group, n=(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("num_groups", [6, 8, 10, 20])
def test_one_difference_of_equal_systems_of_few_groups_is_seldom_significant(num_groups):
    runs = 600
    only = [Key("error_rate"), Key("aurc"), Key("ecuas", 1.0)]
    told = Counter()
    for run in range(runs):
        systems = grouped_systems((29, run), num_groups, size=160, difficulty=0.0, effect=0.7)
        for row in compare_systems(systems, only=only, by_position=True):
            told[str(row.key)] += row.p <= 0.05
    assert max(told.values()) / runs <= 0.05 + 2 * 0.0089


@pytest.mark.slow
@pytest.mark.parametrize(("num_groups", "num_systems"), [(10, 3), (10, 5), (20, 5)])
def test_equal_systems_of_few_groups_are_seldom_told_apart(num_groups, num_systems):
    runs = 300
    told = 0
    for run in range(runs):
        systems = grouped_systems((23, run), num_groups, count=num_systems)
        told += any(row.p_adjusted <= 0.05 for row in compare_systems(systems, by_position=True))
    assert told / runs <= 0.05 + 2 * 0.0126


@pytest.mark.parametrize("other", [str, "{}.0".format, "{:03}".format, "Q{}".format])
def test_ids_that_are_written_otherwise_are_said_to_be(other):
    ids = [f"q{k}" if "Q" in other(0) else f"{k}" for k in range(40)]
    others = [other(k) for k in range(40)][::-1]
    if set(ids) == set(others):
        assert len(match_ids("b", others, "a", ids)) == 40
        return
    with pytest.raises(InputError) as raised:
        match_ids("b", others, "a", ids)
    assert "write them alike" in str(raised.value)


@pytest.mark.parametrize(
    ("others", "advice"),
    [
        ([1, 2, 3], "pair_by_row"),
        ([1, 2, 3, 4], "keep_common"),
        ([1, 2, 7], "keep_common"),
        (["x", "y", "z"], "name_other_ids"),
    ],
)
def test_rows_are_to_be_paired_where_ids_of_both_only_count_as_many(others, advice):
    for first, second in (([0, 1, 2], others), (others, [0, 1, 2])):
        with pytest.raises(InputError) as raised:
            match_ids("b", second, "a", first)
        assert raised.value.advice == advice
