"""The parser's exported int8 graphs back into the torch model, so that training can go on from
shipped weights when no checkpoint is left. What is lost is the rounding to int8, once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor
from training.embedded.parser.model import ParserModel

KEYWORD_WEIGHTS = ("decoder.keywords.weight", "decoder.keyword_bias")
GRAPHS = ("parser_encoder.onnx", "parser_decoder.onnx")

Floats = npt.NDArray[np.float32]


_FUSED = {"DynamicQuantizeMatMul": 4, "MatMulIntegerToFloat": 6}
"""Products with their scales in one node, and which of its inputs is added, if one is."""
_UNSIGNED = "_s8_2_u8"
_PRODUCTS = {"MatMul", "MatMulInteger", *_FUSED}


@dataclass(frozen=True)
class _Product:
    """A product with a constant matrix, and the constant that is added to it."""

    matrix: Floats
    """(..., in, out)"""
    bias: Floats | None
    bias_name: str


def restore(model: ParserModel, folder: Path) -> None:
    """Overwrite what the model trains by the weights of the graphs in a folder.

    Call it when the frozen layers are marked: those are in no graph and stay as they are. Raises
    ValueError when a weight isn't in the graphs, RuntimeError when one has another shape. Keywords
    that the graphs don't know yet keep the model's own first weights.
    """
    found: dict[str, Tensor] = {}
    for name in GRAPHS:
        found.update(read_graph(folder / name, model))
    for name in KEYWORD_WEIGHTS:
        found[name] = with_new_keywords(found[name], model.state_dict()[name])
    wanted = {name for name, value in model.named_parameters() if value.requires_grad}
    if missing := sorted(wanted - found.keys()):
        raise ValueError(f"{folder} holds no {', '.join(missing)}")
    model.load_state_dict(found, strict=False)


def with_new_keywords(old: Tensor, fresh: Tensor) -> Tensor:
    """Weights of keywords, one a row and the start of a query last, brought to as many rows as
    `fresh` has: the old keywords keep their rows."""
    grown = fresh.detach().clone()
    grown[: len(old) - 1] = old[:-1]
    grown[-1] = old[-1]
    if grown.dim() == 1:  # a bias: what isn't known yet is as unlikely as the least known
        grown[len(old) - 1 : -1] = old.min()
    return grown


def read_graph(path: Path, model: ParserModel) -> dict[str, Tensor]:
    """The weights in one graph by the model's names for them."""
    graph = onnx.load(str(path)).graph
    known = model.state_dict()
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    found = {name: value for name, value in constants.items() if name in known}
    relations = 0
    for product in _products(graph, constants):
        stem, _, kind = product.bias_name.rpartition(".")
        if product.matrix.ndim > 2:
            # The exporter keeps the layers' order, not the names of what it turned round.
            name = f"encoder.layers.{relations}.relation_"
            found[name + "keys"] = product.matrix.swapaxes(-1, -2)
            if product.bias is not None:
                found[name + "bias"] = product.bias.squeeze(1)
            relations += 1
        elif kind == "bias" and stem + ".weight" in known:
            found[stem + ".weight"] = product.matrix.T
        elif product.bias is None:
            found["encoder.features.weight"] = product.matrix.T
        else:
            # The keywords' table is there in float32; only their bias comes from here.
            found["decoder.keyword_bias"] = product.bias
    return {name: torch.from_numpy(np.array(value)) for name, value in found.items()}


def _products(graph: Any, constants: Mapping[str, npt.NDArray[Any]]) -> Iterator[_Product]:
    """All products with a constant matrix, in the graph's order. The optimiser makes one node of an
    int8 product, its scale and what is added."""
    readers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)
    for node in graph.node:
        if node.op_type not in _PRODUCTS or node.input[1] not in constants:
            continue
        weight = node.input[1]
        if node.op_type in _FUSED and (bias := "".join(node.input[_FUSED[node.op_type] :])):
            yield _Product(_matrix(weight, constants), constants[bias], bias)
            continue
        after = readers[node.output[0]][0]
        while after.op_type in {"Cast", "Mul"}:
            after = readers[after.output[0]][0]
        added = [name for name in after.input if name in constants]
        bias = added[0] if after.op_type == "Add" and added else ""
        yield _Product(_matrix(weight, constants), constants.get(bias), bias)


def _matrix(name: str, constants: Mapping[str, npt.NDArray[Any]]) -> Floats:
    """A constant matrix in float32; a quantised one has one scale an output."""
    stored = constants[name]
    # The optimiser turns signed bytes to unsigned ones where the processor multiplies those better.
    unsigned = _UNSIGNED if name.endswith(_UNSIGNED) else ""
    stem, _, kind = name.removesuffix(unsigned).rpartition("_")
    if kind != "quantized":
        return stored
    zero = constants[f"{stem}_zero_point{unsigned}"].astype(np.float32)
    scaled: Floats = (stored.astype(np.float32) - zero) * constants[stem + "_scale"]
    return scaled
