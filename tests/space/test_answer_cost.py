import pytest

from ecuas_metric.costs import ecuas_cost
from space.answer_cost import CHOSEN, Answer, answer_costs, cost_frame, cost_numbers


@pytest.mark.parametrize(("n", "num_classes"), [(0, None), (1, 4), (2.5, 100)])
def test_the_two_costs_are_those_of_the_metric(n, num_classes):
    u_max = 1 if num_classes is None else 1 - 1 / num_classes
    answer = Answer(n, num_classes, 0.75)
    costs = answer_costs(answer)
    assert costs == pytest.approx(ecuas_cost([0.25, 0.25], [0, 1], n=n, max_uncertainty=u_max).tolist())
    frame = cost_frame(answer)
    assert frame[frame["answer"] == CHOSEN]["cost"].tolist() == pytest.approx(costs, abs=1e-5)


def test_the_costs_of_ecuas_1_by_hand():
    # r^2, and r^2 + 2 (1 - r) for r = 0.2
    assert answer_costs(Answer(1, None, 0.8)) == pytest.approx((0.04, 1.64))
    assert ">0.040<" in cost_numbers(Answer(1, None, 0.8))


def test_below_chance_an_answer_counts_as_rejected_and_the_page_says_so():
    assert answer_costs(Answer(1, 4, 0.1)) == (1, 1)
    assert "Below 1/K = 0.250" in cost_numbers(Answer(1, 4, 0.1))
    assert "Below" not in cost_numbers(Answer(1, None, 0.0))
