#!/usr/bin/env bash
# Fit how sure answers are, after any of the embedded models was trained anew.
#
#   SQLWRIGHT_DATA=path/to/data runs/confidence.sh [folder for everything in between]
#
# Asks about 2,100 questions of every family once (20 to 30 minutes on one core; broken off, the same
# command goes on), fits the calibration into src/sqlwright/local/weights/confidence.json, keeps the
# answers' numbers for the tests, and stamps the weights. Answers of other weights are asked anew.
# TRAINED_ON_OWN=1 where the parser was trained on questions of training/data: then only the
# databases that are there to fit probabilities are asked.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/ and bird_like/}"
out="${1:-runs/out/confidence}"
python="${PYTHON:-python3}"
weights=src/sqlwright/local/weights
export OMP_NUM_THREADS=1 PYTHONPATH="src${PYTHONPATH:+:$PYTHONPATH}"

"$python" -m training.embedded.stamp src/sqlwright/local
key="$(cat "$weights"/parser_*.onnx "$weights"/linker.npz "$weights"/critic.json | sha256sum | cut -c1-12)"
folder="$out/$key"
mkdir -p "$folder" tests/cases/confidence
[ -d "$out/own" ] || "$python" -m training.databases "$out/own" >"$out/own.log"
options=()
[ -z "${TRAINED_ON_OWN:-}" ] || options+=(--trained-on-own)
"$python" -m training.embedded.confidence.collect --data "$data" --own "$out/own" \
    --questions training/data/questions --out "$folder" "${options[@]}"
"$python" -m training.embedded.confidence.fit --data "$data" --answers "$folder/answers.jsonl" \
    --record tests/cases/confidence/answers.csv
"$python" -m training.embedded.stamp src/sqlwright/local
