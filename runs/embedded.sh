#!/usr/bin/env bash
# Make the embedded parser and its critic from the published data.
#
#   SQLWRIGHT_DATA=path/to/data runs/embedded.sh [folder for everything in between] [stage]
#
# Needs `pip install -e '.[training]'`, two CPU cores and 3 GB of disk; takes about 90 minutes, and
# 185 more for each fold that the critic learns from.
# Every stage can be broken off and started again: what is there isn't made twice. Without a stage
# all of them run, the passes beside the training that reads them. A stage that is named runs alone
# and no longer than nine minutes; it ends with 75 where it has to be called again.
#
#   embedder   MiniLM's upper layers, word table and tokenizer, where they aren't there
#   linker     the features of its training questions, and the linker fitted to them
#   own        the questions of our own and their databases, in one folder
#   passes     PASSES differently augmented passes from number FIRST on, each with SYNTHETIC
#              made-up pairs, SHARE of Spider's and OWN_TIMES times those of our own
#   train      for MINUTES by the clock, from the published MiniLM; or FROM a folder of exported
#              weights: then FIRST should be a pass that those haven't seen, and SCALE about 0.45;
#              another SEED, best with another FIRST, makes an independent model
#   export     int8 graphs into WEIGHTS
#   validate   accuracy on `valid`
#   crossed    for each of FOLDS folds of the databases a parser trained without it, for
#              FOLD_MINUTES and then from what that exports for FOLD_MORE, and its beams over the fold
#   critic     beams of the parser on databases it never saw, and the critic fitted to all these
#   stamp      the hashes that loading checks
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/ and bird/}"
out="${1:-runs/out/embedded}"
stage="${2:-all}"
python="${PYTHON:-python3}"
first="${FIRST:-0}"
weights="${WEIGHTS:-src/sqlwright/local/weights}"
folds="${FOLDS:-2}"
again=75
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

mkdir -p "$out/passes" "$out/run" "$weights"

embedder() {
    [ -f "$weights/embedder.onnx" ] || "$python" -m training.embedded.linker.export --out "$weights"
}

linker() {
    [ -f "$weights/linker.npz" ] || "$python" -m training.embedded.linker.train --data "$data" \
        --weights "$weights" --cache "$out/linker"
}

own() {
    [ -f "$out/own/unanswerable.jsonl" ] || "$python" -m training.export "$out/own"
}

passes() {
    "$python" -m training.embedded.parser.data "$data" "$out/passes" --first "$first" \
        --own "$out/own" --own-times "${OWN_TIMES:-3}" --share "${SHARE:-1.0}" --passes "${PASSES:-14}" --synthetic "${SYNTHETIC:-2400}" >>"$out/passes.log" 2>&1
}

train() {
    [ ! -f "$out/run/done" ] || return 0
    local options=(--minutes "${MINUTES:-76}" --first "$first" --scale "${SCALE:-1.0}")
    [ -z "${SEED:-}" ] || options+=(--seed "$SEED")
    [ -z "${FROM:-}" ] || options+=(--weights "$FROM")
    "$python" -m training.embedded.parser.train "$out/passes" "$out/run" "${options[@]}" "$@" \
        >>"$out/run/log.jsonl"
}

beside() {
    passes &
    local builder=$!
    trap 'kill "$builder" 2>/dev/null || true' EXIT
    until [ -f "$out/passes/$(printf 'pass_%02d.npz' "$first")" ]; do
        kill -0 "$builder" 2>/dev/null || { tail -5 "$out/passes.log" >&2; exit 1; }
        sleep 2
    done
    train
}

export_parser() {
    "$python" -m training.embedded.parser.export "$out/run/checkpoint.pt" --out "$weights"
}

validate() {
    "$python" -m training.embedded.parser.validate "$data" "$weights" --out "$out/valid.json"
}

crossed() {
    local fold folder
    for ((fold = 0; fold < folds; fold++)); do
        folder="$out/fold_$fold"
        [ ! -f "$folder/beams.jsonl" ] || continue
        mkdir -p "$folder/passes" "$folder/run" "$folder/more" "$folder/first" "$folder/weights"
        "$python" -m training.embedded.parser.data "$data" "$folder/passes" --first 14 --passes 8 \
            --own "$out/own" --own-times 2 --synthetic 1200 --without "$fold/$folds" >>"$folder/passes.log" 2>&1
        fold_trained run "${FOLD_MINUTES:-100}" first --first 14 --seed "$((3 + fold))" "$@" || return
        fold_trained more "${FOLD_MORE:-85}" weights --first "$((18 + fold))" --seed "$((5 + fold))" \
            --scale 0.6 --weights "$folder/first" "$@" || return
        "$python" -m training.embedded.critic.data --data "$data" --weights "$folder/weights" \
            --out "$folder/beams.jsonl" --within "$fold/$folds" --each 90 --own "$out/own"
    done
}

# fold_trained RUN MINUTES EXPORTED OPTIONS...: a run of one fold, and its weights
fold_trained() {
    local run="$1" minutes="$2" exported="$folder/$3"
    shift 3
    [ -f "$folder/$run/done" ] || "$python" -m training.embedded.parser.train \
        "$folder/passes" "$folder/$run" --minutes "$minutes" "$@" >>"$folder/$run/log.jsonl" || return
    [ -f "$folder/$run/done" ] || return "$again"
    [ ! -f "$exported/parser_decoder.onnx" ] || return 0
    cp "$weights"/* "$exported/"
    rm -f "$exported"/parser_*.onnx
    "$python" -m training.embedded.parser.export "$folder/$run/checkpoint.pt" --out "$exported"
}

critic() {
    local fold options=()
    for ((fold = 0; fold < folds; fold++)); do
        options+=(--crossed "$out/fold_$fold/beams.jsonl")
    done
    "$python" -m training.embedded.critic.train --data "$data" --weights "$weights" \
        --beams "$out/beams.jsonl" --rebuild "${options[@]}"
}

stamp() {
    [ "$weights" != src/sqlwright/local/weights ] ||
        "$python" -m training.embedded.stamp src/sqlwright/local
}

case "$stage" in
    all) embedder; linker; own; beside; export_parser; validate; crossed; critic; stamp ;;
    linker | passes | crossed)
        # What they make is written whole or not at all, so they may be stopped at any time.
        export -f "$stage" fold_trained; export data out weights first python folds again
        [ "$stage" != crossed ] || stage="crossed --slice 7"
        timeout 530 bash -euc "$stage" || { [[ $? =~ ^(124|75)$ ]] && exit "$again"; exit 1; }
        ;;
    train)
        train --slice 8
        [ -f "$out/run/done" ] || exit "$again"
        ;;
    export) export_parser ;;
    embedder | own | validate | critic | stamp) "$stage" ;;
    *) echo "no stage is called $stage" >&2; exit 2 ;;
esac
