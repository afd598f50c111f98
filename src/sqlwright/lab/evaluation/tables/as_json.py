"""Filled tables as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlwright.lab.evaluation.tables.commands import table_commands
from sqlwright.lab.evaluation.tables.filled import Cell, Choice, FilledPaper, FilledTable
from sqlwright.lab.evaluation.tables.runs import Run
from sqlwright.lab.evaluation.tables.words import COMPARABLE, title_of


def to_dict(filled: FilledPaper, name: str, *, out: str = "runs") -> dict[str, Any]:
    """The tables of a paper; shares in [0, 1], the paper's figures as it prints them, null where
    there is none."""
    return {
        "paper": name,
        "title": filled.paper.title,
        "source": filled.paper.source,
        "comparable": COMPARABLE,
        "tables": [_table(one, filled.choice, name, out) for one in filled.tables],
        "left_out": list(filled.paper.left_out),
        "notes": list(filled.notes),
    }


def _table(one: FilledTable, choice: Choice, name: str, out: str) -> dict[str, Any]:
    return {
        "name": one.table.name,
        "title": title_of(one),
        "data": one.table.data,
        "paper_model": one.table.model,
        "columns": [column.name for column in one.table.columns],
        "rows": [
            {"label": row.label, "why": row.why, "cells": [_cell(cell) for cell in row.cells]}
            for row in one.rows
        ],
        "note": one.table.note,
        "runs": [_run(run) for run in one.runs],
        "missing": list(table_commands(one, choice, name, out=out)),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "ours": None if cell.figure is None else asdict(cell.figure),
        "paper": cell.paper,
        "run": None if cell.run is None or cell.figure is None else str(cell.run.folder),
    }


def _run(run: Run) -> dict[str, Any]:
    named = ("recipe", "dataset", "rule", "model", "ablation", "questions")
    return {"folder": str(run.folder), "overrides": list(run.overrides)} | {
        name: getattr(run, name) for name in named
    }
