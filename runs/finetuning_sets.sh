#!/usr/bin/env bash
# The training sets of MSc-SQL, CHESS and CHASE-SQL from the data at hand: the table of
# docs/finetuning.md.
#
#   SQLWRIGHT_DATA=path/to/data runs/finetuning_sets.sh [folder for the sets]
#
# SAMPLE=500 draws so many questions of each data set instead of all. FOLDS=path names a folder with
# 0/beams.jsonl and 1/beams.jsonl, candidates of parsers that weren't trained on the questions'
# databases (`python -m training.embedded.critic.data --within 0/2`); without it critic and selector
# are left out. TOKENIZER=path names a folder with a tokenizer.json; without it tokens are estimated.
# Broken off, the same command goes on. PYTHON is the interpreter, .venv's unless named.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/ and bird/}"
data="$(cd "$data" && pwd)"
out="${1:-runs/out/finetuning_sets}"
python="${PYTHON:-.venv/bin/python}"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
export SQLWRIGHT_HOME="${SQLWRIGHT_HOME:-$out/home}" OMP_NUM_THREADS=1
more=()
[ -z "${SAMPLE:-}" ] || more+=(--sample "$SAMPLE")
[ -z "${FOLDS:-}" ] || more+=(--beams "0/2=$FOLDS/0/beams.jsonl" --beams "1/2=$FOLDS/1/beams.jsonl")
tokens=()
[ -z "${TOKENIZER:-}" ] || tokens+=(--tokenizer "$TOKENIZER")

"$python" -m benchmarks.finetuning_sets "$data" "$out" "${more[@]}" "${tokens[@]}" --write
