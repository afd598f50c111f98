"""Runs ablations over the same questions and compares them pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.intervals import PairedDifference
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, Progress, evaluate, write_json
from sqlwright.recipes.ablation_lists import Ablation, with_compared
from sqlwright.recipes.loading import load_recipe

TABLE = "ablations.json"


def ablate(
    dataset: Dataset,
    names: Iterable[str],
    settings: EvaluationSettings,
    folder: Path,
    *,
    progress: Callable[[str], Progress] | None = None,
    notice: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measure ablations or recipes, and what each is compared with, in a folder each.

    Gives the table, which is also written to `ablations.json`: for each its share of right
    questions, that of questions with a right candidate, its model calls as they were sent and of a
    fresh run, and the difference to what
    it is compared with over the questions that both have. `progress` is made for each by its name.
    Runs that the folder holds go on where they were. Raises as `evaluate` does, and ConfigError
    before anything is asked if a list doesn't fit its recipe.
    """
    listed = with_compared(names)
    for one in listed:
        chosen = _settings_of(one, settings)
        load_recipe(chosen.recipe, chosen.overrides, allow_code=chosen.allow_code)
    rows = []
    for one in listed:
        place = folder / one.name
        tell = progress(one.name) if progress is not None else None
        chosen = _settings_of(one, settings)
        summary = evaluate(dataset, chosen, place, progress=tell, notice=notice)
        rows.append(_row(one, summary, folder, dataset.rule))
    table = {"dataset": dataset.name, "rule": dataset.rule, "rows": rows}
    write_json(folder / TABLE, table)
    return table


def compared(first: Sequence[Record], second: Sequence[Record], rule: str) -> PairedDifference:
    """The second run against the first over the questions that both have scored."""
    before = {r.id: r.right(rule) for r in first if r.status != "gold"}
    after = {r.id: r.right(rule) for r in second if r.status != "gold"}
    return PairedDifference.of([(before[key], after[key]) for key in before.keys() & after.keys()])


def _settings_of(one: Ablation, settings: EvaluationSettings) -> EvaluationSettings:
    overrides = (*one.overrides, *settings.overrides)
    return replace(settings, recipe=one.recipe, overrides=overrides, ablation=one.name)


def _row(one: Ablation, summary: Mapping[str, Any], folder: Path, rule: str) -> dict[str, Any]:
    row = asdict(one) | {
        "overrides": list(one.overrides),
        "questions": summary["questions"],
        "execution_accuracy": summary["execution_accuracy"],
        "oracle_over_candidates": summary["oracle_over_candidates"],
        "usage": summary["usage"].get("in all", {}),
        "fresh": summary["fresh"]["usage"].get("in all", {}),
    }
    if not one.against:
        return row
    pair = compared(records.read(folder / one.against), records.read(folder / one.name), rule)
    return row | {"difference": pair.as_dict()}
