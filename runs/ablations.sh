#!/usr/bin/env bash
# What each part of `local` is worth: the table of docs/embedded-models.md, "What each part is worth".
#
#   SQLWRIGHT_DATA=path/to/data runs/ablations.sh [folder for the runs] [ablation...]
#
# Asks the questions of Spider's development databases once for each ablation, and once of `local` as it is
# (two minutes each on two idle cores); broken off, the same command goes on. BIRD_LIKE=1 asks those
# of bird_like, too. Both are development sets: what is read there is noted in docs/experiments. PYTHON is the
# interpreter, .venv's unless named.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/ and bird_like/}"
data="$(cd "$data" && pwd)"
out="${1:-runs/out/ablations}"
python="${PYTHON:-.venv/bin/python}"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
export SQLWRIGHT_HOME="$out/home" OMP_NUM_THREADS=1
names=(local-no-critic local-no-values local-no-linker local-no-repair local-no-unanswered local-no-veto
    local-no-refusal local-beam-1 local-beam-4 local-beam-16)
[ $# -lt 2 ] || names=("${@:2}")

ablate() {
    local folder="$out/$1"
    shift
    "$python" -c 'from sqlwright.cli.main import run; run()' lab ablate "${names[@]}" "$@" \
        --prepare --workers "${WORKERS:-2}" --out "$folder" --resume
}

ablate spider --data "spider:$data/spider" --split dev
[ -z "${BIRD_LIKE:-}" ] || ablate bird_like --data "bird:$data/bird_like"
