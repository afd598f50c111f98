"""Asks a question by several recipes, one after the other, and compares what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from sqlwright import candidates as pool
from sqlwright.boundary.arguments import (
    Names,
    Positive,
    Unicode,
    Whole,
    Words,
    checked,
    shown,
)
from sqlwright.candidates import facts_of
from sqlwright.errors import ConfigError, DatabaseUnavailable, UserError
from sqlwright.events import no_events
from sqlwright.lab.comparison.records import Cluster, ComparedRecipe, Comparison, QueryDifference
from sqlwright.lab.comparison.words import ASPECTS, Aspect
from sqlwright.recipes.loading import Recipe, load_recipe
from sqlwright.schema import Schema
from sqlwright.session import OnEvent, Session
from sqlwright.sql.facts import JoinFact, QueryFacts, Term
from sqlwright.sql.in_words.query import read_query, shown_items
from sqlwright.types import Answer, Candidate, QueryPart, Question, State

Statements = Mapping[Aspect, tuple[str, ...]]

_ASPECT_OF: dict[str, Aspect] = {
    "query": "queries",
    "join": "joins",
    "where": "conditions",
    "having": "conditions",
    "case": "conditions",
    "order": "order",
    "other": "other",
}
"""Aspects by the kind of a part in words. What is shown is told apart, item by item."""


def differences(queries: Mapping[str, Candidate], schema: Schema) -> tuple[QueryDifference, ...]:
    """Statements that not every query makes, aspect by aspect; `queries` are by recipe."""
    said = {name: statements(query, schema) for name, query in queries.items()}
    found = []
    for aspect in ASPECTS:
        by_recipe = {name: told.get(aspect, ()) for name, told in said.items()}
        shared = _shared(list(by_recipe.values()))
        own = {
            name: tuple(text for text in told if text not in shared)
            for name, told in by_recipe.items()
        }
        if any(own.values()):
            found.append(QueryDifference(aspect, shared, own))
    return tuple(found)


def statements(query: Candidate, schema: Schema) -> Statements:
    """Statements of a query, by its facts and in words; nothing of a text that is no query."""
    parts = read_query(query.sql, schema)
    told: dict[Aspect, list[str]] = {aspect: [] for aspect in ASPECTS}
    facts = facts_of(query, schema)
    if facts is not None:
        told["tables"] += facts.tables
        told["joins"] += (text for one in facts.selects for text in _joins(one.joins))
        told["grouping"] += _grouping(facts)
    told["shown"] += shown_items(query.sql, schema)
    if facts is not None and facts.first.distinct:
        told["shown"].append("without repeats")
    for part in parts:
        aspect = _ASPECT_OF.get(part.kind)
        if aspect is not None:
            told[aspect].append(_text(part))
    return {aspect: tuple(dict.fromkeys(texts)) for aspect, texts in told.items()}


def _shared(told: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if not told:
        return ()
    return tuple(text for text in told[0] if all(text in other for other in told[1:]))


def _joins(joins: Sequence[JoinFact]) -> list[str]:
    """Joins over columns, each pair in one order whoever wrote it; inner ones by their columns
    alone."""
    kinds = {"left": " (left)", "other": " (outer)"}
    texts = []
    for join in joins:
        for pair in join.pairs:
            near, far = sorted(map(str, pair))
            texts.append(f"{near} = {far}{kinds.get(join.kind, '')}")
    return texts


def _grouping(facts: QueryFacts) -> list[str]:
    return [text for one in facts.selects for term in one.grouping if (text := _named(term))]


def _named(term: Term) -> str:
    if term.column is not None:
        return str(term.column)
    names = ", ".join(map(str, term.columns))
    return f"an expression of {names}" if names else ""


def _text(part: QueryPart) -> str:
    return part.text.rstrip(":") if part.condition is None else part.text


Overrides = Annotated[
    Mapping[str, Sequence[str]] | None,
    Words("a mapping from recipes to lists of texts, or None"),
]
Ask = Callable[[Recipe], tuple[Answer, State]]
"""Asks the question by a recipe. Raises UserError."""
STOPPED = "it wasn't asked: the comparison was stopped before"


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe as it was named, with what was changed in it."""

    name: str
    recipe: Recipe
    overrides: tuple[str, ...] = ()


def load_recipes(
    names: Sequence[str],
    overrides: Sequence[str] = (),
    overrides_of: Mapping[str, Sequence[str]] | None = None,
    *,
    allow_code: bool = False,
) -> tuple[NamedRecipe, ...]:
    """The recipes of these names or paths. `overrides` change all of them, `overrides_of` the one
    that they stand under. Raises ConfigError for one that doesn't fit or is named twice."""
    apart = overrides_of or {}
    for name in names:
        if list(names).count(name) > 1:
            raise ConfigError(
                f"the recipe {shown(name)} is named twice",
                hint="To compare a recipe with itself under other settings, save "
                "`sqlwright recipes show NAME` as a file of another name.",
            )
    if unknown := [name for name in apart if name not in names]:
        raise ConfigError(
            f"overrides are for {shown(unknown[0])}, which isn't among the recipes",
            hint=f"These are: {', '.join(names)}.",
        )
    loaded = []
    for name in names:
        changed = (*overrides, *apart.get(name, ()))
        recipe = load_recipe(name, changed, allow_code=allow_code)
        loaded.append(NamedRecipe(name, recipe, changed))
    return tuple(loaded)


@checked
def compare(
    session: Annotated[Session, Whole()],
    question: Unicode,
    recipes: Names,
    *,
    overrides: Sequence[str] = (),
    overrides_of: Overrides = None,
    evidence: Unicode = "",
    seconds: Positive | None = None,
    on_event: OnEvent = no_events,
    cancelled: threading.Event | None = None,
    allow_code: bool = False,
) -> Comparison:
    """Ask a session's database a question by several recipes, one after the other, and compare
    what they did.

    `recipes` are names of shipped recipes or paths. `overrides` change options of all of them,
    `overrides_of` those of the one that they stand under. Budget and seconds are each recipe's.
    A recipe that can't be asked is in the comparison with the reason.

    Raises as `Session.ask` does, and ConfigError for a recipe that doesn't fit or if none could be
    asked.
    """
    loaded = load_recipes(recipes, overrides, overrides_of, allow_code=allow_code)
    halt = threading.Event() if cancelled is None else cancelled

    def check(recipe: Recipe) -> None:
        for name in recipe.asked_of(session.models):
            session.models[name or "llm"]

    def ask(recipe: Recipe) -> tuple[Answer, State]:
        return session.by(recipe).run(
            question, evidence=evidence, seconds=seconds, on_event=on_event, cancelled=halt
        )

    return asked_by_each(
        Question(question, evidence),
        loaded,
        check=check,
        ask=ask,
        schema=lambda: session.workspace.schema,
        stopped=halt.is_set,
    )


def asked_by_each(
    question: Question,
    recipes: Sequence[NamedRecipe],
    *,
    check: Callable[[Recipe], None],
    ask: Ask,
    schema: Callable[[], Schema],
    stopped: Callable[[], bool],
) -> Comparison:
    """The question asked by each recipe, compared.

    `check` raises UserError for a recipe that can't be asked, `ask` asks by one, `schema` gives the
    database's. A recipe that can't be asked is in the comparison with the reason. Raises
    DatabaseUnavailable, and the first reason if no recipe could be asked.
    """
    told: list[ComparedRecipe] = []
    errors: list[UserError] = []
    for one in recipes:
        known = ComparedRecipe(one.name, one.overrides, one.recipe.description)
        if stopped():
            told.append(replace(known, problem=STOPPED))
            continue
        try:
            check(one.recipe)
            answer, state = ask(one.recipe)
        except DatabaseUnavailable:
            raise
        except UserError as error:
            errors.append(error)
            told.append(replace(known, problem=str(error), hint=error.hint))
        else:
            told.append(replace(known, answer=answer, state=state))
    if errors and len(errors) == len(recipes):
        raise errors[0]
    return compared(question, told, schema())


def compared(question: Question, recipes: Sequence[ComparedRecipe], schema: Schema) -> Comparison:
    """The comparison of what each recipe did."""
    chosen = {one.name: query for one in recipes if (query := one.chosen) is not None}
    names, queries = list(chosen), list(chosen.values())
    written = [candidate for one in recipes for candidate in one.candidates]
    # Over all at once, so that each result is made comparable only once.
    places = pool.result_places([*queries, *written])
    results: dict[int, list[str]] = {}
    for name, place in zip(names, places, strict=False):
        results.setdefault(place, []).append(name)
    of_written = iter(places[len(queries) :])
    clustered = []
    for one in recipes:
        own = [next(of_written) for _ in one.candidates]
        clustered.append(replace(one, clusters=_clusters(one, own, results)))
    return Comparison(
        question,
        schema.dialect,
        tuple(clustered),
        tuple(map(tuple, results.values())),
        differences(chosen, schema) if len(chosen) > 1 else (),
    )


def _clusters(
    one: ComparedRecipe, places: Sequence[int], results: Mapping[int, Sequence[str]]
) -> tuple[Cluster, ...]:
    """The recipe's candidates by their places; `results` has the recipes by those of answers."""
    by_place: dict[int, list[Candidate]] = {}
    for candidate, place in zip(one.candidates, places, strict=True):
        by_place.setdefault(place, []).append(candidate)
    found = [
        Cluster(tuple(members), tuple(names), one.name in names)
        for place, members in by_place.items()
        for names in [results.get(place, ())]
    ]
    return tuple(sorted(found, key=lambda each: (not each.chosen, -len(each.candidates))))
