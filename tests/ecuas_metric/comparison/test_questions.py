"""Several questions as one system: each ECUAS_n is the mean of theirs, and the items are what varies."""

import numpy as np
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.comparison.questions import join_questions
from ecuas_metric.errors import InputError
from ecuas_metric.metric import Key
from ecuas_metric.results import compute_results, compute_values

KEYS = [Key("ecuas", order) for order in (0.0, 0.5, 1.0, 128.0)]
SIZES = {"urgent": (2, 40), "team": (4, 40), "language": (8, 25)}


def questions_of(seed, *, skill=1.0, abstained=False):
    rng = np.random.default_rng(seed)
    systems = {}
    for name, (num_classes, items) in SIZES.items():
        confidence = rng.uniform(1 / num_classes, 1, items)
        correct = rng.random(items) < confidence**skill
        silent = rng.random(items) < 0.2 if abstained else None
        systems[name] = confidence_system(
            correct,
            confidence,
            num_classes=num_classes,
            ids=range(items),
            n=(0, 0.5, 1, 128),
            confidence_level=0.95,
            abstained=silent,
        )
    return systems


@pytest.mark.parametrize("abstained", [False, True])
def test_each_ecuas_is_the_mean_of_those_of_the_questions(abstained):
    for seed in range(20):
        questions = questions_of(seed, abstained=abstained)
        both = compute_values(join_questions(questions), KEYS)
        for key in KEYS:
            each = [compute_values(system, [key])[key] for system in questions.values()]
            assert both[key] == pytest.approx(np.mean(each), rel=1e-9)


def test_a_question_twice_tells_no_more_than_once():
    team = questions_of(4)["team"]
    once = compute_results(join_questions({"a": team}), only=KEYS).estimates
    twice = compute_results(join_questions({"a": team, "b": team}), only=KEYS).estimates
    for key in KEYS:
        assert twice[key].value == pytest.approx(once[key].value)
        width = twice[key].high - twice[key].low
        assert width > 0.9 * (once[key].high - once[key].low)


def test_questions_without_ids_are_refused():
    with pytest.raises(InputError, match="ids"):
        join_questions({"a": confidence_system([1, 0], [0.9, 0.2], num_classes=2)})


@pytest.mark.parametrize(
    "option",
    [{"reject_costs": 0.1}, {"groups": [0] * 40}, {"strata": [0] * 40}, {"normalize": True}],
)
def test_options_of_one_question_are_refused_and_not_dropped(option):
    confidence = np.linspace(0.3, 1, 40)
    one = confidence_system(
        confidence > 0.6, confidence, num_classes=4, ids=range(40), confidence_level=0.9, **option
    )
    with pytest.raises(InputError, match=next(iter(option))):
        join_questions({"a": one})
