"""A set, a run and how it is served, in words."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.text import clean
from sqlwright.lab.finetuning.building.plan import BuildPlan
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.presentation.numbers import counted

BALANCE = 12
"""Labels of a kind that are shown; --json has all."""


def set_data(made: SetFolder) -> dict[str, Any]:
    """A set as JSON holds it."""
    return {"folder": str(made.path), **asdict(made.about)}


def set_lines(made: SetFolder, width: int) -> Iterator[Text]:
    """A set's statistics."""
    about = made.about
    for part in ("train", "held_out"):
        told = about.statistics.get(part)
        if isinstance(told, Mapping):
            label = part.replace("_", " ")
            yield from labelled(label, [Text(line) for line in _part(told)], width)
    skipped = [f"{counted(n, 'question')}: {clean(why, 200)}" for why, n in about.skipped.items()]
    yield from labelled("left out", [Text(line) for line in skipped], width)
    generators = [Text(line) for line in map(_generator, about.generators)]
    yield from labelled("candidates", generators, width)
    if about.evaluations:
        names = clean(", ".join(about.evaluations), 400)
        told = f"no database and no question of {names} is in it"
        yield from labelled("leakage", [Text(told)], width)


def _generator(told: Mapping[str, Any]) -> str:
    name = clean(str(told.get("model") or told.get("recipe") or "unnamed"), 200)
    line = f"{counted(told.get('kept', 0), 'candidate')} by {name}"
    if told.get("dropped"):
        line += f", {told['dropped']:,} left out: it was trained on their databases"
    if told.get("unknown"):
        line += f", of {told['unknown']:,} it isn't known whether it was trained on their databases"
    return line


def _part(told: Mapping[str, Any]) -> Iterator[str]:
    tokens = told.get("tokens", {})
    yield (
        f"{counted(told.get('examples', 0), 'example')} of "
        f"{counted(told.get('questions', 0), 'question')} over "
        f"{counted(told.get('databases', 0), 'database')}"
    )
    if told.get("examples"):
        yield (
            f"tokens, estimated rather too many: {tokens['mean']:,.0f} on average, 95 % up to "
            f"{tokens['p95']:,}, the longest {tokens['max']:,}"
        )
    for labels in told.get("balance", {}).values():
        for name, counts in labels.items():
            if isinstance(counts, Mapping):
                yield f"{name.replace('_', ' ')}: {_counts(counts)}"


def _counts(counts: Mapping[str, int]) -> str:
    shown = [
        f"{clean(str(label), 60)} {count:,}" for label, count in list(counts.items())[:BALANCE]
    ]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def run_lines(record: Mapping[str, Any], folder: Path, width: int) -> Iterator[Text]:
    """A run that has ended."""
    yield from labelled("adapter", [Text(clean(str(folder / "adapter"), 400))], width)
    yield from labelled("card", [Text(clean(str(folder / "MODEL_CARD.md"), 400))], width)
    losses = record.get("losses") or {}
    if losses:
        told = f"{losses['first']:.3f} at first, {losses['last_tenth']:.3f} at the end"
        yield from labelled("loss", [Text(told)], width)
    shares = (record.get("evaluation") or {}).items()
    lines = [Text(clean(f"{name}: {_share(share)}", 400)) for name, share in shares]
    none = "none: no example is over a database that was set apart, or --evaluate was 0"
    yield from labelled("evaluation", lines or [Text(none)], width)


def _share(share: Mapping[str, Any]) -> str:
    low, high = f"{share['low']:.0%}", f"{share['high']:.0%}"
    return f"{share['value']:.1%} of {share['total']:,} (95 % interval {low} to {high})"


def serving_lines(plan: BuildPlan, out: Path, width: int) -> Iterator[Text]:
    """The lines of a project file that name the adapter, and how to ask with it."""
    adapter = clean(str((out / "adapter").absolute()), 400)
    lines = [
        f"[models.tuned-{plan.role}]",
        f"model = {json.dumps(f'weights/{adapter}')}",
        f"context_tokens = {plan.context_tokens}",
    ]
    yield from labelled("to use it", [Text("put this into sqlwright.toml:")], width)
    yield Text()
    yield from (Text(f"    {line}") for line in lines)
    yield Text()
    told = f"sqlwright ask shop.sqlite 'QUESTION' --recipe {clean(plan.recipe, 80)}"
    told += "".join(f" --set {clean(shlex.quote(one), 200)}" for one in plan.overrides)
    yield from labelled("then", [Text(told)], width)
    merging = f"sqlwright lab finetune merge {clean(str(out), 400)} --out FOLDER"
    yield from labelled("or", [Text(f"{merging}, for servers without adapters")], width)
