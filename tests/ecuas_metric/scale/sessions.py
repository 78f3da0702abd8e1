"""Sessions of Spark for tests, one for all of them."""

import functools
import importlib.util
import os
import shutil
import sys

import pytest

OPTIONS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # compiling well is not worth it here
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.files.openCostInBytes": "256m",  # each file is a partition
    "spark.sql.files.maxPartitionBytes": "256m",
}


@functools.cache
def session():
    """Return a session of classic Spark or, if SPARK_REMOTE is set, of Spark Connect."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("needs the extra `spark`: make test EXTRAS=spark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("needs Java 17 or newer")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.config(map=OPTIONS)
    if "SPARK_REMOTE" in os.environ:
        return builder.getOrCreate()
    running = builder.master("local[2,2]").getOrCreate()
    running.sparkContext.setLogLevel("OFF")  # the errors of failed jobs are asserted
    return running
