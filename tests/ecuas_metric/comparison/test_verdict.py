"""One verdict of a set of systems: laws of what it names, by which tests, over which reject costs."""

from dataclasses import replace

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.comparison.compare import compare_pairable, strip_keys
from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.comparison.verdict import make_ranking
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from tests.conftest import seeds
from tests.ecuas_metric.reporting.compared import rows_of

FAMILY = ["error_rate", "ecuas_0", "ecuas_1", "ecuas_128"]
ECUAS_1 = Key("ecuas", 1.0)


def systems_near_the_level(seed, count=2, size=120, **options):
    """Return systems of which one is better by about what such samples can just tell."""
    rng = np.random.default_rng((43, seed))
    hard = rng.normal(size=size)
    systems = {}
    for i in range(count):
        logit = 1.2 + hard + 0.6 * rng.normal(size=size) - 0.45 * (i > 0)
        correct = rng.random(size) < 1 / (1 + np.exp(-logit))
        confidence = 1 / (1 + np.exp(-(logit + 0.3 * rng.normal(size=size))))
        ids = [f"q{k}" for k in range(size)]
        systems[f"s{i}"] = confidence_system(
            correct.astype(int), confidence, ids=ids, confidence_level=0.95, **options
        )
    return systems


@pytest.fixture(scope="module")
def verdict():
    return compare_pairable(systems_near_the_level(1, 3))


def test_the_family_is_four_metrics_and_the_strip_and_nothing_else_is_tested(verdict):
    tested = {str(row.key) for row in verdict.rows if row.family}
    assert tested == {*FAMILY}
    for row in verdict.rows:
        is_outside = str(row.key) not in FAMILY
        assert np.isnan(row.p) == is_outside
        assert np.isnan(row.p_adjusted) == is_outside
    pairs = 3
    with_rejecting = 6
    expected = pairs * len(FAMILY) + with_rejecting * len(verdict.strip)
    assert verdict.num_tests == expected


def test_a_region_is_of_tested_costs_that_are_all_clear_and_begins_and_ends_at_them(verdict):
    inside = {}
    for region in verdict.regions:
        for key in verdict.strip:
            if region.low <= key.parameter <= region.high:
                inside[key] = region.winner
    for key, ranking in verdict.strip.items():
        assert ranking.winner == inside.get(key)
        if ranking.winner is not None:
            rivals = [row for row in ranking.rows if ranking.winner in (row.first, row.second)]
            assert all(row.p_adjusted <= 0.05 for row in rivals)
    assert {region.low for region in verdict.regions} <= {key.parameter for key in verdict.strip}


@pytest.mark.parametrize("seed", seeds(2, 6))
def test_the_winner_beats_all_and_whoever_may_be_best_is_beaten_by_none(seed):
    verdict = compare_pairable(systems_near_the_level(seed, 3))
    for ranking in [*verdict.rankings.values(), *verdict.strip.values()]:
        if ranking.state not in ("clear", "close"):
            continue
        beaten = {row.second for row in ranking.rows if row.verdict == "first"}
        beaten |= {row.first for row in ranking.rows if row.verdict == "second"}
        assert set(ranking.best) == set(ranking.values) - beaten
        assert (ranking.state == "clear") == (len(beaten) == len(ranking.values) - 1)
        assert ranking.winner in (None, next(iter(ranking.values)))


@pytest.mark.long
def test_systems_of_other_questions_drop_out_and_say_why():
    systems = systems_near_the_level(5)
    other = replace(systems["s0"], ids=[f"x{k}" for k in range(120)])
    expected = compare_pairable(systems)
    for place in range(3):
        items = [*systems.items()]
        items.insert(place, ("other", other))
        verdict = compare_pairable(dict(items))
        assert [*verdict.left_out] == ["other"]
        assert "have different samples" in str(verdict.left_out["other"])
        assert verdict.to_json()["by_metric"] == expected.to_json()["by_metric"]
    with pytest.raises(InputError, match="have different samples"):
        compare_pairable({"other": other, "s0": systems["s0"]})


@pytest.mark.long
def test_the_headline_is_what_was_asked_for_or_ecuas_1():
    assert compare_pairable(systems_near_the_level(0)).headline == ECUAS_1
    at_cost = compare_pairable(systems_near_the_level(0, reject_costs=(0.123,)))
    assert at_cost.headline == Key("expected_cost", 0.123)
    assert at_cost.headline in at_cost.strip
    assert REJECTING in at_cost.ranking(at_cost.headline).values
    named = compare_pairable(
        systems_near_the_level(0), only=[Key("auroc"), Key("error_rate"), ECUAS_1]
    )
    assert named.headline == Key("error_rate")
    assert named.strip == {}
    assert compare_pairable(systems_near_the_level(0), only=[Key("auroc")]).headline is None
    other_order = compare_pairable(systems_near_the_level(0, n=(0.5, 2)))
    assert other_order.headline == Key("ecuas", 0.5)


def test_there_are_fewer_reject_costs_of_many_systems_and_samples():
    few = systems_near_the_level(0, 2)
    assert len(strip_keys(few)) == 100
    assert len(strip_keys({f"s{i}": few["s0"] for i in range(12)})) == 50
    large = confidence_system([1, 0] * 200_000, [0.5] * 400_000, reject_costs=0.1)
    assert [key.parameter for key in strip_keys({"a": large, "b": large})] == [0.1]


def test_states_of_rankings():
    def state(values, p):
        one = make_ranking(rows_of(values, p=p))
        return one.state, one.best

    values = {"a": 0.3, "b": 0.1, "c": 0.2, "d": 0.4}
    assert state(values, 0.01) == ("clear", ("b",))
    assert state(values, 0.2) == ("close", ("b", "c", "a", "d"))
    assert state(values, lambda *pair: 0.2 if {*pair} == {"b", "c"} else 0.01) == (
        "close",
        ("b", "c"),
    )
    assert state({"a": 0.1, "b": 0.1}, 1.0) == ("equal", ("a", "b"))
    assert state({"a": 0.1, "b": 0.3, "c": 0.1}, 0.001) == ("close", ("a", "c"))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_of_equal_systems_any_winner_is_named_in_at_most_6_percent(count):
    """Anywhere: by a metric of the family, or at a reject cost, where rejecting everything is no winner."""
    runs = 300
    named = 0
    for run in range(runs):
        rng = np.random.default_rng((47, run))
        hard = rng.normal(size=200)
        systems = {}
        for i in range(count):
            p = 1 / (1 + np.exp(-1.2 - hard - 0.6 * rng.normal(size=200)))
            right = (rng.random(200) < p).astype(int)
            systems[f"s{i}"] = confidence_system(right, p, confidence_level=0.95)
        verdict = compare_pairable(systems)
        rankings = [*verdict.rankings.values(), *verdict.strip.values()]
        named += any(
            row.verdict in ("first", "second") and REJECTING not in (row.first, row.second)
            for one in rankings
            for row in one.rows
        )
    print(f"{count} equal systems: any difference named in {100 * named / runs:.1f} %")
    assert named / runs <= 0.06
