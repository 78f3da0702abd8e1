"""The Croissant description: true of the files beside it, and valid by the format's own checker where that is there."""

import json
import logging

import pandas as pd
import pytest

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


def test_the_formats_own_checker_finds_nothing(caplog):
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant checks the description")
    with caplog.at_level(logging.ERROR):
        metadata = mlcroissant.Dataset(str(DATA / "croissant.json")).metadata
    assert not metadata.issues.errors
