"""The Croissant description of the dataset: its files and columns, and how it was made, for machines."""

from collections.abc import Mapping
from typing import Any

from datasets import ClassLabel, Dataset, List, Value

TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS.split()},
}
TYPES = {"string": "sc:Text", "bool": "sc:Boolean", "float64": "sc:Float", "int32": "sc:Integer", "int64": "sc:Integer"}
RESPONSIBLE_AI = {
    "rai:dataCollection": "Questions of TriviaQA (rc.nocontext, validation), drawn by shuffle(seed=42); answers of 21 "
    "systems to them, from the runs of the authors of ECUAS_n.",
    "rai:dataCollectionType": ["Secondary Data Analysis"],
    "rai:dataAnnotationProtocol": "Each answer was judged with its question and gold answers: correct if it answers "
    "what was asked at the granularity of the accepted answers. Each question was kept or discarded by the criteria of "
    "the ECUAS_n paper, applied as rules to all questions, and each hit decided in a log.",
    "rai:dataAnnotationPlatform": "Language-model annotators, no people.",
    "rai:annotationsPerItem": "2, and a third, strict one of what the first two had accepted",
    "rai:machineAnnotationTools": ["a language model, name and version not recorded"],
    "rai:dataBiases": "Discarding follows the failures of strong systems; labels share what models believe in common; "
    "British and American trivia.",
    "rai:dataLimitations": "Few questions; the bank holds the answers of 21 systems only; see the card.",
    "rai:dataUseCases": "Evaluating systems that answer short questions and state a confidence. Not for training.",
    "rai:personalSensitiveInformation": "None beyond the names of public figures.",
    "rai:dataReleaseMaintenancePlan": "A change of labels or selection is a new curation, listed in the card's errata.",
}


def describe(tables: Mapping[str, Dataset], sums: Mapping[str, str], card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description as JSON-LD.

    References
    ----------
    https://docs.mlcommons.org/croissant/docs/croissant-spec.html, and -rai-spec.html beside it.
    """
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "triviaqa-curated",
        "alternateName": card["pretty_name"],
        "description": "Questions of TriviaQA, reviewed one by one, with weights, a bank of judged answers and the "
        "labels of 21 systems.",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "license": card["license"],
        "version": "3.0.0",
        "datePublished": "2026-11-22",
        "creator": {"@type": "sc:Organization", "name": "The ecuas maintainers"},
        "citeAs": "The ecuas maintainers, TriviaQA, curated subset, curation 3, 2026",
        "isBasedOn": "https://huggingface.co/datasets/mandarjoshi/trivia_qa",
        "distribution": [_file(name, sums[f"{name}.parquet"]) for name in tables],
        "recordSet": [_records(name, table) for name, table in tables.items()],
        **RESPONSIBLE_AI,
    }


def _file(name: str, sha256: str) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{name}.parquet",
        "name": f"{name}.parquet",
        "contentUrl": f"{name}.parquet",
        "encodingFormat": "application/x-parquet",
        "sha256": sha256,
    }


def _records(name: str, table: Dataset) -> dict[str, Any]:
    fields = [_field(name, column, column, feature) for column, feature in table.features.items()]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(table: str, column: str, path: str, feature: Any) -> dict[str, Any]:
    """Describe a column, or what lies at a path such as `answer/aliases` inside one."""
    made: dict[str, Any] = {"@type": "cr:Field", "@id": f"{table}/{path}", "name": f"{table}/{path}"}
    if isinstance(feature, dict):
        parts = [_field(table, column, f"{path}/{name}", part) for name, part in feature.items()]
        return made | {"subField": parts}
    if isinstance(feature, List):
        made["repeated"], feature = True, feature.feature
    assert isinstance(feature, ClassLabel | Value)
    source: dict[str, Any] = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}}
    if "/" in path:
        source["transform"] = {"jsonPath": path.split("/")[1]}
    return made | {"dataType": TYPES[feature.dtype], "source": source}
