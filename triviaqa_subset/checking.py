"""The form of an error: the rule, the first value that breaks it and its index, how many do, and what to do."""

from collections.abc import Collection, Iterable, Sized

import numpy as np


def require(
    holds: Iterable[object],
    values: Collection[object],
    rule: str,
    advice: str = "",
    *,
    error: type[Exception] = ValueError,
) -> None:
    """Raise an error unless the rule ("X must ...") holds for every value: the first that breaks it, and how many."""
    wrong = np.flatnonzero(
        ~np.asarray(holds if isinstance(holds, Sized) else list(holds), dtype=bool)
    )
    if wrong.size:
        first = repr(list(values)[wrong[0]])
        shown = first if len(first) <= 60 else f"{first[:57]}..."
        raise error(
            f"{rule}; got {shown} at index {wrong[0]} ({len(wrong)} of {len(values)}). {advice}".rstrip()
        )
