#!/usr/bin/env bash
# arena-rank: a beats b in 9 of 10 battles, and b beats c in 9 of 10. With the winner's name in the column "winner", all three have
# the rating 1000 with an interval from 1000 to 1000, since any text but model_a and model_b counts as a tie; nothing warns.
# With the winner's side in it, the ratings are 1382, 1000 and 618.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check arena-rank==0.1.1 jax==0.8.1 numpy==2.3.3 pandas==2.3.3
"$folder/venv/bin/python" -W error - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

print("arena-rank", version("arena-rank"))
battles = pd.DataFrame({"model_a": ["a"] * 10 + ["b"] * 10, "model_b": ["b"] * 10 + ["c"] * 10})
names = ["a"] * 9 + ["b"] + ["b"] * 9 + ["c"]
sides = (["model_a"] * 9 + ["model_b"]) * 2
for written, winner in (("name", names), ("side", sides)):
    dataset = PairDataset.from_pandas(battles.assign(winner=winner))
    found = BradleyTerry(len(dataset.competitors)).compute_ratings_and_cis(dataset)
    rows = zip(dataset.competitors, *(found[key].round().astype(int).tolist() for key in ("ratings", "rating_lower", "rating_upper")))
    print(f"{written}:", ", ".join(f"{name} {rating} [{low}, {high}]" for name, rating, low, high in rows))
PY
grep -qxF "name: a 1000 [1000, 1000], b 1000 [1000, 1000], c 1000 [1000, 1000]" "$folder/seen.txt"
grep -q "^side: a 1382 .*, b 1000 .*, c 618 " "$folder/seen.txt"
