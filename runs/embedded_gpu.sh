#!/usr/bin/env bash
# Train the embedded parser on one GPU: two folds with their beams, and the whole.
#
#   SQLWRIGHT_DATA=path/to/data runs/embedded_gpu.sh [folder for everything in between]
#
# What the stages own, passes, train and crossed of runs/embedded.sh do in eleven hours of a core.
# Measured with 16 processors beside one H100 or H200: eight passes for each fold 4 minutes, two
# folds side by side on one card 220 examples a second each, one alone 410 to 480 (the card waits for
# the processors). Passes and beams are made by JOBS processes, beside the card's training wherever
# they don't wait for it. WEIGHTS has embedder, linker, word table and tokenizer, which are made
# before (runs/embedded.sh, stages embedder and linker). Broken off, the same command goes on: what
# is there isn't made twice. DEVICE=cpu tries it without a card.
#
#   fold_0, fold_1   a parser without half of the databases, FOLD_MINUTES each, side by side; its
#                    int8 graphs in weights/, its beams over the fold in beams.jsonl.xz
#   whole            a parser of all databases, WHOLE_MINUTES, FROM a folder of exported weights
#                    where that is set (then with SCALE 0.6); its int8 graphs in weights/
#
# Then `python -m training.embedded.critic.train` with the beams of both folds, runs/confidence.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/ and bird/}"
out="${1:-runs/out/embedded_gpu}"
python="${PYTHON:-python3}"
weights="${WEIGHTS:-src/sqlwright/local/weights}"
device="${DEVICE:-cuda}"
jobs="${JOBS:-16}"
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONPATH=".:src${PYTHONPATH:+:$PYTHONPATH}"

note() { echo "$(date +%T) $*"; }

# passes_of FOLDER PASSES JOBS OPTIONS...: differently augmented passes over the questions
passes_of() {
    local folder="$1" count="$2" by="$3"
    shift 3
    mkdir -p "$folder/passes"
    "$python" -m training.embedded.parser.data "$data" "$folder/passes" --passes "$count" --jobs "$by" \
        --own "$out/own" --share "${SHARE:-1.0}" "$@" >>"$folder/passes.log" 2>&1
    note "passes of $folder"
}

# trained FOLDER MINUTES OPTIONS...: train, and export what was learnt
trained() {
    local folder="$1" minutes="$2"
    shift 2
    mkdir -p "$folder/run" "$folder/weights"
    [ -f "$folder/run/done" ] || "$python" -m training.embedded.parser.train "$folder/passes" "$folder/run" \
        --device "$device" --loaders "${LOADERS:-4}" --minutes "$minutes" \
        --report "${REPORT:-250}" "$@" >>"$folder/run/log.jsonl" 2>>"$folder/run/errors"
    note "trained $folder: $(tail -n 1 "$folder/run/log.jsonl")"
    [ ! -f "$folder/weights/parser_decoder.onnx" ] || return 0
    cp "$weights"/* "$folder/weights/"
    rm -f "$folder/weights"/parser_*.onnx
    "$python" -m training.embedded.parser.export "$folder/run/checkpoint.pt" --out "$folder/weights"
    note "exported $folder"
}

beams_of() {
    local number="$1" folder="$out/fold_$1"
    [ ! -f "$folder/beams.jsonl.xz" ] || return 0
    "$python" -m training.embedded.critic.data --data "$data" --weights "$folder/weights" \
        --out "$folder/beams.jsonl" --within "$number/2" --each "${EACH:-90}" --own "$out/own" \
        --jobs "$((jobs / 2))" >>"$folder/beams.log" 2>&1
    xz -T0 -3 "$folder/beams.jsonl"
    note "beams of $folder"
}

fold() {
    trained "$out/fold_$1" "${FOLD_MINUTES:-2}" --seed "$((3 + $1))" --pieces "${FOLD_PIECES:-3072}"
    touch "$out/fold_$1/trained"
    beams_of "$1"
}

whole() {
    passes_of "$out/whole" "${WHOLE_PASSES:-10}" "$((jobs - 6))" --own-times 3 --synthetic "$((2 * ${SYNTHETIC:-1200}))"
    until [ -f "$out/fold_0/trained" ] && [ -f "$out/fold_1/trained" ]; do sleep 1; done
    trained "$out/whole" "${WHOLE_MINUTES:-5}" --pieces "${WHOLE_PIECES:-6144}" \
        --scale "${SCALE:-1.0}" ${FROM:+--weights "$FROM"}
}

mkdir -p "$out/fold_0" "$out/fold_1" "$out/whole"
[ -f "$out/own/unanswerable.jsonl" ] || "$python" -m training.export "$out/own"
waited=()
for number in 0 1; do
    passes_of "$out/fold_$number" "${FOLD_PASSES:-8}" "$((jobs / 2))" --own-times 2 --synthetic "${SYNTHETIC:-1200}" \
        --without "$number/2" &
    waited+=($!)
done
for one in "${waited[@]}"; do wait "$one"; done
fold 0 &
waited=($!)
fold 1 &
waited+=($!)
if [ -z "${FOLDS_ONLY:-}" ]; then
    whole &
    waited+=($!)
fi
for one in "${waited[@]}"; do wait "$one"; done
note "all done"
