#!/usr/bin/env bash
# mlcroissant: ids 007 and 010 of a CSV column that is described as sc:Text are read as b'7' and b'10', since the type of
# the field is applied after pandas has guessed another one. The description is valid by its own checker, and reading gives
# no warning. With one id that is no number in the column, all keep their zeros.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check mlcroissant==1.1.1 pandas==3.1.1
cd "$folder"
printf 'id\n007\n010\n' > numbers.csv
printf 'id\n007\nq10\n' > mixed.csv
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import mlcroissant as mlc

print("mlcroissant", version("mlcroissant"))
for name in ("numbers", "mixed"):
    file = f"{name}.csv"
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    stored = mlc.FileObject(id=file, name=file, content_url=file, encoding_formats=["text/csv"], sha256=digest)
    source = mlc.Source(file_object=file, extract=mlc.Extract(column="id"))
    field = mlc.Field(id="rows/id", name="rows/id", data_types=mlc.DataType.TEXT, source=source)
    metadata = mlc.Metadata(
        name=name, description="Ids.", url="https://example.org", license=["https://spdx.org/licenses/MIT"],
        cite_as="none", date_published="2026-01-01", version="1.0.0", creators=[mlc.Organization(name="us")],
        distribution=[stored], record_sets=[mlc.RecordSet(id="rows", name="rows", fields=[field])],
    )
    Path(f"{name}.json").write_text(json.dumps(metadata.to_json(), default=str))
    dataset = mlc.Dataset(f"{name}.json")
    print(f"{name}:", [record["rows/id"] for record in dataset.records("rows")], dataset.metadata.issues.errors)
PY
grep -qxF "numbers: [b'7', b'10'] set()" seen.txt
grep -qxF "mixed: [b'007', b'q10'] set()" seen.txt
