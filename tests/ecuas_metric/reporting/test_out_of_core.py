import re
import shlex
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric import summary
from ecuas_metric.reporting.cli import main
from tests.ecuas_metric.reporting.commanded import by_name, content, saved

ENGINES = ("", "--out-of-core")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two files of two models each, all of their rows, none of them, and the state of the first file."""
    path = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    parts = []
    for i, q in enumerate(rng.random((2, 300)).round(2)):
        columns = {"model": ["a", "b"] * 150, "confidence": q, "correct": rng.random(300) < q}
        parts.append(pa.table(columns))
        written({"id": np.arange(300) // 2, **columns}, path / f"{i}.parquet")
    table = pa.concat_tables(parts)
    pq.write_table(table, path / "all.parquet")
    pq.write_table(table.slice(0, 0), path / "empty.parquet")
    assert main(["score", f"{path}/0.parquet", "--out-of-core", "--state", f"{path}/a.state"]) == 0
    return path


def written(columns, path="a.parquet"):
    pq.write_table(pa.table(columns), path)
    return path


P, Y = np.random.default_rng(1).random(60), np.random.default_rng(2).integers(0, 2, 60)
ANSWERS = {"confidence": P, "correct": Y}
OF_THREE = {"p_cat": P / 2, "p_dog": P / 2, "p_eel": 1 - P}
NAMES = np.array(["cat", "dog", "eel"])[np.arange(60) % 3]
AS_TEXT = {  # what no engine adds up
    "words": (ANSWERS | {"correct": np.where(Y, "yes", "no")}, ""),
    "a word for right": (ANSWERS | {"correct": np.where(Y, "ja", "nein")}, "--right ja"),
    "percentages": ({"confidence": [f"{100 * p:.1f}%" for p in P], "correct": Y}, ""),
    "names of classes": (OF_THREE | {"label": NAMES}, ""),
    "classes in another order": (OF_THREE | {"label": NAMES}, "--labels eel,cat,dog"),
    "mappings": (
        {"posteriors": [{"a": p, "b": 1 - p} for p in P], "label": np.where(Y, "a", "b")},
        "",
    ),
    "nested fields": ({"out": [{"p": p} for p in P], "correct": Y}, "--columns confidence=out.p"),
    "complements": ({"doubt": P, "correct": Y}, "--columns confidence=1-doubt"),
    "dropped answers": (ANSWERS | {"correct": np.where(P < 0.2, np.nan, Y)}, "--unlabelled drop"),
}
LAYOUTS = {  # columns, flags
    "class 0": ({"prob_0": P, "label": Y}, ""),
    "logits of class 1 in [0, 1]": ({"score_1": P, "label": Y}, "--predictions-are logits"),
    "names with blanks": (ANSWERS | {"model": ["a", " a", "b"] * 20}, ""),
    "names that are truths": (ANSWERS | {"model": Y == 1}, ""),
    "an empty name": (ANSWERS | {"model": ["a", "", "b"] * 20}, ""),
    "percentages of a scale": (ANSWERS | {"confidence": 100 * P}, "--scale 100"),
    "grades with a limit": (ANSWERS | {"correct": Y / 2}, "--correct-from 0.5"),
    "two scales": (ANSWERS | {"confidence": np.where(Y, 100 * P, P)}, "--scale 100"),
    "marks of ignored rows": (
        {"prob_0": P, "prob_1": 1 - P, "label": np.where(P < 0.1, -100, Y)},
        "",
    ),
    "weights on the edges of bins": (
        {"confidence": [0.6, 0.7, 0.5] * 20, "correct": [0, 1, 0] * 20, "w": [2, 3, 3] * 20},
        "--weight w",
    ),
    "decimals": (
        {"confidence": [Decimal("0.85"), Decimal("0.9")] * 30, "correct": [1, 0] * 30},
        "",
    ),
    "counts that are no numbers of rows": (ANSWERS | {"w": P}, "--weight w --weights-are counts"),
    "parts by the label": ({"prob_0": 1 - P, "prob_1": P, "label": Y}, "--by label"),
    "ties on paper": ({"label": [1, 1, 1, 0], "prob_1": [0.7, 0.3, 0.8, 0.2]}, ""),
    "a perfect order": (ANSWERS | {"confidence": np.where(Y, (P + 1) / 2, P / 2)}, ""),
    "one confidence": (ANSWERS | {"confidence": [0.7] * 60}, ""),
    "a row without an id": (ANSWERS | {"id": ["", *map(str, range(1, 60))]}, ""),
    "a column that is not used": (ANSWERS | {"weight": P}, ""),
    "the other class": ({"prob": np.where(Y, P / 2, (P + 1) / 2), "label": Y}, ""),
    "labels from 1": (
        {"prob_0": P, "prob_1": (1 - P) / 2, "prob_2": (1 - P) / 2, "label": Y + 1},
        "",
    ),
    "hard predictions": ({"confidence": Y, "correct": 1 - Y}, ""),
    "hard posteriors": ({"prob_0": Y, "prob_1": 1 - Y, "label": (Y + (P < 0.3)) % 2}, ""),
    "uncertainties above u_M": (ANSWERS, "--num-classes 2"),
    "every variant": (
        ANSWERS | {"model": ["a", "b"] * 30},
        "--normalize --decompose --reject-costs 0.2 --interval 0.9",
    ),
    **AS_TEXT,
    "all right": (ANSWERS | {"correct": np.ones(60, int)}, ""),
}
# how finely, and digests of columns of which no engine has all rows
KNOWN_TO_ONE_ENGINE = ("state", "weights")


def facts_of(signature):
    """Return what each system's numbers depend on, as far as both engines know it."""
    lines = signature.split(" ; ")
    return {
        frozenset(part for part in line.split("|") if part.split(":")[0] not in KNOWN_TO_ONE_ENGINE)
        for line in lines
    }


@pytest.mark.parametrize(("columns", "flags"), LAYOUTS.values(), ids=LAYOUTS)
def test_numbers_notes_marks_and_basis_do_not_depend_on_where_the_rows_are(columns, flags, capsys):
    path = written(columns)
    said = []
    tables = []
    for engine in ENGINES:
        code = main(shlex.split(f"score {path} {flags} {engine} --output t.json"))
        captured = capsys.readouterr()
        table = {"rows": [], "signature": ""} if code else content("t.json")
        tables.append(by_name(table))
        notes = sorted(line for line in captured.err.splitlines() if line.startswith("note: "))
        rule = re.split(r"; got | in row |\. ", captured.err)[0] if code else notes
        marked = [line for line in captured.out.splitlines() if "●" in line]
        marks = [(line.split("  ")[0], line.count("●")) for line in marked]
        said.append((code, rule, marks, facts_of(table["signature"])))
    assert said[0] == said[1]
    in_memory, out_of_core = tables
    assert in_memory.keys() == out_of_core.keys()
    for name, row in in_memory.items():
        numbers = {key: value for key, value in row.items() if isinstance(value, float)}
        other = {key: out_of_core[name][key] for key in row}
        assert {key: other.pop(key) for key in numbers} == pytest.approx(
            numbers, rel=1e-9, abs=1e-12
        )
        assert other.items() <= row.items()


def test_a_missing_engine_is_named_with_the_command_that_installs_it(ran, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    said = ran(f"score {written(ANSWERS)} --out-of-core", 2).err
    assert said.strip().endswith("need duckdb and narwhals: pip install duckdb narwhals")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_stands_before_those_of_its_columns(engine, logs):
    rows = saved(f"score A={logs}/0.parquet B={logs}/1.parquet --by model {engine}")
    assert list(by_name(rows)) == ["A a", "A b", "B a", "B b"]


@pytest.mark.long
def test_files_of_states_merge(logs, ran):
    for i in range(2):
        ran(f"score {logs}/{i}.parquet --out-of-core --state {i}.state")
    both = ran("merge 0.state 1.state --state both.state").out
    scored = ran(f"score {logs}/[01].parquet --out-of-core").out
    assert both == scored.partition("\n")[2]
    assert both == ran("merge both.state").out


def test_bounds_are_in_the_table_and_in_what_is_written(logs, capsys, monkeypatch):
    for name, value in (("MOST_GROUPS", 1), ("LINEAR", 8.0), ("ROOT", 4.0)):
        monkeypatch.setattr(summary, name, value)
    row = saved(f"score {logs}/all.parquet --out-of-core --full")["rows"][0]
    assert row["auroc_lower_bound"] < row["auroc"] < row["auroc_upper_bound"]
    assert "error_rate_lower_bound" not in row
    [line] = [line for line in capsys.readouterr().out.split("\n") if line.startswith("a: near")]
    assert "auroc in [0." in line
    assert "augrc in [0." in line
    assert "error_rate" not in line


def of_classes(count, rng):
    posteriors = rng.dirichlet(np.ones(count), 40)
    return {f"prob_{k}": posteriors[:, k] for k in range(count)} | {"label": np.arange(40) % count}


UNRANKED = {  # what differs -> two systems
    "numbers of classes K": lambda rng: [of_classes(count, rng) for count in (3, 5)],
    "numbers of samples": lambda rng: [
        {"confidence": rng.random(n), "correct": np.arange(n) % 2} for n in (30, 40)
    ],
}


@pytest.mark.parametrize(("reason", "make"), UNRANKED.items(), ids=UNRANKED)
def test_what_may_not_be_ranked_is_not_marked_and_the_reason_is_named(make, reason, rng, ran):
    """As in memory, out of core and from merged states."""
    for name, columns in zip("ab", make(rng), strict=True):
        written(columns, f"{name}.parquet")
        ran(f"score {name}.parquet --out-of-core --state {name}.state")
    files = "a.parquet b.parquet"
    for command in (f"score {files}", f"score {files} --out-of-core", "merge a.state b.state"):
        text = " ".join(ran(command).out.split())
        assert "No best value is marked" in text
        assert reason in text


@pytest.mark.e2e
def test_the_command_draws_figures_of_states(logs, ran):
    out = ran(f"score {logs}/all.parquet --out-of-core --figures drawn").out
    drawn = {path.stem for path in Path("drawn").iterdir()}
    assert drawn == {"risk_coverage", "reject_cost", "ecuas_against_n", "reliability"}
    assert "reliability.png" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    {
        "score {0}/0.parquet --columns uncertainty=confidence,cost=correct": "0.parquet: has costs, which are read",
        "score {0}/0.parquet --out-of-core --unlabelled bounds": "--unlabelled of a state must be wrong or drop",
        "score '{0}/*.parquet'": "there is no such file. Quoted patterns are for ecuas score --out-of-core",
        "score {0}/none --out-of-core": "none: there is no such Parquet file",
        "score {0}/empty.parquet --out-of-core": "ecuas: the files have no rows.",
        "score {0}/0.parquet --out-of-core --columns confidence=p.q": "has no column 'p.q'",
        "score {0}/0.parquet --out-of-core --by task": "has no column 'task'",
        "score {0}/0.parquet --out-of-core --scale 0": "--scale must be a number above 0, or LOW:HIGH",
        "merge {0}/0.parquet": "is a Parquet file, but not one of states",
        "merge {0}/a.state --state {0}/0.parquet": "is there already",
        "score {0}/1.parquet --out-of-core --state {0}/a.state": "a.state: is there already",
        "merge {0}/a.state --interval 2": "the level of intervals must be a number in (0, 1)",
        "score {0}/0.parquet --out-of-core --interval 2": "the level of intervals must be",
        "compare {0}/0.parquet --out-of-core": "takes no --out-of-core, which is of ecuas score. States do not say",
    }.items(),
)
def test_what_cannot_be_done_is_one_line_and_what_is_there_below_it(arguments, message, logs, ran):
    first, *below = ran(arguments.format(logs), 2).err.splitlines()
    assert message in first
    assert all(line.startswith(("  ", "Say")) for line in below)
