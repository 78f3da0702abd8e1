"""Each of the seven LLMs graded by a bank made without it: the truth lies within the bounds, whatever the confidences.

By hashes and labels alone; the confidences are drawn.
"""

import numpy as np
import pytest

from ecuas_metric.comparison.unlabelled import unlabelled_bounds
from ecuas_metric.decisions import confidence_decisions
from ecuas_metric.metrics import Key, metric_values
from ecuas_metric.options import checked_options
from ecuas_metric.ranking import tie_groups
from triviaqa_subset.card import unlabelled_without

BOUNDED = [Key("error_rate"), Key("ecuas", 0.0), Key("ecuas", 1.0), Key("auroc"), Key("aurc"), Key("augrc"), Key("ece")]


@pytest.mark.parametrize("digits", [1, 15])  # with many ties, as if verbalized, and without
def test_the_bounds_hold_the_truth(digits, labels, rng):
    questions, _, systems, *_ = labels
    weight = systems["question_id"].map(questions.set_index("question_id")["weight"])
    systems = systems.assign(unlabelled=unlabelled_without(systems), weight=weight).dropna(subset="weight")
    for _, rows in systems[systems["method"] != "is_true"].groupby(["llm", "method"]):
        correct, weight = rows["correct"].to_numpy(), rows["weight"].to_numpy()
        confidence = rng.beta(4, 1.5 + ~correct).round(digits)
        options = checked_options(n=[0, 1], sample_weight=weight)
        decisions, scaled = confidence_decisions(confidence, correct.astype(int)), options.sample_weight
        ties = tie_groups(decisions.rank_by, decisions.candidate_cost, sample_weight=scaled)
        truth = metric_values(decisions, ties, options, sample_weight=scaled)
        bounds = unlabelled_bounds(confidence, np.where(rows["unlabelled"], np.nan, correct), options)
        for key in BOUNDED:
            low, high = bounds[key]
            assert low - 1e-9 <= truth[key] <= high + 1e-9, key
            assert low < high
        low, high = bounds[BOUNDED[0]]
        assert high - low == pytest.approx(np.average(rows["unlabelled"], weights=scaled))
