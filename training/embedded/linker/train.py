"""Train the linker and measure it.

    python -m training.embedded.linker.train --data DATA --weights WEIGHTS --cache DIR

Two passes of small networks over hand-made features (local/linker/features.py). The second pass
sees what the first says about the surroundings of a column; on training questions the first pass's
say comes from a network that was not trained on that database.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from training.embedded.linker.data import (
    LinkExample,
    bird_examples,
    in_merged,
    merge,
    merged_examples,
    spider_examples,
    without_labels,
)
from training.embedded.pairs import load_databases
from training.embedded.precision import autocast, cpu_dtype
from training.embedded.split import load_split

from sqlwright.local.embedder.onnx import OnnxEmbedder, WordTable
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.linker.linker import Linker, Weights, network, surroundings

FOLDS = 3
HIDDEN = 96
EPOCHS = 6
WIDE_COLUMNS = 3_800
CHUNK = 1_000
"""Questions whose features are kept in one file."""
ROWS = 48
"""Most unneeded columns of one question that are trained on."""


@dataclass
class LinkFeatures:
    """An example with its features (half precision) and labels."""

    columns: np.ndarray
    tables: np.ndarray
    wanted_columns: np.ndarray
    """(n,) 1 needed, 0 not, -1 only joins: not trained on."""
    wanted_tables: np.ndarray
    owner: np.ndarray
    neighbours: np.ndarray
    database: str
    source: str
    plain: int
    """Number of the first column features, which need no encoder."""


def describe(linker: Linker, example: LinkExample) -> LinkFeatures:
    """Features and labels of one example."""
    arrays = linker.encode(example.schema)
    given = linker.describe(example.question, arrays, example.values)
    refs = [arrays.columns[row] for row in given.rows]
    wanted = [
        1.0 if ref in example.used.columns else -1.0 if ref in example.used.joining else 0.0
        for ref in refs
    ]
    return LinkFeatures(
        columns=given.columns.astype(np.float16),
        tables=given.tables.astype(np.float16),
        wanted_columns=np.array(wanted, dtype=np.float32),
        wanted_tables=np.array([t in example.used.tables for t in arrays.tables], dtype=np.float32),
        owner=arrays.table_of[given.rows],
        neighbours=arrays.neighbours,
        database=example.database.removeprefix("merged/"),
        source=example.source,
        plain=given.plain,
    )


def fit(
    inputs: np.ndarray,
    labels: np.ndarray,
    *,
    weights: np.ndarray,
    seed: int,
    epochs: int = EPOCHS,
    sizes: tuple[int, ...] = (HIDDEN, 32),
) -> dict[str, np.ndarray]:
    """A network for rows with labels 0 or 1; returns what `linker.network` reads, unprefixed."""
    torch.manual_seed(seed)
    rows = torch.from_numpy(inputs)
    wanted = torch.from_numpy(labels)
    weight = torch.from_numpy(weights)
    mean = rows.float().mean(0)
    scale = rows.float().std(0) + 1e-2
    layers: list[nn.Module] = []
    width = rows.shape[1]
    for size in sizes:
        layers += [nn.Linear(width, size), nn.ReLU(), nn.Dropout(0.1)]
        width = size
    model = nn.Sequential(*layers, nn.Linear(width, 1))
    batch, dtype = 4096, cpu_dtype()
    steps = epochs * (len(rows) // batch + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps + 1)
    for _ in range(epochs):
        for index in torch.randperm(len(rows)).split(batch):
            given = (rows[index].float() - mean) / scale
            with autocast(dtype):
                logits = model(given)[:, 0]
            loss = nn.functional.binary_cross_entropy_with_logits(
                logits.float(), wanted[index], weight=weight[index]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    result = {"mean": mean.numpy(), "scale": scale.numpy()}
    linear = [module for module in model if isinstance(module, nn.Linear)]
    for number, module in enumerate(linear):
        result[f"W{number}"] = module.weight.detach().numpy().T.copy()
        result[f"b{number}"] = module.bias.detach().numpy().copy()
    return result


def _named(stage: str, parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{stage}.{name}": part for name, part in parts.items()}


def _stack(
    described: Sequence[LinkFeatures], kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    rows, labels, weights = [], [], []
    for one in described:
        wanted = getattr(one, f"wanted_{kind}")
        unneeded = np.flatnonzero(wanted == 0)
        keep = np.flatnonzero(wanted > 0)
        if len(unneeded) > ROWS:
            # Of a wide schema a sample will do; each row then stands for several.
            drawn = draw.choice(unneeded, ROWS, replace=False)
            stands_for = len(unneeded) / ROWS
        else:
            drawn, stands_for = unneeded, 1.0
        scale = (30.0 / max(len(wanted), 30)) ** 0.5
        rows.append(getattr(one, kind)[np.concatenate([keep, drawn])])
        labels.append(np.concatenate([np.ones(len(keep)), np.zeros(len(drawn))]))
        weights.append(
            np.concatenate([np.ones(len(keep)), np.full(len(drawn), stands_for)]) * scale
        )
    return (
        np.concatenate(rows),
        np.concatenate(labels).astype(np.float32),
        np.concatenate(weights).astype(np.float32),
    )


def train(described: Sequence[LinkFeatures]) -> dict[str, np.ndarray]:
    """All networks of `linker.STAGES`."""
    started = time.perf_counter()
    weights: dict[str, np.ndarray] = {}
    databases = sorted({d.database for d in described})
    fold_of = {name: index % FOLDS for index, name in enumerate(databases)}
    first: list[dict[str, np.ndarray]] = []
    for fold in range(FOLDS):
        others = [d for d in described if fold_of[d.database] != fold]
        part: dict[str, np.ndarray] = {}
        for stage, kind in (("column", "columns"), ("table", "tables")):
            rows, labels, weight = _stack(others, kind)
            part |= _named(stage, fit(rows, labels, weights=weight, seed=fold))
            print(
                f"fold {fold} {stage} {len(rows)} rows {time.perf_counter() - started:.0f} s",
                flush=True,
            )
        first.append(part)
    for stage, kind in (("column", "columns"), ("table", "tables")):
        rows, labels, weight = _stack(described, kind)
        weights |= _named(stage, fit(rows, labels, weights=weight, seed=7))
    second = [_with_surroundings(d, first[fold_of[d.database]]) for d in described]
    for stage, kind in (("final", "columns"), ("final_table", "tables")):
        rows, labels, weight = _stack(second, kind)
        weights |= _named(stage, fit(rows, labels, weights=weight, seed=11))
    rows, labels, weight = _stack(described, "columns")
    weights |= _named(
        "prerank", fit(rows[:, : described[0].plain], labels, weights=weight, seed=5, sizes=(32,))
    )
    return weights


def _with_surroundings(one: LinkFeatures, weights: Weights) -> LinkFeatures:
    columns = network(weights, "column", one.columns.astype(np.float32))
    tables = network(weights, "table", one.tables.astype(np.float32))
    around, table_around = surroundings(columns, tables, one.owner, one.neighbours)
    return replace(
        one,
        columns=np.concatenate([one.columns, around.astype(np.float16)], axis=1),
        tables=np.concatenate([one.tables, table_around.astype(np.float16)], axis=1),
    )


def measure(linker: Linker, examples: Sequence[LinkExample], *, keep: int) -> dict[str, float]:
    """Recall of needed columns and tables when the `keep` best columns are shown."""
    found = needed = whole = tables_found = tables_needed = tables_whole = 0
    better: list[float] = []
    seconds = []
    for example in examples:
        linker.encode(example.schema)
        started = time.perf_counter()
        columns = linker.link(example.question, example.schema, example.values).columns
        seconds.append(time.perf_counter() - started)
        kept = {link.column for link in columns[:keep]}
        owners = {ref.table for ref in kept}
        hit = len(example.used.columns & kept)
        found, needed = found + hit, needed + len(example.used.columns)
        whole += hit == len(example.used.columns)
        hit = len(example.used.tables & owners)
        tables_found, tables_needed = tables_found + hit, tables_needed + len(example.used.tables)
        tables_whole += hit == len(example.used.tables)
        ranks = [i for i, link in enumerate(columns) if link.column in example.used.columns]
        rest = len(columns) - len(ranks)
        better += [1.0 - (rank - index) / max(rest, 1) for index, rank in enumerate(ranks)]
    count = len(examples)
    return {
        "questions": count,
        "keep": keep,
        "column_recall": found / max(needed, 1),
        "all_columns": whole / count,
        "table_recall": tables_found / max(tables_needed, 1),
        "all_tables": tables_whole / count,
        "auc": float(np.mean(better)),
        "median_ms": 1000 * float(np.median(seconds)),
        "p95_ms": 1000 * float(np.quantile(seconds, 0.95)),
    }


def gather(folder: Path, *, seed: int = 0) -> list[LinkExample]:
    """All training questions, those over one schema side by side."""
    split = load_split(folder)
    spider = spider_examples(folder, split, ("fit",))
    plain = [example for example in spider if example.source != "spider-syn"]
    bird = bird_examples(folder, seed=seed)
    examples = [*spider, *bird]
    examples += merged_examples(plain, columns=120, count=1500, seed=seed)
    examples += merged_examples(bird, columns=350, count=600, seed=seed + 1)
    examples += merged_examples([*plain, *bird], columns=350, count=900, seed=seed + 2)
    order: dict[int, int] = {}
    for example in examples:
        order.setdefault(id(example.schema), len(order))
    return sorted(examples, key=lambda example: order[id(example.schema)])


def build(folder: Path, linker: Linker, cache: Path) -> list[LinkFeatures]:
    """Features of all training questions; those that `cache` holds aren't made twice."""
    cache.mkdir(parents=True, exist_ok=True)
    examples = gather(folder)
    described: list[LinkFeatures] = []
    for first in range(0, len(examples), CHUNK):
        path = cache / f"described_{first:05d}.pickle"
        if not path.exists():
            made = [describe(linker, example) for example in examples[first : first + CHUNK]]
            partial = path.with_suffix(".partial")
            partial.write_bytes(pickle.dumps(made, protocol=5))
            partial.replace(path)
            print(f"{first + len(made)}/{len(examples)} described", flush=True)
        described += pickle.loads(path.read_bytes())
    return described


def wide_check(folder: Path, examples: Sequence[LinkExample], linker: Linker) -> dict[str, float]:
    """The same questions asked of one schema of at least 3,800 columns, never embedded before."""
    schemas = {example.database: example.schema for example in examples}
    others = {example.database: example.schema for example in bird_examples(folder)}
    known = load_databases(folder, load_split(folder).calib)
    others |= {name: without_labels(one.schema) for name, one in known.items()}
    for name, schema in others.items():
        if sum(one.column_count for one in schemas.values()) < WIDE_COLUMNS:
            schemas.setdefault(name, schema)
    schema, renamed = merge(schemas.values())
    moved = [in_merged(e, schema, renamed[e.database]) for e in examples]
    started = time.perf_counter()
    linker.encode(schema)
    encoding = time.perf_counter() - started
    started = time.perf_counter()
    linker.link(moved[0].question, schema, moved[0].values)
    first = time.perf_counter() - started
    figures = measure(linker, moved, keep=40)
    return {"columns": schema.column_count, "encode_s": encoding, "first_s": first, **figures}


def main() -> None:
    """Describe, train, write `linker.npz`, measure on `valid`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--weights", type=Path, required=True, help="folder of the embedder's files"
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder for features")
    parser.add_argument("--measure-only", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    words = WordTable.load(options.weights)
    embedder = OnnxEmbedder.load(options.weights, words=words)
    static = StaticEmbedder.load(options.weights, words=words)
    target = options.weights / "linker.npz"
    if not options.measure_only:
        describing = Linker(embedder, static, {}, wide=100_000)
        weights = train(build(options.data, describing, options.cache))
        partial = target.with_suffix(".partial.npz")
        np.savez_compressed(partial, allow_pickle=False, **weights)
        partial.replace(target)
    linker = Linker.load(options.weights, embedder=embedder, words=words)
    split = load_split(options.data)
    examples = spider_examples(options.data, split, ("valid",))
    for source in ("spider", "spider-syn", "archer"):
        own = [e for e in examples if e.source == source]
        if own:
            print(source, json.dumps(measure(linker, own, keep=12)), flush=True)
    plain = [e for e in examples if e.source == "spider"]
    print("wide", json.dumps(wide_check(options.data, plain, linker)))


if __name__ == "__main__":
    main()
