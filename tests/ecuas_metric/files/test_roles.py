import pyarrow as pa
import pytest

from ecuas_metric.files.roles import describe


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["yes", "yes", "yes", "no"], "2 texts: yes, no"),
        (["yes", None, "", "no"], "yes, no"),
        ([1, 1, 1, 1, 2, 3, 4], "4 values: 1, 2, 3"),
    ],
)
def test_the_values_shown_of_a_column_differ(cells, said):
    assert describe(pa.table({"column": cells}), "column").endswith(f"{said})")
