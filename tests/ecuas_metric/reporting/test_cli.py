import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ecuas_metric import confidence_system
from ecuas_metric.basis import FACTS
from ecuas_metric.files.submissions import OPTION_OF_ROLE
from ecuas_metric.metric import METRICS
from ecuas_metric.options import OPTIONS
from ecuas_metric.reporting import cli
from ecuas_metric.reporting.cli import main
from ecuas_metric.reporting.command import in_memory
from ecuas_metric.reporting.command.flags import COMMANDS
from ecuas_metric.reporting.words import COMMAND_WORDS
from tests.ecuas_metric.reporting.commanded import answers, by_name, content, saved

TINY = "confidence,correct\n0.9,1\n0.4,0\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Files such as the help's examples name, written the way other tools write them."""
    path = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    ids = [f"q{i}" for i in range(90)]

    def frame():
        return answers(rng, 90).round(3).assign(id=ids)

    frame().to_csv(path / "gpt.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    frame().to_csv(path / "labelled.csv", index=False)
    frame().drop(columns="correct").to_csv(path / "new.csv", index=False)
    llama = frame()
    for name, rows in (("llama", llama), ("short", llama[1:])):
        rows.to_json(path / f"{name}.jsonl", orient="records", lines=True)
    both = [
        frame().assign(llm=name, method="is_true", document=np.arange(90) // 3) for name in "ab"
    ]
    runs = pd.concat(both)
    runs.rename(columns={"llm": "system"}).drop(columns="method").to_csv(
        path / "runs.csv", index=False
    )
    runs = runs.rename(columns={"confidence": "p_true", "correct": "grade"})
    runs.astype({"p_true": np.float32}).to_parquet(path / "runs.parquet", index=False)
    logits = pd.DataFrame(rng.normal(size=(90, 3)), columns=["logit_0", "logit_1", "logit_2"])
    logits.assign(label=rng.integers(0, 3, 90)).to_csv(path / "logits.csv", index=False)
    lock = ["--budget", "0.2", "--lock", str(path / "lock.json")]
    assert main(["threshold", str(path / "gpt.csv"), *lock]) == 0
    return path


@pytest.fixture
def folder(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


def examples():
    # some are of several commands
    helps = "".join({command.epilog: None for command in COMMANDS.values()})
    for example in re.findall("^  ecuas ([a-z]+ .*)$", helps, re.MULTILINE):
        is_drawn = re.search("--figures|report", example)
        yield pytest.param(example, marks=[pytest.mark.e2e] if is_drawn else [])


@pytest.mark.parametrize("command", [*examples()])
def test_the_examples_of_the_help_work(command, folder, ran):
    is_streamed = "--output -" in command
    has_signature = is_streamed or command.split()[0] not in ("compare", "decide", "report")
    assert ("ecuas|n:" in ran(command).out) == has_signature
    for output in re.findall("--(?:output|figures|state) ([^ ]{2,})", command):
        assert (folder / output).exists()


def test_compare_pairs_by_id(folder, ran):
    out = ran("compare gpt.csv llama.jsonl --metrics ecuas_0,auroc").out
    assert "paired by id" in out
    assert "AUROC ↑†" in out
    fact = "gpt and short have different samples, and cannot be compared: 'q0' is not in short (1 missing, 0 extra)."
    said = f"ecuas: {fact} --common compares them on the ids they share.\n"
    assert ran("compare gpt.csv short.jsonl", 2).err == said
    left_out = "note: gpt: 1 of 90 samples left out, because other systems do not have them."
    assert left_out in ran("compare gpt.csv short.jsonl --common").err
    refused = ran("compare gpt.csv short.jsonl --common --by-position", 2).err
    assert "--by-position cannot be used with --common" in refused
    for flag in ("--by-position", "--common"):
        assert f"{flag} has no effect on a single system" in ran(f"score gpt.csv {flag}", 2).err


@pytest.mark.long
def test_rows_are_paired_where_there_is_no_id_or_where_asked_for_and_the_text_says_so(folder, ran):
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text(TINY)
    for command in ("compare", "plan", "report"):
        for beside in ("", " gpt.csv"):  # whose ids pair no others
            refused = ran(f"{command} one.csv two.csv{beside}", 2).err
            assert "have no ids to pair their samples by." in refused
    refused = ran("compare gpt.csv one.csv", 2).err
    assert refused.endswith("--by-position pairs them by their rows.\n")
    out = ran("compare gpt.csv llama.jsonl --by-position").out
    assert "90 samples, paired by position" in out.splitlines()[-1]


def many(rng, count=12):
    """Write systems with long names, all of which answer the same questions."""
    files = [f"a-model-of-size-{i}-with-a-long-name_verbalized_greedy.csv" for i in range(count)]
    for power, file in enumerate(files, 1):
        frame = answers(rng, 60)
        frame["correct"] = (rng.random(60) < frame["confidence"] ** power).astype(int)
        frame.to_csv(file, index=False)
    return " ".join(files)


@pytest.mark.long
def test_twelve_systems_fit_a_screen_and_files_have_every_difference(folder, capsys, rng):
    rows = saved(f"compare {many(rng)} --metrics ER,ECUAS_0,aurc")["rows"]
    assert len(rows) == 3 * 66
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 30
    notes = content("out.json")["notes"]
    assert notes[0].startswith("Too close to call between a-model-of-size-0-")


@pytest.mark.parametrize(
    ("arguments", "message"),
    {
        "score nothing.csv": "nothing.csv: there is no such file.",
        "score gpt.csv --n low": "--n takes numbers, separated by commas; got 'low'.",
        "score gpt.csv --n -1": "--n must be >= 0 (inf allowed); got -1.0 at index 0 (1 of 1).",
        "score gpt.csv --reject-costs 2": "gpt.csv: --reject-costs must lie in [0, 1], the largest",
        "score gpt.csv --bins 0": "--bins must be a whole number in",
        "score gpt.csv --columns confidence": "--columns takes ROLE=COLUMN pairs; got 'confidence'.",
        "score gpt.csv --columns three.csv:id=p": "--columns names a file or system that is not there; got 'three",
        "score gpt.csv --metrics acc": "--metrics must be among error_rate, ece,",
        "score gpt.csv --metrics ER --normalize": "--normalize has no effect on what --metrics names; got",
        "score gpt.csv --metrics ER,ECE --n 2": "--n has no effect on what --metrics names; got error_rate, ece.",
        "score gpt.csv --metrics ER --bins 3": "--bins has no effect on what --metrics names; got error_rate.",
        "score gpt.csv --metrics ECUAS --reject-costs 0.1": "--reject-costs has no effect on what --metrics names",
        "score gpt.csv --metrics ER --full": "--full has no effect beside --metrics, which names what is shown.",
        "plan --error-rates 0.3,0.2 --metrics ER --auroc 0.9": "--auroc has no effect on what --metrics names",
        "plan gpt.csv llama.jsonl --metrics ECE": "--metrics must name a metric that can be planned; got ECE.",
        "compare gpt.csv llama.jsonl --metrics n-ecuas_0": "--metrics must be among ",
        "score gpt.csv --interval 95": "the level of intervals must be a number in (0, 1); got 95.0. A per",
        "score gpt.csv --weights-are counts": "--weights-are has no effect without --weight.",
        "score gpt.csv --output a.doc": "a.doc: a table can be written as .md, .tex, .txt, .csv, .json.\n",
        "score logits.csv --predictions-are probabilities": "logits.csv: column 'logit_0..logit_2' must",
        "score gpt.csv logits.csv": "systems of one table must have one form; gpt.csv holds confidences",
        "compare gpt.csv": "a comparison needs at least two systems; got 1. Add another one, ",
        "compare runs.csv --columns part=document": "a comparison takes one part of the data; got 0; 1; 2",
        "plan gpt.csv": "a comparison needs at least two systems; got 1. Add another one, ",
        "threshold logits.csv --predictions-are logits --budget 0.2 --lock l.json": (
            "logits: answers to lock need ids, by which those of a new version are paired with them. Give each row its "
            "id, or name another column: --columns id=NAME."
        ),
    }.items(),
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, folder, ran):
    captured = ran(arguments, 2)
    assert captured.err.startswith(f"ecuas: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_command_alone_says_what_it_is_and_how_to_begin(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 0
    alone = capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert alone == capsys.readouterr().out
    assert "Begin with `ecuas score FILE.csv`" in alone


@pytest.mark.parametrize(
    "name", [name for name, metric in METRICS.items() if metric.when != "ratio"]
)
def test_a_name_of_the_help_is_taken_or_the_error_says_what_to_add(name, folder, capsys, ran):
    is_of_answers = METRICS[name].applies(confidence_system([1, 0], [0.9, 0.4]).decisions)
    file = "gpt.csv" if is_of_answers else "logits.csv --predictions-are logits"
    command = f"score {file} --metrics"
    if cli.main([*command.split(), name]) == 0:
        return
    advice = capsys.readouterr().err.split("'. ")[1].strip()
    if flag := re.fullmatch(r"Add (--[a-z-]+)\.", advice):
        ran(f"{command} {name} {flag[1]} {'0.1' if flag[1] == '--reject-costs' else ''}")
    elif example := re.fullmatch(r"Name it with its number, as in (\S+)\.", advice):
        ran(f"{command} {example[1]}")
    else:
        assert METRICS[name].needs == "costs"
        assert advice == "It does not exist for these systems."


@pytest.mark.parametrize(
    ("name", "advice"),
    {
        "expected_cost_0.1": "Add --reject-costs 0.1.",
        "SR": "Add --reject-costs.",
        "ECUAS_5": "Add --n 5.",
        "N-ECUAS_0": "Add --normalize.",
        "ecuas_1_recalibrated": "Add --decompose.",
        "p cal.": "Add --calibration.",
        "Brier_Score": "It does not exist for these systems.",
        "accuracy": "Did you mean one of these: error_rate?",
        "ecaus_1": "Did you mean one of these: ecuas_1, ecuas_128, ecuas_0?",
        "auc": "Did you mean one of these: aurc, auroc, augrc?",
        "qq": "",
    }.items(),
)
def test_a_metric_that_is_not_there_comes_with_the_flag_that_adds_it(name, advice, folder, ran):
    said = ran(f"score gpt.csv --metrics '{name}'", 2).err
    assert said.rstrip().endswith(f"got '{name}'. {advice}".rstrip())


def test_systems_have_the_names_they_are_given_or_those_that_tell_their_files_apart(folder, ran):
    files = "one.csv", "one.tsv", "a/results.csv", "b/results.csv"
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(TINY)
    rows = by_name(saved(f"score {' '.join(files)} GPT=one.csv --metrics ece,ecuas_0"))
    assert list(rows) == ["one.csv", "one.tsv", "a/results", "b/results", "GPT"]
    assert set(rows["GPT"]) == {"system", "N", "ece", "ecuas_0", "must_not_rank"}
    refused = ran("score GPT=one.csv GPT=one.tsv", 2).err
    assert refused.endswith("Name them: NAME=FILE.\n")


def test_parts_of_a_row_that_have_names_are_its_fields_and_no_rows(folder, ran):
    """As DeepEval keeps the metrics of a test case; parts without names may be rows."""
    parts = [{"name": "right", "score": 1}, {"name": "style", "score": 0}]
    for metrics, advice in (
        (parts, "confidence=metadata.confidence"),
        ([{"score": 1}] * 2, "rows=cases.metrics"),
    ):
        cases = [{"metrics": metrics, "metadata": {"confidence": k / 9}} for k in range(1, 9)]
        (folder / "a.json").write_text(json.dumps({"cases": cases, "passed": 3}))
        assert advice in ran("score a.json", 2).err.split("Say what holds:")[1]


@pytest.mark.parametrize("step", [1, -1])
def test_the_columns_of_a_file_are_others_than_those_of_all_in_any_order(step, folder, ran):
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_text('"p(a, b)",q,correct\n0.9,0.8,1\n0.4,0.3,0\n')
    said = " ".join(["--columns 'two:confidence=p(a, b)'", "--columns confidence=q"][::step])
    out = ran(f"score one.csv two=two.csv {said} --metrics ece").out
    assert "one.csv: 2 rows; confidence = q" in out
    assert "two.csv: 2 rows; confidence = p(a, b)" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    {
        "score a.csv --colums x": "there is no --colums. Did you mean --columns?",
        "score a.csv --eror-rates 1": "there is no --eror-rates. Did you mean --error-rates of ecuas plan?",
        "score a.csv --output-file b.md": "there is no --output-file. Did you mean --output?",
        "score a.csv --weigh w": "there is no --weigh. Did you mean --weight?",
        "merge a.state --qqq": "there is no --qqq. See ecuas merge --help.",
        "score a.csv --reject-cost 1": (
            "ecuas score takes no --reject-cost, which is of ecuas decide. Did you mean --reject-costs?"
        ),
        "compare a.csv --level 0.9": "there is no --level. Did you mean --interval?",
        "compare a.csv --alpha 0.1": "ecuas compare takes no --alpha, which is of ecuas plan. Did you mean --interval?",
        "compare a.csv --by x": "ecuas compare takes no --by, which is of ecuas score and ecuas threshold. Compare one "
        "part at a time: ",
        "report a.csv --by x": "ecuas report takes no --by, which is of ecuas score and ecuas threshold. Compare one ",
        "plan a.csv b.csv --calibrate affine": "ecuas plan takes no --calibrate, which is of ecuas score and ",
        "compare a.csv --interval-method analytic": "ecuas compare takes no --interval-method, which is of ecuas",
        "plan --error-rates 0.3,0.2 --groups g": "--groups cannot be used with --error-rates A,B.",
        "plan a.csv b.csv --error-rates 0.3,0.2": "FILE cannot be used with --error-rates A,B.",
        "scoer a.csv": "there is no command 'scoer'. Did you mean this? ecuas score a.csv",
        "a.csv": "there is no command 'a.csv'. See ecuas --help.",
        "score --metrics ER, AUROC": "--metrics takes names with commas and no spaces",
        "plan a.csv b.csv --auroc 0.9": "--auroc requires --error-rates.",
        "plan": "FILE is missing. A plan needs two, or --error-rates instead.",
        "check a.csv --against b --truth c": (
            "ecuas check takes no --truth, which is of ecuas score and 7 others. Files are read as the lock says, also "
            "those of true labels, placed from its folder: leave it out."
        ),
        "score --only x": "ecuas score takes no --only, which is of ecuas compare.",
        "score": "FILE is missing. See ecuas score --help.",
        "score a.csv --folds 3": "--folds has no effect without --calibrate.",
        "score a.csv --seed 3": "--seed has no effect without --interval-method percentile, --calibration or ",
        "score a.csv --interval 0.9 --interval-method analytic --resamples 9": "--resamples has no effect without",
        "score a.csv --bins x": "--bins takes a whole number; got 'x'.",
        "score a.csv --engine duckdb": "--engine must be one of local, spark; got 'duckdb'.",
        "score a.csv --metrics": "--metrics expected one argument.",
    }.items(),
)
def test_flags_that_mean_nothing_are_one_line_that_says_what_does(arguments, message, ran):
    captured = ran(arguments, 2)
    assert captured.err.startswith(f"ecuas: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(("flags", "header"), [("", "difference"), ("--difference 0.1", "planned")])
def test_a_plan_says_whose_difference_it_has(flags, header, folder, ran):
    out = ran(f"plan --error-rates 0.3,0.2 {flags}").out
    assert header in out.splitlines()[1].split()


def test_an_output_without_arrows_has_ascii_in_their_place(folder, offline):
    arguments = ["score", "gpt.csv", "caf\u00e9 \u03bb=llama.jsonl", "--metrics", "ecuas_0,ece"]
    command = [sys.executable, "-m", "ecuas_metric.reporting", *arguments]
    environment = offline | {"PYTHONIOENCODING": "cp1252"}
    run = subprocess.run(command, check=True, capture_output=True, env=environment)
    shown = run.stdout.decode("cp1252")
    assert "ECUAS_0 v" in shown
    assert "\n† These assess" in shown  # which cp1252 has
    assert "caf\u00e9 \\u03bb" in shown


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def test_an_interruption_is_no_traceback(folder, ran, monkeypatch):
    monkeypatch.setattr(in_memory, "make_report", failing(KeyboardInterrupt))
    assert ran("score gpt.csv --output out.json", 130).err == "ecuas: interrupted\n"
    assert not (folder / "out.json").exists()


def test_a_closed_pipe_is_silent(folder, offline):
    command = f"{sys.executable} -m ecuas_metric.reporting score gpt.csv llama.jsonl | true"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], env=offline, capture_output=True
    )
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("score gpt.csv --output out.md", "out.md"),
        ("score gpt.csv --figures plots", "plots/risk_coverage.png"),
        ("read gpt.csv --output recipe.json", "recipe.json"),
        ("report gpt.csv --output paper", "paper/results.json"),
    ],
)
def test_a_file_for_which_no_space_is_left_is_named_and_none_is_there(
    command, file, folder, monkeypatch, ran
):
    before = set(folder.rglob("*"))
    monkeypatch.setattr(os, "replace", failing(OSError(28, "No space left")))
    assert ran(command, 2).err == f"ecuas: {file}: cannot be written: No space left.\n"
    assert {path for path in folder.rglob("*") if path.is_file()} <= before


def test_every_option_has_a_flag_or_a_column_except_three():
    named = {*COMMANDS["score"].parameters(), *COMMAND_WORDS, *OPTION_OF_ROLE.values()}
    assert set(OPTIONS) - named == {"decisions", "epsilon", "max_uncertainty"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_explains_every_flag_and_every_abbreviation_of_tables_and_signatures(
    command, capsys
):
    with pytest.raises(SystemExit, match="0"):
        cli.main([command, "--help"])
    shown = capsys.readouterr().out
    words = " ".join(shown.replace(" \\\n", " ").split())
    assert " ".join(COMMANDS[command].epilog.split()) in words  # examples and metrics
    long = [line for line in shown.splitlines() if len(line) > 80]
    assert not [line for line in long if " " in line.strip(" -") and "{" not in line]
    has_table = command in ("score", "compare", "plan", "merge")
    titles = [metric.title for metric in METRICS.values() if metric.when != "ratio" and has_table]
    assert all(f" {title}: " in shown for title in titles)
    names = {fact.label for fact in FACTS.values() if fact.label and has_table}
    assert not [name for name in names if f" {name}:" not in shown]
    for parameter in COMMANDS[command].parameters().values():
        assert parameter.text in words
        assert " ".join(parameter.flag.help.split()) in words, parameter.name


def next_steps(ran, arguments):
    """Return the commands that come next, each of which runs as it is printed."""
    steps = re.findall("^next: ecuas (.*)  # ", ran(arguments).out, re.MULTILINE)
    for step in steps:
        ran(step)
    return steps


@pytest.mark.long
def test_recalibration_comes_next_where_a_number_is_not_beaten(folder, ran, rng):
    honest = answers(rng, 300)
    honest.to_csv("honest.csv", index=False)
    honest.assign(confidence=1 - (1 - honest["confidence"]) ** 9).to_csv("bold.csv", index=False)
    how = "score bold.csv --calibrate affine"
    assert "--calibrate" not in " ".join(next_steps(ran, "score honest.csv"))
    assert how in next_steps(ran, "score bold.csv")
    assert how not in next_steps(ran, "score bold.csv --calibrate affine")
    honest.assign(correct=1).to_csv("bold.csv", index=False)
    assert how not in next_steps(ran, "score bold.csv")


def test_what_the_table_says_on_k_can_be_typed(folder, ran, rng):
    answers(rng, 30).to_csv("a.csv", index=False)
    flag = re.search(r"of K choices: (.*)\)", ran("score a.csv").out)[1].replace("K", "4")
    assert ", of K = 4 classes" in ran(f"score a.csv {flag}").out


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("columns", [["confidence", "correct"], ["id", "confidence", "correct"]])
def test_what_to_do_next_can_be_done_with_these_files(count, columns, folder, ran, rng):
    for k in range(count):
        renamed = answers(rng, 60)[columns].rename(columns={"confidence": "how sure"})
        renamed.to_csv(f"file {k}.csv", index=False)
    files = " ".join(f"'file {k}.csv'" for k in range(count))
    steps = next_steps(ran, f"score {files} --columns 'confidence=how sure' --n 1")
    commands = {step.split()[0]: step for step in steps}
    assert ("compare" in commands) == (count > 1)
    assert "threshold" in commands
    if count > 1:
        assert ("--by-position" in commands["compare"]) != ("id" in columns)
        assert next_steps(ran, f"score {files} --columns 'confidence=how sure' --by-position")


@pytest.mark.long
def test_what_to_do_next_is_not_said_where_that_would_be_long(folder, ran, rng):
    for k in range(60):
        answers(rng, 20).to_csv(f"{k}.csv", index=False)
    files = [f"{k}.csv" for k in range(60)]
    assert next_steps(ran, f"score {' '.join(files[:3])}")
    assert "next: " not in ran(f"score {' '.join(files)}").out


@pytest.mark.parametrize("text", ["", "no", "[]", "[1]", '{"x": 1}', '{"recipes": [{}]}'])
def test_what_is_no_recipe_is_refused(text, folder, ran):
    (folder / "r.json").write_text(text)
    said = ran("score runs.csv --recipe r.json", 2).err
    assert said.startswith("ecuas: --recipe takes what `ecuas read`")
