"""The Croissant description of the dataset: its files and columns, and how it was made, for machines."""

import json
from collections.abc import Mapping
from typing import Any

from datasets import ClassLabel, Dataset, List, Value

from .folders import FOLDER

HEAD = FOLDER / "curation" / "croissant.json"  # what does not depend on the tables
Json = dict[str, object]
TYPES = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "float32": "sc:Float",
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
    description: dict[str, Any] = json.loads(HEAD.read_text(encoding="utf-8"))
    description["license"] = license
    description["distribution"] = []
    description["recordSet"] = []
    for name, table in tables.items():
        file = f"{name}.parquet"
        form = {"encodingFormat": "application/x-parquet", "sha256": sums[file]}
        entry = _entry("cr:FileObject", file) | {"contentUrl": file} | form
        description["distribution"].append(entry)
        fields = [_field(name, [column], feature) for column, feature in table.features.items()]
        description["recordSet"].append(_entry("cr:RecordSet", name) | {"field": fields})
    return description


def _entry(kind: str, name: str) -> Json:
    return {"@type": kind, "@id": name, "name": name}


def _field(
    table: str,
    path: list[str],
    feature: object,
) -> Json:
    """Describe a column, or the field at a path such as `answer`, `aliases` inside one."""
    field = _entry("cr:Field", "/".join([table, *path]))
    if isinstance(feature, dict):
        return field | {
            "subField": [_field(table, [*path, part], inner) for part, inner in feature.items()]
        }
    if isinstance(feature, List):
        field["repeated"] = True
        feature = feature.feature
    assert isinstance(feature, ClassLabel | Value)
    source: Json = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": path[0]}}
    if len(path) > 1:
        source["transform"] = {"jsonPath": path[1]}
    return field | {"dataType": TYPES[feature.dtype], "source": source}
