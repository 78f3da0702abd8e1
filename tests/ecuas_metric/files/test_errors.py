from string import Formatter

import pytest

from ecuas_metric import prepare_submissions, read_submissions
from ecuas_metric.errors import FileError, InputError
from ecuas_metric.messages import ADVICE
from ecuas_metric.reporting.words import COMMAND_WORDS

PERCENTAGES = "id,confidence,correct\na,1,1\n\nb,87,0\nc,92,1\n"
OUT_OF_RANGE = {
    "argument": "predictions",
    "rule": "out_of_unit_interval",
    "value": 87.0,
    "got": "87.0",
    "index": 1,
}
OUT_OF_RANGE |= {"count": 2, "total": 3, "advice": "divide_by_100"}


OF_FUNCTIONS = {
    "name_scale",
    "score_as_posteriors",
}
# or of another command
OF_FUNCTIONS |= {"log_samples"}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def to(name, text):
        (tmp_path / name).write_text(text)
        return name

    return to


def caught(call, *arguments, **options):
    with pytest.raises(InputError) as info:
        call(*arguments, **options)
    return info.value


def fields(error):
    return {name: value for name, value in vars(error).items() if value not in (None, "", {}, ())}


def test_an_error_of_a_file_also_has_file_column_and_row(write):
    error = caught(read_submissions, write("a.csv", PERCENTAGES))
    assert isinstance(error, FileError)
    where = {"file": "a.csv", "column": "confidence", "row": 4}
    assert fields(error) == OUT_OF_RANGE | where | {"advice": "set_scale_100"}
    said = "a.csv: column 'confidence' must lie in [0, 1]; got 87.0 in row 4 (2 of 3). Percentages? Set scale=100."
    assert str(error) == said


def test_an_option_that_does_not_fit_a_file(write):
    submissions = read_submissions(write("a.csv", "confidence,correct\n0.9,1\n"))
    error = caught(prepare_submissions, submissions, reject_costs=2)
    assert (error.file, error.argument, error.value, error.row) == (
        "a.csv",
        "reject_costs",
        2,
        None,
    )
    said = "a.csv: reject_costs must lie in [0, 1], the largest sensible uncertainty; got 2.0 at index 0 (1 of 1). "
    assert str(error).startswith(said)


@pytest.mark.parametrize("advice", sorted(ADVICE.keys() - OF_FUNCTIONS))
def test_the_command_has_its_own_words_for_what_only_python_has(advice):
    sentences = ADVICE[advice] + COMMAND_WORDS.get(advice, "")
    names = [name for _, name, *_ in Formatter().parse(sentences) if name]
    fields = {**dict.fromkeys(names, 1), "columns": {"label": "y"}}
    said = FileError("x", "", advice=advice, **fields).render(COMMAND_WORDS)
    for flag in ("--scale=", "--right=", "-are log_probabilities"):  # which are the command's
        said = said.replace(flag, "")
    assert not any(python in said for python in ("=", "_", "shape")) or "--columns" in said, said
