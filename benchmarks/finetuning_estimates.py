"""Time, memory and money of training on the papers' sets: the estimates of docs/finetuning.md.

    python -m benchmarks.finetuning_estimates OUT [--tokenizer FOLDER] [--write]

OUT is the folder in which `benchmarks.finetuning_sets` built the sets. Tokens are counted by the
tokenizer of FOLDER, else estimated. Nothing is measured: operations follow from the tokens, hours
from rates that others published (`finetuning/estimating/throughput.py`). `--write` puts the tables
between the markers of docs/finetuning.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.marked import write_between

from sqlwright.lab.finetuning.estimating.estimate import Estimate, EstimatePlan, estimate
from sqlwright.lab.finetuning.estimating.memory import training_memory
from sqlwright.lab.finetuning.estimating.operations import Passes
from sqlwright.lab.finetuning.estimating.shape import SHAPES, ModelShape
from sqlwright.lab.finetuning.estimating.throughput import (
    GPUS,
    PUBLISHED,
    Range,
    find_gpu,
    utilisation,
)
from sqlwright.lab.finetuning.estimating.tokens import TRAIN, SetTokens, set_tokens
from sqlwright.lab.finetuning.trainer.plan import Settings
from sqlwright.lab.finetuning.trainer.presets import find_preset
from sqlwright.presentation.numbers import counted

DOC = Path("docs/finetuning.md")
BEGIN = "<!-- estimates: begins -->"
END = "<!-- estimates: ends -->"
PRESETS = {
    "msc-linker": "msc",
    "msc-generator": "msc",
    "msc-critic": "msc",
    "chess-generator": "chess",
    "chase-selector": "chase-selector",
}
"""The settings that each set's paper trained by."""
WHOLE = {"msc-linker": 14_301, "msc-generator": 14_301, "chess-generator": 8_617}
"""Questions of the whole sets, without the databases that are measured on: to these the hours of
sets that were built from a sample are scaled."""
CHESS_MODEL = ModelShape("DeepSeek-Coder-33B", 62, 7168, 7168, 1024, 19200, 32_256)
"""The model that CHESS trained, by its configuration."""
SAMPLED = 0.7
"""Share of the whole under which a set is taken for one of a sample: a tenth of the databases is
held out, and some questions give no example."""
CHESS_HOURS = 4
"""Hours on one H100, as CHESS says in appendix B.2."""


def passes(settings: Settings) -> Passes:
    """What a preset trains, activations recomputed."""
    return Passes("lora" if settings.quantized == "none" else "qlora", settings.rank)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = _options(arguments)
    sets = {
        name: set_tokens(options.out / name, options.tokenizer)
        for name in PRESETS
        if (options.out / name / TRAIN).is_file()
    }
    lines = [*_hours(sets), "", *_check(sets), *_memory(sets), "", *_rates()]
    text = "\n".join(lines).rstrip() + "\n"
    print(text)
    if options.write:
        write_between(DOC, BEGIN, END, text)


def _hours(sets: dict[str, SetTokens]) -> Iterator[str]:
    yield (
        "| set, settings | tokens an epoch | model | 1 A100 | 8 A100 | 1 H100 | 8 H100 | on 80 GB |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, tokens in sets.items():
        settings = find_preset(PRESETS[name])
        scale = _scale(name, tokens)
        for number, shape in enumerate(SHAPES.values()):
            found = [
                estimate(_plan(shape, gpu, count, settings, scale), tokens)
                for gpu in ("A100", "H100")
                for count in (1, 8)
            ]
            how = f"`{name}`, `{PRESETS[name]}`: {settings.epochs:g} epochs"
            about = f"{scale * tokens.total / 1e6:.1f} million"
            told = counted(tokens.examples, "example")
            about += f" (scaled from {told} to {WHOLE[name]:,})" if scale > 1 else f" of {told}"
            fits = "fits" if found[0].memory.fits(80) else "doesn't fit"
            cells = [how, about] if not number else ["", ""]
            cells += [shape.name, *(words(one.hours) for one in found)]
            cells += [f"{found[0].memory.total:.0f} GB, {fits}"]
            yield f"| {' | '.join(cells)} |"


def _scale(name: str, tokens: SetTokens) -> float:
    """Times that the whole set is larger than what was built, where that was a sample."""
    share = tokens.examples / WHOLE.get(name, tokens.examples)
    return 1.0 if share > SAMPLED else 1 / share


def _plan(
    shape: ModelShape, gpu: str, count: int, settings: Settings, scale: float = 1.0
) -> EstimatePlan:
    return EstimatePlan(
        shape, find_gpu(gpu), gpus=count, passes=passes(settings), epochs=settings.epochs * scale
    )


def words(hours: Range) -> str:
    """A range of hours, short ones in minutes."""
    if hours.high < 1:
        return f"{hours.low * 60:.0f} to {hours.high * 60:.0f} min"
    digits = 0 if hours.low >= 10 else 1
    return f"{hours.low:.{digits}f} to {hours.high:.{digits}f} h"


def _check(sets: dict[str, SetTokens]) -> Iterator[str]:
    """The one time that a paper tells, beside our estimate of it."""
    if "chess-generator" not in sets:
        return
    plan = _plan(CHESS_MODEL, "H100", 1, find_preset("chess"))
    tokens = sets["chess-generator"]
    plan = replace(plan, epochs=plan.epochs * _scale("chess-generator", tokens))
    found: Estimate = estimate(plan, tokens)
    yield (
        f"CHESS says that its training took {CHESS_HOURS} hours on one H100. The estimate for its "
        f"model and our set, scaled to all questions, is {words(found.hours)}."
    )
    yield ""


def _memory(sets: dict[str, SetTokens]) -> Iterator[str]:
    longest = max((max(one.lengths) for one in sets.values()), default=8192)
    yield f"Memory of one text of {longest:,} tokens, the longest of the sets, rank 32:"
    yield ""
    yield "| model | 4 bits (QLoRA) | 16 bits (LoRA) | 24 GB | 48 GB | 80 GB |"
    yield "|---|---|---|---|---|---|"
    for shape in SHAPES.values():
        quarter = training_memory(shape, Passes("qlora", 32), tokens=longest)
        half = training_memory(shape, Passes("lora", 32), tokens=longest)
        fits = [
            "both" if half.fits(size) else "QLoRA" if quarter.fits(size) else "no"
            for size in (24, 48, 80)
        ]
        told = [shape.name, f"{quarter.total:.0f} GB", f"{half.total:.0f} GB", *fits]
        yield f"| {' | '.join(told)} |"


def _rates() -> Iterator[str]:
    yield "Rates that others published, and the share of the GPU's peak that they come to:"
    yield ""
    yield "| GPU | model | method | length | tokens a second and GPU | share of peak | source |"
    yield "|---|---|---|---|---|---|---|"
    for row in PUBLISHED:
        share = row.operations / find_gpu(row.gpu).peak
        cells = [row.gpu, row.shape.name, row.method, f"{row.tokens:,}", f"{row.rate:,.0f}"]
        note = "" if row.like_ours else ", FP8 and packed: not used"
        yield f"| {' | '.join(cells)} | {share:.0%} | {row.source.split(' ')[0]}{note} |"
    yield ""
    for gpu in GPUS.values():
        for method in ("lora", "qlora"):
            found, source = utilisation(gpu, "lora" if method == "lora" else "qlora")
            yield (
                f"- {gpu.name} ({gpu.peak / 1e12:.0f} TFLOP/s), {method}: {found.low:.0%} to "
                f"{found.high:.0%}, {'from the rows above' if source else 'chosen'}"
            )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
