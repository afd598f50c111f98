#!/usr/bin/env bash
# The figures of docs/figures.md, one command each; all but the cold start's (python -m benchmarks.cold
# --before FOLDER), which compares with an older checkout.
#
#   SQLWRIGHT_DATA=path/to/data runs/figures.sh [folder for everything in between]
#
# What each command prints is shown and kept in the folder as NAME.txt. A figure that is there isn't
# made again: broken off, the same command goes on; remove the file to make that figure anew.
#
# The development databases are a development set. So that they aren't read by the way, their figures
# are made only with DEV=1, and each reading is noted in docs/experiments. VALUES and QUERIES name the files of a million made-up values (tab-separated) and
# of queries for them (JSON lines), seeded by a number that nothing was tuned on; without them that
# figure is left out. Needs `pip install -e '.[dev,lsh]'`; PYTHON is the interpreter, .venv's unless
# named.
set -euo pipefail
cd "$(dirname "$0")/.."

data="${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/, spider_syn/, verdicts/ and samples/}"
data="$(cd "$data" && pwd)"
out="${1:-runs/out/figures}"
python="${PYTHON:-.venv/bin/python}"
"$python" -c 'import datasketch, pytest, sqlwright' ||
    { echo "install first: $python -m pip install -e '.[dev,lsh]'" >&2; exit 1; }
mkdir -p "$out"
out="$(cd "$out" && pwd)"
export SQLWRIGHT_HOME="$out/home" SQLWRIGHT_DATA="$data" OMP_NUM_THREADS=1
sqlwright() { "$python" -c 'from sqlwright.cli.main import run; run()' "$@"; }

# figure NAME WHAT COMMAND...
figure() {
    local name="$1" what="$2" started=$SECONDS
    shift 2
    if [ -f "$out/$name.txt" ]; then
        echo "== $name: $what (made before)"
        return
    fi
    echo "== $name: $what"
    # Unfinished ones keep another name, so that they are made again.
    if ! "$@" 2>&1 | tee "$out/$name.partial"; then
        echo "$name failed; the same command goes on with it" >&2
        exit 1
    fi
    mv "$out/$name.partial" "$out/$name.txt"
    echo "-- $name: $((SECONDS - started)) s, kept in $out/$name.txt"
}

# Only the progress lines are left out: they would not be the same twice.
evaluate() {
    local folder="$out/$1"
    shift
    local resume=()
    [ ! -d "$folder" ] || resume=(--resume)
    sqlwright evaluate "$@" --out "$folder" ${resume[@]+"${resume[@]}"} 2>"$folder.log" ||
        { cat "$folder.log" >&2; return 1; }
}

figure demo "the demo's thirty questions" sqlwright demo --all
figure refusal "requests that can't be answered, and that can" "$python" benchmarks/refusal.py "$data"
figure moments "questions that name a day, a month, a year" \
    "$python" -m benchmarks.moments "$data"
figure retrieval-fit "stored constants found, databases trained on" \
    "$python" benchmarks/retrieval.py "$data" --part fit
figure retrieval-valid "stored constants found, databases held out" \
    "$python" benchmarks/retrieval.py "$data" --part valid
figure valid "accuracy on the databases that choices are made on" \
    evaluate valid --data "spider:$data/spider" --split valid
figure merged "accuracy on many databases merged into one, beside the separate ones" \
    "$python" -m benchmarks.merged_schema "$data" "$out/merged-schema"
if [ "${DEV:-}" = 1 ]; then
    figure dev "accuracy, calibration, linker, latency on the development databases" \
        evaluate dev --data "spider:$data/spider" --split dev
    figure syn "the same with other words for the schema's" \
        evaluate syn --data "spider:$data/spider" --split dev --questions "$data/spider_syn/train.json"
    figure round-trip "gold queries that keep their rows through the intermediate form" \
        "$python" benchmarks/round_trip.py --data "$data" --split dev
    figure merged-dev "300 questions with all databases in one schema, and with each alone" \
        "$python" -m benchmarks.merged_schema "$data" "$out/merged-schema-dev" --part dev --questions 300
else
    echo "== dev, syn, round-trip, merged-dev: left out; DEV=1 reads the development databases"
fi
figure round-trip-fit "the same on the databases trained on" \
    "$python" benchmarks/round_trip.py --data "$data" --split fit
if [ -n "${VALUES:-}" ]; then
    figure values "value index: a million values" \
        "$python" benchmarks/value_index.py synthetic "$VALUES" "${QUERIES:?}" --per-column 3
else
    echo "== values: left out; VALUES and QUERIES name the files"
fi
figure values-real "value index: real values, beside MinHash and a scan" \
    "$python" benchmarks/value_index.py real "$data" --peers
figure values-all "the value index on all real texts, numbers too, beside its peers" \
    "$python" benchmarks/value_index.py real "$data" --peers --all
figure prompt-tokens "prompt tokens and calls of a question, three schemas" \
    "$python" -m benchmarks.prompt_tokens "$out/prompt-tokens"
figure operations "floating-point operations, tokens and time by step, embedded models measured" \
    "$python" -m benchmarks.operations "$out/operations"
figure selection-valid "selectors on embedded models over the same candidates, beside local and the oracle" \
    "$python" benchmarks/selection.py "$data" "$out/selection" --part valid
figure robustness "a language model whose replies are bad one time in five" \
    "$python" -m benchmarks.llm_robustness "$out/robustness"
figure entities "stored values that the retrieval steps find, misspelt too, beside junk" \
    "$python" benchmarks/entities.py "$data"
figure database "what the worker process costs, and how soon a denial is stopped" \
    "$python" benchmarks/database.py
figure prepare "preparing, and the first answer on a never-seen database" \
    "$python" benchmarks/prepare.py
figure joins "inferred joins against declared ones" \
    "$python" benchmarks/prepare.py --joins --part valid
figure cancel "cancelling" "$python" benchmarks/cancel.py \
    "$data/samples/chinook/Chinook_Sqlite.sqlite" "Which artist has the most albums?" --times 20
figure attacks "attacks let through, and the official scripts' verdicts" \
    "$python" -m pytest -q tests/database/test_attacks.py tests/evaluation
