"""Systems -> the verdict on the largest set of them whose samples can be paired."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from ..errors import InputError
from ..metric import Keys
from ..results import System, name_systems
from .compare import align, compare_aligned
from .verdict import Verdict


def compare_pairable(
    systems: Mapping[str, System] | Iterable[System],
    *,
    only: Keys | None = None,
) -> Verdict:
    """Return the verdict on systems, see `compare_systems`; those that cannot be paired are left out.

    Those without ids are paired by their position. A single system is compared with rejecting everything. InputError
    if no two can be paired.
    """
    named = name_systems(systems)
    largest = max(_list_pairable_sets(named), key=len)
    left_out: dict[str, InputError] = {}
    for name in [name for name in named if name not in largest]:
        try:
            _add_pair(largest, name, named[name])
        except InputError as error:
            left_out[name] = error
    if left_out and len(largest) == 1:
        raise next(iter(left_out.values()))
    return replace(compare_aligned(largest, only=only), left_out=left_out)


def _list_pairable_sets(systems: Mapping[str, System]) -> list[dict[str, System]]:
    """Return sets of systems: each can be paired with the first of its set, and is aligned with it."""
    sets: list[dict[str, System]] = []
    for name, system in systems.items():
        for one in sets:
            with suppress(InputError):
                _add_pair(one, name, system)
                break
        else:
            sets.append({name: system})
    return sets


def _add_pair(systems: dict[str, System], name: str, system: System) -> None:
    """Add a system to a set, aligned with its first one; InputError if they cannot be paired."""
    first = next(iter(systems))
    systems |= align({first: systems[first], name: system}, by_position=True)
