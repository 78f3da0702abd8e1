"""The Croissant description of the dataset: its files and columns, and how it was made, for machines."""

import json
from collections.abc import Mapping

from datasets import ClassLabel, Dataset, List, Value

from .folders import FOLDER

HEAD = FOLDER / "curation" / "croissant.json"  # what does not depend on the tables
Json = dict[str, object]
TYPES = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "float64": "sc:Float",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
}


def describe(
    tables: Mapping[str, Dataset],
    sums: Mapping[str, str],
    license: str,
) -> Json:
    """Return the JSON-LD of https://docs.mlcommons.org/croissant/docs/croissant-spec.html; `sums`: file -> SHA-256."""
    description: Json = json.loads(HEAD.read_text(encoding="utf-8"))
    description["license"] = license
    description["distribution"] = [
        _file(f"{name}.parquet", sums[f"{name}.parquet"]) for name in tables
    ]
    description["recordSet"] = [_records(name, table) for name, table in tables.items()]
    return description


def _file(name: str, sha256: str) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "application/x-parquet",
        "sha256": sha256,
    }


def _records(name: str, table: Dataset) -> Json:
    fields = [_field(name, [column], feature) for column, feature in table.features.items()]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(
    table: str,
    path: list[str],
    feature: object,
) -> Json:
    """Describe a column, or the field at a path such as `answer`, `aliases` inside one."""
    name = "/".join([table, *path])
    field: Json = {"@type": "cr:Field", "@id": name, "name": name}
    if isinstance(feature, dict):
        return field | {
            "subField": [_field(table, [*path, part], inner) for part, inner in feature.items()]
        }
    if isinstance(feature, List):
        return field | {"repeated": True} | _source(table, path, feature.feature)
    return field | _source(table, path, feature)


def _source(
    table: str,
    path: list[str],
    feature: object,
) -> Json:
    assert isinstance(feature, ClassLabel | Value)
    source: Json = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": path[0]}}
    if len(path) > 1:
        source["transform"] = {"jsonPath": path[1]}
    return {"dataType": TYPES[feature.dtype], "source": source}
