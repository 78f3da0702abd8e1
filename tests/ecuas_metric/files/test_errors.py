import pickle
from concurrent.futures import ThreadPoolExecutor
from string import Formatter

import numpy as np
import pytest

from ecuas_metric import confidence_system, make_report, prepare_submissions, read_submissions
from ecuas_metric.comparison.compare import compare_systems
from ecuas_metric.errors import FileError, InputError
from ecuas_metric.inputs import parse_confidences
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


@pytest.mark.parametrize("name", ["n_bins", "num_classes", "random_state", "predictions", "n"])
def test_a_file_or_a_system_may_be_called_as_an_option_is(name, score):
    fact = f"{name}.csv: column 'confidence' must lie in [0, 1]; got 87.0 in row 4 (2 of 3)."
    assert score(f"{name}.csv", PERCENTAGES) == (
        2,
        [],
        f"ecuas: {fact} Percentages? --scale 100 divides by 100, --columns FILE:scale=100 those of one file.\n",
    )
    assert score(f"nothing/{name}.csv") == (
        2,
        [],
        f"ecuas: nothing/{name}.csv: there is no such file.\n",
    )
    assert (
        "--missing-confidence"
        in score("a.csv", f"system,confidence,correct\n{name},,1\n{name},0.5,0\n")[2]
    )
    code, (row,), said = score("a.csv --missing-confidence 0.5 --metrics ecuas_0")
    assert (code, row["system"]) == (0, name)
    assert (
        said.partition("\n")[2]
        == f"note: {name}: 1 of 2 confidences are missing (NaN) and count as 0.5.\n"
    )


def test_errors_travel_between_processes(write):
    errors = [
        caught(read_submissions, path) for path in (write("a.csv", PERCENTAGES), "nothing.csv")
    ]
    for error in (
        *errors,
        caught(parse_confidences, [0.9, 87.0], [1, 0]),
        caught(compare_systems, {}),
    ):
        there = pickle.loads(pickle.dumps(error))
        assert type(there) is type(error)
        assert fields(there) == fields(error)
        assert str(there) == str(error)


def test_reports_made_at_once_do_not_mix(recwarn):
    """Each of four threads has notes that the others do not; none is a warning, which would be the process's."""
    confidence = np.linspace(0.05, 0.95, 400)

    def report(missing):
        with_gaps = np.where(np.arange(400) < missing, np.nan, confidence)
        correct = (np.arange(400) % 3 > 0).astype(int) if missing else np.ones(400, int)
        options = {"missing_confidence": 0.5, "confidence_level": 0.9, "n_resamples": 200}
        return make_report({"a": confidence_system(correct, with_gaps, **options)})

    alone = [report(missing) for missing in range(4)]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(report, [missing for _ in range(3) for missing in range(4)]))
    assert [one.notes() for one in at_once] == [one.notes() for one in alone] * 3
    assert len({str(one.notes()) for one in alone}) == 4
    assert [one.results["a"].flat() for one in at_once[1:4]] == [
        one.results["a"].flat() for one in alone[1:]
    ]
    assert not recwarn.list
