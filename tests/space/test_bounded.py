import os
import signal

import pytest

from space import bounded
from space.bounded import TOO_MUCH


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def allocated(size):
    return len(bytes(size))


def endless():
    while True:
        pass


def refused():
    raise ValueError("row 3 is not JSON")


def test_results_come_back():
    assert bounded.bounded(allocated, 10**8) == 10**8
    assert bounded.bounded(divmod, 7, 2) == (3, 1)


@pytest.mark.parametrize(("function", "arguments"), [(killed, ()), (allocated, (2 * bounded.MEMORY,))])
def test_what_the_system_stops_is_an_error_and_nothing_more(function, arguments):
    with pytest.raises(ValueError, match=f"^{TOO_MUCH}$"):
        bounded.bounded(function, *arguments)


def test_what_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(bounded, "SECONDS", 1)
    with pytest.raises(ValueError, match=f"^{TOO_MUCH}$"):
        bounded.bounded(endless)


def test_errors_of_input_are_the_functions_own_and_defects_have_their_traceback():
    with pytest.raises(ValueError, match="^row 3 is not JSON$"):
        bounded.bounded(refused)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bounded.bounded(divmod, 1, 0)


def test_as_many_places_are_free_as_before():
    before = bounded.PLACES._value
    with pytest.raises(ValueError, match=TOO_MUCH):
        bounded.bounded(killed)
    assert bounded.PLACES._value == before
