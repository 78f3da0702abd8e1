"""The Croissant description: true of the files beside it, and valid by the format's own checker where that is there."""

import json

import pyarrow.parquet as pq
import pytest

from tests.triviaqa_subset.test_configurations import TEXTS, made
from triviaqa_subset.build import write
from triviaqa_subset.folders import FOLDER

DATA = FOLDER / "data"


@pytest.fixture(scope="module")
def described():
    return json.loads((DATA / "croissant.json").read_text(encoding="utf-8"))


def test_it_describes_the_files_and_columns_beside_it_and_who_annotated_what_for(described):
    sums = dict(reversed(line.split("  ")) for line in (DATA / "SHA256SUMS").read_text().splitlines())
    assert {file["contentUrl"]: file["sha256"] for file in described["distribution"]} == sums
    for records in described["recordSet"]:
        columns = {field["source"]["extract"]["column"]: field["dataType"] for field in records["field"]}
        assert list(columns) == pq.read_schema(DATA / f"{records['name']}.parquet").names
        assert set(columns.values()) <= {"sc:Text", "sc:Boolean", "sc:Float", "sc:Integer"}
    assert described["license"] == "apache-2.0"
    names = ["AnnotationProtocol", "Biases", "Collection", "Limitations", "ReleaseMaintenancePlan", "UseCases"]
    assert {f"rai:data{name}" for name in names} | {"rai:personalSensitiveInformation"} <= set(described)


@pytest.fixture(scope="module")
def mlcroissant():
    """Return the format's own checker."""
    return pytest.importorskip("mlcroissant", reason="`make check-croissant` runs these")


def test_the_formats_own_checker_finds_nothing_and_its_reader_reads_every_record_set(mlcroissant, described):
    dataset = mlcroissant.Dataset(str(DATA / "croissant.json"))
    issues = dataset.metadata.issues
    assert (issues.errors, issues.warnings) == (set(), set())
    for name in [records["name"] for records in described["recordSet"]]:
        read = next(iter(dataset.records(name)))
        assert isinstance(next(iter(read.values())), bytes | int)
        assert set(read) == {f"{name}/{column}" for column in pq.read_schema(DATA / f"{name}.parquet").names}


def test_a_description_of_text_is_valid_too(mlcroissant, tmp_path):
    write(made(TEXTS), tmp_path)
    dataset = mlcroissant.Dataset(str(tmp_path / "data" / "croissant.json"))
    assert (dataset.metadata.issues.errors, dataset.metadata.issues.warnings) == (set(), set())
    read = next(iter(dataset.records("curated")))
    assert read["curated/question"] == b"q1?"
    assert read["curated/answer"]["curated/answer/aliases"] is not None
