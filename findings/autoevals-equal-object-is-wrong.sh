#!/usr/bin/env bash
# autoevals: its scorer ExactMatch finds an answer {"name": "John", "age": 30} wrong where '{"age": 30, "name": "John"}' is right, which
# is the example that its documentation scores 1, as the same content in another order: the keys are written in the order they come in,
# and the texts compared. Nothing warns. JSONDiff, beside it, has 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check autoevals==0.4.1
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from autoevals import ExactMatch, JSONDiff

print("autoevals", version("autoevals"))
answer = {"name": "John", "age": 30}
for order, right in (("same", '{"name": "John", "age": 30}'), ("other", '{"age": 30, "name": "John"}')):
    for scorer in (ExactMatch(), JSONDiff()):
        print(f"{type(scorer).__name__}, {order} order: {scorer.eval(output=answer, expected=right).score:.0f}")
PY
grep -qxF "ExactMatch, same order: 1" "$folder/seen.txt"
grep -qxF "ExactMatch, other order: 0" "$folder/seen.txt"
grep -qxF "JSONDiff, other order: 1" "$folder/seen.txt"
