"""Features that tell a right query from a wrong one without knowing the answer.

Five kinds: the author's own score, what running it gave and who else gets the same, how much of the
question it uses, whether its form fits the question's form, and whether each column is used for
what the question names it for. The last few are about the question alone and say whether the
database can hold what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sqlwright.candidates import facts_of, result_places
from sqlwright.english.dates import with_dates
from sqlwright.english.words import split_name, stem
from sqlwright.local.critic.families.keys_and_order import Keys, References
from sqlwright.local.critic.families.shown_and_compared import Shapes, comparison_features
from sqlwright.local.critic.families.single_words import Cues
from sqlwright.local.critic.families.wording import form_features
from sqlwright.local.critic.families.zones import Zones
from sqlwright.local.critic.measures import OF_QUERY
from sqlwright.local.critic.parts import parts_of
from sqlwright.local.numerics import softmax
from sqlwright.local.question.support import EXPLAINED, Senses, Support
from sqlwright.protocols import FloatArray
from sqlwright.schema import ColumnRef
from sqlwright.sql.facts import QueryFacts
from sqlwright.types import FINDINGS, Candidate, ColumnLink, ExecutionResult, State

Features = dict[str, float]

QUESTION = "q "
"""Names of features about the question alone begin so."""

MISSING = f"{QUESTION}missing"
"""Feature: whether nothing explains some word of the question."""

LOWEST = -50.0
"""Least score of an author (log probability); lower ones count as this. Chosen."""


def candidate_features(
    state: State,
    candidates: Sequence[Candidate],
    support: Support,
    senses: Senses,
    zones: Zones,
) -> list[Features]:
    """One dictionary per candidate; what can't be read of one is left out of its own."""
    scores = _scores(candidates)
    shares = softmax(scores)
    groups = result_places(candidates)
    mass = _mass(groups, shares)
    asked = question_features(state, scores, mass, support) | _sense_features(support, senses)
    stored = {table.name.casefold(): table.name for table in state.view.schema.tables}
    keys = state.view.schema.key_columns
    loose = [link for link in state.columns if link.column not in keys]
    shapes = Shapes(state.question.text, state.view.schema)
    going_by = Keys(state.question.text, state.view.schema)
    cues = Cues(state.question.text, state.view.schema)
    dated = with_dates(state.question.text)
    references = References(state.question.text, state.view.schema)
    described: list[Features] = []
    for place, candidate in enumerate(candidates):
        facts = facts_of(candidate, state.view.schema)
        tables = tables_of(candidate, facts)
        one: Features = {
            "score": float(scores[place]),
            "behind": float(scores.max() - scores[place]),
            "first": float(place == 0),
            "rank": 1.0 / (1.0 + place),
            "share": float(shares[place]),
            "agreement": mass[groups[place]],
            "agreeing": groups.count(groups[place]) / len(groups),
            "most agreed": float(mass[groups[place]] >= max(mass.values()) - 1e-9),
            "repaired": float(candidate.parent is not None),
            "warned": float(min(sum(note.kind in FINDINGS for note in candidate.warnings), 3)),
        }
        one |= result_features(candidate.result)
        one |= _coverage(state, candidate, (tables, facts), support, loose)
        names = {stored[name] for name in tables if name in stored}
        one |= _sense_coverage(support, senses, [*candidate.columns, *names])
        if facts is None:
            one |= dict.fromkeys(OF_QUERY, 0.0)
        else:
            parts = parts_of(facts)
            one |= form_features(dated, parts) | comparison_features(dated, parts)
            one |= shapes.features(parts, candidate.columns, tables)
            one |= going_by.features(parts, candidate.columns, tables)
            one |= zones.features(parts) | cues.features(parts) | references.features(parts)
        one |= asked
        described.append(one)
    return described


def _scores(candidates: Sequence[Candidate]) -> np.ndarray:
    given = np.array([candidate.score for candidate in candidates], dtype=np.float64)
    return np.clip(np.nan_to_num(given, nan=LOWEST), LOWEST, -LOWEST)


def _sense_features(support: Support, senses: Senses) -> Features:
    """Features of how near the encoder finds some name to each word."""
    best = np.maximum(support.strict, senses.best)
    ordered = np.sort(best)
    return {
        "q sense mean": float(best.mean()) if len(best) else 0.6,
        "q sense worst": float(ordered[0]) if len(best) else 1.0,
        "q sense second": float(ordered[1]) if len(best) > 1 else 1.0,
        "q sense missing": float(min((best < 0.4).sum(), 5)),
        "q sense doubtful": float(min((best < 0.55).sum(), 5)),
        MISSING: float(bool(support.missing(senses))),
    }


def _sense_coverage(support: Support, senses: Senses, names: Sequence[ColumnRef | str]) -> Features:
    """Features of how near the names that a candidate uses come to the words' meanings."""
    if not len(support.tokens):
        return {"sense used": 0.5, "sense left": 0.0, "sense most left": 0.0}
    # A word that a stored value explains needs no name.
    open_words = support.by_value < 0.9
    used, best = senses.among(names), senses.best
    left = (best - used) * open_words
    return {
        "sense used": float((used * open_words).sum() / max(open_words.sum(), 1)),
        "sense left": float(left.sum() / max(open_words.sum(), 1)),
        "sense most left": float(left.max()),
    }


def result_features(result: ExecutionResult | None) -> Features:
    """Features of the result of running the query."""
    rows = result.rows if result else ()
    cells = [cell for row in rows[:50] for cell in row]
    single = len(rows) == 1 and len(rows[0]) == 1
    return {
        "not run": float(result is None),
        "error": float(result is not None and result.error is not None),
        "timeout": float(result is not None and bool(result.error) and not result.ok
                         and result.error is not None and result.error.kind == "timeout"),
        "no rows": float(result is not None and result.ok and not rows),
        "only null": float(bool(rows) and all(cell is None for cell in cells)),
        "some null": sum(cell is None for cell in cells) / max(len(cells), 1),
        "one cell": float(single),
        "zero": float(single and rows[0][0] == 0),
        "one row": float(len(rows) == 1),
        "log rows": float(np.log1p(len(rows))),
        "truncated": float(bool(result and result.truncated)),
        "same rows": float(len(rows) > 1 and len(set(rows)) == 1),
        "repeats": 1.0 - len(set(rows)) / len(rows) if rows else 0.0,
        "width": float(len(rows[0])) if rows else 0.0,
    }  # fmt: skip


def tables_of(candidate: Candidate, facts: QueryFacts | None) -> set[str]:
    """Stored tables that a candidate reads, folded: those in its FROM clauses, and those of its
    columns."""
    found = {ref.table.casefold() for ref in candidate.columns}
    return found | {name.casefold() for name in (facts.tables if facts is not None else ())}


def _said(facts: QueryFacts | None) -> str:
    """All that a query names: tables, columns, aggregates, constants; one a line, folded."""
    if facts is None:
        return ""
    columns = (ref.column for ref in facts.columns)
    calls = (call.function for call in facts.aggregates)
    constants = (one.text for one in facts.constants)
    return "\n".join([*facts.tables, *columns, *calls, *constants]).casefold()


def _coverage(
    state: State,
    candidate: Candidate,
    read: tuple[set[str], QueryFacts | None],
    support: Support,
    loose: Sequence[ColumnLink],
) -> Features:
    """Features of how far a candidate uses the values and links that were found. `read` are its
    tables and facts, `loose` the links that are no keys."""
    tables, facts = read
    used = dict.fromkeys(candidate.columns)
    schema = state.view.schema
    words = {stem(word) for ref in used for word in split_name(ref.column)}
    table_words = {
        stem(word)
        for table in schema.tables
        if table.name.casefold() in tables
        for word in split_name(schema.spoken(table.name))
    }
    hits = [match for match in state.values if match.score >= 0.95]
    said = _said(facts)
    hit_used = [match for match in hits if match.value.casefold() in said]
    spans = [match.span for match in hit_used if match.span]
    explained = left = 0
    for token, best in zip(support.tokens, support.best, strict=True):
        own = stem(token.text)
        inside = any(token.within(span) for span in spans)
        if own in words or own in table_words or inside or token.text in said:
            explained += 1
        elif best >= 0.85:
            left += 1
    count = max(len(support.tokens), 1)
    table_links = {link.table.casefold(): link.score for link in state.tables}
    links = {link.column: link.score for link in loose if link.column in used}
    own_links = [links.get(ref, 0.0) for ref in used if ref not in schema.key_columns] or [0.5]
    missed = [link.score for link in loose if link.column not in used]
    table_scores = [table_links.get(name, 0.0) for name in tables] or [0.0]
    missed_tables = [score for name, score in table_links.items() if name not in tables]
    phrases = {match.phrase.casefold() for match in hits}
    phrases_used = {match.phrase.casefold() for match in hit_used}
    right_column = [m for m in hit_used if m.column in used]
    return {
        "words used": explained / count,
        "words left": left / count,
        "hits": float(min(len(phrases), 4)),
        "hits used": len(phrases_used) / len(phrases) if phrases else 1.0,
        "hits left": float(min(len(phrases - phrases_used), 3)),
        "hits in column": float(min(len({m.phrase for m in right_column}), 3)),
        "link mean": float(np.mean(own_links)),
        "link least": float(min(own_links)),
        "link missed": max(missed, default=0.0),
        "links missed": float(sum(score for score in missed if score > 0.3)),
        "table least": min(table_scores),
        "table missed": max(missed_tables, default=0.0),
        "tables": float(len(tables)),
        "columns": float(len(used)),
        "linked": float(bool(state.columns)),
        "idle tables": float(min(_idle_tables(state, candidate, tables, support), 3)),
    }


def _idle_tables(state: State, candidate: Candidate, tables: set[str], support: Support) -> int:
    """Joined tables that nothing is taken from, that the question doesn't name, and that no two
    others need in order to meet."""
    if len(tables) < 2:
        return 0
    busy = {ref.table.casefold() for ref in candidate.columns}
    neighbours: dict[str, set[str]] = {name: set() for name in tables}
    for key in state.view.schema.foreign_keys:
        near, far = key.table.casefold(), key.target_table.casefold()
        if near in tables and far in tables and near != far:
            neighbours[near].add(far)
            neighbours[far].add(near)
    asked = {stem(token.text) for token in support.tokens}
    return sum(
        name not in busy
        and len(neighbours[name]) < 2
        and not asked & {stem(word) for word in split_name(name)}
        for name in tables
    )


def _mass(groups: Sequence[int], shares: np.ndarray) -> dict[int, float]:
    """The probability of each group of candidates."""
    mass: dict[int, float] = {}
    for group, share in zip(groups, shares, strict=True):
        mass[group] = mass.get(group, 0.0) + float(share)
    return mass


def question_features(
    state: State, scores: np.ndarray, mass: Mapping[int, float], support: Support
) -> Features:
    """Features that say if the database can hold what is asked, from the candidates' scores and the
    probability of each of their results; the same for every candidate."""
    best = support.best
    names = support.by_name
    columns = sorted((link.score for link in state.columns), reverse=True) or [0.0]
    tables = sorted((link.score for link in state.tables), reverse=True) or [0.0]
    shares = softmax(scores)
    unexplained = best < EXPLAINED
    weak = best < 0.45
    return {
        "q words": float(len(best)),
        "q unexplained": float(unexplained.mean()) if len(best) else 0.0,
        "q unexplained count": float(min(unexplained.sum(), 5)),
        "q weak": float(weak.mean()) if len(best) else 0.0,
        "q weak count": float(min(weak.sum(), 5)),
        "q by chance": float(((support.strict < EXPLAINED) & ~unexplained).mean())
        if len(best)
        else 0.0,
        "q strictly unexplained": float(min((support.strict < EXPLAINED).sum(), 5)),
        "q strict worst": float(support.strict.min(initial=1.0)),
        "q strict mean": float(support.strict.mean()) if len(best) else 0.5,
        "q worst": float(best.min(initial=1.0)),
        "q second worst": float(np.sort(best)[1]) if len(best) > 1 else 1.0,
        "q mean": float(best.mean()) if len(best) else 0.5,
        "q named": float((names >= 0.9).mean()) if len(best) else 0.0,
        "q valued": float((support.by_value >= 0.9).mean()) if len(best) else 0.0,
        "q names missing": float(min(support.names_missing, 3)),
        "q column": columns[0],
        "q column second": columns[1] if len(columns) > 1 else 0.0,
        "q column sum": float(min(sum(columns), 8.0)),
        "q table": tables[0],
        "q table second": tables[1] if len(tables) > 1 else 0.0,
        "q top score": float(scores[0]),
        "q top share": float(shares.max()),
        "q entropy": float(-(shares * np.log(shares + 1e-9)).sum()),
        "q groups": float(len(mass)),
        "q agreement": max(mass.values(), default=0.0),
        "q log columns": float(np.log1p(state.view.schema.column_count)),
    }


@dataclass(frozen=True)
class Order:
    """Feature names in the order the weights expect them."""

    names: tuple[str, ...]

    def row(self, features: Mapping[str, float]) -> FloatArray:
        """(len(names),). Raises KeyError for a feature that isn't there."""
        return np.array([features[name] for name in self.names], dtype=np.float32)


def add_ranking(
    described: Sequence[Features], ranked: FloatArray, candidates: Sequence[Candidate]
) -> list[Features]:
    """The features with what the ranking model makes of the candidates together."""
    shares = softmax(np.asarray(ranked, dtype=np.float64))
    groups = result_places(candidates)
    mass = _mass(groups, shares)
    best = float(np.max(ranked))
    return [
        one
        | {
            "rank share": float(share),
            "rank logit": float(np.log((share + 1e-4) / (1.0 - share + 1e-4))),
            "rank behind": best - float(score),
            "rank mass": mass[group],
            "rank mass logit": float(np.log((mass[group] + 1e-4) / (1.0001 - mass[group] + 1e-4))),
        }
        for one, share, score, group in zip(described, shares, ranked, groups, strict=True)
    ]
