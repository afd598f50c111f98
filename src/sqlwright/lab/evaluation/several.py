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
        seconds = [one.seconds + one.saved_seconds for one in records.stream(folder)]
    hours = Sample.of(seconds).mean()
    means = {name: summary["fresh"][name]["per_question"] for name in ("calls", "tokens", "cost")}
    means["hours"] = None if hours is None else hours.as_dict()
    shares = {"hours": 1 / 3_600 / max(settings.jobs, settings.workers)}
    told = {
        name: mean
        and {k: len(examples) * shares.get(name, 1) * mean[k] for k in ("value", "low", "high")}
        for name, mean in means.items()
    }
    spent = summary["usage"].get("in all", {})
    return {"questions": len(examples), "asked": len(seconds), **told, "spent": spent}
