#!/usr/bin/env bash
# math-verify: where the right answer is 0.001, "1e-3" is wrong, and where it is 1, "1e-3" is right, as 1e6 and 1e-05 are; so is
# "The answer is 2.5e-4." of 2.5. A number in text ends before its exponent, and nothing tells. Written 2.5*10^-4 it is read whole.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "math-verify[antlr4_13_2]==0.9.0"
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from math_verify import parse, verify

print("math-verify", version("math-verify"))
for right, answer in (
    ("0.001", "1e-3"), ("1", "1e-3"), ("1", "1e6"), ("1", str(0.00001)), ("2.5", "The answer is 2.5e-4."), ("0.00025", "2.5*10^-4"),
):
    print(f"{right} by {answer}: {verify(parse(right), parse(answer))}")
PY
grep -qxF "0.001 by 1e-3: False" "$folder/seen.txt"
grep -qxF "1 by 1e-3: True" "$folder/seen.txt"
grep -qxF "1 by 1e6: True" "$folder/seen.txt"
grep -qxF "2.5 by The answer is 2.5e-4.: True" "$folder/seen.txt"
grep -qxF "0.00025 by 2.5*10^-4: True" "$folder/seen.txt"
