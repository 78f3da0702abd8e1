"""The Croissant description: true of the files beside it, and valid by the format's own checker where that is there."""

import json

import pandas as pd
import pytest

from tests.triviaqa_subset.test_configurations import TEXTS, made
from triviaqa_subset.build import write
from triviaqa_subset.folders import FOLDER

DATA = FOLDER / "data"


@pytest.fixture(scope="module")
def described():
    return json.loads((DATA / "croissant.json").read_text(encoding="utf-8"))


def test_files_and_sums_are_those_beside_it(described):
    sums = dict(reversed(line.split("  ")) for line in (DATA / "SHA256SUMS").read_text().splitlines())
    assert {file["contentUrl"]: file["sha256"] for file in described["distribution"]} == sums


def test_records_are_the_columns(described):
    for records in described["recordSet"]:
        table = pd.read_parquet(DATA / f"{records['name']}.parquet")
        columns = {field["source"]["extract"]["column"]: field["dataType"] for field in records["field"]}
        assert list(columns) == list(table)
        assert all(kind in ("sc:Text", "sc:Boolean", "sc:Float", "sc:Integer") for kind in columns.values())


def test_it_says_who_annotated_and_what_for(described):
    assert described["license"] == "apache-2.0"
    names = {name for name in described if name.startswith("rai:")}
    assert {"rai:dataCollection", "rai:dataAnnotationProtocol", "rai:dataBiases", "rai:dataLimitations"} <= names
    assert {"rai:dataUseCases", "rai:personalSensitiveInformation", "rai:dataReleaseMaintenancePlan"} <= names


@pytest.fixture(scope="module")
def mlcroissant():
    """Return the format's own checker."""
    return pytest.importorskip("mlcroissant", reason="`make check-croissant` runs these")


def test_the_formats_own_checker_finds_nothing(mlcroissant):
    issues = mlcroissant.Dataset(str(DATA / "croissant.json")).metadata.issues
    assert (issues.errors, issues.warnings) == (set(), set())


def test_the_formats_own_reader_reads_every_record_set(mlcroissant, described):
    dataset = mlcroissant.Dataset(str(DATA / "croissant.json"))
    for records in described["recordSet"]:
        name = records["name"]
        read = next(iter(dataset.records(name)))
        first = pd.read_parquet(DATA / f"{name}.parquet").iloc[0].to_dict()
        assert isinstance(next(iter(read.values())), bytes | int)
        assert set(read) == {f"{name}/{column}" for column in first}


def test_a_description_of_text_is_valid_too(mlcroissant, tmp_path):
    write(made(TEXTS), tmp_path)
    dataset = mlcroissant.Dataset(str(tmp_path / "data" / "croissant.json"))
    assert (dataset.metadata.issues.errors, dataset.metadata.issues.warnings) == (set(), set())
    read = next(iter(dataset.records("curated")))
    assert read["curated/question"] == b"q1?"
    assert read["curated/answer"]["curated/answer/aliases"] is not None
