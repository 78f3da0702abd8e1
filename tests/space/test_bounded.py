import resource
import signal

import pytest

from ecuas_metric.errors import FileError
from space import bounded
from space.bounded import LimitExceededError

pytestmark = pytest.mark.e2e
REFUSAL = FileError("a.csv", "must hold numbers", advice="name_one_role")


def refused(error):
    raise error


def test_results_come_back_and_errors_of_input_and_defects_too():
    assert bounded.bounded(bytes, 10**7) == bytes(10**7)
    assert bounded.bounded(resource.getrlimit, resource.RLIMIT_CPU) == (bounded.SECONDS,) * 2
    with pytest.raises(FileError) as caught:
        bounded.bounded(refused, REFUSAL)
    assert vars(caught.value) == vars(REFUSAL)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bounded.bounded(divmod, 1, 0)


@pytest.mark.parametrize(
    "call, patience",
    [
        ((signal.raise_signal, signal.SIGKILL), 60),
        ((bytes, 2 * bounded.MEMORY), 60),
        ((signal.pause,), 0),
    ],
)
def test_what_is_stopped_is_an_error_and_nothing_more(call, patience, monkeypatch):
    monkeypatch.setattr(bounded, "PATIENCE", patience)
    before = bounded.PLACES._value
    with pytest.raises(LimitExceededError):
        bounded.bounded(*call)
    assert bounded.PLACES._value == before
