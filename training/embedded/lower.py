"""Divide the embedder's graph after its first layer: the parser shares the lower part."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from onnx.utils import extract_model

from sqlwright.local.embedder.onnx import LOWER

BORDER = "/encoder/layers.0/output_norm/LayerNormalization_output_0"
"""The first layer's output, as the exporter names it."""


def divide(embedder: Path) -> None:
    """Replace `embedder` (words, mask → embedding) by its upper part (lower, mask → embedding) and
    write the lower part (words, mask → lower) beside it."""
    with tempfile.TemporaryDirectory() as scratch:
        lower, upper = Path(scratch) / "lower.onnx", Path(scratch) / "upper.onnx"
        shape: list[str | int | None] = ["batch", "length", 384]
        model = onnx.load(str(embedder))
        border = helper.make_tensor_value_info(BORDER, TensorProto.FLOAT, shape)
        model.graph.value_info.append(border)
        named = Path(scratch) / "named.onnx"
        onnx.save(model, str(named))
        extract_model(str(named), str(lower), ["words", "mask"], [BORDER], check_model=False)
        extract_model(str(named), str(upper), [BORDER, "mask"], ["embedding"], check_model=False)
        for path in (lower, upper):
            _rename(path, BORDER, "lower")
        shutil.copyfile(lower, embedder.with_name(LOWER))
        shutil.copyfile(upper, embedder)


def _rename(path: Path, old: str, new: str) -> None:
    model = onnx.load(str(path))
    graph = model.graph
    for node in graph.node:
        for names in (node.input, node.output):
            for index, name in enumerate(names):
                if name == old:
                    names[index] = new
    for value in (*graph.input, *graph.output):
        if value.name == old:
            value.name = new
    onnx.save(model, str(path))
