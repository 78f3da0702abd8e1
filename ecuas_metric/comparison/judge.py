"""Systems -> the verdict on those that answer the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import InputError
from ..metric import Keys
from ..results import System, name_systems
from .compare import align, compare_aligned
from .verdict import Verdict


def judge_systems(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Keys | None = None,
    by_position: bool = False,
) -> Verdict:
    """Return the verdict on systems, see `compare_systems`; those of other questions are left out of it.

    A single system is compared with rejecting everything. InputError if no two can be paired.
    """
    named = name_systems(systems)
    kept, left_out = _comparable(named, by_position=by_position)
    return compare_aligned(kept, only=only).judged(kept, left_out)


def _comparable(
    systems: Mapping[str, System], *, by_position: bool
) -> tuple[dict[str, System], dict[str, InputError]]:
    """Return the most systems that can be paired, aligned with the first of them, and why the others cannot be.

    Of several sets that are as large, the first. InputError if there are several systems, and no two can be paired.
    """
    if len(systems) == 1:
        return dict(systems), {}
    if all(system.ids is None for system in systems.values()) and not by_position:
        align(systems)  # which says what is missing
    largest = max(_paired_sets(systems, by_position=by_position), key=len)
    first = next(iter(largest))
    left_out: dict[str, InputError] = {}
    for name in systems:
        if name not in largest:
            pair = {first: largest[first], name: systems[name]}
            refusal = _refusal(pair, by_position=by_position)
            assert refusal is not None
            left_out[name] = refusal
    if len(largest) == 1:
        raise next(iter(left_out.values()))
    return largest, left_out


def _paired_sets(systems: Mapping[str, System], *, by_position: bool) -> list[dict[str, System]]:
    """Return the systems in sets of those that can be paired with the first of a set, aligned with it."""
    sets: list[dict[str, System]] = []
    for name, system in systems.items():
        for one in sets:
            first = next(iter(one))
            pair = {first: one[first], name: system}
            if _refusal(pair, by_position=by_position) is None:
                one |= align(pair, by_position=by_position)
                break
        else:
            sets.append({name: system})
    return sets


def _refusal(pair: Mapping[str, System], *, by_position: bool) -> InputError | None:
    """Return why two systems cannot be paired, or None."""
    try:
        align(pair, by_position=by_position)
    except InputError as error:
        return error
    return None
