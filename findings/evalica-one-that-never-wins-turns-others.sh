#!/usr/bin/env bash
# evalica: a beats b in 9 of 10 comparisons, and c in 5 of 5. Newman's method scores b above a, Bradley and Terry's gives all
# three the same score, both without a warning. Where c has won once in five, the second puts a first. (Without a win of c
# the likelihood has no maximum.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check evalica==0.4.2
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from evalica import Winner, bradley_terry, newman

print("evalica", version("evalica"))
first = ["a"] * 15
second = ["b"] * 10 + ["c"] * 5
never = [Winner.X] * 9 + [Winner.Y] + [Winner.X] * 5
once = [*never[:-1], Winner.Y]
for name, winners in {"c never wins": never, "c wins once": once}.items():
    for method in (newman, bradley_terry):
        scores = method(first, second, winners).scores
        order = "all equal" if scores.nunique() == 1 else " > ".join(scores.sort_values(ascending=False).index)
        print(f"{name}, {method.__name__}: {order}")
PY
grep -qxF "c never wins, newman: b > a > c" "$folder/seen.txt"
grep -qxF "c never wins, bradley_terry: all equal" "$folder/seen.txt"
grep -qxF "c wins once, bradley_terry: a > c > b" "$folder/seen.txt"
