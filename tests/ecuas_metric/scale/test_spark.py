"""Spark by the command, by files and by frames of posteriors: the local reader's numbers and refusals."""

import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric import score_frame
from ecuas_metric.errors import FileError
from ecuas_metric.files.recipe import Reading
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.cli import main
from ecuas_metric.scale.local import score_files
from ecuas_metric.scale.storage import read_collection
from tests.ecuas_metric.scale.parts import of_each
from tests.ecuas_metric.scale.sessions import session

pytestmark = pytest.mark.e2e
OPTIONS = checked_options(n=[0, 1])


@pytest.fixture(autouse=True)
def spark():
    """The session of all tests."""
    return session()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    for i in range(3):
        q = rng.random(500).round(3)
        columns = {"confidence": q, "correct": rng.random(500) < q, "text": ["a long answer"] * 500}
        path = folder / f"model=00{i % 2}" / f"{i}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), path)
    return folder


def test_the_command_gives_the_same_table_on_spark(logs, tmp_path, capsys):
    command = ["score", str(logs), "--out-of-core", "--n", "0,1"]
    assert main(command) == 0
    expected = capsys.readouterr().out
    state = tmp_path / "all.state"
    assert main([*command, "--engine", "spark", "--state", str(state)]) == 0
    assert capsys.readouterr().out == expected
    assert of_each(read_collection(state).states) == of_each(
        score_files([str(logs)], OPTIONS).states
    )


def test_files_of_posteriors_and_of_other_columns(tmp_path, rng):
    labels = rng.integers(0, 3, 100)
    posteriors = pa.table({"posteriors": list(rng.dirichlet(np.ones(3), 100)), "label": labels})
    files = [str(tmp_path / name) for name in ("one.parquet", "two.parquet")]
    for path in files:
        pq.write_table(posteriors, path)
    states = score_files(files, OPTIONS, engine="spark").states
    assert of_each(states) == of_each(score_files(files, OPTIONS).states)
    pq.write_table(pa.table({"prob": [0.1, 0.2], "label": [0, 1]}), files[1])
    with pytest.raises(
        FileError, match="two.parquet: does not fit to the files before: P.1. = prob"
    ):
        score_files([str(tmp_path)], OPTIONS, engine="spark")


def test_numbers_of_every_type_are_those_of_the_local_reader(tmp_path):
    columns = {
        "confidence": pa.array([0.9, 0.4, 0.5], pa.float32()).dictionary_encode(),
        "correct": pa.array([1, 0, 1], pa.uint8()),
        "w": pa.array([1, 2, 2**60], pa.uint64()),
        "model": pa.array([7, 7, 2**32 - 1], pa.uint32()),
        "task": pa.array([3, 3, 2**16 - 1], pa.uint16()),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    reading = Reading(columns={"weight": "w", "system": "model+task"})
    states = [
        of_each(score_files([str(tmp_path)], OPTIONS, engine=engine, reading=reading).states)
        for engine in ("local", "spark")
    ]
    assert states[0] == states[1]


@pytest.mark.parametrize("folders", [("model=a", "model=b"), ("model=a/task=x", "model=b/task=y")])
def test_a_column_of_the_rows_counts_and_not_that_of_their_folder(folders, tmp_path):
    for place, folder in enumerate(folders):
        path = tmp_path / folder / "0.parquet"
        path.parent.mkdir(parents=True)
        columns = {"model": ["c", "d"], "confidence": [0.5, 0.2 * place], "correct": [1, 0]}
        pq.write_table(pa.table(columns), path)
    reading = Reading(columns={"part": "task"} if "task" in folders[0] else {})
    found = [
        of_each(score_files([str(tmp_path)], OPTIONS, engine=engine, reading=reading).states)
        for engine in ("local", "spark")
    ]
    assert found[0] == found[1]
    assert {name[0] for name in found[0]} == {"c", "d"}


def test_what_spark_does_not_read_is_said_in_its_words(tmp_path):
    for name, kind in (("0", "double"), ("1", "string")):
        confidence = pa.array([0.5, 0.25]).cast(kind)
        table = pa.table({"confidence": confidence, "correct": [1, 0]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    message = "Expected Spark type double, actual Parquet type BINARY"
    with pytest.raises(FileError, match=f"job failed: .*{message}"):
        score_files([str(tmp_path)], OPTIONS, engine="spark")


@pytest.mark.parametrize("kind", ["float16", "list"])
def test_columns_of_16_bits_are_refused_before_an_engine_takes_them_for_32(kind, tmp_path):
    halves = pa.array(np.array([0.5, 0.25], np.float16))
    columns = {"confidence": halves, "correct": [1, 0]}
    if kind == "list":
        columns = {"posteriors": pa.FixedSizeListArray.from_arrays(halves, 2), "label": [0]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    for engine in ("local", "spark"):
        with pytest.raises(FileError, match="has numbers of 16 bits"):
            score_files([str(tmp_path)], OPTIONS, engine=engine)


def test_what_is_wrong_comes_back_from_the_workers(spark, tmp_path):
    rows = [([0.5, 0.5], 0), ([0.2, 0.7], 1)]
    df = spark.createDataFrame(rows, "posteriors array<double>, label int").coalesce(1)
    with pytest.raises(FileError, match="partition 0: column 'posteriors' .* row 2"):
        score_frame(df)
    mixed = [([0.5, 0.5], 0), ([0.2, 0.3, 0.5], 1)]
    of_two = spark.createDataFrame(mixed, "posteriors array<double>, label int")
    several = of_two.repartition(2, "label")
    with pytest.raises(FileError, match="must have rows of one length"):
        score_frame(several)
    by_zero = df.selectExpr("label * 0.5 AS confidence", "1 / int(label > 2) AS correct")
    with pytest.raises(FileError, match="job failed: .*DIVIDE_BY_ZERO"):
        score_frame(by_zero)
    with pytest.raises(FileError, match="nowhere: there is no such Parquet file"):
        score_files([f"{tmp_path}/nowhere"], OPTIONS, engine="spark")


@pytest.mark.parametrize("form", ["confidences", "posteriors"])
def test_a_killed_worker_loses_no_row_and_counts_none_twice(form, spark, rng):
    posteriors = rng.dirichlet(np.ones(3), 300)
    columns = {"posteriors": list(posteriors), "label": rng.integers(0, 3, 300)}
    if form == "confidences":
        columns = {"confidence": posteriors[:, 0].round(2), "correct": rng.integers(0, 2, 300)}
    table = pa.table(columns)

    def killed_once(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            yield batch
            if (context.attemptNumber(), context.partitionId()) == (0, 1):
                os.kill(os.getpid(), signal.SIGKILL)

    df = spark.createDataFrame(table).repartition(3)
    results = score_frame(df.mapInArrow(killed_once, df.schema))
    expected = score_frame(table)
    assert results.basis.num_samples == 300
    assert results.flat() == pytest.approx(expected.flat(), rel=1e-12)


@pytest.mark.slow
def test_the_command_starts_spark_or_says_why_not(logs, tmp_path):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")
    }
    command = [sys.executable, "-m", "ecuas_metric.reporting", "score", "--out-of-core", str(logs)]
    run = partial(subprocess.run, env=environment, capture_output=True, text=True)
    tables = [run([*command, *flags], cwd=tmp_path) for flags in ((), ("--engine", "spark"))]
    assert [table.returncode for table in tables] == [0, 0]
    assert tables[0].stdout == tables[1].stdout
    broken = environment | {"JAVA_HOME": str(tmp_path)}
    failed = run([*command, "--engine", "spark"], env=broken)
    assert failed.returncode == 2
    assert failed.stderr.splitlines()[-1].startswith("ecuas: Spark: ")
