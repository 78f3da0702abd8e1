import json
import re
import shlex
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric import summary
from ecuas_metric.reporting.cli import main


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two files of two models each, all of their rows, none of them, and the state of the first file."""
    path = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    parts = []
    for i, q in enumerate(rng.random((2, 300)).round(2)):
        columns = {"model": ["a", "b"] * 150, "confidence": q, "correct": rng.random(300) < q}
        parts.append(pa.table(columns))
        saved(path, {"id": np.arange(300) // 2, **columns}, i)
    table = pa.concat_tables(parts)
    pq.write_table(table, path / "all.parquet")
    pq.write_table(table.slice(0, 0), path / "empty.parquet")
    assert main(["score", f"{path}/0.parquet", "--out-of-core", "--state", f"{path}/a.state"]) == 0
    return path


def saved(folder, columns, name="a"):
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def printed(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def rows_of(path):
    return json.loads(path.read_text())["rows"]


P, Y = np.random.default_rng(1).random(60), np.random.default_rng(2).integers(0, 2, 60)
OF_THREE = {"p_cat": P / 2, "p_dog": P / 2, "p_eel": 1 - P}
NAMES = np.array(["cat", "dog", "eel"])[np.arange(60) % 3]
AS_TEXT = {  # what no engine adds up
    "words": ({"confidence": P, "correct": np.where(Y, "yes", "no")}, ()),
    "a word for right": (
        {"confidence": P, "correct": np.where(Y, "ja", "nein")},
        ("--right", "ja"),
    ),
    "percentages": ({"confidence": [f"{100 * p:.1f}%" for p in P], "correct": Y}, ()),
    "names of classes": (OF_THREE | {"label": NAMES}, ()),
    "classes in another order": (OF_THREE | {"label": NAMES}, ("--labels", "eel,cat,dog")),
    "mappings": (
        {"posteriors": [{"a": p, "b": 1 - p} for p in P], "label": np.where(Y, "a", "b")},
        (),
    ),
    "nested fields": (
        {"out": [{"p": p} for p in P], "correct": Y},
        ("--columns", "confidence=out.p"),
    ),
    "complements": ({"doubt": P, "correct": Y}, ("--columns", "confidence=1-doubt")),
    "dropped answers": (
        {"confidence": P, "correct": np.where(P < 0.2, np.nan, Y)},
        ("--unlabelled", "drop"),
    ),
}
LAYOUTS = {  # columns, flags
    "class 0": ({"prob_0": P, "label": Y}, ()),
    "logits of class 1 in [0, 1]": ({"score_1": P, "label": Y}, ("--predictions-are", "logits")),
    "names with blanks": ({"model": ["a", " a", "b"] * 20, "confidence": P, "correct": Y}, ()),
    "names that are truths": ({"model": Y == 1, "confidence": P, "correct": Y}, ()),
    "an empty name": ({"model": ["a", "", "b"] * 20, "confidence": P, "correct": Y}, ()),
    "percentages of a scale": ({"confidence": 100 * P, "correct": Y}, ("--scale", "100")),
    "grades with a limit": ({"confidence": P, "correct": Y / 2}, ("--correct-from", "0.5")),
    "two scales": ({"confidence": np.where(Y, 100 * P, P), "correct": Y}, ("--scale", "100")),
    "marks of ignored rows": (
        {"prob_0": P, "prob_1": 1 - P, "label": np.where(P < 0.1, -100, Y)},
        (),
    ),
    "weights on the edges of bins": (
        {"confidence": [0.6, 0.7, 0.5] * 20, "correct": [0, 1, 0] * 20, "w": [2, 3, 3] * 20},
        ("--weight", "w"),
    ),
    "decimals": (
        {"confidence": [Decimal("0.85"), Decimal("0.9")] * 30, "correct": [1, 0] * 30},
        (),
    ),
    "counts that are no numbers of rows": (
        {"confidence": P, "correct": Y, "w": P},
        ("--weight", "w", "--weights-are", "counts"),
    ),
    "parts by the label": ({"prob_0": 1 - P, "prob_1": P, "label": Y}, ("--by", "label")),
    "ties on paper": ({"label": [1, 1, 1, 0], "prob_1": [0.7, 0.3, 0.8, 0.2]}, ()),
    "inverted confidences": ({"confidence": np.where(Y, P / 2, (P + 1) / 2), "correct": Y}, ()),
    "a perfect order": ({"confidence": np.where(Y, (P + 1) / 2, P / 2), "correct": Y}, ()),
    "a column that is not used": ({"confidence": P, "correct": Y, "weight": P}, ()),
    "the other class": ({"prob": np.where(Y, P / 2, (P + 1) / 2), "label": Y}, ()),
    "labels from 1": (
        {"prob_0": P, "prob_1": (1 - P) / 2, "prob_2": (1 - P) / 2, "label": Y + 1},
        (),
    ),
    "hard predictions": ({"confidence": Y, "correct": 1 - Y}, ()),
    "hard posteriors": ({"prob_0": Y, "prob_1": 1 - Y, "label": (Y + (P < 0.3)) % 2}, ()),
    "uncertainties above u_M": ({"confidence": P, "correct": Y}, ("--num-classes", "2")),
    "missing confidences": (
        {"confidence": np.where(P < 0.2, np.nan, P), "correct": Y},
        ("--missing-confidence", "0"),
    ),
    "weights and intervals": (
        {"confidence": P, "correct": Y, "w": P},
        ("--weight", "w", "--interval", "0.9"),
    ),
    "every variant": (
        {"model": ["a", "b"] * 30, "confidence": P, "correct": Y},
        ("--normalize", "--decompose", "--reject-costs", "0.2", "--interval", "0.9"),
    ),
    **AS_TEXT,
    "all right": ({"confidence": P, "correct": np.ones(60, int)}, ()),
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
def test_numbers_notes_marks_and_basis_do_not_depend_on_where_the_rows_are(
    columns, flags, tmp_path, capsys
):
    path = saved(tmp_path, columns)
    said = []
    tables = []
    for engine in ((), ("--out-of-core",)):
        written = tmp_path / f"{len(said)}.json"
        code = main(["score", str(path), *flags, *engine, "--output", str(written)])
        captured = capsys.readouterr()
        table = {"rows": [], "signature": ""} if code else json.loads(written.read_text())
        tables.append({row["system"]: row for row in table["rows"]})
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


def test_missing_confidences_are_bounded_in_memory_as_the_refusal_says(tmp_path, capsys):
    path = saved(tmp_path, {"confidence": np.where(P < 0.2, np.nan, P), "correct": Y})
    assert main(["score", str(path), "--out-of-core"]) == 2
    assert "`ecuas score` without --out-of-core bounds" in capsys.readouterr().err
    assert main(["score", str(path)]) == 0


def test_a_name_stands_before_those_of_its_columns(logs, tmp_path, capsys):
    files = f"A={logs}/0.parquet", f"B={logs}/1.parquet"
    for engine in ((), ("--out-of-core",)):
        printed(capsys, "score", *files, "--by", "model", *engine, "--output", tmp_path / "t.json")
        assert [row["system"] for row in rows_of(tmp_path / "t.json")] == [
            "A a",
            "A b",
            "B a",
            "B b",
        ]


def test_files_of_one_name_in_two_folders_are_two_systems(tmp_path, capsys):
    paths = []
    for folder in (tmp_path / "x", tmp_path / "y"):
        folder.mkdir()
        paths.append(saved(folder, {"confidence": P, "correct": Y}))
    for engine in ((), ("--out-of-core",)):
        printed(capsys, "score", *paths, *engine, "--output", tmp_path / "t.json")
        assert [row["system"] for row in rows_of(tmp_path / "t.json")] == [
            str(path.with_suffix("")) for path in paths
        ]


def test_a_file_of_states_grows_and_merges(logs, tmp_path, capsys):
    states = [tmp_path / f"{i}.state" for i in (0, 1)]
    for i, state_of in enumerate(states):
        printed(capsys, "score", logs / f"{i}.parquet", "--out-of-core", "--state", state_of)
    both = printed(capsys, "merge", *states, "--state", tmp_path / "both.state").out
    scored = printed(capsys, "score", f"{logs}/[01].parquet", "--out-of-core").out
    assert both == scored.partition("\n")[2]
    assert both == printed(capsys, "merge", tmp_path / "both.state").out
    error = printed(capsys, "score", logs / "1.parquet", "--out-of-core", "--state", states[0]).err
    assert (
        f"note: The rows of 1 file(s) are in {states[0]} already, read as they were then." in error
    )
    assert states[0].read_bytes() == (tmp_path / "both.state").read_bytes()


def test_bounds_are_in_the_table_and_in_what_is_written(logs, capsys, monkeypatch):
    for name, value in (("MOST_GROUPS", 1), ("LINEAR", 8.0), ("ROOT", 4.0)):
        monkeypatch.setattr(summary, name, value)
    flags = ("--out-of-core", "--full", "--output", logs / "t.json")
    out = printed(capsys, "score", logs / "all.parquet", *flags).out
    row = rows_of(logs / "t.json")[0]
    assert row["auroc_lower_bound"] < row["auroc"] < row["auroc_upper_bound"]
    assert "error_rate_lower_bound" not in row
    [line] = [line for line in out.split("\n") if line.startswith("a: bounds")]
    assert "auroc in [0." in line
    assert "augrc in [0." in line
    assert "error_rate" not in line


def of_classes(count, rng):
    posteriors = rng.dirichlet(np.ones(count), 40)
    return {f"prob_{k}": posteriors[:, k] for k in range(count)} | {"label": np.arange(40) % count}


UNRANKED = {  # two systems, flags, what differs
    "numbers of classes": (
        lambda rng: [of_classes(3, rng), of_classes(5, rng)],
        "numbers of classes K",
    ),
    "numbers of samples": (
        lambda rng: [{"confidence": rng.random(n), "correct": np.arange(n) % 2} for n in (30, 40)],
        "numbers of samples",
    ),
}


@pytest.mark.parametrize(("make", "reason"), UNRANKED.values(), ids=UNRANKED)
def test_what_may_not_be_ranked_is_not_marked_and_the_reason_is_named(
    make, reason, rng, tmp_path, capsys
):
    """As in memory, out of core and from merged states."""
    paths = []
    for name, columns in zip(("one", "two"), make(rng), strict=True):
        paths.append(saved(tmp_path, columns, name))
        printed(capsys, "score", paths[-1], "--out-of-core", "--state", tmp_path / f"{name}.state")
    states = [tmp_path / "one.state", tmp_path / "two.state"]
    for arguments in (["score", *paths], ["score", *paths, "--out-of-core"], ["merge", *states]):
        text = " ".join(printed(capsys, *arguments).out.split())
        assert "No best value is marked" in text
        assert reason in text


@pytest.mark.e2e
def test_the_command_draws_figures_of_states(logs, tmp_path, capsys):
    out = printed(capsys, "score", logs / "all.parquet", "--out-of-core", "--figures", tmp_path).out
    drawn = {path.stem for path in tmp_path.iterdir()}
    assert drawn == {"risk_coverage", "reject_cost", "ecuas_against_n", "reliability"}
    assert "reliability.png" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "score {0}/0.parquet --columns uncertainty=confidence,cost=correct",
            "0.parquet: has costs, which are read",
        ),
        (
            "score {0}/0.parquet --out-of-core --unlabelled bounds",
            "--unlabelled of a state must be wrong or drop",
        ),
        ("score {0}/none --out-of-core", "none: there is no such Parquet file"),
        ("score {0}/empty.parquet --out-of-core", "ecuas: the files have no rows."),
        ("score {0}/0.parquet --out-of-core --columns confidence=p.q", "has no column 'p.q'"),
        ("score {0}/0.parquet --out-of-core --by task", "has no column 'task'"),
        ("score {0}/0.parquet --out-of-core --scale 0", "--scale must be a number in (0, inf)"),
        ("merge {0}/0.parquet", "is a Parquet file, but not one of states"),
        ("merge {0}/a.state --state {0}/a.state", "is there already"),
        ("merge {0}/a.state --interval 2", "the level of intervals must be a number in (0, 1)"),
        ("score {0}/0.parquet --out-of-core --interval 2", "the level of intervals must be"),
        (
            "compare {0}/0.parquet --out-of-core",
            "takes no --out-of-core, which is of ecuas score. States do not say",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments, message, logs, capsys):
    assert main(shlex.split(arguments.format(logs))) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(("columns", "flags"), AS_TEXT.values(), ids=AS_TEXT)
def test_a_recipe_is_taken_back(columns, flags, tmp_path, capsys):
    path = saved(tmp_path, columns)
    recipe = tmp_path / "recipe.json"
    output = tmp_path / "t.json"
    printed(capsys, "read", path, *flags, "--output", recipe)
    tables = []
    for more in (flags, ("--recipe", recipe)):
        printed(capsys, "score", path, *more, "--out-of-core", "--output", output)
        tables.append(json.loads(output.read_text()))
    assert tables[0] == tables[1]


def test_metrics_that_are_asked_for_and_systems_are_as_in_memory(tmp_path, capsys):
    columns = {"id": np.arange(60), "correct": Y}
    files = [
        saved(tmp_path, {**columns, "confidence": confidence}, name)
        for name, confidence in (("b", P), ("a", 1 - P))
    ]
    asked = ("--metrics", "error_rate,ecuas_1", "--interval", "0.9")
    whole = printed(capsys, "score", *files, *asked)
    apart = printed(capsys, "score", *files, *asked, "--out-of-core")
    lines = [line for line in whole.out.splitlines() if line[:1] in ("b", "a")]
    assert [line for line in apart.out.splitlines() if line[:1] in ("b", "a")] == lines
    assert "not shown" not in apart.out
    assert "biased" not in apart.out + apart.err


def test_each_system_has_the_notes_of_its_own_columns(tmp_path, capsys):
    q = np.where(Y == 1, 0.2, 0.8) + 0.1 * P
    files = [
        saved(tmp_path, {"y_prob": probability, "y_true": Y}, name)
        for name, probability in (("a", 1 - q), ("b", q))
    ]
    notes = [
        printed(capsys, "score", *files, *flags).err.splitlines()
        for flags in ((), ("--out-of-core",))
    ]
    assert len(notes[0]) == len(notes[1])
    assert {line.split(":")[1] for line in notes[0]} == {line.split(":")[1] for line in notes[1]}


def test_the_systems_of_a_file_stand_in_the_order_of_their_names(tmp_path, capsys, rng):
    names = [f"system {k}" for k in range(100, 160)]
    systems = rng.permutation(names * 5)
    rows = {
        "model": systems,
        "confidence": rng.random(len(systems)),
        "correct": rng.integers(0, 2, len(systems)),
    }
    output = tmp_path / "t.json"
    flags = ("--by", "model", "--out-of-core", "--output", output)
    printed(capsys, "score", saved(tmp_path, rows), *flags)
    shown = [row["system"] for row in rows_of(output)]
    assert shown == sorted(shown)
    assert len(shown) == len(names)
