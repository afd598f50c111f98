#!/usr/bin/env bash
# Make the embedded parser from the published data: passes, training, export, validation.
#
#   SQLWRIGHT_DATA=path/to/data runs/embedded.sh [folder for everything in between]
#
# Needs `pip install -e '.[training]'`, two CPU cores and 3 GB of disk; takes about 80 minutes.
# Every stage can be broken off and started again: what is there isn't made twice.
# MINUTES is the training's budget, PASSES how many differently augmented passes are built.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/ and bird/}"
out="${1:-runs/out/embedded}"
python="${PYTHON:-python3}"
minutes="${MINUTES:-76}"
passes="${PASSES:-14}"
weights=src/sqlwright/local/weights
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

mkdir -p "$out/passes" "$out/run"

if [ ! -f "$weights/embedder.onnx" ]; then
    echo "embedder, word table and tokenizer" >&2
    "$python" -m sqlwright.training.link_export --out "$weights"
fi

# Passes are built beside the training that reads them; it starts when the first is there.
"$python" -m sqlwright.training.data "$data" "$out/passes" --passes "$passes" \
    >>"$out/passes.log" 2>&1 &
builder=$!
trap 'kill "$builder" 2>/dev/null || true' EXIT
until [ -f "$out/passes/pass_00.npz" ]; do
    kill -0 "$builder" 2>/dev/null || { tail -5 "$out/passes.log" >&2; exit 1; }
    sleep 2
done

if [ ! -f "$out/run/done" ]; then
    "$python" -m sqlwright.training.train_parser "$out/passes" "$out/run" --minutes "$minutes" \
        | tee -a "$out/run/log.jsonl"
    touch "$out/run/done"
fi

"$python" -m sqlwright.training.export_parser "$out/run/checkpoint.pt" --out "$weights"
"$python" -m sqlwright.training.validate "$data" "$weights" --out "$out/valid.json"
"$python" -m sqlwright.training.stamp src/sqlwright/local
