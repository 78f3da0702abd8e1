"""No command writes to a file that it reads, by whichever name, nor twice to one."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ecuas_metric.reporting.cli import main
from ecuas_metric.reporting.command.flags import COMMANDS
from ecuas_metric.reporting.paper import CAPTIONS, FIGURE_SUFFIXES, TEXTS
from tests.ecuas_metric.reporting.commanded import answers

READ = {  # a command -> the files that it reads
    "score a.csv": ["a.csv"],
    "score NAME=a.csv b.csv": ["a.csv", "b.csv"],
    "score a.csv --recipe b.json": ["b.json"],
    "score a.csv --cost b.csv": ["b.csv"],
    "score file://{folder}/a.csv": ["a.csv"],
    "score parts": ["parts/part-0.csv", "parts/part-1.csv"],
    "score run": ["run/samples_x.jsonl", "run/results_1.json"],
    "score run/samples_x.jsonl": ["run/samples_x.jsonl", "run/results_1.json"],
    "score a.parquet --out-of-core": ["a.parquet"],
    "score spark --out-of-core": ["spark/part-0.parquet"],
    "score 'X=*.parquet' --out-of-core": ["a.parquet", "b.parquet"],
    "compare a.csv b.csv": ["b.csv"],
    "report a.csv b.csv": ["a.csv"],
    "plan a.csv b.csv": ["b.csv"],
    "threshold a.csv --budget 0.2": ["a.csv"],
    "decide a.csv --reject-cost 0.2 --calibrate-on b.csv": ["a.csv", "b.csv"],
    "check a.csv --against b.json": ["a.csv", "b.json"],
    "read a.csv": ["a.csv"],
    "merge a.state b.state": ["a.state", "b.state"],
}
FILES = {file for files in READ.values() for file in files}
WRITTEN = {
    "report": [],
    "threshold": ["--output", "--lock"],
    "score --out-of-core": ["--output", "--state"],
    "merge": ["--output", "--state"],
}


def link(path, name, kind):
    Path(name).parent.mkdir(exist_ok=True)
    kind(path.absolute(), name)
    return name


NAMES = {
    "itself": str,
    "another spelling": lambda path: f"parts/../{path}",
    "a link": lambda path: link(path, "link.csv", os.symlink),
    "another name": lambda path: link(path, "link.csv", os.link),
    "a linked folder": lambda path: f"{link(path.parent, 'folder', os.symlink)}/{path.name}",
}


@pytest.fixture
def inputs(folder):
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(file)
    return folder


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(ran, command, output):
    """Return what a command says that leaves all as it was."""
    before = contents(Path())
    error = ran(command, 2).err
    assert contents(Path()) == before
    start = f"ecuas: {output}: this file is read, and would be overwritten. Name another one with "
    assert error.startswith(start)
    return error.removeprefix(start)


@pytest.mark.parametrize("command", READ)
def test_what_is_read_is_not_written_by_any_name(command, inputs, ran):
    name = command.split()[0] + " --out-of-core" * ("--out-of-core" in command)
    for file in READ[command]:
        for flag in WRITTEN.get(name, ["--output"]):
            for make in NAMES.values():
                output = make(Path(file))
                line = f"{command.format(folder=inputs)} {flag} {shlex.quote(output)}"
                assert refused(ran, line, output) == f"{flag}.\n"
                for linked in ("link.csv", "folder"):
                    Path(linked).unlink(missing_ok=True)


@pytest.mark.parametrize("command", ["score a.csv", "compare a.csv b.csv", "report a.csv b.csv"])
@pytest.mark.parametrize("kind", [os.symlink, os.link])
def test_a_picture_or_report_is_not_written_to_what_is_read(command, kind, inputs, ran):
    flag = "--output" if "report" in command else "--figures"
    for name in ("risk_coverage.png", "differences.png", *(TEXTS if flag == "--output" else ())):
        output = link(inputs / "a.csv", f"plots/{name}", kind)
        assert refused(ran, f"{command} {flag} plots", output) == f"{flag}.\n"
        Path(output).unlink()


@pytest.mark.parametrize(
    "outputs", ["--output a.json --state ./a.json", "--output a.json --output b/../a.json"]
)
def test_a_file_is_not_written_twice(outputs, inputs, ran):
    (inputs / "b").mkdir()
    said = ran(f"score a.parquet --out-of-core {outputs}", 2).err
    assert "is written twice by this command. Name another one with --" in said
    os.symlink("a_macro.csv", "link.csv")
    said = ran("score a.csv --by system --output a.csv --output link.csv", 2).err
    assert said.startswith("ecuas: a_macro.csv: is written twice by this command.")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_of_a_file_says_whether_that_is_read_or_written(name):
    for one in COMMANDS[name].parameters().values():
        is_place = set(one.flag.metavar.split("|")) & {"FILE", "DIR"}
        assert bool(is_place) == (one.flag.reads or bool(one.flag.writes)), one.name
        assert ("" in one.flag.writes) == (is_place == {"FILE"} and not one.flag.reads), one.name


def test_a_report_says_all_that_it_writes():
    (output,) = (one for one in COMMANDS["report"].parameters().values() if one.name == "output")
    drawn = {f"{name}{suffix}" for name in CAPTIONS for suffix in FIGURE_SUFFIXES}
    for name in (*TEXTS, *drawn):
        assert any(Path(name).match(pattern) for pattern in output.flag.writes)


@pytest.mark.long
def test_what_was_written_before_is_written_again(folder, ran, rng):
    """Also beside what is read, and in its folder."""
    (folder / "parts").mkdir()
    for name in ("a.csv", "parts/part-0.csv"):
        answers(rng, 40).to_csv(folder / name, index=False)
    answers(rng, 40).to_parquet(folder / "a.parquet")
    for command in (
        "score a.csv --output table.csv --output table.json --figures .",
        "score parts --output parts/table.csv",
        "report a.csv --output paper",
        "score a.parquet --out-of-core --output table.csv",
        "read a.csv --output recipe.json",
        "score a.csv --recipe recipe.json --output table.csv",
    ):
        assert ran(command).out.split("\n")[:1] == ran(command).out.split("\n")[:1]


@pytest.mark.e2e
def test_a_file_that_is_standard_input_or_output_is_not_overwritten(folder, rng, offline):
    file = folder / "a.csv"
    answers(rng, 40).to_csv(file, index=False)
    before = file.read_bytes()

    def said(line):
        command = f"{sys.executable} -m ecuas_metric.reporting {line}"
        run = subprocess.run(command, shell=True, env=offline, capture_output=True, text=True)
        assert run.returncode == 2
        assert file.read_bytes() == before
        return run.stderr

    assert said("score - --output a.csv < a.csv").startswith("ecuas: a.csv: this file is read")
    assert said("decide a.csv --reject-cost 0.2 >> a.csv") == (
        "ecuas: standard output: this file is read, and would be overwritten. Redirect it to another file.\n"
    )
    for stream in (">", "2>"):
        command = f"score a.csv --output b.csv {stream} b.csv"
        twice = said(command) or (folder / "b.csv").read_text()
        assert twice.startswith("ecuas: b.csv: is written twice by this command. Name another")


@pytest.mark.parametrize("name", ["~/a.csv", "file:a.csv", "simplecache::file://{folder}/a.csv"])
def test_a_path_that_is_read_as_it_is_written_is_not_replaced(name, tmp_path, monkeypatch, capsys):
    """In memory "~" is a folder of that name, and what is before "::" is a cache of an address."""
    monkeypatch.chdir(tmp_path)
    content = "confidence,correct\n0.9,1\n0.4,0\n"
    name = name.format(folder=tmp_path)
    file = Path("a.csv" if "::" in name else name)
    file.parent.mkdir(exist_ok=True)
    file.write_text(content)
    assert main(["score", name, "--output", str(file)]) == 2
    assert "is read, and would be overwritten" in capsys.readouterr().err
    assert file.read_text() == content
