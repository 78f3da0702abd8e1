"""Every flag of every command changes something or is refused by its name, for five kinds of input."""

import inspect
import json
import sys
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from ecuas_metric.files.recipe import Recipe, recipes_to_json
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting import paper
from ecuas_metric.reporting.cli import main
from ecuas_metric.reporting.command import comparing, in_memory, out_of_core, parameters
from ecuas_metric.reporting.command.flags import COMMANDS, flag_name
from tests.ecuas_metric.files.test_runs import lm_eval_row, written
from tests.ecuas_metric.reporting.commanded import answers

VALUES = {  # of each flag that takes one, another than its default; in a mapping, for a kind of input
    "alpha": "0.01",
    "auroc": "0.9",
    "bins": "3",
    "by": {"run": "task", "": "part"},
    "against": "lock.json",
    "budget": "0.3",
    "calibrate": "isotonic",
    "calibrate_on": "table.csv",
    "choice_length": "chars",
    "columns": {"run": "weight=doc.w", "": "weight=w"},
    "correct_from": "0.5",
    "correlation": "0.2",
    "cost": "0,1,2;1,0,1;3,1,0",
    "difference": "0.03",
    "digits": "2",
    "engine": "spark",
    "error_rates": "0.4,0.2",
    "fail_if": "worse",
    "fail_unless": "within@0.02",
    "figures": "plots",
    "filter": "strict",
    "format": "markdown",
    "folds": "3",
    "groups": {"run": "doc.g", "": "document"},
    "interval": "0.8",
    "interval_method": "percentile --resamples 20",
    "labels": "red,green,blue",
    "lock": "new.json",
    "max_risk": "0.3",
    "metrics": "ECUAS_1",
    "missing_confidence": "0.5",
    "n": "2",
    "num_classes": "4",
    "only": "significant",
    "output": "table.json",
    "power": "0.9",
    "predictions_are": "logits",
    "recipe": "recipe.json",
    "reject_cost": "0.3",
    "reject_costs": "0.1",
    "resamples": "50",
    "right": "ja",
    "abstained": "silent",
    "answers": "5",
    "audit": "labels.csv",
    "samples": "50",
    "scale": "100",
    "seed": "7",
    "state": "new.state",
    "tasks": "x",
    "truth": "labels.csv",
    "unlabelled": {"posteriors": "drop", "": "wrong"},
    "weight": {"run": "doc.w", "": "w"},
    "weights_are": "counts",
    "within": {"run": "task", "": "part"},
}
BESIDE = {  # flags, beside which another has to stand, or they are refused
    "calibrate": "calibrate_on",
    "folds": "calibrate",
    "groups": "interval",
    "interval_method": "interval",
    "resamples": "calibration",
    "seed": "calibration",
    "weights_are": "weight",
}
OF_ALL_NUMBERS = ("bins", "format", "seed")  # which the text of a comparison does not show
FEW_METRICS = {"plan": "error_rate,ecuas_1"}
SUBJECT = {"out_of_core": "Parquet", "engine": "Spark"}  # what a refusal names instead of the flag
OF_TABLE = {"confidences": "table.csv", "posteriors": "table.csv"}
OF_FILES = OF_TABLE | {"run": "run"}
INPUTS = {  # command, kind of input -> what stands before the flag
    "score": OF_FILES | {"parquet": "table.parquet --out-of-core"},
    "compare": OF_FILES,
    "plan": OF_FILES | {"rates": "--error-rates 0.3,0.25"},
    "report": OF_FILES,
    "read": OF_FILES,
    "audit": {"confidences": "table.csv --answers 9"},
    "threshold": {kind: f"{path} --budget 0.25" for kind, path in OF_FILES.items()},
    "check": {"confidences": "table.csv --against lock.json"},
    "decide": {kind: f"{path} --reject-cost 0.2" for kind, path in OF_TABLE.items()},
    "merge": {"states": "one.state two.state"},
}
# flags that say what to do about something, which an input of their own has
OWN_INPUT = {
    "abstained",
    "by",
    "by_position",
    "common",
    "correct_from",
    "filter",
    "labels",
    "missing_confidence",
    "pool_tasks",
    "predictions_are",
    "renormalize",
    "right",
    "scale",
    "tasks",
    "unlabelled",
}
SIZE = 30
PROBABILITIES = ["prob_0", "prob_1", "prob_2"]


def change_for(frame, flag, outputs, truth):
    """Change rows so that a flag that says what to do about them has something to do."""
    rows = frame["id"]
    if flag == "unlabelled":
        frame[truth] = frame[truth].where(rows % 9 > 0)
    elif flag == "scale":
        frame[outputs] *= 100
    elif flag == "correct_from" and truth == "correct":
        frame[truth] = frame[truth].where(rows % 5 > 0, 0.6)
    elif flag == "right" and truth == "correct":
        frame[truth] = np.where(frame[truth] == 1, "ja", "nein")
    elif flag == "abstained" and truth == "correct":
        frame[truth] = frame[truth].astype(object).where(rows % 9 > 0, "silent")
    elif flag == "missing_confidence" and truth == "correct":
        frame.loc[rows % 9 == 0, outputs] = np.nan
    elif flag == "by_position":
        frame["id"] = frame.index
    elif flag == "common":
        frame = frame[1:]
    elif flag == "labels" and truth == "label":
        frame[truth] = np.array(["red", "green", "blue"])[frame[truth]]
    return frame


def table_of(kind, flag):
    """Return the rows of systems in a table."""
    rng = np.random.default_rng(0)
    number = np.arange(SIZE)
    frames = []
    for system in "ab":
        frame = answers(rng, SIZE, document=number // 3, part=number % 2, w=1 + number % 4)
        if kind == "posteriors":
            label = number % 3
            logits = rng.normal(size=(SIZE, 3)) + np.eye(3)[label]
            shares = softmax(logits, axis=1).round(2 if flag == "renormalize" else 9)
            frame = frame.drop(columns=["confidence", "correct"]).assign(label=label)
            frame[PROBABILITIES] = logits if flag == "predictions_are" else shares
        frames.append(frame.assign(system=system))
    table = pd.concat(frames, ignore_index=True)
    if kind == "posteriors":
        return change_for(table, flag, PROBABILITIES, "label")
    return change_for(table.astype({"correct": float}), flag, ["confidence"], "correct")


def write_run(flag):
    """Write what lm-eval logs of models: log-likelihoods of choices."""
    rng = np.random.default_rng(0)
    lengths = np.array([1, 3, 2])
    for model in "ab":
        for task in ("x", "y") if flag in ("tasks", "pool_tasks", "by") else ("x",):
            rows = []
            for i in range(SIZE - (flag == "common" and model == "b")):
                scores = rng.normal(size=3) + np.eye(3)[i % 3]
                by_length = float(np.argmax(scores / lengths) == i % 3)
                more = {"metrics": ["acc", "acc_norm"], "acc_norm": by_length}
                first = 100 if flag == "by_position" and model == "b" else 0
                row = lm_eval_row(
                    first + i, i % 3, scores.tolist(), choices=["a", "bcd", "ef"], **more
                )
                row["doc"] |= {"w": 1 + i % 4, "g": i // 2}
                rows.append(row)
            if flag == "filter":
                rows += [row | {"filter": "strict"} for row in rows[:20]]
            Path("run").mkdir(exist_ok=True)
            written(Path("run", model), rows, task=task)


def write_input(kind, flag):
    """Write an input of a kind, such that the flag has something to do, into the working directory."""
    weight = "doc.w" if kind == "run" else "w"
    recipe = Recipe("", "", 0, "", {"weight": (weight,)})
    Path("recipe.json").write_text(recipes_to_json([recipe]))
    pd.DataFrame({"id": range(20), "correct": [0, 1] * 10}).to_csv("labels.csv", index=False)
    if kind == "run":
        write_run(flag)
    elif kind == "parquet":
        table_of(kind, flag).to_parquet("table.parquet")
    elif kind == "states":
        for name in ("one", "two"):
            table_of(kind, "").replace({"system": {"a": name}}).to_parquet(f"{name}.parquet")
            main(["score", f"{name}.parquet", "--out-of-core", "--state", f"{name}.state"])
    elif kind != "rates":
        table_of(kind, flag).to_csv("table.csv", index=False)
        if flag == "digits":  # the one flag that is tried of `check`
            main(["threshold", "table.csv", "--budget", "0.3", "--lock", "lock.json"])


def text_of(parameter, kind):
    if parameter.kind is bool:
        return [parameter.text]
    value = VALUES[parameter.name]
    text = value.get(kind, value[""]) if isinstance(value, dict) else value
    return [parameter.text, *(word.replace("@", " ") for word in text.split())]


def effect(arguments, capsys):
    """Return what a command does: its code, what it prints but for signatures, its notes and errors, and new files."""
    before = set(Path().iterdir())
    code = main(arguments)
    captured = capsys.readouterr()
    lines = [line for line in captured.out.splitlines() if not line.startswith("ecuas|")]
    for numbers in Path().glob("*/results.json"):  # of a report, which prints only names of files
        lines += [json.dumps(json.loads(numbers.read_text()) | {"signature": ""})]
        for file in numbers.parent.iterdir():
            file.unlink()
    return code, lines, captured.err, set(Path().iterdir()) - before


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """No figure is drawn, and no Spark is started."""
    monkeypatch.chdir(tmp_path)
    for module in (in_memory, out_of_core):
        monkeypatch.setattr(
            module, "write_figures", lambda systems, folder: [Path(folder, "curve.png")]
        )
    monkeypatch.setattr(paper, "draw_figures", lambda *_: {})
    monkeypatch.setattr(
        comparing,
        "write_differences",
        lambda rows, folder, alpha: [Path(folder, "differences.png")],
    )
    # another test may have had them
    for module in [name for name in sys.modules if name.startswith("pyspark.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyspark", None)


def bases_of(begin, name, kind, parameters):
    """Return what a flag is tried beside."""
    exact = [*begin]
    few = {"digits": "12", "n": "1"}  # few metrics are quick
    if begin[0] in FEW_METRICS and name != "n":
        few["metrics"] = FEW_METRICS[begin[0]]
    for other, value in few.items():
        if other in parameters and other != name:
            exact += [flag_name(other), value]
    if begin[0] == "compare" and name in OF_ALL_NUMBERS:
        exact += ["--output", "-"]
    if BESIDE.get(name) not in parameters:
        return [exact]
    return [exact, [*exact, *text_of(parameters[BESIDE[name]], kind)]]


def homes(function):
    """Yield each parameter of a function, and where it stands: in this function, or in a class that others share."""
    for one in inspect.signature(function, eval_str=True).parameters.values():
        if not is_dataclass(one.annotation):
            yield one.name, function
            continue
        for name in inspect.signature(one.annotation).parameters:
            classes = one.annotation.__mro__
            yield name, next(home for home in classes if name in home.__annotations__)


ALL_FLAGS = ("score", "read")  # for the numbers, and for how files are read
SHARED = {home for command in ALL_FLAGS for _, home in homes(COMMANDS[command].functions()[""])}


def names_to_try(command, kind, changing):
    """Return the flags of its own, and of a class that commands share all or the first one, that changed nothing yet.

    That a state has the numbers of memory under each flag is of `test_out_of_core.py`.
    """
    functions = COMMANDS[command].functions()
    if kind == "parquet":
        functions = {kind: functions["out_of_core"]}
    names = {}
    for function in functions.values():
        for name, home in homes(function):
            names.setdefault(home, {})[name] = home
    tried = set()
    for home, shared in names.items():
        is_whole = (command in ALL_FLAGS and kind != "parquet") or home not in SHARED
        tried |= set(shared if is_whole else [*shared][:1])
    if command != "read":  # which is quick
        tried -= changing
    return tried - {"files"}


@pytest.mark.long
@pytest.mark.parametrize("command", INPUTS)
def test_every_flag_changes_something_or_is_refused_by_its_name(
    command, quick, tmp_path, capsys, monkeypatch
):
    """The flags are those of the signatures: one without a row in `VALUES` is a KeyError.

    Commands pass on whole what they share, so that its flags have one implementation.
    """
    parameters = COMMANDS[command].parameters()
    changing = set()
    idle = []

    def tell(kind, begin, name):
        named = flag_name(name), SUBJECT.get(name, "\n\n")
        for base in bases_of(begin, name, kind, parameters):
            after = effect([*base, *text_of(parameters[name], kind)], capsys)
            if after[0] == 2 and any(text in after[2] for text in named):
                continue
            place = Path.cwd(), *base
            before[place] = before.get(place) or effect(base, capsys)
            if len(base) > len(begin) and before[place][0] == 2:
                continue  # what stands beside it is refused
            is_done = after[0] == 0 or (after[0] == 1 and name.startswith("fail_"))
            if not is_done or before[place] == after:
                idle.append((base, name, after[2]))
            changing.add(name)

    for kind, arguments in INPUTS[command].items():
        begin = [command, *arguments.split()]
        before = {}
        for name in sorted(names_to_try(command, kind, changing)):
            if flag_name(name) in begin:
                continue
            folder = tmp_path / kind / (name if name in OWN_INPUT else "all")
            is_new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            monkeypatch.chdir(folder)
            if is_new:
                write_input(kind, name)
                capsys.readouterr()
            tell(kind, begin, name)
    assert not idle


@pytest.mark.parametrize("name", OPTIONS)
def test_a_flag_of_an_option_is_explained_as_the_table_of_options_does(name):
    explained = parameters.option(name).help
    assert explained[0].islower()
    assert explained.lower() == OPTIONS[name].help.lower()
