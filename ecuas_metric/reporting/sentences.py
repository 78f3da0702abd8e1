"""A verdict -> what a person would say of it: one sentence a metric, and one on reject costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..comparison.gate import Gate
from ..comparison.rows import REJECTING
from ..comparison.verdict import Ranking, Region, Verdict, plain_name
from ..costs import ECUAS_N, ERROR_RATE, EXPECTED_COST
from ..metric import Key
from ..results import System, compute_values
from .report import DIGITS, MOST_DIGITS, few_of, short_title, texts_apart

DIGITS_OF_COSTS = 2  # of a reject cost
MORE_THAN_CHANCE = "That is more than chance."
STEPWISE = (
    "judge by adj. p, which is step by step, so that an interval may just hold 0 beside a small one"
)
SCALE = "where 0 is perfect and 1 is rejecting every answer ({metric})"
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
WHY_UNTESTED = {  # by the ids of notes
    "biased": "the metric is biased",
    "decided_by_fit": "the fit of a recalibration decides what is accepted",
    "too_few_units": "there are too few answers or groups",
    "outside_family": "it is not of the tested family",
}
CONFIDENCES_ONLY = (
    "No winner: {metrics} cannot rank {these}. {they} at confidences only, and the answers differ. A system gains on "
    "{them} by being unsure of its mistakes, and need not gain by making fewer."
)
NO_DIRECTION = "No winner by {metrics}: neither high nor low is better by itself."


def headline(verdict: Verdict) -> str:
    """Return the verdict in sentences: by the metric of its headline, and by mistakes where these disagree."""
    ranking = verdict.ranking(verdict.headline)
    if ranking is None:
        return _unranked(list(verdict.rankings.values()))
    sentences = [sentence_by_metric(ranking)]
    mistakes = verdict.rankings.get(Key(ERROR_RATE.name))
    if mistakes is not None and ranking.key.entry is ECUAS_N:
        sentences.append(_remark_on_mistakes(mistakes, ranking))
    return " ".join(filter(None, sentences))


def sentence_by_metric(ranking: Ranking, *, scaled: bool = True) -> str:
    """Say who is best by a metric and how surely; `scaled` also says what its numbers mean."""
    if ranking.state == "unranked":
        return _unranked([ranking])
    if ranking.state == "undefined":
        return f"No winner: {short_title(ranking.key)} is not defined for every system."
    words = _Words(ranking.key)
    names, texts = _leaders(ranking)
    scale = words.scale if scaled else ""
    if ranking.state == "untested":
        both = " and ".join(f"{text} for {name}" for name, text in zip(names, texts, strict=True))
        return f"Not tested, since {_why_untested(ranking)}: {short_title(ranking.key)} is {both}."
    if ranking.state == "equal":
        who = " and ".join(names) if len(ranking.values) == 2 else f"all {len(ranking.values)}"
        text = f"{who} {words.same}{words.by}: {texts[0]} each{scale}."
    elif ranking.state == "clear":
        text = f"{_lead(ranking, words, texts)}{scale}. {MORE_THAN_CHANCE}"
    else:
        text = f"{_close(ranking, words)}{scale}.{_gap(ranking)}"
    return _capitalised(words.where + text)


def _why_untested(ranking: Ranking) -> str:
    reasons = [row.untested for row in ranking.rows if row.untested]
    return WHY_UNTESTED.get(reasons[0] if reasons else "", "no valid test of it is known")


def sentences_by_question(
    key: Key | None, questions: Mapping[str, Mapping[str, System]]
) -> list[str]:
    """Say what systems have in each of several questions by a metric, which is not tested."""
    if key is None or not questions:
        return []
    values: dict[str, list[str]] = {}
    for of_system in questions.values():
        for part, system in of_system.items():
            value = compute_values(system, [key])[key]
            values.setdefault(part, []).append(f"{value:.{DIGITS}f}")
    parts = [f"{part} {', '.join(texts)}" for part, texts in values.items()]
    return [f"The mean of {len(parts)} questions. {', '.join(questions)}: {'; '.join(parts)}"]


def sentence_on_costs(verdict: Verdict) -> str:
    """Say at which reject costs who is clearly the cheapest, by the tests of the family; nothing without a strip."""
    if len(verdict.strip) < 2:
        return ""
    regions = verdict.regions
    if not regions:
        return "At no reject cost is one of them clearly cheapest."
    spans: dict[str, list[str]] = {}
    for region in regions:
        spans.setdefault(plain_name(region.winner), []).append(_span(region))
    (first, costs), *others = spans.items()
    parts = [f"If rejecting costs {_any_of(costs)} of a mistake, {first} is clearly cheapest"]
    parts += [f"at {_any_of(costs)} {name}" for name, costs in others]
    unclear = any(ranking.winner is None for ranking in verdict.strip.values())
    end = "; elsewhere it is too close to call." if unclear else "."
    return ", ".join(parts) + end


def gate_sentences(gate: Gate) -> list[str]:
    """Say whether a gate is passed, and what it cannot see; PASS or FAIL is the first word."""
    words = _Words(gate.key)
    new, old = words.texts([gate.new_value, gate.old_value])
    value = words.value.format(new)
    by = f" ({short_title(gate.key)})" if words.by or words.scale else ""
    numbers = f"{words.where}it {value}, not {old}{by}"
    size, low, high = (words.change(one) for one in (gate.worsening, gate.low, gate.high))
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    numbers += f", {size} [{low} to {high}]"
    word = "PASS" if gate.passed else "FAIL"
    how, chance = _compare_builds(gate, words)
    sentence = f"{word}  {gate.new} {how} {gate.old}: {numbers}.{chance}"
    return [sentence, *_what_was_not_seen(gate, words)]


def _compare_builds(gate: Gate, words: _Words) -> tuple[str, str]:
    """Return how a new build compares with the old one, and what to add if that is more than chance."""
    if gate.margin is not None:
        margin = words.rounded(gate.margin)
        if gate.passed:
            return f"is not {margin} worse than", ""
        surely = "is" if gate.low > gate.margin else "may be"
        return f"{surely} more than {margin} worse than", ""
    if not gate.passed:
        return "is worse than", f" {MORE_THAN_CHANCE}"
    if gate.high < 0:
        return "is better than", f" {MORE_THAN_CHANCE}"
    return "is not clearly worse than", ""


def _what_was_not_seen(gate: Gate, words: _Words) -> list[str]:
    """Say which difference such samples show how often, and what is not ruled out."""
    sentences = []
    if not math.isnan(gate.visible):
        visible = words.rounded(gate.visible)
        sentences.append(
            f"A difference of {visible} would be found in {gate.power:.0%} of such samples."
        )
    if gate.margin is not None and not math.isnan(gate.power_if_equal):
        sentences.append(f"A build that is equal passes in {gate.power_if_equal:.0%} of them.")
    elif gate.passed and gate.high > 0:
        (high,) = words.texts([gate.high])
        sentences.append(
            f'Up to {high} worse is not ruled out. Stricter: --fail-unless "within {gate.visible:g}"'
        )
    return sentences


def lead_sentences(verdict: Verdict, gate: Gate | None) -> list[str]:
    """Return what is said first: of a gate if there is one, else the headline."""
    return [headline(verdict)] if gate is None else gate_sentences(gate)


def findings(verdict: Verdict) -> list[str]:
    """Say what was found over reject costs, and who is left out."""
    return [*filter(None, [sentence_on_costs(verdict)]), *sentences_on_left_out(verdict)]


def verdict_fields(verdict: Verdict, gate: Gate | None = None) -> dict[str, object]:
    """Return a verdict as what JSON can hold, with what is said of it, and a gate if there is one."""
    said = [*lead_sentences(verdict, gate), *findings(verdict)]
    fields = verdict.to_json() | {"sentences": said}
    return fields | {"gate": None if gate is None else gate.to_json()}


def sentences_on_left_out(verdict: Verdict) -> list[str]:
    """Say which systems are not in the verdict, and why."""
    return [f"Left out: {name}. {error}" for name, error in verdict.left_out.items()]


class _Words:
    """How to speak of a metric."""

    def __init__(self, key: Key) -> None:
        self.where = ""
        self.by = ""
        self.scale = ""
        self.unit = ""
        self.same, self.less, self.least = (
            "cost users the same",
            "costs users less",
            "costs users least",
        )
        self.value = "costs users {}"
        if key.variant or key.entry not in (ECUAS_N, ERROR_RATE, EXPECTED_COST):
            self.same, self.less, self.least = "are equal", "is better", "is best"
            self.by = f" by {short_title(key)}"
            self.value = "has {}"
        elif key.entry is ECUAS_N:
            self.scale = f", {SCALE.format(metric=short_title(key))}"
        elif key.entry is EXPECTED_COST:
            self.where = f"where rejecting costs {key.parameter:g} of a mistake, "
        else:
            self.same = "make as many mistakes"
            self.less, self.least = "makes fewer mistakes", "makes the fewest mistakes"
            self.value = "gets {} wrong"
            self.unit = "%"

    def rounded(self, number: float) -> str:
        """Return a number that is round."""
        return f"{100 * number:g}%" if self.unit else f"{number:g}"

    def change(self, worsening: float) -> str:
        """Return by how much a value is worse, or better."""
        (size,) = self.texts([abs(worsening)])
        worse, better = ("worse", "better") if self.by else ("more", "less")
        return f"{size} {worse if worsening > 0 else better}"

    def texts(self, numbers: Sequence[float]) -> list[str]:
        """Return numbers with as many digits as tell apart those that differ."""
        digits, factor = (1, 100) if self.unit else (DIGITS, 1)
        # rounded once: of 0.10149999999999998 the table has 0.101, and so has the sentence
        apart = {round(factor * number, MOST_DIGITS): factor * number for number in numbers}
        texts = dict(zip(apart, texts_apart(apart.values(), digits), strict=True))
        return [texts[round(factor * number, MOST_DIGITS)] + self.unit for number in numbers]


def _leaders(ranking: Ranking) -> tuple[list[str], list[str]]:
    """Return the first two systems, and their values as text."""
    names = list(ranking.values)[:2]
    numbers = [ranking.values[name] for name in names]
    return [plain_name(name) for name in names], _Words(ranking.key).texts(numbers)


def _lead(ranking: Ranking, words: _Words, texts: Sequence[str]) -> str:
    first, second = (plain_name(name) for name in list(ranking.values)[:2])
    if len(ranking.values) == 2:
        return f"{first} {words.less} than {second}{words.by}: {texts[0]} against {texts[1]}"
    all_of_them = "" if REJECTING in ranking.values else f" of the {_count(ranking)}"
    return (
        f"{first} {words.least}{all_of_them}{words.by}: {texts[0]}, then {second} with {texts[1]}"
    )


def _close(ranking: Ranking, words: _Words) -> str:
    """Say who may be the best, and with which values."""
    names = [plain_name(name) for name in ranking.best]
    texts = words.texts([ranking.values[name] for name in ranking.best])
    if len(names) > 2:
        pairs = [f"{name} ({text})" for name, text in zip(names, texts, strict=True)]
        return f"too close to call between {few_of(pairs)}{words.by}"
    values = f"{names[0]} {words.value.format(texts[0])} and {names[1]} {texts[1]}"
    are_all = set(ranking.best) >= set(_systems(ranking))
    best_two = "" if are_all else " between the best two"
    of_all = "" if are_all or REJECTING in ranking.best else f" of {_count(ranking)}"
    return f"too close to call{best_two}{of_all}{words.by}: {values}"


def _systems(ranking: Ranking) -> list[str]:
    """Return the names that are ranked, without that of rejecting everything."""
    return [name for name in ranking.values if name != REJECTING]


def _count(ranking: Ranking) -> str:
    count = len(_systems(ranking))
    return str(NUMBERS.get(count, count))


def _gap(ranking: Ranking) -> str:
    """Say how large the difference of the two best is."""
    first, second = ranking.best[:2]
    gap = abs(ranking.row(first, second).difference)
    if len(ranking.best) > 2 or not gap:
        return ""
    (text,) = _Words(ranking.key).texts([gap])
    return f" The gap of {text} may be chance."


def _remark_on_mistakes(mistakes: Ranking, ranking: Ranking) -> str:
    """Say who makes the fewest mistakes, if that is not who is best by another metric."""
    if mistakes.state not in ("clear", "close", "equal"):
        return ""
    best = next(iter(ranking.values))
    fewest, *_ = mistakes.values
    texts = _Words(mistakes.key).texts([mistakes.values[fewest], mistakes.values[best]])
    if mistakes.state == "equal":
        who = "Both" if len(mistakes.values) == 2 else "All"
        return f"{who} get {texts[0]} wrong."
    if best in mistakes.leaders:
        return ""
    is_close = best in mistakes.best
    surely = "maybe by chance" if is_close else "more than chance"
    if len(mistakes.values) == 2:
        return f"{fewest} makes fewer mistakes, {' against '.join(texts)}: {surely}."
    from_best = (
        f"too close to call from {best}'s {texts[1]}"
        if is_close
        else f"{best} {texts[1]}: {surely}"
    )
    return f"{fewest} has the fewest mistakes, {texts[0]}, {from_best}."


def _unranked(rankings: Sequence[Ranking]) -> str:
    """Say why metrics name no winner."""
    keys = [ranking.key for ranking in rankings]
    by_confidences = [key for key in keys if key.entry.higher_is_better is not None]
    if not by_confidences:
        return NO_DIRECTION.format(metrics=" and ".join(map(short_title, keys)))
    is_one = len(by_confidences) == 1
    return CONFIDENCES_ONLY.format(
        metrics=" and ".join(map(short_title, by_confidences)),
        these=f"these {_count(rankings[0])}",
        they="It looks" if is_one else "They look",
        them="it" if is_one else "them",
    )


def _any_of(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def _span(region: Region) -> str:
    ends = dict.fromkeys(f"{end:.{DIGITS_OF_COSTS}f}" for end in (region.low, region.high))
    return " to ".join(ends)


def _capitalised(text: str) -> str:
    """Return a sentence whose first word is one of ours with a capital; names stay as they are."""
    for word in ("too close", "where ", "all "):
        if text.startswith(word):
            return text[0].upper() + text[1:]
    return text
