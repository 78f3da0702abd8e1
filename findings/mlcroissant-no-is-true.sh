#!/usr/bin/env bash
# mlcroissant: of a CSV column of yes and no that is described as sc:Boolean, every record is True, also those of "no"; the
# description is valid by its own checker, and reading gives no warning. (Of "True" and "False" the records are right.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1
cd "$folder"
printf 'correct\nyes\nno\n' > words.csv
printf 'correct\nTrue\nFalse\n' > truths.csv
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import mlcroissant as mlc

print("mlcroissant", version("mlcroissant"))
for name in ("words", "truths"):
    file = f"{name}.csv"
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    stored = mlc.FileObject(id=file, name=file, content_url=file, encoding_formats=["text/csv"], sha256=digest)
    source = mlc.Source(file_object=file, extract=mlc.Extract(column="correct"))
    field = mlc.Field(id="rows/correct", name="rows/correct", data_types=mlc.DataType.BOOL, source=source)
    metadata = mlc.Metadata(
        name=name, description="Answers.", url="https://example.org", license=["https://spdx.org/licenses/MIT"],
        cite_as="none", date_published="2026-01-01", version="1.0.0", creators=[mlc.Organization(name="us")],
        distribution=[stored], record_sets=[mlc.RecordSet(id="rows", name="rows", fields=[field])],
    )
    Path(f"{name}.json").write_text(json.dumps(metadata.to_json(), default=str))
    dataset = mlc.Dataset(f"{name}.json")
    print(f"{name}:", [record["rows/correct"] for record in dataset.records("rows")], dataset.metadata.issues.errors)
PY
grep -qxF "words: [True, True] set()" seen.txt
grep -qxF "truths: [True, False] set()" seen.txt
