"""What the page says where it refuses an input."""

import re
from contextlib import contextmanager

import pytest

from ecuas_metric.errors import InputError
from space.markup import in_words


@contextmanager
def refused(message):
    """Require an InputError that the page words as a pattern says."""
    with pytest.raises(InputError) as caught:
        yield
    shown = in_words(caught.value)
    assert re.search(message, shown), shown
