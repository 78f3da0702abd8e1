"""A gate fails for the verdict alone, says what it could not see, and writes where a build reads it."""

import json
import re

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.comparison.gate import check_gate
from ecuas_metric.comparison.planning import plan_of_systems
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from tests.ecuas_metric.reporting.commanded import answers

ECUAS_1 = Key("ecuas", 1.0)


@pytest.fixture
def builds(folder, rng):
    old = answers(rng, 300)
    old.to_csv("old.csv", index=False)
    old.assign(confidence=1 - (1 - old["confidence"]) ** 4).to_csv("worse.csv", index=False)
    old.assign(confidence=old["confidence"] ** 1.02).to_csv("same.csv", index=False)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "status", "beginning"),
    [
        ("old.csv worse.csv --fail-if worse", 1, "FAIL  worse is worse than old: it costs users "),
        ("worse.csv old.csv --fail-if worse", 0, "PASS  old is better than worse: "),
        ("old.csv same.csv --fail-if worse", 0, "PASS  same is not clearly worse than old: "),
        ("old.csv same.csv --fail-unless 'within 0.5'", 0, "PASS  same is not 0.5 worse than old"),
        ("old.csv worse.csv --fail-unless 'within 0'", 1, "FAIL  worse is more than 0 worse"),
        ("old.csv same.csv --fail-unless 'within 0'", 1, "FAIL  same may be more than 0 worse"),
        ("old.csv worse.csv --fail-if worse --metrics er", 0, "PASS  worse is not clearly worse"),
        (
            "old.csv worse.csv --fail-if worse --reject-costs 0.1",
            1,
            "FAIL  worse is worse than old: where rejecting costs 0.1 of a mistake, it costs users",
        ),
        ("old.csv none.csv --fail-if worse", 2, ""),
        ("old.csv worse.csv --fail-if better", 2, ""),
        ("old.csv worse.csv --fail-unless 0.02", 2, ""),
        ("old.csv worse.csv --fail-unless 'within -1'", 2, ""),
        ("old.csv worse.csv --fail-unless 'within 0.5' --fail-if worse", 2, ""),
        ("old.csv worse.csv same.csv --fail-if worse", 2, ""),
        ("old.csv worse.csv --fail-if worse --metrics ece", 2, ""),
        ("old.csv worse.csv --format markdown", 2, ""),
    ],
)
def test_the_status_is_1_for_the_verdict_alone(arguments, status, beginning, builds, ran):
    out = " ".join(ran(f"compare {arguments}", status).out.split("\n"))
    assert out.startswith(beginning)
    assert bool(out) == (status != 2)


def test_pass_says_what_it_could_not_see(builds, ran):
    out = ran("compare old.csv same.csv --fail-if worse").out
    found = re.search(r"A difference of ([\d.]+) would be found in (\d+)% of such samples", out)
    assert found
    assert 20 <= int(found[2]) <= 100
    assert "worse is not ruled out. Stricter: --fail-unless " in " ".join(out.split())


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "markdown"])
def test_standard_output_has_what_a_file_would(form, builds, ran):
    suffix = {"json": "json", "markdown": "md"}[form]
    arguments = "compare old.csv worse.csv --fail-if worse --output"
    ran(f"{arguments} out.{suffix}", 1)
    out = ran(f"{arguments} - --format {form}", 1).out
    with open(f"out.{suffix}", encoding="utf-8") as file:
        assert out == file.read()
    if form == "json":
        assert json.loads(out)["verdict"]["gate"]["passed"] is False
    else:
        assert out.startswith("FAIL ")


def pair(rng, size=150):
    hard = rng.random(size)
    systems = []
    for _ in range(2):
        q = np.clip(hard + rng.normal(0, 0.15, size), 0.01, 0.99)
        systems.append(((rng.random(size) < hard).astype(int), q))
    return {
        name: confidence_system(*arrays, confidence_level=0.95, ids=range(size))
        for name, arrays in zip(("old", "new"), systems, strict=True)
    }


@pytest.mark.parametrize("key", [ECUAS_1, Key("error_rate"), Key("brier_score")])
def test_laws_of_gates(key, rng):
    systems = pair(rng)
    if key.metric == "brier_score":
        with pytest.raises((InputError, ValueError)):
            check_gate(systems, key)
        return
    gate = check_gate(systems, key)
    back = check_gate(dict(reversed(systems.items())), key)
    assert gate.worsening == pytest.approx(-back.worsening)
    assert (gate.low, gate.high) == pytest.approx((-back.high, -back.low))
    assert not (gate.passed is False and back.passed is False)
    assert gate.passed == (gate.p >= 0.05 or gate.worsening <= 0)
    margins = [check_gate(systems, key, margin=margin) for margin in (0, gate.high, 1e6)]
    assert [one.passed for one in margins] == [gate.high <= 0, True, True]
    for margin in (-0.1, np.nan):
        with pytest.raises(InputError, match="^margin must be a number in"):
            check_gate(systems, key, margin=margin)
    powers = [one.power_if_equal for one in margins]
    assert powers == sorted(powers)
    toward = -1.0
    (plan,) = plan_of_systems(systems, only=[key], difference=toward)
    assert gate.detectable == pytest.approx(plan.detectable)
    assert gate.visible / 2.5 < gate.detectable < 2.6 * gate.visible
    assert (gate.power <= 0.8 + 1e-9) == (gate.visible <= gate.detectable)


def test_a_system_beside_itself_passes_without_a_margin(rng):
    system = pair(rng)["old"]
    gate = check_gate({"old": system, "new": system}, ECUAS_1)
    assert gate.passed
    assert (gate.worsening, gate.p) == (0, 1)
