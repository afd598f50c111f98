"""Folders as a run leaves them, for what reads runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sqlwright.lab.evaluation.intervals import Share
from sqlwright.recipes.ablation_lists import find_ablation


def run_folder(folder: Path, name: str, *more: str, ended: float = 0.0, **facts: Any) -> Path:
    """The folder of a finished run of an ablation or a recipe, with further overrides. `facts` are
    keys of its run.json, or of its report under `report`."""
    one = find_ablation(name)
    report = {"questions": 40, "execution_accuracy": Share(30, 40).as_dict()}
    report |= facts.pop("report", {})
    described = {
        "dataset": "dev",
        "rule": "bird",
        "recipe": one.recipe,
        "overrides": [*one.overrides, *more],
        "model": "openai/small",
        "ablation": name,
        **facts,
    }
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(described))
    (folder / "report.json").write_text(json.dumps(report))
    if ended:
        os.utime(folder / "report.json", (ended, ended))
    return folder
