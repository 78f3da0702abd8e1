"""Each test of the command works in a folder of its own, and types what a user would."""

import shlex

import pytest

from ecuas_metric.reporting.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ran(capsys):
    """Return a function that runs a command line, and returns what it prints."""

    def run(command, code=0):
        capsys.readouterr()
        assert main(shlex.split(command)) == code
        return capsys.readouterr()

    return run
