"""A comparison as JSON types under stable keys; docs/command-line.md lists them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlwright.boundary.text import readable
from sqlwright.presentation.answer import answer_to_dict, candidate_to_dict, plain, result_to_dict
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, State

if TYPE_CHECKING:
    from sqlwright.lab.comparison.records import (
        ComparedRecipe,
        Comparison,
        Linked,
        Repair,
        StageCost,
        StepCost,
    )

FORMAT = "sqlwright-comparison"
VERSION = 1
"""Version of the JSON form; grows when a key is renamed, removed or changes its meaning."""
ROWS = 5
"""Rows of a candidate's result; the answer has as many as were asked for."""


def comparison_to_dict(comparison: Comparison, *, rows: int | None = None) -> dict[str, Any]:
    """The comparison with at most `rows` rows of each answer, keys in a fixed order."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "question": readable(comparison.question.text),
        "evidence": readable(comparison.question.evidence),
        "dialect": comparison.dialect,
        "recipes": [_recipe(one, comparison, rows) for one in comparison.recipes],
        "results": [
            {"letter": comparison.letter(names[0]), "recipes": list(map(readable, names))}
            for names in comparison.results
        ],
        "differences": [plain(one) for one in comparison.differences],
    }


def _recipe(one: ComparedRecipe, comparison: Comparison, rows: int | None) -> dict[str, Any]:
    asked = one.answer
    return {
        "recipe": readable(one.name),
        "overrides": list(map(readable, one.overrides)),
        "description": readable(one.description),
        "status": one.status,
        "problem": readable(one.problem),
        "hint": readable(one.hint),
        "result": comparison.letter(one.name) or None,
        "retrieved": None if one.state is None else _retrieved(one.state),
        "linked": None if one.linked is None else _linked(one.linked, one.state),
        "sub_questions": [] if one.state is None else plain(one.state.sub_questions),
        "generated": [_candidate(candidate, one) for candidate in one.candidates],
        "repaired": [_repair(repair) for repair in one.repairs],
        "chosen": None if one.chosen is None else one.chosen.id,
        "answer": None if asked is None else answer_to_dict(asked, rows=rows),
        "stages": [_stage(stage) for stage in one.stages],
    }


def _retrieved(state: State) -> dict[str, Any]:
    return {
        "keywords": plain(state.keywords),
        "values": plain(state.values),
        "descriptions": plain(state.descriptions),
        "examples": [
            {"column": _column(one.column), "values": plain(one.values)} for one in state.examples
        ],
    }


def _linked(linked: Linked, state: State | None) -> dict[str, Any]:
    summaries = () if state is None else state.summaries
    entities = () if state is None else state.entities
    return {
        "tables": plain(linked.tables),
        "columns": [_column(ref) for ref in linked.columns],
        "brief": linked.brief,
        "hidden": linked.hidden,
        "entities": [
            {"text": readable(one.text), "columns": [_column(ref) for ref in one.columns]}
            for one in entities
        ],
        "summaries": [
            {"table": readable(one.table), "text": readable(one.text)} for one in summaries
        ],
    }


def _column(ref: ColumnRef) -> dict[str, str]:
    return {"table": readable(ref.table), "column": readable(ref.column)}


def _candidate(candidate: Candidate, one: ComparedRecipe) -> dict[str, Any]:
    alike = next((each.agreeing for each in one.clusters if candidate in each.candidates), ())
    first = candidate.first
    return {
        **candidate_to_dict(candidate, rows=ROWS),
        "author": first.source,
        "prompt": readable(first.prompt),
        "model": readable(first.model),
        "first_sql": readable(first.sql),
        "by_model": candidate.by_model,
        "goal": readable(candidate.goal),
        "agrees_with": list(map(readable, alike)),
    }


def _repair(repair: Repair) -> dict[str, Any]:
    return {
        "step": repair.step,
        "kept": repair.kept,
        "note": readable(repair.after.note),
        "before": _query(repair.before),
        "after": _query(repair.after),
    }


def _query(candidate: Candidate) -> dict[str, Any]:
    result = candidate.result
    return {
        "sql": readable(candidate.sql),
        "result": None if result is None else result_to_dict(result, rows=ROWS),
    }


def _stage(stage: StageCost) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "seconds": round(stage.seconds, 6),
        "usage": asdict(stage.usage),
        "steps": [_step(step) for step in stage.steps],
    }


def _step(step: StepCost) -> dict[str, Any]:
    return {
        "step": step.step,
        "runs": step.runs,
        "seconds": round(step.seconds, 6),
        "usage": asdict(step.usage),
    }
