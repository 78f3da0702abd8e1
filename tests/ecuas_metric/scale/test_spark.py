import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecuas_metric.errors import FileError
from ecuas_metric.files.recipe import HEAD
from ecuas_metric.options import checked_options
from ecuas_metric.reporting.cli import main
from ecuas_metric.scale import spark as engine
from ecuas_metric.scale.local import score_files
from ecuas_metric.scale.rows import state_of
from ecuas_metric.scale.storage import Collection, from_bytes, read_collection, to_bytes
from ecuas_metric.summary import merge, results_of
from tests.conftest import ROOT
from tests.ecuas_metric.scale.parts import of_each, packed

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
OPTIONS = checked_options(n=[0, 1])
PARTS = 3
LOCAL = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # compiling well is not worth it here
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.openCostInBytes": "256m",  # each file is a partition
    "spark.sql.files.maxPartitionBytes": "256m",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}


def needs_spark():
    pytest.importorskip("pyspark", reason="needs the extra `spark`: make test EXTRAS=spark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17 or newer")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Files whose systems have, together, more distinct confidences than a state holds, and few."""
    folder, rng = tmp_path_factory.mktemp("logs"), np.random.default_rng(0)
    for i in range(PARTS):
        q = np.concatenate([rng.random(100_000), rng.random(500).round(2)])
        correct = rng.random(len(q)) < q
        model = ["continuous"] * 100_000 + ["rounded"] * 500
        columns = {"model": model, "confidence": q, "correct": correct, "text": ["a long answer"] * len(q)}
        pq.write_table(pa.table(columns), folder / f"{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def local(logs):
    return score_files([str(logs)], OPTIONS).states


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    needs_spark()
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        options = LOCAL | {"spark.eventLog.dir": str(tmp_path_factory.mktemp("events"))}
        session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
        session.sparkContext.setLogLevel("OFF")  # the errors of failed jobs are asserted
        yield session
        session.stop()


def written(session):
    """Return bytes and records of the shuffles so far, as Spark itself counts them."""
    (log,) = Path(session.sparkContext.getConf().get("spark.eventLog.dir")).iterdir()
    lines = map(json.loads, log.read_text().splitlines())
    tasks = [line["Task Metrics"]["Shuffle Write Metrics"] for line in lines if line["Event"] == "SparkListenerTaskEnd"]
    return np.array([sum(task[f"Shuffle {what} Written"] for task in tasks) for what in ("Bytes", "Records")])


@pytest.mark.e2e
def test_states_are_those_of_the_local_reader_and_all_that_is_shuffled(session, logs, local):
    assert local["continuous"].sketch.level > 0  # coarsened: no partition alone has as many confidences
    states = [of_each(score_files([str(path)], OPTIONS).states).values() for path in logs.iterdir()]
    size, df = sum(len(state) for part in states for state in part), session.read.parquet(str(logs))
    for found in (
        lambda: engine.states_of_frame(df, OPTIONS),
        lambda: engine.score_files_on_spark([str(logs)], OPTIONS).states,
    ):
        before = written(session)
        assert of_each(found()) == of_each(local)
        shuffled, records = written(session) - before
        # A state per system and partition, then one per system and slot; of the first rows, which the recipe is read
        # from, each partition sends as many as it needs.
        assert records <= len(local) * 2 * PARTS + PARTS * HEAD
        assert shuffled < 2.02 * size + 1000 * records


@pytest.mark.e2e
def test_a_score_is_what_the_local_reader_reads(session, logs, local):
    df = session.read.parquet(str(logs)).where("model = 'rounded'").withColumnsRenamed({"confidence": "p.q"})
    found = engine.score(df, confidence="p.q", correct="correct", by="model", n=[0, 1], confidence_level=0.95)
    assert found.keys() == {"rounded"}
    assert repr(found["rounded"]) == repr(results_of(local["rounded"], confidence_level=0.95))  # nan is not itself


@pytest.mark.e2e
@pytest.mark.slow
def test_the_page_has_a_recipe_that_runs(session, logs, local, capsys):
    (recipe,) = [text for text in re.findall(r"```python no-run\n(.*?)```", PAGE, flags=re.DOTALL) if "spark" in text]
    exec(compile(recipe.replace('"logs"', repr(str(logs))), "docs/scale.md", "exec"), {"session": session})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(local)


def fields(refused, *given):
    with pytest.raises(FileError) as raised:
        refused(*given)
    error = raised.value
    return error.file, error.column, error.row, error.value, error.count, error.total, error.advice


@pytest.mark.e2e
def test_what_is_wrong_in_a_row_comes_back_with_its_fields(session, logs, tmp_path):
    rows = session.read.parquet(str(logs / "0.parquet")).where("model = 'rounded'")
    bad = rows.selectExpr("if(confidence = 0.5, 87.0, confidence) AS confidence", "correct")
    q = pq.read_table(logs / "0.parquet", filters=[("model", "=", "rounded")])["confidence"].to_numpy()
    row, count = int(np.argmax(q == 0.5)) + 1, int((q == 0.5).sum())
    assert fields(engine.score, bad)[:6] == ("partition 0", "confidence", row, 87.0, count, 500)
    files = [str(tmp_path / name) for name in ("day: one.parquet", "two.parquet")]
    for path, value in zip(files, (3.0, 4.0), strict=True):
        pq.write_table(pa.table({"model": ["a"] * 2, "confidence": [0.5, value], "correct": [1, 1]}), path)
    found = fields(engine.score_files_on_spark, files, OPTIONS)
    assert found == fields(score_files, files, OPTIONS)
    assert found[:4] == (files[0], "confidence", 2, 3.0)


@pytest.mark.e2e
def test_what_does_not_fit_is_refused_before_a_job_or_by_it(session, logs):
    df = session.read.parquet(str(logs))
    rows = [([0.5, 0.5], 0), ([0.2, 0.3, 0.5], 1)]
    two_partitions = session.createDataFrame(rows, "posteriors array<double>, label int")
    by_zero = df.selectExpr("confidence", "1 / int(confidence > 2) AS correct")
    for message, refused in (
        ("has no column", lambda: engine.score(df, confidence="p")),
        ("has confidence = confidence, but no correct", lambda: engine.score(df.drop("correct"))),
        ("takes no option 'resamples'", lambda: engine.score(df, resamples=5)),
        ("nowhere: there is no such Parquet file", lambda: engine.score_files_on_spark([f"{logs}/nowhere"], OPTIONS)),
        ("Spark: the job failed: .*DIVIDE_BY_ZERO", lambda: engine.score(by_zero)),
        ("partitions . and .: .* must have the same options; num_classes is", lambda: engine.score(two_partitions)),
    ):
        with pytest.raises((FileError, TypeError), match=message):
            refused()


@pytest.mark.e2e
def test_the_command_gives_the_same_table_on_spark(session, logs, local, tmp_path, capsys):
    command = ["score", str(logs), "--by", "model", "--out-of-core", "--n", "0,1"]
    assert main(command) == 0
    expected = capsys.readouterr().out
    state = tmp_path / "all.state"
    assert main([*command, "--engine", "spark", "--state", str(state)]) == 0
    assert capsys.readouterr().out == expected.partition("\n")[2]  # which says how the files were read
    assert of_each(read_collection(state).states) == of_each(local)
    assert main([*command, "--engine", "spark", "--state", str(state)]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.e2e
def test_partitions_without_rows_do_not_count(session):
    one = session.createDataFrame([(0.5, 1)], "confidence double, correct int").repartition(3)
    (found,) = engine.states_of_frame(one, OPTIONS).values()
    assert packed(found) == packed(state_of("confidences", [0.5], [1], OPTIONS))
    assert engine.states_of_frame(one.where("correct = 0"), OPTIONS) == {}
    assert session.conf.get(engine.BATCH) == engine.USUAL_BATCH  # as it was


def test_merging_on_a_worker_needs_no_spark(rng):
    many = state_of("confidences", rng.random(100).round(2), np.ones(100, int), OPTIONS)
    row = {"system": "", "slot": 0, "part": 0, "state": to_bytes(Collection({"": many})), "error": None}
    (merged,) = engine.merged_rows(pa.Table.from_pylist([row] * 2, engine.ARROW)).to_pylist()
    (both,) = from_bytes(merged["state"]).states.values()
    assert packed(both) == packed(merge([many, many]))


@pytest.mark.e2e
@pytest.mark.slow
def test_the_command_runs_anywhere_and_says_no_more_than_its_table(logs, tmp_path):
    """Not activated, in another folder, with another Python first on the path: as installed."""
    needs_spark()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to("/bin/false")
    paths = os.pathsep.join([str(tmp_path / "bin"), *os.environ["PATH"].split(os.pathsep)])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "PYTHONPATH"))}
    environment |= {"PATH": paths, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-m", "ecuas_metric.reporting", "score", "--out-of-core"]
    tables = [
        subprocess.run([*command, str(logs), *more], cwd=tmp_path, env=environment, capture_output=True, text=True)
        for more in ((), ("--engine", "spark"))
    ]
    assert [table.returncode for table in tables] == [0, 0]
    assert tables[0].stdout.partition("\n")[2] == tables[1].stdout  # but for how the files were read
    assert tables[1].stderr == ""
    pq.write_table(pa.table({"confidence": [0.5, 3.0], "correct": [1, 1]}), tmp_path / "day: one.parquet")
    command += ["day: one.parquet", "--engine", "spark"]
    for broken, first in ((environment, "ecuas: "), (environment | {"JAVA_HOME": str(tmp_path)}, "ecuas: Spark: ")):
        failed = subprocess.run(command, cwd=tmp_path, env=broken, capture_output=True, text=True)
        assert failed.returncode == 2
        assert failed.stderr.startswith(first)
        assert failed.stderr.count("\n") == 1


SUBMITTED = """
import sys
from pyspark.sql import SparkSession
from ecuas_metric.scale import Collection, checked_options, write_collection
from ecuas_metric.scale.spark import states_of_frame

session = SparkSession.builder.{where}.getOrCreate()
states = states_of_frame(session.read.parquet(sys.argv[1]), checked_options(n=[0, 1]))
write_collection(sys.argv[2], Collection(states))
session.stop()
"""


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize("where", ["master('local-cluster[2,1,1024]')", "remote('local[2]')"])
def test_two_workers_and_spark_connect_give_the_same_states(logs, local, tmp_path, where):
    needs_spark()
    if "remote" in where:
        pytest.importorskip("grpc", reason="needs the extra `spark`, with gRPC: make test EXTRAS=spark")
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", SUBMITTED.format(where=where), str(logs), str(tmp_path / "states")]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=500)
    assert of_each(read_collection(tmp_path / "states").states) == of_each(local)
