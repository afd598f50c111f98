"""A comparison as one page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import sqlwright
from sqlwright.lab.comparison.names import STAGES, Stage
from sqlwright.lab.comparison.words import (
    ASPECT_TITLES,
    STAGE_CAPTIONS,
    STAGE_TITLES,
    STATUS_WORDS,
    advice,
    also_wrote,
    author_words,
    calls_words,
    cluster_words,
    cost_words,
    example_words,
    headline,
    linked_words,
    reason,
    repair_words,
    result_words,
    share_words,
    sub_question_words,
    sure_words,
    tokens,
)
from sqlwright.presentation.answer import doubt_words
from sqlwright.presentation.html import blocks
from sqlwright.presentation.html.elements import NOTHING, Content, Html, element, foreign, joined
from sqlwright.presentation.html.page import page
from sqlwright.presentation.sureness import basis_lines
from sqlwright.presentation.timing import duration
from sqlwright.sql.pieces import cutting
from sqlwright.types import Candidate, ColumnExamples, Entity, Usage, ValueMatch

if TYPE_CHECKING:
    from sqlwright.lab.comparison.records import ComparedRecipe, Comparison, Repair

VALUES = 12
"""Values, descriptions and tables shown at once; the rest opens. Chosen, as all of these."""
SCORES = 6
"""The same of names by their scores."""
CANDIDATES = 40
"""Results of candidates, and repairs, shown of a recipe."""
OPEN = 1
"""Results of candidates up to which their queries are open at once."""
ROWS = 20
"""Rows shown of an answer."""

Told = Callable[["ComparedRecipe"], Html]


def comparison_page(comparison: Comparison) -> str:
    """The page as text."""
    evidence = comparison.question.evidence
    given = [element("p", "Evidence: ", foreign(evidence))] if evidence else []
    return page(
        comparison.question.text,
        *given,
        element("p", headline(comparison), class_="strong"),
        blocks.paragraph(advice(comparison), kind="faint"),
        *(element("p", told) for told in also_wrote(comparison)),
        _overview(comparison),
        _side_by_side(comparison, "selection", lambda one: _chosen(one, comparison)),
        _differences(comparison),
        _side_by_side(comparison, "retrieval", _retrieved),
        _side_by_side(comparison, "schema_linking", _linked),
        _side_by_side(comparison, "generation", lambda one: _generated(one, comparison)),
        _side_by_side(comparison, "repair", _repaired),
        _costs(comparison),
        footer=f"sqlwright {sqlwright.__version__} · {comparison.dialect}",
    )


def _overview(comparison: Comparison) -> Html:
    rows = []
    for one in comparison.recipes:
        asked = one.answer
        usage = Usage() if asked is None else asked.usage
        letter = comparison.letter(one.name)
        rows.append(
            [
                foreign(one.name),
                _status(one),
                element("span", letter, class_="strong") if letter else "",
                sure_words(one),
                calls_words(usage) if asked else "",
                f"{tokens(usage):,}" if asked else "",
                cost_words(usage),
                duration(asked.seconds) if asked else "",
            ]
        )
    head = ["Recipe", "Outcome", "Result", "How sure", "Calls", "Tokens", "Cost", "Time"]
    caption = "The same letter is the same result." if comparison.results else ""
    described = [
        (foreign(one.name), foreign(one.description))
        for one in comparison.recipes
        if one.description
    ]
    table = blocks.table(head, rows, caption=caption, numbers=range(4, 8))
    return joined([table, blocks.defined(described)])


def _status(one: ComparedRecipe) -> Html:
    styles = {"answered": "good", "refused": "fair", "failed": "bad", "not_asked": "fair"}
    return element("span", STATUS_WORDS[one.status], class_=styles[one.status])


def _side_by_side(comparison: Comparison, stage: Stage, told: Told) -> Html:
    """A section with a card for each recipe that was asked; left out if there is nothing in any of
    them. Why one wasn't asked is told once, with what the others chose."""
    why = stage == "selection"
    shown = [(one, told(one)) for one in comparison.recipes if one.answer is not None or why]
    if not any(content.markup for _, content in shown):
        return NOTHING
    nothing = blocks.paragraph("nothing", kind="faint")
    entries = [
        (foreign(one.name), content if content.markup else nothing) for one, content in shown
    ]
    caption = blocks.paragraph(STAGE_CAPTIONS[stage].capitalize(), ".", kind="faint")
    return blocks.section(STAGE_TITLES[stage], caption, blocks.cards(entries))


def _chosen(one: ComparedRecipe, comparison: Comparison) -> Html:
    parts: list[Content] = []
    if why := reason(one):
        parts.append(element("p", _status(one), ": ", foreign(why)))
        if one.hint:
            parts.append(blocks.paragraph(foreign(one.hint), kind="faint"))
    answer = one.answer
    if answer is None:
        return joined(parts)
    if letter := comparison.letter(one.name):
        others = [name for name in _group(comparison, one.name) if name != one.name]
        same = joined(["; the same as ", joined(map(foreign, others), ", ")]) if others else ""
        parts.append(element("p", element("span", f"Result {letter}", class_="strong"), same))
    if answer.doubt:
        parts.append(blocks.paragraph(foreign(doubt_words(answer)), kind="fair"))
    if answer.sql:
        parts.append(blocks.code(answer.sql, cutting(answer.dialect)))
    if answer.status == "answered" and answer.columns:
        parts.append(
            blocks.scrolling_rows(
                answer.columns, answer.rows, most=ROWS, truncated=answer.truncated
            )
        )
        if not answer.rows:
            parts.append(blocks.paragraph("no rows", kind="faint"))
    known = [text for text, _ in basis_lines(answer)]
    sure = known or ([sure_words(one)] if not answer.doubt and sure_words(one) else [])
    notes = [foreign(note.text) for note in answer.warnings]
    parts.append(_under("How sure", [foreign(text) for text in sure]))
    parts.append(_under("In words", [foreign(part.text) for part in answer.reading]))
    parts.append(_under("Notes", notes))
    return joined(parts)


def _group(comparison: Comparison, name: str) -> Sequence[str]:
    return next((names for names in comparison.results if name in names), ())


def _under(title: str, items: Sequence[Content]) -> Html:
    return blocks.section(title, blocks.listed(items), level=4) if items else NOTHING


def _differences(comparison: Comparison) -> Html:
    if not comparison.differences:
        return NOTHING
    names = list(comparison.differences[0].own)
    shared = any(one.shared for one in comparison.differences)
    rows: list[list[Content]] = [
        [
            ASPECT_TITLES[one.aspect],
            *([_texts(one.shared)] if shared else []),
            *(_texts(one.own[name]) for name in names),
        ]
        for one in comparison.differences
    ]
    head: list[Content] = ["Side", *(["All of them"] if shared else []), *map(foreign, names)]
    caption = "What all queries say of it, and what else each says."
    return blocks.section("Where the queries differ", blocks.table(head, rows, caption=caption))


def _texts(texts: Iterable[str]) -> Html:
    told = joined(element("div", foreign(text)) for text in texts)
    return told if told.markup else element("span", "nothing", class_="faint")


def _retrieved(one: ComparedRecipe) -> Html:
    state = one.state
    if state is None:
        return NOTHING
    described = [
        joined([_name(str(match.column)), ": ", foreign(match.text, limit=300)])
        for match in state.descriptions
    ]
    return joined(
        [
            _under("Keywords", [joined(map(foreign, state.keywords), ", ")])
            if state.keywords
            else NOTHING,
            _many("Stored values", [_value(match) for match in state.values]),
            _many("Descriptions", described),
            _many("Nearest values", [_example(one) for one in state.examples]),
        ]
    )


def _many(title: str, items: Sequence[Content], most: int = VALUES) -> Html:
    if not items:
        return NOTHING
    rest = items[most:]
    more = blocks.disclosure(f"and {len(rest):,} more", blocks.listed(rest)) if rest else NOTHING
    return blocks.section(title, blocks.listed(items[:most]), more, level=4)


def _value(match: ValueMatch) -> Html:
    rows = "" if match.row_count is None else f" ({match.row_count:,} rows)"
    return joined(
        [
            foreign(match.phrase, limit=80),
            " → ",
            _name(str(match.column)),
            " = ",
            element("span", foreign(match.value, limit=200), class_="sql-string"),
            element("span", rows, class_="faint"),
        ]
    )


def _example(one: ColumnExamples) -> Html:
    return joined([_name(str(one.column)), ": ", foreign(example_words(one), limit=200)])


def _name(text: str) -> Html:
    return element("span", foreign(text, limit=200), class_="name")


def _linked(one: ComparedRecipe) -> Html:
    state, linked = one.state, one.linked
    if state is None or linked is None:
        return NOTHING
    parts = [blocks.paragraph(linked_words(linked, len(state.view.schema.tables)))]
    entities = [_entity(entity) for entity in state.entities]
    parts.append(_many("Entities of the question, and the columns that may hold them", entities))
    if linked.narrowed:
        by_table: dict[str, list[Html]] = {}
        for ref in linked.columns:
            by_table.setdefault(ref.table, []).append(foreign(ref.column))
        full = [joined([_name(table), ": ", joined(c, ", ")]) for table, c in by_table.items()]
        parts.append(_many("Shown in full", full))
    tables = [_score(link.table, link.score) for link in state.tables]
    columns = [_score(str(link.column), link.score) for link in state.columns]
    parts.append(_many("Tables by score", tables, SCORES))
    parts.append(_many("Columns by score", columns, SCORES))
    summaries = [joined([_name(s.table), ": ", foreign(s.text)]) for s in state.summaries]
    parts.append(_many("Tables in a sentence", summaries, SCORES))
    return joined(parts)


def _entity(entity: Entity) -> Html:
    columns = joined((_name(str(ref)) for ref in entity.columns), ", ")
    return joined([foreign(entity.text, limit=200), ": ", columns])


def _score(name: str, score: float) -> Html:
    return joined([f"{score:.2f} ", _name(name)])


def _generated(one: ComparedRecipe, comparison: Comparison) -> Html:
    parts = [] if one.state is None else sub_question_words(one.state.sub_questions)
    shown = [_many("Taken apart", list(map(foreign, parts)))]
    few = len(one.clusters) <= OPEN
    for cluster in one.clusters[:CANDIDATES]:
        title = joined(
            [
                f"{share_words(one, cluster)}: ",
                foreign(cluster_words(cluster, comparison), limit=160),
                element("span", " \u2713 chosen", class_="good") if cluster.chosen else "",
            ]
        )
        queries = map(_query, cluster.queries)
        shown.append(blocks.disclosure(title, *queries, opened=few))
    if (rest := len(one.clusters) - CANDIDATES) > 0:
        shown.append(blocks.paragraph(f"and {rest:,} more", kind="faint"))
    return joined(shown)


def _query(alike: Sequence[Candidate]) -> Html:
    """Candidates with the same query."""
    first = alike[0]
    told = [f"by {author_words(alike)}"]
    if first.confidence is not None:
        told.append(f"confidence {first.confidence:.2f}")
    told += [veto.message for veto in first.vetoes]
    told += [note.text for note in first.warnings]
    goal = [blocks.paragraph("For: ", foreign(first.goal))] if first.goal else []
    plans = dict.fromkeys(one.plan for one in alike if one.plan)
    return joined(
        [
            blocks.paragraph(foreign("; ".join(told)), kind="faint"),
            *goal,
            blocks.code(first.sql, cutting(first.dialect)),
            *(blocks.disclosure("its reasoning", blocks.verbatim(plan)) for plan in plans),
        ]
    )


def _repaired(one: ComparedRecipe) -> Html:
    shown = [_repair(repair) for repair in one.repairs[:CANDIDATES]]
    if len(one.repairs) > CANDIDATES:
        rest = len(one.repairs) - CANDIDATES
        shown.append(blocks.paragraph(f"and {rest:,} more", kind="faint"))
    return joined(shown)


def _repair(repair: Repair) -> Html:
    after = [_labelled("After", repair.after)] if repair.after.sql else []
    return blocks.disclosure(
        foreign(repair_words(repair), limit=300),
        blocks.paragraph(foreign(f"by {repair.step}"), kind="faint"),
        _labelled("Before", repair.before),
        *after,
    )


def _labelled(label: str, candidate: Candidate) -> Html:
    told = f"{label}: {result_words(candidate.result)}"
    query = blocks.code(candidate.sql, cutting(candidate.dialect))
    return joined([blocks.paragraph(foreign(told, limit=400)), query])


def _costs(comparison: Comparison) -> Html:
    longest = max(
        (stage.seconds for one in comparison.recipes for stage in one.stages), default=0.0
    )
    rows: list[list[Content]] = []
    for stage in STAGES:
        for one in comparison.recipes:
            rows += _stage_rows(one, stage, longest)
    head = ["Stage", "Recipe", "Steps", "Calls", "Tokens", "Cost", "Time", "Beside the longest"]
    caption = "Steps side by side add up to more than the clock says."
    table = blocks.table(head, rows, caption=caption, numbers=(3, 4, 5, 6))
    return blocks.section("Calls, cost and time by stage", table) if rows else NOTHING


def _stage_rows(one: ComparedRecipe, stage: Stage, longest: float) -> list[list[Content]]:
    return [
        [
            STAGE_TITLES[stage],
            foreign(one.name),
            joined((foreign(_times(step.step, step.runs)) for step in cost.steps), ", "),
            calls_words(cost.usage),
            f"{tokens(cost.usage):,}",
            cost_words(cost.usage),
            duration(cost.seconds),
            blocks.bar(cost.seconds / longest if longest else 0.0),
        ]
        for cost in one.stages
        if cost.stage == stage
    ]


def _times(step: str, runs: int) -> str:
    return f"{step} × {runs}" if runs > 1 else step
