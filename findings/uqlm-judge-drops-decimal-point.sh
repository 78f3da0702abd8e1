#!/usr/bin/env bash
# uqlm: asked for a number between 0 and 100, a judge that answers "7.5" gives an answer the score 0.75, above the 0.1 of
# "10", and "99.5" gives nan: the digits of the reply are read as one number, without their point. "8" gives 0.08.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
"$folder/venv/bin/uv" pip install --quiet --python "$folder/venv" uqlm==0.6.7 langchain-core==1.8.3 pyarrow==24.0.0
"$folder/venv/bin/python" - <<'PY' | tee "$folder/seen.txt"
import asyncio
from importlib.metadata import version

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from uqlm.judges import LLMJudge


class Scripted(FakeListChatModel):
    temperature: float = 1.0  # uqlm reads it


print("uqlm", version("uqlm"))
for reply in ("8", "7.5", "10", "99.5"):
    judge = LLMJudge(llm=Scripted(responses=[reply]), scoring_template="continuous")
    found = asyncio.run(judge.judge_responses(prompts=["What is 2 + 2?"], responses=["4"], retries=0))
    print(f"{found['judge_responses'][0]}: {found['scores'][0]}")
PY
grep -qx "8: 0.08" "$folder/seen.txt"
grep -qx "7.5: 0.75" "$folder/seen.txt"
grep -qx "10: 0.1" "$folder/seen.txt"
grep -qx "99.5: nan" "$folder/seen.txt"
