"""Run files: what is written stays, what was cut off is done again, what does not belong is refused."""

import re
import subprocess
import sys

import pytest

from triviaqa_subset.elicitation.runs import append, open_run, read_run

PARAMETERS = {"model": "m", "temperature": 0.0}
FACTS = {"versions": {"python": "3.11"}}


def test_a_start_that_fails_before_its_first_row_leaves_nothing(path):
    with pytest.raises(RuntimeError), open_run(path, {"model": "other"}, FACTS):
        raise RuntimeError
    assert not path.exists()
    assert write(path, "q1") == {}


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("http://node17:9000/v1/", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000/v2", False),
        (None, False),
    ],
)
def test_a_server_may_move(path, url, same):
    write(path, "q1", parameters=PARAMETERS | {"base_url": "http://localhost:8000/v1"})
    if same:
        assert list(write(path, parameters=PARAMETERS | {"base_url": url})) == ["q1"]
    else:
        with pytest.raises(ValueError, match="base_url must be"):
            write(path, parameters=PARAMETERS | {"base_url": url})


def write(path, *ids, parameters=PARAMETERS, facts=FACTS, **options):
    with open_run(path, parameters, facts, **options) as (rows, file):
        for question_id in ids:
            append(file, {"question_id": question_id, "answer": "é", "error": None})
    return rows


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def test_a_second_start_finds_what_the_first_wrote(path):
    assert write(path, "q1", "q2") == {}
    assert list(write(path, "q3")) == ["q1", "q2"]
    run = read_run(path)
    assert (run.parameters, run.facts, list(run.rows)) == (PARAMETERS, [FACTS], ["q1", "q2", "q3"])


@pytest.mark.parametrize("keep", range(1, 60))
def test_a_torn_last_line_is_dropped_wherever_it_was_cut(path, keep):
    write(path, "q1", "q2")
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    path.write_bytes(whole[: min(last + keep, len(whole) - 1)])
    assert list(read_run(path).rows) == ["q1"]
    assert list(write(path, "q2", "q3")) == ["q1"]
    assert list(read_run(path).rows) == ["q1", "q2", "q3"]


@pytest.mark.parametrize("left", [b"", b'{"parameters": {"mod'])
def test_a_file_cut_off_in_its_header_begins_anew(path, left):
    path.write_bytes(left)
    assert write(path, "q1") == {}
    assert list(read_run(path).rows) == ["q1"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "n", "temperature": 0.0}, 'model must be "m", as when the run was started; got "n".'),
        ({"model": "m", "temperature": 1.0}, "temperature must be 0.0, as when the run was started; got 1.0."),
        ({"model": "m"}, "temperature must be 0.0, as when the run was started; got null."),
        (PARAMETERS | {"seed": 1}, "seed must be null, as when the run was started; got 1."),
    ],
)
def test_other_parameters_are_refused_and_nothing_is_touched(path, parameters, message):
    write(path, "q1")
    before = path.read_bytes()
    line = f"{path}: {message} Use the same options, or another --out."
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        write(path, "q2", parameters=parameters)
    assert path.read_bytes() == before


def test_other_versions_are_recorded(path):
    newer = {"versions": {"python": "3.12"}}
    for number, facts in enumerate((FACTS, newer, newer, FACTS)):
        write(path, f"q{number}", facts=facts)
    assert read_run(path).facts == [FACTS, newer]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"question_id": "q1"}'], " must be a run, with its parameters in the first line; got none there."),
        (["[1]"], ", line 1 must be a JSON object; got [1]."),
        (["{"], ", line 1 must be JSON; got '{' ("),
        (['{"parameters": {}, "facts": {}}', "oops", '{"question_id": "q1"}'], ", line 2 must be JSON; got 'oops' ("),
        (
            ['{"parameters": {}, "facts": {}}', '{"question_id": "q1"}', '{"question_id": "q1"}'],
            ", line 3: question_id must be unique; got q1 again.",
        ),
    ],
)
def test_a_file_that_is_no_run_is_left_alone(path, lines, message):
    path.write_text("\n".join(lines) + "\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"^{re.escape(str(path) + message)}"):
        write(path, "q9", parameters={}, facts={})
    assert path.read_bytes() == before


def test_rows_with_an_error_are_asked_again_on_demand(path):
    with open_run(path, PARAMETERS, FACTS) as (_, file):
        append(file, {"question_id": "q1", "error": "timed out"})
        append(file, {"question_id": "q2", "error": None})
    assert list(write(path)) == ["q1", "q2"]
    assert list(write(path, drop=lambda row: row["error"])) == ["q2"]
    assert write(path.with_name("new.jsonl"), drop=lambda row: row["error"]) == {}


@pytest.mark.e2e
def test_two_processes_do_not_write_to_one_file(path, offline):
    code = "import sys; from triviaqa_subset.elicitation.runs import open_run\nwith open_run(sys.argv[1], {}, {}): pass"
    with open_run(path, {}, {}) as (_, file):
        append(file, {"question_id": "q1"})
        second = subprocess.run([sys.executable, "-c", code, path], env=offline, capture_output=True, text=True)
        assert f"{path} must be written by one process; another one is writing it." in second.stderr
    subprocess.run([sys.executable, "-c", code, path], env=offline, check=True)


def test_a_row_that_json_does_not_know_is_refused(path):
    with open_run(path, PARAMETERS, FACTS) as (_, file), pytest.raises(ValueError, match="JSON compliant"):
        append(file, {"question_id": "q1", "confidence": float("nan")})
    assert not path.exists()
