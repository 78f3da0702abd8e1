"""Which metrics a command shows: the names after --metrics -> keys, and options that add to none of them."""

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

from ...decisions import Decisions
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
_NUMBER = re.compile(r"_(\d[\d.e+-]*|inf)(?=_|\s|$)")  # the parameter in the name of a number


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
    chosen: dict[Key, None] = {}
    for word in list(_words_of(text, names)) or [text]:
        if _simple(word) not in names:
            error = InputError("--metrics", "unknown_metric", value=word, keys=list(keys), advice=_advice(word))
            error.fields |= {"flag": _adding_flag(word), "example": f"{word}_0.1"}
            raise error
        chosen |= dict.fromkeys(names[_simple(word)])
    for name in options:
        if not any(map(ADDS[name], chosen)):
            raise InputError(flag_of(name), "idle_flag", got=", ".join(map(str, chosen)))
    return list(chosen)


def _words_of(text: str, known: Container[str]) -> Iterator[str]:
    """Yield the names in a text, which commas separate, or blanks unless they are part of a name."""
    for part in filter(None, map(str.strip, text.split(","))):
        is_name = _simple(part) in known or _advice(part)
        yield from [part] if is_name else part.split()


def named_keys(text: str | None, form: Decisions) -> list[Key]:
    """Return the keys of the metrics that are shown when named, and that a text names, if they apply to a system.

    Those with a parameter are named with it: risk_at_coverage_0.9.
    """
    metrics = [metric for metric in METRICS.values() if metric.when == "named" and metric.applies(form)]
    names = _names_of([Key(metric.name) for metric in metrics])
    keys = []
    for word in map(_simple, _words_of(text or "", names)):
        name, _, number = word.rpartition("_")
        keys += [key for key in names.get(word, []) if not key.entry.parameter]
        if _is_number(number):
            keys += [Key(key.metric, float(number)) for key in names.get(name, []) if key.entry.parameter]
    return list(dict.fromkeys(keys))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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


def _advice(name: str) -> str:
    """Return the advice about a number that is not there."""
    if _adding_flag(name):
        return "add_flag"
    if any(key.entry.parameter == "any" and not _NUMBER.search(_simple(name)) for key in _meant(name)):
        return "metric_needs_number"
    return "metric_does_not_exist" if _meant(name) else ""


def _adding_flag(name: str) -> str:
    """Return the flag that adds a number, or nothing if none does."""
    number = _NUMBER.search(_simple(name))
    for option, is_added in ADDS.items():
        if any(map(is_added, _meant(name))):
            value = f" {number[1]}" if number and option in ("n", "reject_costs") else ""
            return flag_of(option) + value
    return ""


def _meant(name: str) -> list[Key]:
    """Return the numbers that a name may mean, whatever its parameter."""
    bare = _NUMBER.sub("", _simple(name))
    keys = [Key(metric, None, variant) for metric in METRICS for variant in VARIANTS]
    return [key for key in keys if bare in (str(key), _simple(title(key)))]


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
