"""The Croissant description of the dataset: its files and columns, and how it was made, for machines."""

import json
from collections.abc import Mapping

from datasets import ClassLabel, Dataset, List, Value

from .folders import FOLDER

HEAD = FOLDER / "curation" / "croissant.json"  # what does not depend on the tables
Json = dict[str, object]
TYPES = {"string": "sc:Text", "bool": "sc:Boolean", "float64": "sc:Float", "int32": "sc:Integer", "int64": "sc:Integer"}


def describe(tables: Mapping[str, Dataset], sums: Mapping[str, str], license: str) -> Json:
    """Return the JSON-LD of https://docs.mlcommons.org/croissant/docs/croissant-spec.html; `sums`: file -> SHA-256."""
    return {
        **json.loads(HEAD.read_text(encoding="utf-8")),
        "license": license,
        "distribution": [_file(f"{name}.parquet", sums[f"{name}.parquet"]) for name in tables],
        "recordSet": [_records(name, table) for name, table in tables.items()],
    }


def _file(file: str, sha256: str) -> dict[str, str]:
    names = dict.fromkeys(("@id", "name", "contentUrl"), file)
    return {"@type": "cr:FileObject"} | names | {"encodingFormat": "application/x-parquet", "sha256": sha256}


def _records(name: str, table: Dataset) -> Json:
    fields = [_field(name, column, column, feature) for column, feature in table.features.items()]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(table: str, column: str, path: str, feature: object) -> Json:
    """Describe a column, or the field at a path such as `answer/aliases` inside one."""
    made: Json = {"@type": "cr:Field", "@id": f"{table}/{path}", "name": f"{table}/{path}"}
    if isinstance(feature, dict):
        parts = [_field(table, column, f"{path}/{name}", part) for name, part in feature.items()]
        return made | {"subField": parts}
    if isinstance(feature, List):
        made["repeated"], feature = True, feature.feature
    assert isinstance(feature, ClassLabel | Value)
    source: Json = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}}
    if "/" in path:
        source["transform"] = {"jsonPath": path.split("/")[1]}
    return made | {"dataType": TYPES[feature.dtype], "source": source}
