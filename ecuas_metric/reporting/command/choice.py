"""Which metrics a command shows: the names after --metrics -> keys, and options that add to none of them."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from ...errors import InputError
from ...metric import METRICS, VARIANTS, Key
from ...options import DEFAULTS
from ..report import title
from .flags import flag_of

_Test = Callable[[Key], bool]
ADDS: dict[str, _Test] = {  # an option -> whether a number is there, or what it is, because of it
    "normalize": lambda key: key.variant == "normalized",
    "decompose": lambda key: key.variant in ("recalibrated", "calibration_loss"),
    "calibration": lambda key: key.entry.when == "calibration",
    "reject_costs": lambda key: key.entry.parameter == "reject_costs",
    "n": lambda key: key.entry.parameter == "n",
    "auroc": lambda key: key.entry.parameter == "n",  # of a plan: error rates do not depend on it
}
_NUMBER = re.compile(r"_(\d[\d.e+-]*|inf)\b")  # the parameter in the name of a number


def options_set(options: Mapping[str, object]) -> list[str]:
    """Return which of the options that add numbers are not the default ones."""
    return [name for name in ADDS if name in options and options[name] != getattr(DEFAULTS, name)]


def chosen_keys(text: str | None, keys: Sequence[Key], options: Collection[str] = ()) -> list[Key]:
    """Return those of the keys that a text names by keys or titles, separated by commas or spaces; None is all.

    InputError names what cannot be chosen, and which of the `options` that are set adds nothing to what is chosen.
    """
    if text is None:
        return list(keys)
    names = _names_of(keys)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    words = [word for part in parts for word in ([part] if _simple(part) in names else part.split())]
    unknown = [word for word in words if _simple(word) not in names]
    if unknown or not words:
        raise _unknown_metric(unknown[0] if unknown else text, keys)
    chosen = list(dict.fromkeys(key for word in words for key in names[_simple(word)]))
    for name in options:
        if not any(map(ADDS[name], chosen)):
            raise InputError(flag_of(name), "idle_flag", got=", ".join(map(str, chosen)))
    return chosen


def _names_of(keys: Sequence[Key]) -> dict[str, list[Key]]:
    """Return what each name stands for: a number, or a metric for all n or all reject costs."""
    names: dict[str, list[Key]] = {}
    for key in keys:
        if not key.variant:
            for name in (key.metric, key.entry.title):
                names.setdefault(_simple(name), []).append(key)
    for key in keys:
        names[str(key)] = [key]
        names[_simple(title(key))] = [key]
    return names


def _unknown_metric(name: str, keys: Sequence[Key]) -> InputError:
    """Return the error about a number that is not there, with the option that adds it."""
    error = InputError("--metrics", "unknown_metric", value=name, keys=list(keys))
    simple = _simple(name)
    bare = _NUMBER.sub("", simple)
    number = _NUMBER.search(simple)
    for option, is_added in ADDS.items():
        for key in (Key(metric, None, variant) for metric in METRICS for variant in VARIANTS):
            if bare in (str(key), _simple(title(key))) and is_added(key):
                value = f" {number[1]}" if number and option in ("n", "reject_costs") else ""
                error.advice = "add_flag"
                error.fields |= {"flag": flag_of(option), "value": value}
                return error
    is_metric = bare in {_simple(text) for key, metric in METRICS.items() for text in (key, metric.title)}
    error.advice = "metric_does_not_exist" if is_metric else ""
    return error


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
