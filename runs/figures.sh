#!/usr/bin/env bash
# Every figure of the README, one command each.
#
#   SQLWRIGHT_DATA=path/to/data runs/figures.sh [folder for everything in between]
#
# The development databases are read once per release: run this for a release, and note it in LOG.md.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, verdicts/ and samples/}"
out="${1:-runs/out/figures}"
bin=.venv/bin
export SQLWRIGHT_HOME="$out/home" OMP_NUM_THREADS=1
mkdir -p "$out"

echo "== demo"
$bin/sqlwright demo --all
echo "== development split: accuracy, calibration, linker, latency"
$bin/sqlwright evaluate --spider "$data/spider" --split dev --out "$out/dev"
echo "== gold queries that keep their rows through the intermediate form"
$bin/python benchmarks/round_trip.py --data "$data" --split dev
echo "== refusals"
$bin/python benchmarks/refusal.py
echo "== value index: a million values (made by a seed that nothing was tuned on), then real ones"
if [ -n "${VALUES:-}" ]; then
    $bin/python benchmarks/value_index.py synthetic "$VALUES" "${QUERIES:?}" --per-column 3
fi
$bin/python benchmarks/value_index.py real "$data" --peers
echo "== database: what the worker process costs, and how soon a denial is stopped"
$bin/python benchmarks/database.py
echo "== cancelling"
$bin/python benchmarks/cancel.py "$data/samples/chinook/Chinook_Sqlite.sqlite" \
    "Which artist has the most albums?" --times 20
echo "== attacks and verdicts"
SQLWRIGHT_DATA="$data" $bin/python -m pytest tests/database/test_attacks.py tests/evaluation
