#!/usr/bin/env bash
# langchain-openai: a choice between true and "true", which the Decisions API keeps apart by their type, is a mapping with
# both as keys. Its model_dump_json writes one of them, so that whoever loads the text has an option less, and
# probabilities that do not sum to 1; it warns of nothing. (The openai client keeps a list of both.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check langchain-openai==1.7.4 langchain-core==1.8.3 openai==3.57.0
cd "$folder"
"$folder/venv/bin/python" - <<'PY' | tee seen.txt
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

OPTIONS = [{"value": True, "probability": 0.6}, {"value": "true", "probability": 0.3}, {"value": "other", "probability": 0.1}]
DETAILS = {"input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
ANSWER = {"type": "choice", "name": "kind", "choice": True, "confidence": 0.4, "probabilities": OPTIONS}
BODY = {"model": "m", "answers": [ANSWER], "usage": {"input_tokens": 1, "output_tokens": 0, "total_tokens": 1, **DETAILS}}


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(BODY).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
from langchain_openai.decisions import Choice, OpenAIDecisions

client = OpenAIDecisions(model="gpt-6-luna", base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
question = Choice(instructions="Which?", choices={True: "a", "true": "b", "other": "c"})
response = client.invoke({"input": "x", "questions": {"kind": question}})
text = response.model_dump_json()
print("langchain-openai", version("langchain-openai"))
print("options in Python:", len(response.choices["kind"].probabilities))
print("options in JSON:", len(json.loads(text)["answers"]["kind"]["probabilities"]))
loaded = json.loads(text)["answers"]["kind"]["probabilities"]
print("sum after loading:", round(sum(loaded.values()), 3))
PY
grep -qx "options in Python: 3" seen.txt
grep -qx "options in JSON: 2" seen.txt
grep -qx "sum after loading: 0.4" seen.txt
