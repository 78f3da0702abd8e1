#!/usr/bin/env bash
# OpenCompass: of "Based on the text, D is right." it takes the option B, and of "Considering all of them, (B) is right." the option
# C: where none of its patterns has the option, the first letter of A to D that is in the text is the answer, also within a word,
# and its pattern of a letter on its own never has it, since it reads the space before the letter. "The text says D is right."
# gives D. Nothing warns; 99 of its files of datasets read answers so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" opencompass==0.5.4 torch==2.13.0
"$folder/venv/bin/python" -W ignore::SyntaxWarning -W ignore::DeprecationWarning - <<'PY' | tee "$folder/seen.txt"
from importlib.metadata import version

from opencompass.utils.text_postprocessors import first_option_postprocess

print("opencompass", version("opencompass"))
for answer in (
    "Based on the text, D is right.",
    "Because Paris is the capital: D. Paris",
    "Considering all of them, (B) is right.",
    "The text says D is right.",
):
    print(f"{answer} -> {first_option_postprocess(answer, options='ABCD')}")
PY
grep -qxF "Based on the text, D is right. -> B" "$folder/seen.txt"
grep -qxF "Because Paris is the capital: D. Paris -> B" "$folder/seen.txt"
grep -qxF "Considering all of them, (B) is right. -> C" "$folder/seen.txt"
grep -qxF "The text says D is right. -> D" "$folder/seen.txt"
