import pyarrow as pa
import pytest

from ecuas_metric.files.asking import list_columns


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["yes", "yes", "yes", "no"], ["2 texts", "yes 3, no 1"]),
        (["yes", None, "", "no", "", "x"], ["3 texts", "yes, no, x"]),
        ([1, 1, 1, 1, 2, 3, 4], ["4 values", "1, 2, 3"]),
    ],
)
def test_the_values_shown_of_a_column_differ(cells, said):
    (line,) = list_columns(pa.table({"column": cells}))
    assert line.split("   ")[1:] == said
