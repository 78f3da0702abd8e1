"""What a number depends on: one record, its text (the signature), and whether two numbers may be compared."""

# ruff: noqa: RUF009  # `_fact` makes fields
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from .decisions import Decisions
from .inputs import Array, Floats
from .metric import Key
from .options import Options, is_set
from .version import VERSION


class Purpose(StrEnum):
    """What two numbers are to be put together for: of two systems, or of two parts of the data."""

    RANK = "ranked"  # stand in one column, with a mark on the best
    PAIR = "paired"  # be subtracted, sample by sample
    MERGE = "merged"  # become one number of all rows


class Digest:
    """Eight hexadecimal digits that are equal for equal values, computed when first needed."""

    __slots__ = ("_text",)

    def __init__(self, text: Callable[[], str] | str) -> None:
        self._text = text

    def __str__(self) -> str:
        if not isinstance(self._text, str):
            self._text = self._text()
        return self._text

    def __repr__(self) -> str:
        return f"Digest({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True)
class Fact:
    """What a field of `Basis` means for comparisons.

    `reason` names what differs, a noun in the plural; `label` is its name in the signature, empty if it is not shown;
    `harmless` has the purposes for which numbers may differ in it.
    """

    reason: str
    label: str = ""
    harmless: tuple[Purpose, ...] = ()


_ALL_PURPOSES = (Purpose.RANK, Purpose.PAIR, Purpose.MERGE)
_RANK_OR_PAIR = (Purpose.RANK, Purpose.PAIR)
_MERGE_ONLY = (Purpose.MERGE,)


def _fact(
    reason: str,
    label: str = "",
    harmless: tuple[Purpose, ...] = (),
    *,
    default: object = None,
) -> Any:
    """Return a field of `Basis` with its `Fact`."""
    return field(default=default, metadata={"fact": Fact(reason, label, harmless)})


@dataclass(frozen=True, kw_only=True)
class Basis:
    """All that a number depends on. `str` gives its signature, which leaves out digests of the data.

    A field that is None is unknown, and forbids no comparison.

    Attributes
    ----------
    form : str
        "confidences", "posteriors" or "costs".
    num_samples : int
        N.
    num_classes, max_uncertainty, cost
        K (inf for free text), u_M and the cost: "zero_one", "log", a digest of a matrix, or "graded".
    n, reject_costs : tuple of float
        The parameters of ECUAS_n, and the reject costs.
    epsilon, n_bins
        The least uncertainty, and the number of bins of ECE.
    predictions_are, renormalized, decisions, missing_confidence
        How the system's output was read: see `options.OPTIONS`.
    audit : str
        How many answers people labelled, of how many, beside the labels of a judge.
    weights, groups, strata, labels, ids, answers, judge, drawn : Digest
        Digests of weights, groups, strata, true classes, ids, costs of answers, a judge's labels, and probabilities of
        being labelled by people. With ids they do not depend on the order of the samples.
    weighting : str
        What weights mean.
    unlabelled : str
        Treatment of answers without a label: "wrong", "drop" or "bounds".
    population : str
        Name of the selection of questions, if they are one.
    part : str
        Name of the part of the data, such as a task, if it is one.
    grading, reading : tuple of pairs of str
        Rules by which answers were graded, and other rules by which a file became arrays.
    recipe : str
        Digest of these rules and of the columns.
    recalibration : str
        Method, folds and seed.
    level, interval_method, n_resamples, random_state, deviates
        Of intervals and tests.
    pairing : str
        "rows" if a difference pairs samples by row, not by id.
    resolution : str
        The bins of a state.
    version : str
        Of this package.
    """

    form: str | None = _fact("forms of input")
    # the parts of the data have their own
    num_samples: int | None = _fact("numbers of samples", harmless=_MERGE_ONLY)
    # the keys of numbers name it
    n: tuple[float, ...] | None = _fact("n of ECUAS_n", "n", _RANK_OR_PAIR)
    num_classes: float | None = _fact("numbers of classes K", "K")
    max_uncertainty: float | None = _fact("largest uncertainties u_M")
    cost: str | None = _fact("costs", "cost")
    epsilon: float | None = _fact("epsilon", "eps")
    ties: str = _fact("orders of ties", "ties", default="expected")
    n_bins: int | None = _fact("numbers of bins", "bins")
    # each system is read in the form that it has
    predictions_are: str | None = _fact("forms of predictions", "in", _RANK_OR_PAIR)
    renormalized: str | None = _fact("tolerances of sums", "renormalized", _RANK_OR_PAIR)
    given_max_uncertainty: float | None = _fact("largest uncertainties u_M", "max")
    # the keys of numbers name them
    reject_costs: tuple[float, ...] = _fact("reject costs", "reject", _RANK_OR_PAIR, default=())
    # a recalibrated system is a system of its own
    recalibration: str | None = _fact("recalibrations", "recal", _RANK_OR_PAIR)
    # a system decides as it will
    decisions: str | None = _fact("sources of the decisions", "decisions", _ALL_PURPOSES)
    # each system has its own
    audit: str | None = _fact("audits", "audit", _RANK_OR_PAIR)
    judge: Digest | None = _fact("verdicts of judges", "judge", _RANK_OR_PAIR)
    drawn: Digest | None = _fact("probabilities of a draw", "drawn", _RANK_OR_PAIR)
    # a system answers what it will
    abstentions: str | None = _fact("readings of abstentions", "abstentions", _ALL_PURPOSES)
    missing_confidence: float | None = _fact("values of missing confidences", "missing")
    weights: Digest | None = _fact("weights", "weights")
    weighting: str | None = _fact("meanings of weights", "weighting")
    # another seed or number of draws changes a number by chance only
    tests: str | None = _fact("draws of the test of calibration", "test", _ALL_PURPOSES)
    # intervals and tests are computed after rows are merged
    level: float | None = _fact("levels of intervals", "level", _MERGE_ONLY)
    interval_method: str | None = _fact("methods of intervals", "intervals", _MERGE_ONLY)
    # another seed or number of draws changes a number by chance only
    draws: str | None = _fact("draws of the bootstrap", "boot", _ALL_PURPOSES)
    deviates: str | None = _fact("draws of normal deviates", "deviates", _ALL_PURPOSES)
    # systems are paired before there is a difference
    pairing: str | None = _fact("ways of pairing", "paired", _ALL_PURPOSES)
    # intervals and tests are computed after rows are merged
    groups: Digest | None = _fact("groups", "groups", _MERGE_ONLY)
    strata: Digest | None = _fact("strata", "strata", _MERGE_ONLY)
    # the parts of the data have their own
    labels: Digest | None = _fact("true classes", harmless=_MERGE_ONLY)
    ids: Digest | None = _fact("questions", harmless=_MERGE_ONLY)
    # only metrics of the confidences alone need the same answers: see `key`
    answers: Digest | None = _fact("answers", harmless=_ALL_PURPOSES)
    # the parts of the data have their own
    population: str | None = _fact("selections of questions", "population", _MERGE_ONLY)
    part: str | None = _fact("parts of the data")
    grading: tuple[tuple[str, str], ...] = _fact("rules of grading", "grading", default=())
    # each system is read in the form that it has
    reading: tuple[tuple[str, str], ...] = _fact(
        "rules of reading", "reading", _RANK_OR_PAIR, default=()
    )
    recipe: str | None = _fact("recipes of reading", "recipe", _RANK_OR_PAIR)
    # a note counts them, and bounds are not ranked
    unlabelled: str | None = _fact("treatments of unlabelled answers", "unlabelled", _RANK_OR_PAIR)
    # bounds say how far apart the bins are
    resolution: str | None = _fact("bins of states", "state", _ALL_PURPOSES)
    version: str = _fact("versions", "v", default=VERSION)

    def __str__(self) -> str:
        """Return the signature: the fields that have a label, as label:value, joined by ``|``."""
        parts = ["ecuas"]
        for name, fact in FACTS.items():
            # a field without label is not read, so that its digest is not computed
            text = _format_value(getattr(self, name)) if fact.label else ""
            if text:
                parts.append(f"{fact.label}:{text}")
        return "|".join(parts)

    def to_json(self) -> dict[str, object]:
        """Return the fields that are known and not empty, in types of JSON."""
        known = {name: getattr(self, name) for name in FACTS}
        return {
            name: str(value) if isinstance(value, Digest) else value
            for name, value in known.items()
            if value is not None and value != ()
        }

    @classmethod
    def from_json(cls, known: Mapping[str, Any]) -> Basis:
        """Return the basis from what `to_json` returned; TypeError for an unknown field."""
        digests = {name: Digest(known[name]) for name in _DIGESTS if name in known}
        return cls(**{name: _to_tuples(value) for name, value in known.items()} | digests)


_DIGESTS = ("weights", "groups", "strata", "labels", "ids", "answers")


def _to_tuples(value: Any) -> Any:
    """Return lists, also within lists, as tuples."""
    return tuple(map(_to_tuples, value)) if isinstance(value, list) else value


FACTS: dict[str, Fact] = {one.name: one.metadata["fact"] for one in fields(Basis)}


def why_not_comparable(one: Basis, other: Basis, *, purpose: Purpose = Purpose.RANK) -> list[str]:
    """Return the reasons not to compare the numbers of two bases, nouns in the plural; nothing if they may be.

    The purpose is whether they are to be ranked, paired or merged; what a single metric may rank `may_rank` says.
    """
    ignored = _PER_ID if _differ(one, other, "ids") else ()
    reasons = []
    for name, fact in FACTS.items():
        if purpose not in fact.harmless and name not in ignored and _differ(one, other, name):
            reasons.append(fact.reason)
    return list(dict.fromkeys(reasons))


# for these None is a value, not unknown: a system without weights differs from one with weights
_KNOWN_BY_ABSENCE = (
    "weights",
    "groups",
    "strata",
    "weighting",
    "missing_confidence",
    "level",
    "interval_method",
)


# digests by id, which can only be compared for the same ids
_PER_ID = ("weights", "groups", "strata", "labels")


def _differ(one: Basis, other: Basis, name: str) -> bool:
    """Return whether a field is known of both and differs."""
    values = getattr(one, name), getattr(other, name)
    is_known = None not in values or name in _KNOWN_BY_ABSENCE
    return is_known and values[0] != values[1]


def _have_same_answers(one: Basis, other: Basis) -> bool:
    """Return whether both are known to have the same costs of answers to the same questions."""
    if one.answers is None or one.num_samples != other.num_samples or one.ids != other.ids:
        return False
    return one.answers == other.answers


def join_signatures(bases: Iterable[Basis]) -> str:
    """Return the signature, or all different ones joined by ``;``."""
    return " ; ".join(dict.fromkeys(map(str, bases)))


def why_not_rankable(bases: Iterable[Basis]) -> list[str]:
    """Return the reasons not to rank these systems by any metric, see `why_not_comparable`."""
    first, *following = bases
    reasons = [reason for other in following for reason in why_not_comparable(first, other)]
    return list(dict.fromkeys(reasons))


def may_rank(key: Key, bases: Iterable[Basis]) -> bool:
    """Return whether the number `key` may rank these systems.

    A metric of confidences only does not rank systems whose answers differ, or are unknown (Estienne et al., section
    "Empirical analysis"). One without a direction ranks nothing, and may always be compared.
    """
    if key.assesses != "confidences" or key.entry.higher_is_better is None:
        return True
    first, *following = bases
    return all(_have_same_answers(first, other) for other in following)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The fields of `Basis` that follow from where arrays come from, and not from arrays and options."""

    recipe: str | None = None
    reading: tuple[tuple[str, str], ...] = ()
    grading: tuple[tuple[str, str], ...] = ()
    population: str | None = None
    part: str | None = None
    unlabelled: str | None = None
    recalibration: str | None = None
    audit: str | None = None


UNKNOWN = Origin()
REJECTIONS = "rejections"  # how abstentions count
_ORIGIN_FIELDS = [one.name for one in fields(Origin)]


def make_options_basis(
    options: Options,
    *,
    num_classes: float | None = None,
    ids: _Ids | None = None,
    origin: Origin = UNKNOWN,
) -> Basis:
    """Return the part of a basis that follows from options and origin; options per sample are in the order of `ids`."""
    classes = (
        2
        if options.predictions_are == "positive_probabilities"
        else num_classes or options.num_classes
    )
    are_costs = options.max_uncertainty is not None  # and a K that only the user knows
    return Basis(
        n=options.n,
        num_classes=None if are_costs else classes or np.inf,
        cost=_name_cost(options),
        epsilon=options.epsilon,
        n_bins=options.n_bins,
        predictions_are=_option_if_set(options, "predictions_are"),
        renormalized="0.05" if options.renormalize else None,
        given_max_uncertainty=options.max_uncertainty,
        reject_costs=options.reject_costs,
        decisions=None if options.decisions is None else "given",
        abstentions=None if options.abstained is None else REJECTIONS,
        judge=digest_values(options.judge, ids),
        drawn=digest_values(options.audit_probability, ids),
        missing_confidence=options.missing_confidence,
        weights=digest_values(options.sample_weight, ids),
        weighting=_option_if_set(options, "weights_are"),
        level=options.confidence_level,
        groups=digest_values(options.groups, ids),
        strata=digest_values(options.strata, ids),
        **_list_methods(options),
        **{name: getattr(origin, name) for name in _ORIGIN_FIELDS},
    )


def _option_if_set(options: Options, name: str) -> Any:
    return getattr(options, name) if is_set(options, name) else None


def _name_cost(options: Options) -> str:
    if options.max_uncertainty is not None:
        return "graded"
    return (
        options.cost if isinstance(options.cost, str) else f"matrix-{_digest_array(options.cost)}"
    )


def _list_methods(options: Options) -> dict[str, Any]:
    """Return the fields about intervals and about the test of calibration, for those that are computed."""
    draws = f"{options.n_resamples}/{options.random_state}"
    is_analytic = options.interval_method == "analytic"
    methods: dict[str, Any] = {"tests": draws if options.calibration else None}
    if options.confidence_level is not None:
        methods |= {"interval_method": "analytic"} if is_analytic else {"draws": draws}
    return methods


def make_basis(
    decisions: Decisions,
    options: Options,
    *,
    ids: Sequence[object] | None = None,
    truth: Array | None = None,
    origin: Origin = UNKNOWN,
) -> Basis:
    """Return the basis of the numbers of decisions; options, ids and true classes (N,) are in the same order."""
    form = "posteriors" if decisions.labels is not None else "costs"
    if decisions.has_only_confidences:
        form = "confidences"
    keys = _Ids(ids) if ids is not None else None
    return replace(
        make_options_basis(options, ids=keys, origin=origin),
        form=form,
        num_samples=len(decisions.uncertainty),
        max_uncertainty=decisions.max_uncertainty,
        abstentions=REJECTIONS if decisions.has_abstentions else None,
        labels=digest_values(truth, keys),
        ids=None if keys is None else Digest(keys.digest),
        answers=digest_values(decisions.outcome, keys),
    )


_LONGEST_ID = 256  # bytes of ids that are hashed together, padded to the rows of a table
_ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


class _Ids:
    """The ids (N,) of samples, with hashes that are computed once."""

    def __init__(self, ids: Sequence[object]) -> None:
        self.ids = ids

    @cached_property
    def hashes(self) -> Array:
        """A whole number of 64 bits for each id (N,), equal for equal texts."""
        if (
            str(getattr(self.ids, "type", "")) == "large_string"
        ):  # of Arrow, which has them as bytes
            return _hash_texts(*_arrow_bytes(self.ids))
        as_list = getattr(self.ids, "to_pylist", None)
        return _hash_texts(*_encode_texts(map(str, as_list() if as_list else self.ids)))

    def digest(self) -> str:
        """Return a digest of the ids in any order."""
        return _digest_sum(_mix_bits(self.hashes))

    def digest_pairs(self, values: Array) -> str:
        """Return a digest of the pairs of an id and its value, for values (N,), in any order."""
        bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
        with np.errstate(over="ignore"):
            return _digest_sum(_mix_bits(_mix_bits(self.hashes) + bits))


def _arrow_bytes(texts: Any) -> tuple[Array, Array]:
    """Return the joined bytes of an Arrow array of large strings (N,), and the length of each string."""
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    bytes_of_all = np.frombuffer(content or b"", np.uint8)
    return bytes_of_all[bounds[0] : bounds[-1]], np.diff(bounds)


def _encode_texts(texts: Iterable[str]) -> tuple[Array, Array]:
    """Return the joined UTF-8 bytes of texts (N,), and the length of each text."""
    encoded = [text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), lengths


def _hash_texts(content: Array, lengths: Array) -> Array:
    """Return a whole number of 64 bits for each of N texts: its words of 8 bytes, mixed one after the other.

    `content` has the bytes of all texts, `lengths` (N,) the number of bytes of each.
    """
    longest = int(lengths.max(initial=1))
    if longest > _LONGEST_ID:
        texts = np.split(content, np.cumsum(lengths)[:-1])
        digests = [hashlib.blake2b(text.tobytes(), digest_size=8).digest() for text in texts]
        return np.frombuffer(b"".join(digests), np.dtype("<u8")).astype(np.uint64)
    width = 8 * -(-longest // 8)
    padded = np.zeros((len(lengths), width), np.uint8)
    padded[np.arange(width) < lengths[:, None]] = content
    hashes = lengths.astype(np.uint64)
    for word in padded.view(np.dtype("<u8")).T:
        hashes = _mix_bits(hashes * _ODD + word)
    return hashes


def encode_texts_as_numbers(texts: Iterable[str]) -> Floats:
    """Return a number for each text (N,), equal for equal texts, and otherwise without meaning."""
    return _hash_texts(*_encode_texts(texts)).view(np.float64)


def _mix_bits(numbers: Array) -> Array:
    """Return numbers of 64 bits (N,), each bit of which depends on all bits of the number (Steele et al. 2014)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def _digest_sum(numbers: Array) -> str:
    """Return a digest of whole numbers (N,) in any order: of their sum."""
    return hashlib.sha256(
        f"{len(numbers)} {int(numbers.sum(dtype=np.uint64))}".encode()
    ).hexdigest()[:8]


def digest_values(
    values: Array | None,
    ids: _Ids | None = None,
) -> Digest | None:
    """Return the digest of numbers (N,) in their order, or with ids of pairs in any order; None for None."""
    if values is None:
        return None
    if ids is None:
        return Digest(lambda: _digest_array(values))
    return Digest(lambda: ids.digest_pairs(values))


def _digest_array(values: Floats | Array) -> str:
    """Return the digest of numbers in their order, the same for all dtypes and machines."""
    return hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:8]


def _format_value(value: object) -> str:
    """Return a value in the form of the signature; nothing if it is unknown."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ",".join(_format_item(item) for item in value)
    return str(value)


def _format_item(item: object) -> str:
    if isinstance(item, tuple):
        return "=".join(map(str, item))
    number = float(str(item))
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)
