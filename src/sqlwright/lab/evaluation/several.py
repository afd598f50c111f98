"""Several runs at once: one for each seed; and a small one that says what all will take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.selection import Selection, sampled
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.files import write_json
from sqlwright.lab.evaluation.intervals import Sample, over_seeds
from sqlwright.lab.evaluation.run import (
    EvaluationSettings,
    Progress,
    RunAccount,
    chosen,
    evaluate,
)

SEEDS = "seeds.json"
ESTIMATED = 8
"""Questions that an estimate asks; chosen."""


def evaluate_seeds(
    dataset: Dataset,
    settings: EvaluationSettings,
    folder: Path,
    seeds: int,
    *,
    progress: Callable[[str], Progress] | None = None,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measure with the seeds 0 to `seeds` - 1, in a folder each, which go on where they were.

    Gives the summaries under `runs` and, of those that asked all their questions, the mean of the
    shares of right questions with its interval over seeds, as `execution_accuracy`; written to
    `seeds.json`, too. A budget of the run is that of all of them. Raises as `evaluate` does."""
    folder.mkdir(parents=True, exist_ok=True)
    account, runs = RunAccount(settings.llm.run_budget, folder), []
    for seed in range(seeds):
        name = f"seed-{seed}"
        tell = None if progress is None else progress(name)
        seeded = replace(settings, seed=seed)
        one = evaluate(
            dataset, seeded, folder / name, progress=tell, notice=notice, account=account
        )
        runs.append({"seed": seed, **one})
    whole = [one for one in runs if not one.get("run_budget", {}).get("not_asked")]
    shares = [one["execution_accuracy"]["value"] for one in whole]
    mean = asdict(over_seeds(shares)) if shares else None
    summary = {"dataset": dataset.name, "execution_accuracy": mean, "runs": runs}
    write_json(folder / SEEDS, summary)
    return summary


def estimate(
    dataset: Dataset,
    settings: EvaluationSettings,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Ask a sample of the questions, of each database as it is large, and tell what all of them
    would take: calls, tokens, dollars (None where a price isn't known) and hours, each with its
    interval, as if nothing were in the cache; hours as if questions side by side took no longer. As
    `spent` the usage of the sample itself. Raises as `evaluate` does."""
    examples = chosen(dataset, settings)
    drawn = sampled(examples, Selection(sample=str(ESTIMATED), by="database"))
    small = replace(dataset, examples=drawn)
    with TemporaryDirectory(prefix="sqlwright-") as place:
        folder, alone = Path(place), replace(settings, limit=None, shard=None)
        summary = evaluate(small, alone, folder, progress=progress, notice=notice)
        asked = records.read(folder)
    used = [list(one.fresh_usage.values()) for one in asked]
    costs = [[step["cost"] for step in steps] for steps in used]
    beside = max(settings.jobs, settings.workers)
    figures: dict[str, list[float] | None] = {
        "calls": [sum(step["calls"] for step in steps) for steps in used],
        "tokens": [
            sum(step["prompt_tokens"] + step["reply_tokens"] for step in steps) for steps in used
        ],
        "cost": None if any(None in each for each in costs) else list(map(sum, costs)),
        "hours": [(one.seconds + one.saved_seconds) / 3_600 / beside for one in asked],
    }
    told = {
        name: None if values is None else _in_all(values, len(examples))
        for name, values in figures.items()
    }
    spent = summary["usage"].get("in all", {})
    return {"questions": len(examples), "asked": len(asked), **told, "spent": spent}


def _in_all(values: list[float], count: int) -> dict[str, float] | None:
    """The sum over so many questions like these, with its interval; None of nothing."""
    mean = Sample.of(values).mean()
    if mean is None:
        return None
    return {name: count * getattr(mean, name) for name in ("value", "low", "high")}
