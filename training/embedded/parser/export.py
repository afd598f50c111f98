"""Write the parser's ONNX files from a checkpoint, in int8 with weights quantised per channel.

python -m training.embedded.parser.export CHECKPOINT --out src/sqlwright/local/weights
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from training.embedded.minilm import HIDDEN, MiniLm
from training.embedded.parser.model import Decoder, DecoderLayer, Encoder, ParserModel, Sizes

from sqlwright.local.runtime import quantization, save_optimized


class EncoderGraph(nn.Module):
    """The encoder for one input without padding."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(
        self,
        lower: Tensor,
        features: Tensor,
        pool: Tensor,
        node_features: Tensor,
        relations: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        outputs: tuple[Tensor, Tensor, Tensor, Tensor] = self.encoder(
            lower,
            features,
            torch.ones_like(lower[..., 0]),
            pool,
            node_features,
            torch.ones_like(pool[..., 0]),
            relations,
        )
        return outputs


class StepGraph(nn.Module):
    """One more token for each hypothesis. Hypotheses share the nodes, so attention to nodes takes
    them as one sequence."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self, tokens: Tensor, inputs: Tensor, keys: Tensor, memory: Tensor, past: Tensor
    ) -> tuple[Tensor, Tensor]:
        """`tokens` (W,), `inputs`, `keys` (1, N, 384), `memory` (1, N, 2·layers·384), `past`
        (2·layers, W, heads, S, size); gives logits (W, K + N) and `past` with one step more."""
        decoder = self.decoder
        table = torch.cat([decoder.keywords.weight, inputs[0]], 0)
        # The steps so far are the position of this one.
        position = functional.embedding(
            torch.zeros_like(tokens) + past.shape[3], decoder.positions.weight
        )
        states = decoder.in_norm(functional.embedding(tokens, table) + position)
        present = []
        for index, layer in enumerate(decoder.layers):
            states, key, value = self._layer(
                layer,
                states,
                (past[2 * index], past[2 * index + 1]),
                memory[0, :, 2 * index * HIDDEN : 2 * (index + 1) * HIDDEN],
            )
            present += [key, value]
        logits = decoder.logits(decoder.out_norm(states)[None], keys)[0]
        return logits, torch.stack(present)

    def _layer(
        self, layer: DecoderLayer, states: Tensor, past: tuple[Tensor, Tensor], memory: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        heads, size = layer.heads, layer.size
        projected = layer.projection(layer.norm(states)).view(-1, 3, heads, 1, size)
        query, key, value = projected.unbind(1)
        key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        weights = (query @ key.transpose(-1, -2) / size**0.5).softmax(-1)
        states = states + layer.attended((weights @ value).reshape(-1, HIDDEN))
        query = layer.cross_query(layer.cross_norm(states)).view(-1, heads, size).transpose(0, 1)
        near, far = memory.view(-1, 2, heads, size).permute(1, 2, 0, 3).unbind(0)
        weights = (query @ near.transpose(-1, -2) / size**0.5).softmax(-1)
        mixed = (weights @ far).transpose(0, 1).reshape(-1, HIDDEN)
        states = states + layer.cross_attended(mixed)
        inner = layer.down(functional.gelu(layer.up(layer.inner_norm(states))))
        return states + inner, key, value


def load_model(checkpoint: Path, *, average: bool = True) -> ParserModel:
    """The model of a checkpoint in float32, with its averaged weights or its last ones."""
    state = torch.load(checkpoint, weights_only=True, map_location="cpu")
    model = ParserModel(Sizes(**state["sizes"]), MiniLm(), torch.zeros(1, HIDDEN), 0.0)
    model.encoder.frozen = int(state["settings"]["frozen"])
    model.load_state_dict(state["model"])
    if average:
        model.load_state_dict(state["average"], strict=False)
    model.float().eval()
    return model


def samples(sizes: Sizes) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Inputs of both graphs to trace them with."""
    length, nodes, wide, steps = 13, 7, 3, 4
    encoder = (
        torch.randn(1, length, HIDDEN),
        torch.zeros(1, length, sizes.features),
        torch.full((1, nodes, length), 1.0 / length),
        torch.zeros(1, nodes, sizes.features),
        torch.zeros(1, nodes, nodes, dtype=torch.int64),
    )
    decoder = (
        torch.arange(wide),
        torch.randn(1, nodes, HIDDEN),
        torch.randn(1, nodes, HIDDEN),
        torch.randn(1, nodes, 2 * sizes.decoder_layers * HIDDEN),
        torch.randn(2 * sizes.decoder_layers, wide, sizes.heads, steps, HIDDEN // sizes.heads),
    )
    return encoder, decoder


def write_graph(
    module: nn.Module,
    sample: Sequence[Tensor],
    path: Path,
    names: tuple[Sequence[str], Sequence[str]],
    axes: dict[str, dict[int, str]],
    *,
    int8: bool,
) -> None:
    """Trace a module, quantise its matrix products where asked, write aside and rename. What is
    quantised is optimised, too."""
    tools = quantization()
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, ready = Path(scratch) / "plain.onnx", Path(scratch) / "ready.onnx"
        int8s, final = Path(scratch) / "int8.onnx", Path(scratch) / "final.onnx"
        options: dict[str, Any] = {"opset_version": 17, "dynamo": False}
        torch.onnx.export(
            module,
            tuple(sample),
            str(plain),
            input_names=list(names[0]),
            output_names=list(names[1]),
            dynamic_axes=axes,
            **options,
        )
        tools.shape_inference.quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)
        if int8:
            tools.quantize_dynamic(
                str(ready),
                str(int8s),
                per_channel=True,
                weight_type=tools.QuantType.QInt8,
                op_types_to_quantize=["MatMul", "Gemm"],
                nodes_to_exclude=_stacked_products(ready),
            )
            save_optimized(int8s, final)
        else:
            final = ready
        aside = path.with_suffix(".part")
        shutil.copyfile(final, aside)
        aside.rename(path)


def _stacked_products(path: Path) -> list[str]:
    """Products with a constant of more than two axes, for which int8 has no kernel."""
    import onnx

    graph = onnx.load(str(path)).graph
    stacked = {tensor.name for tensor in graph.initializer if len(tensor.dims) > 2}
    return [node.name for node in graph.node if stacked.intersection(node.input)]


def export(model: ParserModel, out: Path, *, int8: bool = True) -> None:
    """Write `parser_encoder.onnx` and `parser_decoder.onnx`."""
    out.mkdir(parents=True, exist_ok=True)
    first, second = samples(model.sizes)
    write_graph(
        EncoderGraph(model.encoder).eval(),
        first,
        out / "parser_encoder.onnx",
        (
            ("lower", "features", "pool", "node_features", "relations"),
            ("link", "inputs", "keys", "memory"),
        ),
        {
            "lower": {1: "length"},
            "features": {1: "length"},
            "pool": {1: "nodes", 2: "length"},
            "node_features": {1: "nodes"},
            "relations": {1: "nodes", 2: "nodes"},
            "link": {1: "nodes"},
            "inputs": {1: "nodes"},
            "keys": {1: "nodes"},
            "memory": {1: "nodes"},
        },
        int8=int8,
    )
    write_graph(
        StepGraph(model.decoder).eval(),
        second,
        out / "parser_decoder.onnx",
        (("tokens", "inputs", "keys", "memory", "past"), ("logits", "present")),
        {
            "tokens": {0: "wide"},
            "inputs": {1: "nodes"},
            "keys": {1: "nodes"},
            "memory": {1: "nodes"},
            "past": {1: "wide", 3: "steps"},
            "logits": {0: "wide", 1: "all"},
            "present": {1: "wide", 3: "more"},
        },
        int8=int8,
    )


def main(arguments: Iterable[str] | None = None) -> None:
    """Export a checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--float", action="store_true", help="leave the weights in float32")
    parser.add_argument("--last", action="store_true", help="last weights, not their average")
    options = parser.parse_args(None if arguments is None else list(arguments))
    torch.set_num_threads(1)
    model = load_model(options.checkpoint, average=not options.last)
    export(model, options.out, int8=not options.float)


if __name__ == "__main__":
    main()
