#!/usr/bin/env bash
# openskill: of three players, one so far above the others that it beats either with a probability of 1, predict_win gives
# 0.67 to it and 0.17 to each of the others, and of ten 0.2: it is the share of the pairs that one wins, which is at most
# 2 / n. Of two it is the probability, 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check openskill==6.2.0
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from openskill.models import BradleyTerryFull, PlackettLuce

print("openskill", version("openskill"))
for kind in (PlackettLuce, BradleyTerryFull):
    model = kind()
    best = model.rating(mu=100, sigma=0.1)
    others = [model.rating(mu=25, sigma=0.1) for _ in range(9)]
    for n in (2, 3, 10):
        found = model.predict_win([[best], *([other] for other in others[: n - 1])])
        print(f"{kind.__name__}, {n} players: {found[0]:.2f}, then {found[1]:.2f}")
PY
for kind in PlackettLuce BradleyTerryFull; do
    grep -qxF "$kind, 2 players: 1.00, then 0.00" "$folder/seen.txt"
    grep -qxF "$kind, 3 players: 0.67, then 0.17" "$folder/seen.txt"
    grep -qxF "$kind, 10 players: 0.20, then 0.09" "$folder/seen.txt"
done
