"""What notebooks show of results: all of it is text, and what is drawn is what was computed."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import (
    choose_reject_cost,
    compare_systems,
    confidence_system,
    decide,
    make_report,
    score_frame,
)
from ecuas_metric.comparison.compare import compare_pairable
from ecuas_metric.comparison.gate import check_gate
from ecuas_metric.comparison.locked import check_locked, lock_reject_cost
from ecuas_metric.comparison.planning import plan_of_systems
from ecuas_metric.comparison.rows import REJECTING
from ecuas_metric.comparison.verdict import plain_name
from ecuas_metric.metric import Key
from ecuas_metric.notebook import markup as page
from ecuas_metric.notebook.html import REJECTING_COLOR, result_html
from ecuas_metric.reporting.report import report_grid
from ecuas_metric.reporting.sentences import headline
from tests import markup
from tests.ecuas_metric.systems import frame_of
from tests.space.conftest import contrast

ELEMENTS = markup.OF_TABLES | {
    *("div", "style", "p", "b", "i", "sub", "span", "br", "code"),
    *("svg", "line", "polyline", "rect", "title", "details", "summary"),
}
ECUAS_1 = Key("ecuas", 1.0)


def made(rng, names, size=160):
    """Return systems that differ in how often they are right, and in how well they know it."""
    systems = {}
    hard = rng.random(size)
    for place, name in enumerate(names):
        confidence = np.clip(1 - hard * (0.3 + 0.2 * (place % 3)), 0.02, 0.98).round(3)
        correct = rng.random(size) < confidence ** (1 + place % 4)
        systems[name] = confidence_system(
            correct, confidence, confidence_level=0.95, ids=range(size)
        )
    return systems


def results_of_all_kinds(rng, names):
    """Return one of each result that a notebook shows, of systems with these names."""
    systems = made(rng, names)
    pair = dict(list(systems.items())[:2])
    first = next(iter(systems))
    frame = pd.concat([frame_of(one).assign(system=name) for name, one in systems.items()])
    compared = compare_systems(systems)
    lock = lock_reject_cost(first, systems[first], 0.3)
    return {
        "comparisons": compared,
        "verdict": compared.verdict,
        "judged": compare_pairable({first: systems[first]}),
        "report": make_report(systems),
        "results": make_report(systems).results[first],
        "system": systems[first],
        "frame": score_frame(frame, confidence_level=0.95),
        "gate": check_gate(pair, ECUAS_1),
        "margin": check_gate(pair, ECUAS_1, margin=0.05),
        "plans": plan_of_systems(pair),
        "choice": choose_reject_cost(systems[first], budget=0.2),
        "uncertified": choose_reject_cost(systems[first], max_risk=1e-6),
        "decisions": decide([[0.9, 0.1], [0.4, 0.6]], reject_cost=0.2, labels=sorted(names[:2])),
        "check": check_locked(lock, first, systems[first]),
    }


def texts_of(html):
    """Return what is read of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"(?s)<style>.*?</style>", "", html)))


@pytest.mark.long
def test_names_with_markup_are_text(rng):
    names = ["".join(markup.NAMES[::2]), "".join(markup.NAMES[1::2])]
    results = results_of_all_kinds(rng, names)
    for kind, result in results.items():
        html = result._repr_html_()
        assert set(re.findall(r"<(\w+)", html)) <= ELEMENTS, kind
        assert page.NO_FORMULAS in html  # else a notebook sets what is between dollars as a formula
        attributes = "".join(re.findall(r'<\w+((?: [\w-]+="[^"]*")*)/?>', html))
        assert not re.search(r"\s(on\w+|href|src)=", re.sub('"[^"]*"', "", attributes)), kind
    for kind in ("comparisons", "verdict", "report", "frame", "gate", "decisions"):
        assert all(name in texts_of(results[kind]._repr_html_()) for name in names), kind


@pytest.mark.long
def test_each_result_has_a_table_of_all_its_numbers(rng):
    results = results_of_all_kinds(rng, ["sharp", "vague"])
    for kind, result in results.items():
        if kind not in ("system", "judged"):  # which has one system, and no pair
            assert len(result.to_frame()), kind
    compared = results["comparisons"]
    pd.testing.assert_frame_equal(compared.to_frame(), compared.verdict.to_frame())
    frame = results["report"].to_frame()
    for name, one in results["report"].results.items():
        assert frame.loc[name, "ecuas_1"] == one.estimates[ECUAS_1].value
    choice = results["choice"]
    assert choice.to_frame()["reject_cost"].tolist() == [choice.reject_cost]


@pytest.mark.long
def test_a_report_tells_what_its_numbers_are_to_beat(rng):
    report = make_report(made(rng, ["sharp", "vague"]))
    shown = texts_of(report._repr_html_())
    for name, number in (("sharp", "ECUAS_1"), ("vague", "ECUAS_0")):
        beat = re.search(rf"{name} .*?{number} ([\d.]+)", str(report_grid(report).hints))[1]
        assert f"{number.replace('_', '')} {beat}" in shown
    assert "is that good?" in shown


def cells_of(html):
    """Return the texts of the cells of each row, without what is only for the eye."""
    rows = re.findall(r"(?s)<tr>(.*?)</tr>", html)
    return [
        [texts_of(cell) for cell in re.findall(r"(?s)<td[^>]*>(.*?)</td>", row)] for row in rows
    ]


@pytest.mark.long
@pytest.mark.parametrize("size, count", [(160, 2), (160, 4), (30, 3)])
def test_a_verdict_is_the_sentence_of_the_command_and_a_row_for_each_system(rng, size, count):
    names = [f"model {letter}" for letter in "abcdefg"[:count]]
    compared = compare_systems(made(rng, names, size))
    verdict = compared.verdict
    html = compared._repr_html_()
    assert headline(verdict).replace("ECUAS_1", "ECUAS1") in texts_of(html)
    _, *rows = cells_of(html)
    ranking = verdict.rankings[ECUAS_1]
    assert [row[0] for row in rows[:count]] == list(ranking.values)
    for row, value in zip(rows, ranking.values.values(), strict=False):
        assert float(re.match(r"[\d.]+", row[1])[0]) == pytest.approx(value, abs=5e-4)
    marked = {row[0] for row in rows[:count] if re.match(r"[\d.]+[*~]", row[1])}
    assert marked == set(ranking.best)


def bars_of(html):
    """Return left end, width, colour and words of each bar of a strip."""
    bar = (
        r'<rect x="([\d.]+)" y="2" width="([\d.]+)" height="9" fill="([#\w]+)"><title>(.*?)</title>'
    )
    return re.findall(bar, html)


@pytest.mark.long
def test_curves_and_strip_are_those_of_the_verdict(rng):
    verdict = compare_systems(made(rng, ["a", "b", "c"])).verdict
    html = result_html(verdict)
    costs = np.array([0.0, *(key.parameter for key in verdict.strip)])
    drawn = re.findall(r'<polyline points="([^"]*)"', html)
    values = [
        np.array([0.0, *(ranking.values[name] for ranking in verdict.strip.values())])
        for name in verdict.rankings[ECUAS_1].values
    ]
    top = max(one.max() for one in values)
    for points, expected in zip(drawn, values, strict=True):
        x, y = np.array([point.split(",") for point in points.split()], float).T
        inner = page.WIDTH - 2 * page.MARGIN
        assert (x - page.MARGIN) / inner * costs[-1] == pytest.approx(costs, abs=0.001)
        assert (page.HEIGHT - 1 - y) / (page.HEIGHT - 3) * top == pytest.approx(expected, abs=0.002)
    inks = page.colors("abc")
    assert verdict.regions
    for (left, width, ink, told), region in zip(bars_of(html), verdict.regions, strict=True):
        assert ink == inks.get(region.winner, REJECTING_COLOR)
        assert told == f"{plain_name(region.winner)}, from {region.low:g} to {region.high:g}"
        low = (float(left) - page.MARGIN) / (page.WIDTH - 2 * page.MARGIN) * costs[-1]
        assert low == pytest.approx(region.low, abs=0.001)
        assert float(width) >= 2


@pytest.mark.long
def test_of_many_systems_who_is_clearly_cheapest_is_never_grey(rng):
    few = compare_systems(made(rng, ["a", "b", "c"])).verdict
    winner = next(region.winner for region in few.regions if region.winner != REJECTING)
    loser = next(name for name in few.systems if name != winner)
    copies = {f"copy {i}": few.systems[loser] for i in range(len(page.INKS))}
    many = compare_systems({**copies, winner: few.systems[winner]})
    won = [ink for _, _, ink, told in bars_of(many._repr_html_()) if told.startswith(winner)]
    assert {*won} == {page.INKS[0]}


@pytest.mark.parametrize("ink", [*page.INKS, page.REST])
@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_lines_are_seen_on_light_and_dark_pages(ink, ground):
    assert contrast(ink, ground) >= 3
