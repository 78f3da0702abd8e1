"""What the rows of a state are and what is summed of them, as one line of text: states merge only where it is equal."""

import json
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..decisions import Decisions, confidence_decisions, cost_decisions, posterior_decisions
from ..errors import InputError
from ..options import PER_SAMPLE, Options, checked_options, is_set
from .sketch import Resolution

# The options that a state depends on; all others are for reading it.
OF_COSTS = ("n", "num_classes", "predictions_are", "renormalize", "cost", "max_uncertainty", "reject_costs")
STATE_OPTIONS = (*OF_COSTS, "missing_confidence", "n_bins", "epsilon", "weights_are")
MOST_BINS = 4096


class Settings(NamedTuple):
    """What the rows of a state are: their form, their `STATE_OPTIONS`, and whether they have weights."""

    form: str
    options: Options
    is_weighted: bool

    @property
    def is_mirrored(self) -> bool:
        """Whether rows are ordered by minus their confidence, see `sketch.sort_keys`."""
        return self.form == "confidences"

    @property
    def is_plain(self) -> bool:
        """Whether a row counts one, and its answer is right or wrong: bins then hold whole numbers."""
        return not self.is_weighted and self.form != "costs" and not is_set(self.options, "cost")

    @property
    def bits(self) -> int:
        """How fine the unit of the sums is: 2^-62; finer where weights or costs may be small."""
        return 62 if self.is_plain else 93


def state_options(**given: object) -> Options:
    """Return checked options of a state; TypeError if it does not depend on one that is given."""
    for name in given:
        if name not in STATE_OPTIONS:
            raise TypeError(f"a state takes no option {name!r}; it takes {', '.join(STATE_OPTIONS)}")
    return checked_options(**given)


def settings_text(form: str, options: Options, *, is_weighted: bool) -> str:
    """Return settings as text, the same for the same settings; InputError if an option means nothing for a state."""
    for name in PER_SAMPLE:
        if is_set(options, name):
            advice = "pass_weights_to_state" if name == "sample_weight" else "score_all_in_memory"
            raise InputError(name, "not_with_a_state", advice=advice)
    if options.n_bins > MOST_BINS:
        raise InputError("n_bins", "too_many_bins_of_a_state", value=options.n_bins, most=MOST_BINS)
    values = {name: getattr(options, name) for name in STATE_OPTIONS if is_set(options, name)}
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
    return json.dumps({"form": form, "is_weighted": is_weighted, **plain}, sort_keys=True)


@lru_cache(maxsize=64)
def parse_settings(text: str) -> Settings:
    """Return the settings that `settings_text` wrote."""
    values = json.loads(text)
    return Settings(values.pop("form"), is_weighted=values.pop("is_weighted"), options=checked_options(**values))


def require_same_settings(first: str, second: str) -> None:
    """Raise InputError unless two states have the same settings; it names the first that differs."""
    one, two = json.loads(first), json.loads(second)
    for name in sorted({*one, *two}):
        if one.get(name) != two.get(name):
            values = [values.get(name, "the default") for values in (one, two)]
            fields = {"name": name, "first": values[0], "second": values[1]}
            raise InputError("states that are merged", "settings_differ", **fields)


def require_options(text: str, options: Options) -> None:
    """Raise InputError unless the state with these settings could be of rows scored with some options."""
    form, found, is_weighted = parse_settings(text)
    of_rows = {"num_classes": found.num_classes, "predictions_are": found.predictions_are}
    wanted = options.replace(**of_rows) if form == "posteriors" else options
    require_same_settings(text, settings_text(form, wanted, is_weighted=is_weighted))


def empty_decisions(settings: Settings) -> Decisions:
    """Return the decisions of no rows: which metrics there are, and the largest uncertainty."""
    none, no_labels, options = np.empty(0), np.empty(0, np.int64), settings.options
    if settings.form == "confidences":
        return confidence_decisions(none, no_labels, num_classes=options.num_classes)
    if settings.form == "costs":
        return cost_decisions(none, none, max_uncertainty=float(options.max_uncertainty or 0.0))
    return posterior_decisions(np.empty((0, int(options.num_classes or 0))), no_labels, cost=options.cost)


def resolution_of(settings: Settings) -> Resolution:
    """Return where the bins of rows end: their uncertainties are at most a power of 2, or confidences."""
    if settings.is_mirrored:
        return Resolution(mirrored=True, top=0.5)
    top = float(2.0 ** np.frexp(empty_decisions(settings).max_uncertainty)[1])
    return Resolution(mirrored=False, top=top)
