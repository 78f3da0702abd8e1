"""The state of some rows: merged in any order to the very same bytes, and all that their metrics are read from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..inputs import Array, Floats, confidences, costs, finite, one_dimensional, posteriors, require, same_length
from ..options import Options
from ..results import prepare
from .cells import PLAIN_LIMIT, VALUED_LIMIT, Cells, join
from .reduction import COLUMNS, cells_of, repairs, sums_of
from .settings import is_plain, require_same_settings, ruler_of, settings_of, settings_text
from .sums import LIMBS, carried

PART = 2**20  # rows that are summed at a time
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-6, 1e6
CHECKS: dict[str, Callable[[object, object], tuple[Array, Array]]] = {
    "confidences": confidences,
    "posteriors": posteriors,
    "costs": costs,
}


class State(NamedTuple):
    """What is known of some rows of one system. All of it adds up, and nothing of it depends on their order.

    Attributes
    ----------
    settings : str
        See `settings.settings_text`: only states with the same settings merge.
    sums : mapping of str to int
        ``rows``; what was repaired (``missing``, ``clipped``, ..); each mean cost under its key and the weights under
        ``1``, in units of 2^-bits; ``key*key`` its square and other products, in units of 2^-(2 bits); ``bin k`` and
        ``class k``. What is missing is 0.
    cells : Cells
        The tie groups.
    largest_cost : float
        The largest candidate cost.
    """

    settings: str
    sums: Mapping[str, int]
    cells: Cells
    largest_cost: float

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.sums.get("rows", 0)


def state_of(
    form: str,
    predictions: object,
    references: object,
    options: Options,
    *,
    sample_weight: object = None,
    level: int = 0,
) -> State:
    """Return the state of some rows.

    Parameters
    ----------
    form : {"confidences", "posteriors", "costs"}
        What the arrays are, as for `evaluate`: confidences (N,) and 0 or 1; posteriors (N, K) and classes; or
        uncertainties (N,) and candidate costs.
    predictions, references : array_like
    options : Options
        Of `options.checked_options`, without weights, groups and strata. `decisions` are those of these rows.
    sample_weight : array_like, shape (N,), optional
        0, or in [1e-6, 1e6]. Either all states that are to merge have weights, or none.
    level : int
        That of the cells of a state which this one will be merged with: finer ones would be lost, and take longer.

    Returns
    -------
    State

    Raises
    ------
    InputError
        As by `evaluate`: the argument, the rule, the value, its index, how many.

    Examples
    --------
    >>> from ecuas_metric.options import checked_options
    >>> one = state_of("confidences", [0.9, 0.4], [1, 0], checked_options(n=1))
    >>> two = state_of("confidences", [0.8], [0], checked_options(n=1))
    >>> merge([one, two]).rows, merge([one, two]).cells.rows.tolist()
    (3, [1, 1, 1])
    """
    predictions, references = checked_rows(form, predictions, references, options)
    weight = None if sample_weight is None else _checked_weights(sample_weight, references)
    settings_text(form, options, is_weighted=weight is not None)  # before any work
    found: State | None = None
    for start in range(0, len(references), PART):
        rows = slice(start, start + PART)
        part = predictions[rows], references[rows], None if weight is None else weight[rows]
        level = level if found is None else found.cells.level
        state = _state_of_part(form, *part, _select(options, rows), (start, level))
        found = state if found is None else merge([found, state])
    assert found is not None  # checked rows are not empty
    return found


def no_state(form: str, options: Options, *, is_weighted: bool) -> State:
    """Return the state of no rows; of posteriors the options have K."""
    text = settings_text(form, options, is_weighted=is_weighted)
    none = np.empty(0, np.int64)
    columns = 1 if is_plain(settings_of(text)) else COLUMNS * LIMBS
    return State(text, {}, Cells(0, none, none, none, np.empty((columns, 0), np.int64)), 0.0)


def merge(states: Iterable[State]) -> State:
    """Return the state of all rows of some states: associative and commutative, to the byte.

    Parameters
    ----------
    states : iterable of State
        At least one, all with the same settings.

    Returns
    -------
    State

    Raises
    ------
    InputError
        If there is none, or if their settings differ.
    """
    states = list(states)
    if not states:
        raise InputError("states", "must not be empty")
    for state in states:
        require_same_settings(states[0].settings, state.settings)
    sums: dict[str, int] = {}
    for name, value in itertools.chain.from_iterable(state.sums.items() for state in states):
        sums[name] = sums.get(name, 0) + value
    settings = settings_of(states[0].settings)
    limit = PLAIN_LIMIT if is_plain(settings) else VALUED_LIMIT
    cells = join([state.cells for state in states], limit, ruler_of(settings))
    return State(states[0].settings, sums, cells, max(state.largest_cost for state in states))


def checked_rows(form: str, predictions: object, references: object, options: Options) -> tuple[Array, Array]:
    """Return rows as arrays of the form that they have, or raise InputError."""
    positive = options.predictions_are == "positive_probabilities"
    return CHECKS["confidences" if positive else form](predictions, references)


def repeated(state: State, power: int) -> State:
    """Return the state of the same rows 2^power times over, as by merging it with itself that often.

    Parameters
    ----------
    state : State
    power : int
        In [0, 31).

    Returns
    -------
    State
    """
    level, low, high, rows, sums = state.cells
    sums = sums << power
    if len(sums) > 1:
        sums = carried(sums.reshape(-1, LIMBS, len(low))).reshape(sums.shape)
    cells = Cells(level, low, high, rows << power, sums)
    return state._replace(sums={name: value << power for name, value in state.sums.items()}, cells=cells)


def _state_of_part(
    form: str, predictions: Array, references: Array, weight: Floats | None, options: Options, place: tuple[int, int]
) -> State:
    start, level = place
    try:
        system = prepare(form, predictions, references, options)
    except InputError as error:
        raise _moved(error, start) from None
    decisions = system.decisions
    form = "posteriors" if decisions.labels is not None else form
    text = settings_text(form, system.options, is_weighted=weight is not None)
    settings = settings_of(text)
    sums = {"rows": len(references), **repairs(settings, predictions, decisions)}
    sums |= sums_of(settings, decisions, weight)
    sums = {name: value for name, value in sums.items() if value}
    largest = float(decisions.candidate_cost.max())
    return State(text, sums, cells_of(settings, system, weight, level=level), largest)


def _moved(error: InputError, start: int) -> InputError:
    """Return an error with the index among all rows, not those of the part."""
    if isinstance(error.index, int):
        error.index += start
    elif error.index is not None:
        error.index = (error.index[0] + start, *error.index[1:])
    return error


def _select(options: Options, rows: slice) -> Options:
    return options if options.decisions is None else options.replace(decisions=options.decisions[rows])


def _checked_weights(sample_weight: object, references: Array) -> Floats:
    weight = one_dimensional(finite(sample_weight, "sample_weight"), "sample_weight")
    same_length(predictions=references, sample_weight=weight)
    ok = (weight == 0) | ((weight >= SMALLEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    rule = f"must be 0 or lie in [{SMALLEST_WEIGHT:g}, {LARGEST_WEIGHT:g}] in a state"
    require(ok, weight, "sample_weight", rule, "Divide all weights by their mean.")
    return weight
