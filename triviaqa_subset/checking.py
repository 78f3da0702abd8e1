"""The form of an error: the rule, the first value that breaks it and its index, how many do, and what to do."""

from collections.abc import Callable, Collection
from typing import TypeVar

Value = TypeVar("Value")


def require(
    holds: Callable[[Value], bool],
    values: Collection[Value],
    rule: str,
    advice: str = "",
    *,
    error: type[Exception] = ValueError,
) -> None:
    """Raise an error unless the rule ("X must ...") holds for every value: the first that breaks it, and how many."""
    wrong = [(place, value) for place, value in enumerate(values) if not holds(value)]
    if wrong:
        place, value = wrong[0]
        first = repr(value)
        shown = first if len(first) <= 60 else f"{first[:57]}..."
        got = f"got {shown} at index {place} ({len(wrong)} of {len(values)})"
        raise error(f"{rule}; {got}. {advice}".rstrip())
