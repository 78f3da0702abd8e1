#!/usr/bin/env bash
# promptfoo: with repeat 2, the rows of one test have the testIdx 0 and 1, as two tests would have; nothing else in the
# rows counts repeats, so that one test asked twice and two equal tests have the same results.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund promptfoo@0.121.20
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$folder/home"
test='{vars: {a: Paris}, assert: [{type: equals, value: Paris}]}'
echo "{prompts: ['{{a}}'], providers: [echo], tests: [$test], evaluateOptions: {repeat: 2}}" > repeated.yaml
echo "{prompts: ['{{a}}'], providers: [echo], tests: [$test, $test]}" > two.yaml
node_modules/.bin/promptfoo --version | tee seen.txt
for name in repeated two; do
    node_modules/.bin/promptfoo eval -c "$name.yaml" --no-cache --no-table --no-progress-bar -o "$name.jsonl" > "$name.txt"
    node -e '
        const rows = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map(JSON.parse);
        const keys = (row) => Object.keys(row).sort().join();
        console.log(rows.map((row) => row.testIdx).sort().join(), new Set(rows.map(keys)).size, keys(rows[0]).includes("epeat"));
    ' "$name.jsonl" | tee -a seen.txt
done
test "$(grep -cx "0,1 1 false" seen.txt)" = 2
