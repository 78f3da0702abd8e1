"""The Croissant description: true of the files beside it, and valid by the format's own checker where that is there."""

import json

import pyarrow.parquet as pq
import pytest

from tests.triviaqa_subset.test_configurations import TEXTS, made
from triviaqa_subset.build import write
from triviaqa_subset.folders import FOLDER

DATA = FOLDER / "data"
DESCRIBED = json.loads((DATA / "croissant.json").read_text("utf-8"))


def test_it_describes_the_files_and_columns_beside_it_and_who_annotated_what_for():
    sums = dict(
        reversed(line.split("  ")) for line in (DATA / "SHA256SUMS").read_text().splitlines()
    )
    assert {file["contentUrl"]: file["sha256"] for file in DESCRIBED["distribution"]} == sums
    for records in DESCRIBED["recordSet"]:
        columns = {
            field["source"]["extract"]["column"]: field["dataType"] for field in records["field"]
        }
        assert list(columns) == pq.read_schema(DATA / f"{records['name']}.parquet").names
        assert set(columns.values()) <= {"sc:Text", "sc:Boolean", "sc:Float", "sc:Integer"}
    assert DESCRIBED["license"] == "apache-2.0"
    names = [
        "AnnotationProtocol",
        "Biases",
        "Collection",
        "Limitations",
        "ReleaseMaintenancePlan",
        "UseCases",
    ]
    assert {f"rai:data{name}" for name in names} | {"rai:personalSensitiveInformation"} <= set(
        DESCRIBED
    )


def test_the_formats_own_checker_finds_nothing_and_its_reader_reads_every_record_set(tmp_path):
    """Of the committed description, and of one with text."""
    mlcroissant = pytest.importorskip("mlcroissant", reason="`make check-croissant` runs this")
    write(made(TEXTS), tmp_path)
    for data in (DATA, tmp_path / "data"):
        dataset = mlcroissant.Dataset(str(data / "croissant.json"))
        assert (dataset.metadata.issues.errors, dataset.metadata.issues.warnings) == (set(), set())
        for name in [records["name"] for records in DESCRIBED["recordSet"]]:
            read = next(iter(dataset.records(name)))
            assert isinstance(next(iter(read.values())), bytes | int)
            assert set(read) == {
                f"{name}/{column}" for column in pq.read_schema(data / f"{name}.parquet").names
            }
    read = next(iter(dataset.records("curated")))
    assert read["curated/question"] == b"q1?"
    assert read["curated/answer"]["curated/answer/aliases"] is not None
