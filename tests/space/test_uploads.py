import io
import re
import resource
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.files.submissions import Reading
from space import uploads
from space.markup import TOO_MUCH, RefusedError
from space.serving import bounded
from tests.ecuas_metric.files.test_runs import (
    eval_file,
    inspect_log,
    inspect_sample,
    lm_eval_row,
    written,
)
from tests.space.refusals import refused

ROW = b"confidence,correct\n0.5,1\n"


def bomb(text, rows):
    """Return a Parquet file of few kilobytes that unfolds to gigabytes: one text in every row, which is there once."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
    table = pa.table({"confidence": np.ones(rows), "correct": np.ones(rows), "question": column})
    pq.write_table(table, buffer := io.BytesIO(), compression="zstd")
    return buffer.getvalue()


BAD = {  # what a visitor may send, Parquet if it is asked for -> what the page says of it
    "empty.csv": (b"", "empty.csv is empty."),
    "other.csv": (
        b"a,b\n1,2\n",
        "no columns are called confidence and correct.* · a .* under Options, “Columns”, .*confidence=NAME",
    ),
    "unlabelled.csv": (
        b"confidence,correct\n0.5,\n0.4,1\n",
        "Choose how to treat them under Options, “Answers wit",
    ),
    "keys.json": (
        b"{%s}" % b",".join(b'"k%d":[1]' % i for i in range(30_000)),
        "at most 5,000 columns",
    ),
    "name.csv": (
        b"x" * 10_000_000 + b",confidence,correct\n1,0.5,1\n",
        "have at most 100,000 letters|takes more memory",
    ),
    "text.parquet": (lambda: bomb("x" * 10**7, 1000), TOO_MUCH),
    "systems.csv": (
        b"system," + ROW[:19] + b"".join(b"s%d,0.5,1\n" % i for i in range(60)),
        "must be at most 50",
    ),
    "book.xlsx": (b"PK\x03\x04", "must have one of the suffixes .csv"),
    "many.csv": (
        b"x" * (uploads.LIMITS.file_bytes + 1),
        r"must have at most [\d,]+ bytes; .* Use the command “ecuas”\.",
    ),
}


@pytest.mark.e2e
@pytest.mark.parametrize("name", BAD)
def test_every_bad_file_is_a_readable_error_and_none_takes_all_memory(name, tmp_path, monkeypatch):
    allowed = replace(uploads.LIMITS, memory=uploads.LIMITS.memory // 4)  # sooner than on the page
    monkeypatch.setattr(uploads, "LIMITS", allowed)
    (content, message), path = BAD[name], tmp_path / name
    path.write_bytes(content() if callable(content) else content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = (
        (uploads.read_answers, str(path))
        if callable(content)
        else (uploads.read_uploads, [str(path)])
    )
    with pytest.raises(RefusedError) as caught:
        bounded.bounded(*read)
    shown = str(caught.value)
    assert re.search(message, shown)
    assert not re.search(f"{tmp_path}| --", shown)
    assert shown == TOO_MUCH or name in shown or shown.startswith(("Systems ", "Names of systems "))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB, at the peak
    assert after <= before + 50_000


def test_what_is_missing_or_too_much_is_refused_before_it_is_read(tmp_path):
    paths = [str(tmp_path / f"{i}.csv") for i in range(4)]
    for path in paths:
        Path(path).write_bytes(b"x" * (uploads.LIMITS.file_bytes - 1))
    for files, message in (
        (paths[:1] * 2000, r"^Files must be at most 50; got 2,000\."),
        (
            paths,
            r"^All files together must have at most 62,914,560 bytes; got 83,886,076\. Use the command “ecuas”\.$",
        ),
        ([str(tmp_path / "gone.csv")], r"^gone\.csv does not exist\.$"),
    ):
        with refused(message):
            uploads.read_uploads(files)


def test_an_archive_is_a_log_by_its_suffix_and_its_beginning_alone(tmp_path):
    log = eval_file(tmp_path / "log.eval", inspect_log([inspect_sample(1, "C", 0.5)])).read_bytes()
    wide = b",".join(b"c%d" % i for i in range(6000)) + b"\n" + b"0\n"
    for name, content, message in (
        ("a.csv", wide + log, "a.csv must have at most 5,000 columns; got 6,000"),
        ("a.eval", wide + log, "a.eval must be text, Parquet, or a log of Inspect"),
        ("a.csv", log, "a.csv must be text, Parquet, or a log of Inspect"),
    ):
        (path := tmp_path / name).write_bytes(content)
        with refused(message):
            uploads.read_uploads([str(path)])


def test_answers_are_read_as_text_or_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question_id,answer,confidence\nq1,007,0.5\nq2,None,0.25\nq3,,1\n")
    answers = uploads.read_answers(str(path))
    assert answers["answer"].to_dict() == {2: "007", 3: "None", 4: ""}
    assert answers["correct"].isna().all()
    path.write_text("question_id,answer,confidence,correct\nq1,x,0.5,yes\nq2,x,0.5,no\nq3,x,0.5,\n")
    assert uploads.read_answers(str(path))["correct"].fillna(-1).tolist() == [1, 0, -1]
    for verdict in ("0.5", "maybe", "2", "yes"):
        path.write_text(f"question_id,answer,confidence,correct\nq1,x,0.5,1\nq2,x,0.5,{verdict}\n")
        with refused(f"^{path.name}: column 'correct' must .* in row 3 .* Write 1 for right"):
            uploads.read_answers(str(path))
    for content, message in (
        (
            "question_id,text\nq1,x\n",
            r"^Answers must have columns question_id, answer, confidence; answer is missing among question_id, text\.",
        ),
        ("question_id,answer,confidence\n", r"^a\.csv: the file has no rows\.$"),
        (
            "question_id,answer,confidence\nq1," + "x" * 1001 + ",1\n",
            "column 'answer' must have at most 1,000 char",
        ),
    ):
        path.write_text(content)
        with refused(message):
            uploads.read_answers(str(path))


def test_columns_are_named_for_all_files_and_names_show_as_they_are_and_stay_different(tmp_path):
    rows = "".join(f"{name},0.5,1\n" for name in ("a\u202eb", "ab", "\u200b", "c\0d", "e" * 999))
    (tmp_path / "x.csv").write_text("system,confidence,correct\n" + rows)
    names = [one.name for one in uploads.read_uploads([str(tmp_path / "x.csv")])]
    assert names == ["ab", "ab (2)", "unnamed", "cd", "e" * 200]
    (tmp_path / "a.csv").write_text("llm,method,p,correct\nx,1,0.5,1\nx,2,0.25,1\n")
    reading = Reading(columns={"system": "llm+method", "confidence": "p"})
    systems = uploads.read_uploads([str(tmp_path / "a.csv")] * 2, reading)
    assert [one.name for one in systems] == ["x 1", "x 2", "x 1 (2)", "x 2 (2)"]


@pytest.mark.parametrize(
    "name, content, columns",
    [
        ("a.csv", b"measured in 2026\n" + ROW, {"skip": "1"}),
        ("a.json", b'{"data": [{"confidence": 0.5, "correct": 1}]}', {"rows": "data"}),
    ],
)
def test_which_rows_are_read_is_said_as_which_columns(name, content, columns, tmp_path):
    (tmp_path / name).write_bytes(content)
    (submission,) = uploads.read_uploads([str(tmp_path / name)], Reading(columns=columns))
    assert submission.predictions.tolist() == [0.5]


def test_the_files_of_a_run_are_read_as_they_are_and_named_after_their_file(tmp_path):
    file = written(
        tmp_path / "a1b2c3", [lm_eval_row(i, i % 4, [-1.0, -2.0, -3.0, -4.0]) for i in range(5)]
    )
    (submission,) = uploads.read_uploads([str(file)])
    assert (submission.name, submission.predictions.shape) == (file.stem, (5, 4))
    assert submission.recipe.source == file.name
    log = eval_file(
        tmp_path / "log.eval", inspect_log([inspect_sample(i, "CI"[i % 2], 0.5) for i in range(4)])
    )
    (submission,) = uploads.read_uploads([str(log)])
    assert (submission.name, submission.references.tolist()) == ("org/model", [1, 0, 1, 0])
