import re

import numpy as np
import pytest

from ecuas_metric.reporting.report import compare_tables, prepare_tables
from space import sentences
from space.uploads import read_uploads


def said(tables, **options):
    return sentences.sentences(prepare_tables(tables, **options), tables)


@pytest.fixture
def tables(files):
    return read_uploads(files)


def test_the_best_is_named_for_small_and_large_n_with_the_commands_p_value(tables):
    small, large, *_ = said(tables)
    systems = prepare_tables(tables, n=(0, 128), confidence_level=0.95)
    for sentence, key in ((small, "ecuas_0"), (large, "ecuas_128")):
        (row,) = [row for row in compare_tables(systems, tables) if row.key == key]
        best = row.first if row.difference < 0 else row.second
        assert f"{best} is best" in sentence
        assert f"The lead of {abs(row.difference):.3f}" in sentence
        shown = "p < 0.001" if row.p_adjusted < 0.001 else f"p = {row.p_adjusted:.3f}"
        assert shown in sentence
        assert ("is significant" in sentence) == (row.p_adjusted < 0.05)
    assert "to whom a mistake is much worse than a rejection (n = 0)" in small
    assert "to whom a rejection is nearly as bad as a mistake (n = 128)" in large


def test_the_interval_of_a_lead_is_of_the_lead_whichever_system_comes_first(tables):
    def lead(text):
        return [
            float(x) for x in re.search(r"lead of ([-\d.]+) \(95% interval ([-\d.]+) to ([-\d.]+)\)", text).groups()
        ]

    forward, backward = said(tables)[0], said(tables[::-1])[0]
    for value, low, high in (lead(forward), lead(backward)):
        assert low <= value <= high
    assert lead(forward)[0] == lead(backward)[0]


def test_a_system_beside_itself_is_no_discovery(tables):
    twins = [tables[0], tables[0]._replace(name="twin")]
    assert "may well be chance: p = 1.000" in said(twins)[0]


def test_unpaired_systems_are_not_tested_and_the_page_says_why(tables):
    other = tables[1]._replace(ids=[f"other{i}" for i in range(120)])
    lines = said([tables[0], other])
    assert not any("p =" in line or "p <" in line for line in lines)
    assert "Whether that is more than chance is not tested." in lines[0]
    assert any("different samples" in line for line in lines)


def test_without_ids_the_pairing_by_rows_is_said(tables):
    bare = [table._replace(ids=None) for table in tables]
    assert any("no column of ids" in line for line in said(bare))


def test_many_samples_are_not_compared(tables, monkeypatch):
    monkeypatch.setattr(sentences, "MAX_PAIRED_ROWS", 119)
    monkeypatch.setattr(sentences, "compare", None)
    lines = said(tables)
    assert any("use `ecuas compare`" in line for line in lines)


def test_reject_costs_and_recalibration_of_one_system(tables):
    useful, gain = said(tables[:1])
    assert re.match(r"Users of first to whom a rejection costs between [\d.]+ and [\d.]+ of a mistake", useful)
    before, after = map(float, re.search(r"from ([\d.]+) to ([\d.]+) at best", gain).groups())
    assert after < before


def test_a_recalibrated_system_gains_nothing(tables):
    halves = np.r_[np.ones(60), np.zeros(20), np.ones(10), np.zeros(30)].astype(int)
    perfect = tables[0]._replace(predictions=np.repeat([0.75, 0.25], [80, 40]), references=halves)
    assert said([perfect])[-1] == "Recalibration alone would gain less than 1% of ECUAS_0."


def test_a_system_of_no_use_is_called_so(tables):
    inverted = tables[0]._replace(predictions=1 - tables[0].references.astype(float))
    assert "had better accept everything or reject everything" in said([inverted])[0]


def test_one_n_is_one_sentence(tables):
    lines = said(tables, n=(1,))
    assert sum("is best" in line for line in lines) == 1
    assert "with reject costs of all sizes (n = 1)" in lines[0]


def test_weights_are_used(tables):
    doubled = [table._replace(weight=[1.0] * 60 + [2.0] * 60) for table in tables]
    repeated = [
        table._replace(
            predictions=np.r_[table.predictions, table.predictions[60:]],
            references=np.r_[table.references, table.references[60:]],
            ids=[*table.ids, *(f"again {i}" for i in table.ids[60:])],
        )
        for table in tables
    ]
    for one, two in zip(doubled, repeated, strict=True):
        assert said([one]) == said([two])


@pytest.mark.parametrize(
    ("limits", "words"),
    [((0.1, 0.9), "between 0.10 and 0.90"), ((0.991, 0.994), "between 0.991 and 0.994"), ((0.5, 0.5), "about 0.50")],
)
def test_the_limits_of_a_range_can_be_told_apart(limits, words):
    assert sentences._between(*limits) == words
