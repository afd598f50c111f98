"""A comparison in words, the same in a terminal and on a page. Nothing here is clean yet: names and
queries are as they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, get_args

from sqlwright.boundary.text import counted, money, percent
from sqlwright.presentation.answer import cell_to_text
from sqlwright.presentation.sureness import agreement_words, basis_lines
from sqlwright.types import Candidate, ColumnExamples, ExecutionResult, SubQuestion, Usage

if TYPE_CHECKING:
    from sqlwright.lab.comparison.records import (
        Cluster,
        ComparedRecipe,
        Comparison,
        Linked,
        Repair,
        StageCost,
    )

Stage = Literal["retrieval", "schema_linking", "generation", "repair", "selection", "other"]
"""The five stages; `other` are steps of somebody else's and an agent's turns."""
STAGES: tuple[Stage, ...] = get_args(Stage)

Aspect = Literal["tables", "joins", "shown", "conditions", "grouping", "order", "queries", "other"]
"""One side of a query: tables it reads, how they are joined, what is shown, conditions, grouping,
order and limit, queries within it, parts without words."""
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


def author(candidate: Candidate) -> str:
    """The author of a query's first version: the name of its prompt, else its step, and the model
    that it names."""
    first = candidate.first
    named = PurePath(first.prompt).stem or first.source
    return f"{named} of {first.model}" if first.model else named


VALUE = 60
"""Characters shown of a result that is one value; chosen."""
SAMPLES = 8
"""Numbers of samples that are told; chosen."""
STAGE_TITLES: Mapping[Stage, str] = {
    "retrieval": "Retrieved",
    "schema_linking": "Linked",
    "generation": "Generated",
    "repair": "Repaired",
    "selection": "Chose",
    "other": "Other",
}
STAGE_CAPTIONS: Mapping[Stage, str] = {
    "retrieval": "what was found in the database for words of the question",
    "schema_linking": "the part of the schema that was left to see",
    "generation": "results of the queries written, how many gave each, and who wrote them",
    "repair": "queries that were changed after a check or a run",
    "selection": "the query that each recipe settled on, and its rows",
}
ASPECT_TITLES: Mapping[Aspect, str] = {
    "tables": "tables",
    "joins": "joins",
    "shown": "shown",
    "conditions": "conditions",
    "grouping": "one row per",
    "order": "order",
    "queries": "within it",
    "other": "as SQL",
}
STATUS_WORDS = {
    "answered": "answered", "refused": "refused", "failed": "failed", "not_asked": "not asked"
}  # fmt: skip


def advice(comparison: Comparison) -> str:
    """The way to go on where results differ; empty where they don't."""
    if len(comparison.results) < 2:
        return ""
    return (
        "None of them knows which is right: see what speaks against each, and where the queries "
        "differ."
    )


def headline(comparison: Comparison) -> str:
    """The outcome in a sentence."""
    answered, asked = comparison.answered, len(comparison.recipes)
    if not answered:
        return "No recipe has an answer." if asked > 1 else "There is no answer."
    if len(answered) == 1:
        return f"{answered[0].name} answered{', no other did' if asked > 1 else ''}."
    if not comparison.agree:
        return f"{len(comparison.results)} different results from {len(answered)} recipes."
    all_of = "Both recipes" if len(answered) == 2 else f"All {len(answered)} recipes"
    which = all_of if len(answered) == asked else f"{all_of} that answered"
    same = f"{which} give the same result"
    alike = "" if comparison.differences else " by queries that say the same"
    return f"{same}{alike}."


def also_wrote(comparison: Comparison) -> list[str]:
    """A sentence for each result that a recipe wrote and didn't choose, though another did."""
    told = []
    for one in comparison.recipes:
        chosen = comparison.letter(one.name)
        for cluster in one.clusters:
            if cluster.chosen or not cluster.agreeing:
                continue
            letter = comparison.letter(cluster.agreeing[0])
            wrote = (
                f"{one.name} wrote result {letter}, too ({share_words(one, cluster)} candidates)"
            )
            told.append(f"{wrote}, and {f'chose {chosen}' if chosen else 'has no answer'}.")
    return told


def sure_words(one: ComparedRecipe) -> str:
    """The sureness of an answer: a percentage where one was fitted, else what agrees. Empty without
    an answer."""
    if one.answer is None or one.answer.status != "answered":
        return ""
    if one.answer.confidence is not None:
        return f"{percent(one.answer.confidence)} sure"
    return agreement_words(one.answer.basis)


def reason(one: ComparedRecipe) -> str:
    """The reason for no answer; empty where there is one."""
    if one.answer is None:
        return one.problem
    return "" if one.answer.status == "answered" else one.answer.message


def linked_words(linked: Linked, of_tables: int) -> str:
    """The share of the schema that was left to see."""
    columns = len(linked.columns) + linked.brief + linked.hidden
    if not linked.narrowed:
        return f"the whole schema: {counted(of_tables, 'table')}, {counted(columns, 'column')}"
    rest = [
        f"{count:,} {how}"
        for count, how in ((linked.brief, "in brief"), (linked.hidden, "left out"))
        if count
    ]
    return (
        f"{len(linked.tables)} of {counted(of_tables, 'table')}, "
        f"{len(linked.columns):,} of {counted(columns, 'column')} ({', '.join(rest)})"
    )


def example_words(examples: ColumnExamples) -> str:
    """Stored values of a column in one line."""
    return ", ".join(cell_to_text(value, limit=VALUE) for value in examples.values)


def sub_question_words(asked: Sequence[SubQuestion]) -> list[str]:
    """The sub-questions of a question that was taken apart, numbered; empty where it wasn't."""
    if len(asked) < 2:
        return []
    adds = [f" (adds: {one.condition})" if one.condition else "" for one in asked]
    return [
        f"{number}. {one.text}{more}"
        for number, (one, more) in enumerate(zip(asked, adds, strict=True), start=1)
    ]


def result_words(result: ExecutionResult | None) -> str:
    """A result in a few words: its only value, its size, or its error."""
    if result is None:
        return "not run"
    if result.error is not None:
        return f"{result.error.kind}: {result.error.message}"
    if not result.rows:
        return "no rows"
    if len(result.rows) == len(result.columns) == 1 and not result.truncated:
        return cell_to_text(result.rows[0][0], limit=VALUE)
    least = "at least " if result.truncated else ""
    return f"{least}{counted(len(result.rows), 'row')} of {counted(len(result.columns), 'column')}"


def share_words(one: ComparedRecipe, cluster: Cluster) -> str:
    """The number of a recipe's candidates that have a result."""
    return f"{len(cluster.candidates):,} of {len(one.candidates):,}"


def cluster_words(cluster: Cluster, comparison: Comparison) -> str:
    """A result that candidates share, and its letter if an answer has it."""
    told = result_words(cluster.candidates[0].result)
    if cluster.agreeing:
        told += f", result {comparison.letter(cluster.agreeing[0])}"
    if cluster.candidates[0].goal:
        told += ", for a part of the question"
    return told


def author_words(candidates: Sequence[Candidate]) -> str:
    """Those who wrote the first versions of queries, with the numbers of their samples."""
    samples: dict[str, list[int]] = {}
    for candidate in candidates:
        first = candidate.first
        samples.setdefault(author(candidate), []).append(first.sample)
    told = []
    for name, numbers in samples.items():
        known = sorted({number for number in numbers if number})
        listed = ", ".join(map(str, known[:SAMPLES])) + (" …" if known[SAMPLES:] else "")
        which = f" (sample{'' if len(known) == 1 else 's'} {listed})" if known else ""
        told.append(f"{name}{which}")
    return ", ".join(told)


def repair_words(repair: Repair) -> str:
    """The change to a query, and its reason."""
    done = repair.after.note or ("rewritten" if repair.kept else "no better query came of it")
    error = repair.before.result.error if repair.before.result is not None else None
    why = f" (before: {error.message})" if error is not None else ""
    return f"{'' if repair.kept else 'tried in vain: '}{done}{why}"


def tokens(usage: Usage) -> int:
    """Of prompts and replies together."""
    return usage.prompt_tokens + usage.reply_tokens


def cost_words(usage: Usage) -> str:
    """US dollars; nothing where no model was asked."""
    if not usage.calls and not usage.cached:
        return ""
    return "unknown" if usage.cost is None else money(usage.cost)


def calls_words(usage: Usage) -> str:
    """Calls, and replies that were at hand."""
    return f"{usage.calls:,}" + (f" + {usage.cached:,} cached" if usage.cached else "")


def others(comparison: Comparison, name: str) -> list[str]:
    """The other recipes with the result of this recipe."""
    alike = next((names for names in comparison.results if name in names), ())
    return [one for one in alike if one != name]


def known_words(one: ComparedRecipe) -> list[str]:
    """All that is known of the sureness of an answer; a doubt is told apart from it."""
    if one.answer is None:
        return []
    known = [text for text, _ in basis_lines(one.answer)]
    sure = sure_words(one)
    return known or ([sure] if sure and not one.answer.doubt else [])


def by_table(linked: Linked) -> list[tuple[str, list[str]]]:
    """The columns that are left, by their tables."""
    found: dict[str, list[str]] = {}
    for ref in linked.columns:
        found.setdefault(ref.table, []).append(ref.column)
    return list(found.items())


def query_words(alike: Sequence[Candidate]) -> str:
    """The authors of a query, its confidence, and what was said of it."""
    first = alike[0]
    told = [f"by {author_words(alike)}"]
    if first.confidence is not None:
        told.append(f"confidence {first.confidence:.2f}")
    told += [veto.message for veto in first.vetoes]
    told += [note.text for note in first.warnings]
    return "; ".join(told)


def steps_words(cost: StageCost) -> list[str]:
    """The steps of a stage, with the number of their runs."""
    return [f"{one.step} × {one.runs}" if one.runs > 1 else one.step for one in cost.steps]
