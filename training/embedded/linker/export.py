"""Write the embedder's files: word table, ONNX graph in int8, tokenizer; and check them.

    python -m training.embedded.linker.export --out src/sqlwright/local/weights

The weights derive from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from training.embedded.lower import divide
from training.embedded.minilm import (
    Pretrained,
    SentenceMiniLm,
    bundled_minilm,
    load_minilm,
)

from sqlwright.local.embedder.onnx import LOWER, OnnxEmbedder
from sqlwright.local.runtime import quantization, save_optimized


def quantize_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a float table as int8 with one float32 scale each."""
    scales = np.abs(table).max(axis=1) / 127.0
    scales = np.where(scales == 0, 1.0, scales).astype(np.float32)
    return np.round(table / scales[:, None]).astype(np.int8), scales


def export_graph(model: torch.nn.Module, path: Path, *, int8: bool = True) -> None:
    """Export a module that takes (words, mask), quantised dynamically per channel."""
    tools = quantization()
    sample = (torch.zeros(2, 7, 384), torch.ones(2, 7))
    with tempfile.TemporaryDirectory() as scratch:
        plain, ready = Path(scratch) / "plain.onnx", Path(scratch) / "ready.onnx"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                model,
                sample,
                str(plain),
                input_names=["words", "mask"],
                output_names=["embedding"],
                dynamic_axes={
                    "words": {0: "batch", 1: "length"},
                    "mask": {0: "batch", 1: "length"},
                    "embedding": {0: "batch"},
                },
                opset_version=17,
                dynamo=False,
            )
        if not int8:
            shutil.copyfile(plain, path)
            return
        tools.shape_inference.quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)
        tools.quantize_dynamic(
            str(ready),
            str(path),
            per_channel=True,
            weight_type=tools.QuantType.QInt8,
            op_types_to_quantize=["MatMul", "Gemm"],
        )


def write_embedder(pretrained: Pretrained, out: Path) -> None:
    """Write every file that `OnnxEmbedder` reads."""
    out.mkdir(parents=True, exist_ok=True)
    table, scales = quantize_rows(pretrained.words.numpy())
    np.save(out / "word_embeddings.npy", table)
    np.save(out / "word_scales.npy", scales)
    tokenizer = Tokenizer.from_file(str(pretrained.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (out / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    export_graph(SentenceMiniLm(pretrained.encoder).eval(), out / "embedder.onnx")
    divide(out / "embedder.onnx")
    for path in (out / LOWER, out / "embedder.onnx"):
        save_optimized(path, aside := path.with_suffix(".part"))
        aside.rename(path)


def reference(pretrained: Pretrained, texts: Sequence[str]) -> np.ndarray:
    """The same embeddings in float32 torch, one text at a time."""
    tokenizer = Tokenizer.from_file(str(pretrained.tokenizer))
    tokenizer.no_padding()
    model = SentenceMiniLm(pretrained.encoder).eval()
    rows = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text).ids])
            rows.append(model(pretrained.words[ids], torch.ones(ids.shape))[0].numpy())
    return np.stack(rows)


def check(pretrained: Pretrained, out: Path, texts: Sequence[str]) -> dict[str, float]:
    """Closeness to float32 and speed over `texts`."""
    embedder = OnnxEmbedder.load(out)
    exact = reference(pretrained, texts)
    started = time.perf_counter()
    fast = embedder.embed(texts)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    for text in texts[:100]:
        embedder.embed([text])
    single = (time.perf_counter() - started) / len(texts[:100])
    cosine = (exact * fast).sum(axis=1)
    return {
        "texts": len(texts),
        "cosine_mean": float(cosine.mean()),
        "cosine_min": float(cosine.min()),
        "texts_per_second": len(texts) / seconds,
        "one_text_ms": single * 1000,
    }


def main() -> None:
    """Export, then check against float32 where texts are given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=None, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--texts", type=Path, default=None, help="one text a line, to check with")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pretrained = load_minilm(options.model or bundled_minilm())
    write_embedder(pretrained, options.out)
    if options.texts:
        texts = options.texts.read_text(encoding="utf-8").splitlines()
        print(json.dumps(check(pretrained, options.out, texts), indent=2))


if __name__ == "__main__":
    main()
