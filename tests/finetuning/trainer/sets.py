"""Small sets by hand: prompts short enough to be learnt by heart by a tiny model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlwright.lab.datasets.reading import file_digest
from sqlwright.lab.finetuning.building.set_folder import (
    SetFolder,
    SetRecord,
    SourceRecord,
    write_record,
)
from sqlwright.lab.finetuning.example import TrainingExample, Turn, write_examples
from sqlwright.lab.finetuning.trainer.plan import Settings, TrainingPlan
from tests.llm.tiny_weights import save_tiny

QUERIES = (
    ("How many shops?", "SELECT COUNT(*) FROM shop;"),
    ("All towns?", "SELECT town FROM shop;"),
    ("Who works?", "SELECT name FROM staff;"),
    ("Oldest?", "SELECT MAX(age) FROM staff;"),
    ("Cheap items?", "SELECT item FROM stock WHERE price < 2;"),
    ("Total?", "SELECT SUM(price) FROM stock;"),
)
SPREAD = 0.3
SETTINGS = Settings(
    rank=16, alpha=64, dropout=0.0, epochs=40.0, batch=3, learning_rate=5e-3, warm_up=0.1,
    max_tokens=400,
)  # fmt: skip
"""Enough to learn the queries by heart in some seconds."""


def query(number: int, question: str, sql: str) -> TrainingExample:
    return TrainingExample(
        f"hand/{number}", "generator", "generation.direct", f"q{number}", "shop", "hand",
        (Turn("system", "Write SQL."), Turn("user", question)), sql,
    )  # fmt: skip


def examples() -> list[TrainingExample]:
    return [query(number, *pair) for number, pair in enumerate(QUERIES)]


def save_set(
    folder: Path,
    train: Sequence[TrainingExample] = (),
    held_out: Sequence[TrainingExample] = (),
    *,
    sources: Sequence[SourceRecord] = (),
) -> SetFolder:
    """A set's folder; by default of the queries above."""
    folder.mkdir(parents=True, exist_ok=True)
    train = train or examples()
    write_examples(folder / "train.jsonl", train)
    write_examples(folder / "held_out.jsonl", held_out)
    digests = {name: file_digest(folder / name) for name in ("train.jsonl", "held_out.jsonl")}
    record = SetRecord(
        version=1, role=train[0].role, step=train[0].step, recipe="msc-tuned", overrides=(),
        context_tokens=4096, seed=0, sqlwright="0.1.0", sources=tuple(sources),
        databases={"train": ("shop",), "held_out": ()}, held_out_questions=(), generators=(),
        skipped={}, statistics={}, digests=digests,
    )  # fmt: skip
    write_record(folder, record)
    return SetFolder.open(folder)


def a_plan(folder: Path, **changed: object) -> TrainingPlan:
    """A plan over a set and a model below a folder, both made where they aren't there."""
    if not (folder / "set").exists():
        save_set(folder / "set")
    if not (folder / "tiny").exists():
        save_tiny(folder / "tiny", spread=SPREAD)
    plan = TrainingPlan(
        folder / "set", folder / "tiny", folder / "run", settings=SETTINGS, device="cpu"
    )
    return replace(plan, **changed)  # type: ignore[arg-type]
