import numpy as np
import pytest

from ecuas_metric.comparison.compare import differing, in_common, order_of
from ecuas_metric.files.values import as_ids, from_values
from ecuas_metric.reporting.report import prepare_submissions
from tests.ecuas_metric.files.submitted import submission

KINDS = [([3, 1, 2], ["1", "2", "3"]), (["007", "x", "7"], ["7", "007", "x"]), (["2", "10"], [10, 2])]


@pytest.mark.parametrize(("ids", "others"), KINDS)
def test_ids_are_the_same_whatever_kind_of_file_they_are_in(ids, others, rng):
    order = order_of("two", others, "one", ids)
    assert [str(others[row]) for row in order] == [str(value) for value in ids]
    parts = [submission(name, rng, size=len(ids), ids=values) for name, values in (("one", ids), ("two", others))]
    assert differing(prepare_submissions(parts)) == []
    assert [len(part.predictions) for part in in_common(parts)] == [len(ids)] * 2
    parts[1] = parts[1]._replace(ids=as_ids(from_values([*others[:-1], "none"])))
    assert differing(prepare_submissions(parts)) == ["questions"]
    assert [[str(own) for own in part.ids.tolist()] for part in in_common(parts)] == [
        [str(value) for value in ids if value != type(value)(others[-1])],
        [str(value) for value in others[:-1]],
    ]


def test_what_is_left_of_common_samples_stays_together(rng):
    one = submission("one", rng, size=5, ids=list("abcde"), per_sample={"groups": list("vwxyz")})
    two = submission("two", rng, size=3, ids=list("fdb"))
    left, right = in_common([one, two])
    assert (left.ids.tolist(), left.per_sample["groups"], left.source.rows.tolist()) == (["b", "d"], ["w", "y"], [3, 5])
    np.testing.assert_array_equal(left.predictions, one.predictions[[1, 3]])
    np.testing.assert_array_equal(right.references, two.references[[1, 2]])
    assert left.notes[-1].fact == "3 of 5 samples left out, because other systems do not have them."
