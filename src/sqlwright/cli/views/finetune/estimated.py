"""Estimates of a training: a table of GPUs, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.table import table_lines
from sqlwright.cli.terminal.text import clean
from sqlwright.lab.finetuning.estimating.estimate import Estimate
from sqlwright.lab.finetuning.estimating.throughput import Range
from sqlwright.presentation.answer import to_json
from sqlwright.presentation.numbers import counted, money


def show_estimates(
    screen: Screen, folder: Path, found: Sequence[Estimate], *, as_json: bool
) -> None:
    """Show them."""
    if as_json:
        data = {"set": str(folder), "estimates": [one.data() for one in found]}
        write_result(to_json(data, indent=2) + "\n")
        return
    screen.show(_about(found[0], screen.width))
    columns = ["GPU", "GPUs", "hours", "GPU hours"]
    columns += ["price"] if found[0].plan.price is not None else []
    rows = [_row(one) for one in found]
    columns += ["share of peak", "memory"]
    screen.show([Text()])
    screen.show(table_lines(columns, rows, width=screen.width, glyphs=screen.glyphs))
    screen.show([Text(), *_basis(found, screen.width)])


def hours_words(hours: Range) -> str:
    """A range of hours: '1.2 to 3.4', below an hour in minutes."""
    if hours.high < 1:
        return f"{hours.low * 60:.0f} to {hours.high * 60:.0f} min"
    digits = 0 if hours.low >= 10 else 1
    return f"{hours.low:.{digits}f} to {hours.high:.{digits}f} h"


def _about(one: Estimate, width: int) -> Iterator[Text]:
    plan = one.plan
    how = "counted" if one.counted else "estimated, rather too many"
    told = (
        f"{counted(one.examples, 'example')}, {one.tokens:,} tokens an epoch ({how}), the longest "
        f"{one.longest:,}"
    )
    yield from labelled("set", [Text(told)], width)
    name = clean(plan.shape.name, 80)
    rank = "" if plan.passes.method == "full" else f" of rank {plan.passes.rank}"
    how = f"{plan.passes.method}{rank}, {plan.epochs:g} epochs, {plan.objective}"
    told = f"{name}, {plan.shape.parameters / 1e9:.1f} billion parameters; {how}; "
    told += f"{one.operations:.2g} operations"
    yield from labelled("training", [Text(told)], width)
    fits = [f"{size} GB" for size, fits in one.fits.items() if fits]
    told = f"{one.memory.total:.0f} GB: " + ", ".join(
        f"{value:.1f} {name}"
        for name, value in (
            ("weights", one.memory.weights),
            ("trained", one.memory.trained),
            ("activations", one.memory.activations),
            ("logits", one.memory.logits),
            ("libraries", one.memory.libraries),
        )
    )
    told += f"; fits a GPU of {' or '.join(fits)}" if fits else "; fits no single GPU of 80 GB"
    yield from labelled("memory", [Text(told)], width)


def _row(one: Estimate) -> list[Any]:
    plan = one.plan
    row: list[Any] = [plan.gpu.name, plan.gpus, hours_words(one.hours), hours_words(one.gpu_hours)]
    if one.cost is not None:
        row.append(f"{money(one.cost.low)} to {money(one.cost.high)}")
    share = f"{one.utilisation.low:.0%} to {one.utilisation.high:.0%}"
    share += "" if one.source else " (chosen)"
    room = "fits" if one.memory.fits(plan.gpu.memory) else "doesn't fit"
    return [*row, share, f"{room} {plan.gpu.memory:.0f} GB"]


def _basis(found: Sequence[Estimate], width: int) -> Iterator[Text]:
    told = (
        "Estimates, not measured. Padding, building the set and evaluation come on top; texts that "
        "are packed without padding, or faster kernels, take less."
    )
    yield from labelled("basis", [Text(told)], width)
    sources = dict.fromkeys(one.source for one in found if one.source)
    for source in sources:
        yield from labelled("", [Text(f"share of peak from {source}")], width)
