"""Systems -> the verdict on the largest set of them whose samples can be paired."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import InputError
from ..metric import Keys
from ..results import System, name_systems
from .compare import align, compare_aligned
from .verdict import Verdict


def compare_pairable(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Keys | None = None,
    by_position: bool = False,
) -> Verdict:
    """Return the verdict on systems, see `compare_systems`; those that cannot be paired are left out.

    A single system is compared with rejecting everything. InputError if no two can be paired.
    """
    named = name_systems(systems)
    kept, left_out = _choose_pairable(named, by_position=by_position)
    return compare_aligned(kept, only=only).judged(kept, left_out)


def _choose_pairable(
    systems: Mapping[str, System], *, by_position: bool
) -> tuple[dict[str, System], dict[str, InputError]]:
    """Return the largest set of systems that can be paired, aligned; and by name the errors of the others.

    The first of several such sets. InputError if there are several systems, and no two can be paired.
    """
    if len(systems) == 1:
        return dict(systems), {}
    if all(system.ids is None for system in systems.values()) and not by_position:
        align(systems)  # which says what is missing
    largest = max(_list_pairable_sets(systems, by_position=by_position), key=len)
    first = next(iter(largest))
    left_out: dict[str, InputError] = {}
    for name in systems:
        if name not in largest:
            pair = {first: largest[first], name: systems[name]}
            refusal = _find_refusal(pair, by_position=by_position)
            assert refusal is not None
            left_out[name] = refusal
    if len(largest) == 1:
        raise next(iter(left_out.values()))
    return largest, left_out


def _list_pairable_sets(
    systems: Mapping[str, System], *, by_position: bool
) -> list[dict[str, System]]:
    """Return sets of systems: each can be paired with the first of its set, and is aligned with it."""
    sets: list[dict[str, System]] = []
    for name, system in systems.items():
        for one in sets:
            first = next(iter(one))
            pair = {first: one[first], name: system}
            if _find_refusal(pair, by_position=by_position) is None:
                one |= align(pair, by_position=by_position)
                break
        else:
            sets.append({name: system})
    return sets


def _find_refusal(pair: Mapping[str, System], *, by_position: bool) -> InputError | None:
    """Return the error if two systems cannot be paired, else None."""
    try:
        align(pair, by_position=by_position)
    except InputError as error:
        return error
    return None
