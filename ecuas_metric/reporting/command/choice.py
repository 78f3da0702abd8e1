"""Which metrics a command shows: the names after --metrics -> keys, and options that no shown number depends on."""

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from ...costs import ERROR_RATE
from ...decisions import Decisions
from ...errors import InputError
from ...metric import METRICS, VARIANTS, Key
from ...metrics import place
from ...options import Options
from ...results import value_keys
from ..report import title
from .flags import flag_of
from .parameters import ADDING

_LIKE = {"auroc": "n"}  # of a plan: as ECUAS_n, and unlike an error rate, depends on it
# the parameter in the name of a number
_NUMBER = re.compile(r"_(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)(?=_|\s|$)")


def asked_keys(
    text: str | None, decisions: Decisions, options: Options, flags: Collection[str]
) -> list[Key] | None:
    """Return the metrics of a system that a text names, on which flags that are set have an effect; None is all."""
    if text is None:
        return None
    named = [
        Key(name)
        for name, metric in METRICS.items()
        if metric.when == "named" and metric.applies(decisions)
    ]
    return chosen_keys(text, [*value_keys(decisions, options), *named], flags)


def chosen_keys(
    text: str | None,
    keys: Sequence[Key],
    options: Collection[str] = (),
) -> list[Key]:
    """Return those of the keys that a text names by keys or titles, separated by commas; None is all.

    InputError names what cannot be chosen, and which of the `options` that are set changes nothing that is chosen.
    """
    if text is None:
        return list(keys)
    names = _names_of(keys)
    words = [word for word in map(str.strip, text.split(",")) if word]
    chosen: dict[Key, None] = {}
    for word in words or [text]:
        meant = list(_keys_of_word(_simple(word), names))
        if not meant:
            raise _unknown(word, keys)
        chosen |= dict.fromkeys(meant)
    for name in options:
        if not any(_LIKE.get(name, name) in key.options for key in chosen):
            raise InputError(name, "idle_flag", got=", ".join(map(str, chosen)))
    return list(chosen)


def _keys_of_word(
    word: str,
    names: Mapping[str, Sequence[Key]],
) -> Iterator[Key]:
    """Yield the keys that a word names; metrics of which any number may be asked for are named with it."""
    for key in names.get(word, []):
        if key.parameter is not None or not key.entry.parameter:
            yield key
    number = _NUMBER.search(word)
    if number:
        for key in names.get(_NUMBER.sub("", word), []):
            if key.parameter is None and key.entry.parameter:
                yield Key(key.metric, float(number[1]))


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


def _unknown(name: str, keys: Sequence[Key]) -> InputError:
    """Return the error of a name that is not there, with what adds the number that it may mean."""
    error = InputError("--metrics", "unknown_metric", value=name, keys=sorted(keys, key=place))
    meant = _meant(name)
    number = _NUMBER.search(_simple(name))
    flag = _adding_flag(meant, number[1] if number else "")
    if flag:
        error.advice = "add_flag"
        error.fields["flag"] = flag
    elif number is None and any(key.entry.parameter == "any" for key in meant):
        error.advice = "metric_needs_number"
        error.fields["example"] = f"{name}_0.1"
    elif meant:
        error.advice = "metric_does_not_exist"
    elif near := _near(_simple(name), _names_of(keys)):
        error.advice = "near_metric"
        error.fields["near"] = near
    return error


def _near(word: str, names: Collection[str]) -> list[str]:
    """Return which names are spelled nearly as a word, or contain it, or measure what it is the complement of."""
    if word in ("acc", "accuracy"):
        return [ERROR_RATE.name]
    containing = [name for name in names if word in name]
    return difflib.get_close_matches(word, names) or containing[:3]


def _adding_flag(meant: Sequence[Key], number: str) -> str:
    """Return the flag that adds one of some numbers, or nothing if none does."""
    for option in ADDING:
        if any(option in key.options for key in meant):
            has_value = number and option in ("n", "reject_costs")
            return f"{flag_of(option)} {number}" if has_value else flag_of(option)
    return ""


def _meant(name: str) -> Sequence[Key]:
    """Return the numbers that a name may mean, whatever its parameter."""
    keys = [Key(metric, None, variant) for metric in METRICS for variant in VARIANTS]
    return _names_of(keys).get(_NUMBER.sub("", _simple(name)), [])


def _simple(text: str) -> str:
    return re.sub(r"[\s↑↓†]+", " ", text).strip().lower().replace("∞", "inf")
