"""The table of contents: every step, condition and recipe by its name.

Only strings live here. Nothing is imported before it is asked for, and adding a technique means one
file and one line. Packages of others add steps through the entry point group `sqlwright.steps`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlwright.boundary.named import installed, loaded, unknown
from sqlwright.errors import ConfigError

STEPS: Mapping[str, str] = {
    "retrieval.request": "sqlwright.steps.retrieval.request:ScreenRequest",
    "retrieval.extract_keywords": "sqlwright.steps.retrieval.extract_keywords:ExtractKeywords",
    "retrieval.question_words": "sqlwright.steps.retrieval.question_words:QuestionWords",
    "retrieval.entities": "sqlwright.steps.retrieval.entities:RetrieveEntities",
    "retrieval.context": "sqlwright.steps.retrieval.context:RetrieveContext",
    "retrieval.substrings": "sqlwright.steps.retrieval.substrings:RetrieveSubstrings",
    "retrieval.nearest_values": "sqlwright.steps.retrieval.nearest_values:NearestValues",
    "retrieval.values": "sqlwright.steps.retrieval.values:ValueRetrieval",
    "schema_linking.embedded": "sqlwright.local.steps.linking:EmbeddedLinking",
    "schema_linking.filter_columns": "sqlwright.steps.schema_linking.filter_columns:FilterColumns",
    "schema_linking.select_columns": "sqlwright.steps.schema_linking.select_columns:SelectColumns",
    "schema_linking.select_tables": "sqlwright.steps.schema_linking.select_tables:SelectTables",
    "schema_linking.entities": "sqlwright.steps.schema_linking.entities:EntityColumns",
    "schema_linking.summarise_tables": (
        "sqlwright.steps.schema_linking.summarise_tables:SummariseTables"
    ),
    "generation.embedded": "sqlwright.local.steps.generation:EmbeddedGeneration",
    "generation.decompose": "sqlwright.steps.generation.decompose:Decompose",
    "generation.direct": "sqlwright.steps.generation.direct:DirectGeneration",
    "generation.make_examples": "sqlwright.steps.generation.make_examples:MakeExamples",
    "generation.sub_sql": "sqlwright.steps.generation.sub_sql:SubSql",
    "repair.execute": "sqlwright.steps.repair.execute:ExecuteCandidates",
    "repair.literals": "sqlwright.steps.repair.literals:LiteralRepair",
    "repair.refine": "sqlwright.steps.repair.refine:Refine",
    "repair.revise": "sqlwright.steps.repair.revise:Revise",
    "repair.execution_guided": "sqlwright.local.steps.execution_guided:ExecutionGuidedRepair",
    "repair.veto": "sqlwright.local.steps.veto:VetoRepair",
    "selection.ask_back": "sqlwright.steps.selection.ask_back:AskBack",
    "selection.critic": "sqlwright.local.steps.critic:CriticSelection",
    "selection.evaluate_tests": "sqlwright.steps.selection.evaluate_tests:EvaluateTests",
    "selection.first_valid": "sqlwright.steps.selection.unjudged:FirstValid",
    "selection.generate_tests": "sqlwright.steps.selection.generate_tests:GenerateTests",
    "selection.largest_cluster": "sqlwright.steps.selection.unjudged:LargestCluster",
    "selection.independent": "sqlwright.steps.selection.judges:Independent",
    "selection.multi_sample": "sqlwright.steps.selection.judges:MultiSample",
    "selection.pairwise": "sqlwright.steps.selection.judges:Pairwise",
    "selection.by_chance": "sqlwright.steps.selection.unjudged:ByChance",
    "selection.ranker": "sqlwright.steps.selection.judges:Ranker",
}

SEQUENCES: Mapping[str, str] = {
    "agent": "sqlwright.running.agent.steering:Agent",
    "tool": "sqlwright.running.agent.tools:AgentTool",
    "escalate": "sqlwright.steps.escalation:Escalation",
    "tier": "sqlwright.steps.escalation:Tier",
    "by_group": "sqlwright.steps.schema_linking.by_group:ByGroup",
    "own_view": "sqlwright.running.sequences:OwnView",
    "second_opinion": "sqlwright.steps.selection.second_opinion:SecondOpinion",
    "stand_in": "sqlwright.running.sequences:StandIn",
    "sub_questions": "sqlwright.running.sequences:SubQuestions",
}
"""Steps made of steps with options of their own."""

CONDITIONS: Mapping[str, str] = {
    "accepted": "sqlwright.steps.conditions:ACCEPTED",
    "has_candidates": "sqlwright.steps.conditions:HAS_CANDIDATES",
    "has_valid_candidate": "sqlwright.steps.conditions:HAS_VALID_CANDIDATE",
    "has_rows": "sqlwright.steps.conditions:HAS_ROWS",
    "can_be_read": "sqlwright.steps.conditions:CAN_BE_READ",
    "candidates_agree": "sqlwright.steps.conditions:CANDIDATES_AGREE",
    "large_schema": "sqlwright.steps.conditions:LARGE_SCHEMA",
    "many_columns": "sqlwright.steps.conditions:MANY_COLUMNS",
    "no_fault": "sqlwright.steps.conditions:NO_FAULT",
}

RECIPES: Mapping[str, str] = {
    "local": "recipes/local.yaml",
    "local-unscored": "recipes/local-unscored.yaml",
    "auto": "recipes/auto.yaml",
    "chess-ir-cg-ut": "recipes/chess-ir-cg-ut.yaml",
    "chess-ir-ss-cg": "recipes/chess-ir-ss-cg.yaml",
    "chess-agents": "recipes/chess-agents.yaml",
    "chess-tuned": "recipes/chess-tuned.yaml",
    "chase": "recipes/chase.yaml",
    "chase-tuned": "recipes/chase-tuned.yaml",
    "mag": "recipes/mag.yaml",
    "msc": "recipes/msc.yaml",
    "msc-tuned": "recipes/msc-tuned.yaml",
    "msc-local": "recipes/msc-local.yaml",
    "baseline": "recipes/baseline.yaml",
}

ABLATIONS: Mapping[str, str] = {
    "chess": "recipes/ablations/chess.yaml",
    "chase": "recipes/ablations/chase.yaml",
    "mag": "recipes/ablations/mag.yaml",
    "msc": "recipes/ablations/msc.yaml",
    "local": "recipes/ablations/local.yaml",
}
"""Lists of overrides by the paper, or the recipe of our own, that they are of."""

ENTRY_POINTS = "sqlwright.steps"


def default_recipe(model: str) -> str:
    """The recipe where none was chosen: one that asks the language model, where one is named."""
    return "chess-ir-ss-cg" if model else "local"


def step_names() -> tuple[str, ...]:
    """Our own steps in the order of the table, then those of installed packages by name."""
    return (*STEPS, *sorted(set(installed(ENTRY_POINTS)) - set(STEPS)))


def load_step(name: str, *, allow_code: bool = False) -> type[Any]:
    """The class of a step by its name, or by a full path `package.module:Class`.

    Raises ConfigError for an unknown name, and for a path unless `allow_code`: a recipe somebody
    sends must not be able to run code.
    """
    if ":" in name:
        if not allow_code:
            raise ConfigError(
                f"the recipe names code outside the registry: {name}",
                hint="If you trust it, allow it with --allow-code (allow_code=True).",
            )
        return _loaded_type(name, name)
    path = STEPS.get(name) or installed(ENTRY_POINTS).get(name)
    if path is None:
        raise unknown("step", name, step_names())
    return _loaded_type(name, path)


def load_sequence(name: str) -> type[Any]:
    """The class of a sequence of a kind of its own. Raises ConfigError."""
    return _loaded_type(name, SEQUENCES[name])


def load_condition(name: str) -> Any:
    """The condition of that name. Raises ConfigError."""
    if name not in CONDITIONS:
        raise unknown("condition", name, CONDITIONS)
    return loaded(name, CONDITIONS[name])


def _loaded_type(name: str, path: str) -> type[Any]:
    found = loaded(name, path)
    if not isinstance(found, type):
        raise ConfigError(f"{name} is not a class ({path})")
    return found
