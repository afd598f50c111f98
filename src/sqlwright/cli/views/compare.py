"""A question asked by several recipes, with a line of progress, and what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from sqlwright.cli.failure import FAILED, INTERRUPTED, REFUSED, UsageError
from sqlwright.cli.opening import note_destinations, opener
from sqlwright.cli.terminal.console import UNLIMITED, Screen, write_result
from sqlwright.cli.terminal.layout import labelled, shorten, side_by_side, wrapped
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import (
    DisplayOptions,
    doubt_lines,
    one_line_sql,
    result_lines,
    sql_lines,
    value_line,
    verdict_lines,
)
from sqlwright.errors import Cancelled, WorkspaceError
from sqlwright.events import Event, RunStarted
from sqlwright.lab.comparison.asking import compare
from sqlwright.lab.comparison.names import STAGES, Stage
from sqlwright.lab.comparison.records import ComparedRecipe, Comparison, Repair
from sqlwright.lab.comparison.words import (
    ASPECT_TITLES,
    STAGE_CAPTIONS,
    STAGE_TITLES,
    STATUS_WORDS,
    advice,
    also_wrote,
    calls_words,
    cluster_words,
    cost_words,
    example_words,
    headline,
    linked_words,
    repair_words,
    share_words,
    sub_question_words,
    sure_words,
    tokens,
)
from sqlwright.presentation.answer import readable
from sqlwright.presentation.sureness import basis_lines
from sqlwright.presentation.timing import duration
from sqlwright.settings.policy import check_model_is_asked
from sqlwright.types import Usage

if TYPE_CHECKING:
    from sqlwright.cli.opening import Opener
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.typed.target import TypedQuestion
    from sqlwright.settings.values import Settings

ROWS = 5
"""Rows shown of each answer where nothing else was asked for."""


@dataclass
class Comparing:
    """One question by several recipes, which can be cancelled at any moment."""

    opener: Opener
    question: str
    recipes: Sequence[str]
    overrides: Sequence[str] = ()
    overrides_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    evidence: str = ""
    allow_code: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, spinner: Spinner) -> Comparison:
        """Open, ask, close."""

        def told(event: Event) -> None:
            if isinstance(event, RunStarted):
                spinner.about = clean(str(event.recipe.get("name", "")), 60)
            spinner(event)

        with self.opener() as session:
            if self.cancelled.is_set():
                raise Cancelled("interrupted")
            return compare(
                session,
                self.question,
                list(self.recipes),
                overrides=list(self.overrides),
                overrides_of=dict(self.overrides_of),
                evidence=self.evidence,
                on_event=told,
                cancelled=self.cancelled,
                allow_code=self.allow_code,
            )

    def cancel(self) -> None:
        """Ask the work to stop soon; recipes that weren't asked yet aren't."""
        self.cancelled.set()


def named_recipes(text: str) -> list[str]:
    """The recipes in a list with commas. Raises UsageError for none."""
    named = [name.strip() for name in text.split(",") if name.strip()]
    if not named:
        raise UsageError(
            "no recipes were named",
            hint="Name them with --recipes local,chess-ir-ss-cg; 'sqlwright recipes' lists them.",
        )
    return named


def comparing(
    screen: Screen,
    settings: Settings,
    target: TypedQuestion,
    recipes: Sequence[str],
    overrides: Sequence[str],
    *,
    evidence: str = "",
    stand_in: bool = True,
    allow_code: bool = False,
) -> Comparing:
    """A comparison ready to run, after notes on where prompts go. `overrides` are `KEY=VALUE`, or
    `RECIPE:KEY=VALUE` for one recipe. Raises ConfigError for what doesn't fit."""
    everywhere, apart = _overrides_by_recipe(overrides, recipes)
    each = [
        replace(settings, recipe=name, overrides=(*everywhere, *apart.get(name, ())))
        for name in recipes
    ]
    check_model_is_asked(*each, allow_code=allow_code)
    note_destinations(screen, *each, allow_code=allow_code)
    # Opened by a recipe that needs no model: those that do may be told that there is none.
    opened_by = replace(settings, recipe="local", overrides=())
    return Comparing(
        opener(target.database, opened_by, stand_in=stand_in),
        target.text,
        recipes,
        everywhere,
        apart,
        evidence,
        allow_code,
    )


def check_page(path: Path | None) -> None:
    """Raise UsageError where a page can't be written: something is there, or no folder is."""
    if path is None:
        return
    if path.exists() or path.is_symlink():
        raise UsageError(
            f"{readable(str(path))} is there already", hint="Name another file, or remove it."
        )
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {readable(str(path.parent))}", hint="Make it first.")


def _overrides_by_recipe(
    given: Sequence[str], recipes: Sequence[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """The overrides for all recipes, and those for one: `RECIPE:KEY=VALUE`."""
    everywhere: list[str] = []
    apart: dict[str, list[str]] = {}
    for text in given:
        name = next((name for name in recipes if text.startswith(f"{name}:")), None)
        if name is None:
            everywhere.append(text)
        else:
            apart.setdefault(name, []).append(text.removeprefix(f"{name}:"))
    return everywhere, apart


def show_comparison(
    screen: Screen,
    comparison: Comparison,
    interrupted: bool,
    *,
    as_json: bool,
    page: Path | None,
    max_rows: int | None,
) -> int:
    """Print it, write the page, give the exit code."""
    if page is not None:
        _write(page, comparison)
    if as_json:
        from sqlwright.lab.comparison.as_json import comparison_to_dict
        from sqlwright.presentation.answer import to_json

        write_result(to_json(comparison_to_dict(comparison, rows=max_rows), indent=2) + "\n")
    elif page is None:
        screen.show(comparison_lines(comparison, DisplayOptions.of(screen, max_rows or ROWS)))
    else:
        display = DisplayOptions.of(screen)
        screen.show([*overview_lines(comparison, display), *outcome_lines(comparison, display)])
    if page is not None:
        screen.note(f"written to {clean(str(page), 400)}")
    if interrupted:
        screen.note("stopped early: this is what was at hand", style="warning")
        return INTERRUPTED
    statuses = {one.status for one in comparison.recipes}
    if "answered" in statuses:
        return 0
    return REFUSED if "refused" in statuses else FAILED


def _write(page: Path, comparison: Comparison) -> None:
    """Write the page. Raises WorkspaceError."""
    from sqlwright.presentation.html.page import write_page

    try:
        write_page(page, comparison.to_html())
    except OSError as error:
        raise WorkspaceError(
            f"{readable(str(page))} can't be written: {error.strerror}", hint="Name another file."
        ) from None


ITEMS = 6
"""Values, descriptions and links shown of a recipe."""
RESULTS = 6
"""Results of candidates shown of a recipe; `--json` and `--html` have all of them."""
REPAIRS = 4
"""Repairs shown of a recipe; likewise."""
TAKEN = ("calls", "tokens", "cost", "time")
"""Columns of what a recipe or a stage took."""
SPARED = ("how sure", "tokens", "cost", "calls")
"""Those that a narrow terminal does without, first to last."""
SAID = 300
"""Characters shown of one statement."""

Told = Callable[[ComparedRecipe, DisplayOptions], Iterable[Text]]


def comparison_lines(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """The overview, then stage by stage what each recipe did, the outcome first."""
    yield from wrapped(Text(clean(comparison.question.text, 10_000), style="strong"), display.width)
    if comparison.question.evidence:
        evidence = Text(clean(comparison.question.evidence, 10_000))
        yield from labelled("evidence", [evidence], display.width)
    yield Text()
    yield from overview_lines(comparison, display)
    yield Text()
    for one in comparison.recipes:
        line = Text(clean(one.name, 80), style="name")
        line.append(f": {clean(one.description, SAID)}", style="quiet")
        yield from wrapped(line, display.width, hang=2)
    yield Text()
    yield from outcome_lines(comparison, display)
    yield from _stage(comparison, "selection", display, _chosen)
    yield from _differences(comparison, display)
    yield from _stage(comparison, "retrieval", display, _retrieved)
    yield from _stage(comparison, "schema_linking", display, _linked)
    yield from _stage(
        comparison, "generation", display, lambda one, d: _generated(one, comparison, d)
    )
    yield from _stage(comparison, "repair", display, _repaired)
    yield from _costs(comparison, display)


def overview_lines(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """A line for each recipe: its outcome, the letter of its result, and what it took."""
    rows = []
    for one in comparison.recipes:
        letter = comparison.letter(one.name)
        row = [_name(one, display), STATUS_WORDS[one.status], letter, sure_words(one)]
        if one.answer is not None:
            row += [*_taken(one.answer.usage), duration(one.answer.seconds)]
        rows.append(row)
    head = ["recipe", "outcome", "result", "how sure", *TAKEN]
    first, *lines = _table(head, rows, 4, display.width)
    yield first
    for line, one in zip(lines, comparison.recipes, strict=True):
        style = {"answered": "good", "failed": "bad"}.get(one.status, "fair")
        line.highlight_words([STATUS_WORDS[one.status]], style)
        yield line


def _name(one: ComparedRecipe, display: DisplayOptions) -> str:
    room = max(12, min(30, display.width - 60))
    return shorten(clean(one.name, 80), room, display.glyphs)


def _taken(usage: Usage) -> list[str]:
    """Calls, tokens and cost."""
    return [calls_words(usage), f"{tokens(usage):,}", cost_words(usage)]


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], names: int, width: int
) -> list[Text]:
    """A table of ours: all but the first `names` columns are set to the right. Where it is narrow
    it does without the columns least missed."""
    whole = [head, *([*row, *[""] * (len(head) - len(row))] for row in rows)]
    spared = [name for name in SPARED if name in head]
    places = [place for place in range(len(head)) if any(row[place] for row in whole[1:])]
    while True:
        widths = [max(cell_len(row[place]) for row in whole) for place in places]
        if sum(widths) + 2 * (len(widths) - 1) <= width or len(places) <= 2:
            break
        places.remove(next((n for n in map(head.index, spared) if n in places), places[-1]))
    lines = []
    for row in whole:
        padded = [
            row[place] + " " * (room - cell_len(row[place]))
            if place < names
            else " " * (room - cell_len(row[place])) + row[place]
            for place, room in zip(places, widths, strict=True)
        ]
        lines.append(Text("  ".join(padded).rstrip()))
    lines[0].stylize("quiet")
    return lines


def outcome_lines(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """The outcome in a sentence, and results that were written and not chosen."""
    yield from wrapped(Text(clean(headline(comparison), 400)), display.width)
    yield from wrapped(Text(advice(comparison), style="quiet"), display.width)
    for told in also_wrote(comparison):
        yield from wrapped(Text(clean(told, 400), style="fair"), display.width)


def _title(text: str, caption: str = "", width: int = UNLIMITED) -> Iterator[Text]:
    yield Text()
    line = Text(text, style="strong")
    if caption:
        line.append(f"  {caption}", style="quiet")
    yield from wrapped(line, width, hang=2)


def _stage(
    comparison: Comparison, stage: Stage, display: DisplayOptions, told: Told
) -> Iterator[Text]:
    """A stage of all recipes that were asked; nothing where none has anything to tell."""
    # What isn't asked has its reason told once, with what the others chose.
    shown = [one for one in comparison.recipes if one.answer or stage == "selection"]
    if not any(list(told(one, display)) for one in shown):
        return
    yield from _title(STAGE_TITLES[stage], STAGE_CAPTIONS[stage], display.width)

    def block(one: ComparedRecipe) -> Callable[[int], Iterable[Text]]:
        def lines(width: int) -> Iterable[Text]:
            told_lines = list(told(one, replace(display, width=width)))
            return [*(told_lines or [Text("nothing", style="quiet")]), Text()]

        return lines

    letters = stage == "selection"
    titled = [(_heading(one, comparison if letters else None), block(one)) for one in shown]
    yield from _without_last_blank(side_by_side(titled, display.width))


def _without_last_blank(lines: Iterable[Text]) -> list[Text]:
    kept = list(lines)
    while kept and not kept[-1].plain:
        kept.pop()
    return kept


def _heading(one: ComparedRecipe, lettered: Comparison | None = None) -> Text:
    """The recipe's name, and the letter of its result where it is wanted."""
    line = Text.assemble((clean(one.name, 80), "name"))
    if lettered is not None and (letter := lettered.letter(one.name)):
        line.append(f"  {letter}", style="strong")
    return line


def _chosen(one: ComparedRecipe, display: DisplayOptions) -> Iterator[Text]:
    answer = one.answer
    if answer is None:
        yield from wrapped(Text(clean(one.problem, 600), style="fair"), display.width)
        if one.hint:
            yield from wrapped(Text(clean(one.hint, 600), style="quiet"), display.width)
        return
    yield from doubt_lines(answer, display)
    yield from verdict_lines(answer, display)
    if answer.sql:
        yield from sql_lines(answer.sql, display, answer.dialect)
    yield from result_lines(answer, replace(display, more=""))
    known = [text for text, _ in basis_lines(answer)] or [sure_words(one)]
    for text in known if answer.status == "answered" else ():
        if text and not (answer.doubt and text == sure_words(one)):
            yield from wrapped(Text(clean(text, 400), style="quiet"), display.width, hang=2)


def _retrieved(one: ComparedRecipe, display: DisplayOptions) -> Iterator[Text]:
    state = one.state
    if state is None:
        return
    if state.keywords:
        words = ", ".join(clean(word, 80) for word in state.keywords[: 2 * ITEMS])
        yield from wrapped(Text(f"keywords: {words}"), display.width, hang=2)
    for match in state.values[:ITEMS]:
        yield from wrapped(value_line(match, display.glyphs), display.width, hang=2)
    yield from _more(len(state.values) - ITEMS, "values")
    for found in state.descriptions[:ITEMS]:
        line = Text(clean(str(found.column), 120), style="name")
        line.append(f": {clean(found.text, 160)}", style="")
        yield from wrapped(line, display.width, hang=2)
    yield from _more(len(state.descriptions) - ITEMS, "descriptions")
    for example in state.examples[:ITEMS]:
        line = Text("nearest values of ", style="quiet")
        line.append(clean(str(example.column), 120), style="name")
        line.append(f": {clean(example_words(example), 160)}", style="")
        yield from wrapped(line, display.width, hang=2)
    yield from _more(len(state.examples) - ITEMS, "columns")


def _linked(one: ComparedRecipe, display: DisplayOptions) -> Iterator[Text]:
    state, linked = one.state, one.linked
    if state is None or linked is None:
        return
    told = linked_words(linked, len(state.view.schema.tables))
    yield from wrapped(Text(told), display.width, hang=2)
    for entity in state.entities[: 2 * ITEMS]:
        line = Text(f"entity \u201c{clean(entity.text, 120)}\u201d: ")
        line.append(", ".join(clean(str(ref), 120) for ref in entity.columns), style="name")
        yield from wrapped(line, display.width, hang=2)
    yield from _more(len(state.entities) - 2 * ITEMS, "entities")
    for summary in state.summaries[:ITEMS]:
        line = Text("table ", style="quiet").append(clean(summary.table, 80), style="name")
        line.append(f": {clean(summary.text, 160)}", style="")
        yield from wrapped(line, display.width, hang=2)
    yield from _more(len(state.summaries) - ITEMS, "tables")
    if state.entities:
        return
    if linked.narrowed:
        names = [clean(str(ref), 120) for ref in linked.columns]
        yield from _names(names, 2 * ITEMS, display)
        return
    for links in (
        [(clean(link.table, 80), link.score) for link in state.tables],
        [(clean(str(link.column), 120), link.score) for link in state.columns],
    ):
        yield from _names([f"{name} {score:.2f}" for name, score in links], ITEMS, display)


def _names(names: Sequence[str], most: int, display: DisplayOptions) -> Iterator[Text]:
    if not names:
        return
    rest = f" and {len(names) - most:,} more" if len(names) > most else ""
    line = Text(", ".join(names[:most]), style="name")
    line.append(rest, style="quiet")
    yield from wrapped(line, display.width, hang=2)


def _generated(
    one: ComparedRecipe, comparison: Comparison, display: DisplayOptions
) -> Iterator[Text]:
    for part in () if one.state is None else sub_question_words(one.state.sub_questions):
        yield from wrapped(Text(clean(part, SAID)), display.width, hang=3)
    for cluster in one.clusters[:RESULTS]:
        line = Text.assemble((f"{share_words(one, cluster)}  ", "quiet"))
        line.append(clean(cluster_words(cluster, comparison), 120))
        if cluster.chosen:
            line.append(f" {display.glyphs.tick} chosen", style="good")
        line.append(f"  by {clean(', '.join(cluster.authors), 80)}", style="quiet")
        yield from wrapped(line, display.width, hang=2)
        queries = cluster.queries
        # Of a query only its beginning: the chosen one is above, and a page has all of them.
        yield from _beginning("  ", queries[0][0].sql, display)
        yield from _more(len(queries) - 1, "with this result", "  ")
    yield from _more(len(one.clusters) - RESULTS, "results")


def _beginning(before: str, sql: str, display: DisplayOptions) -> list[Text]:
    """The first two lines of a query."""
    room = 400 if display.width >= UNLIMITED // 2 else 2 * (display.width - len(before)) - 12
    text = shorten(clean(" ".join(sql.split()), 2_000), max(room, 20), display.glyphs)
    return list(wrapped(Text(f"{before}{text}", style="quiet"), display.width))


def _repaired(one: ComparedRecipe, display: DisplayOptions) -> Iterator[Text]:
    for repair in one.repairs[:REPAIRS]:
        yield from _repair(repair, display)
    yield from _more(len(one.repairs) - REPAIRS, "repairs")


def _repair(repair: Repair, display: DisplayOptions) -> Iterator[Text]:
    line = Text(clean(repair_words(repair), SAID), style="" if repair.kept else "fair")
    line.append(f"  by {clean(repair.step, 60)}", style="quiet")
    yield from wrapped(line, display.width, hang=2)
    # From where they depart from each other: that is what was changed.
    room = 200 if display.width >= UNLIMITED // 2 else 2 * (display.width - 4) - 12
    for sign, one, other in (
        ("-", repair.before, repair.after),
        ("+", repair.after, repair.before),
    ):
        if one.sql:
            text = one_line_sql(one.sql, other.sql, max(room, 20), display.glyphs)
            line = Text(f"  {sign} {text}", style="quiet" if sign == "-" else "")
            yield from wrapped(line, display.width, hang=2)


def _differences(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    if not comparison.differences:
        return
    yield from _title("Where the queries differ")
    for one in comparison.differences:
        yield Text(ASPECT_TITLES[one.aspect], style="label")
        by_texts: dict[tuple[str, ...], list[str]] = {}
        for name, texts in one.own.items():
            by_texts.setdefault(texts, []).append(name)
        if one.shared:
            yield from _statements("all", one.shared, display)
        for texts, names in by_texts.items():
            yield from _statements(", ".join(clean(name, 60) for name in names), texts, display)


def _statements(who: str, texts: Sequence[str], display: DisplayOptions) -> Iterator[Text]:
    line = Text("  ").append(who, style="name").append(": ", style="quiet")
    line.append("; ".join(clean(text, SAID) for text in texts) or "nothing else")
    yield from wrapped(line, display.width, hang=2)


def _costs(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """Calls, tokens, cost and time by stage, those of one stage below one another."""
    rows = []
    for stage in STAGES:
        shown = [(one, each) for one in comparison.recipes for each in one.stages]
        told = [(one, cost) for one, cost in shown if cost.stage == stage]
        for place, (one, cost) in enumerate(told):
            name = "" if place else stage.replace("_", " ")
            taken = duration(cost.seconds) if any(step.runs for step in cost.steps) else ""
            rows.append([name, _name(one, display), *_taken(cost.usage), taken])
    if rows:
        yield from _title("Calls, tokens, cost and time by stage")
        yield from _table(["stage", "recipe", *TAKEN], rows, 2, display.width)


def _more(count: int, what: str, before: str = "") -> Iterator[Text]:
    if count > 0:
        yield Text(f"{before}and {count:,} more {what}", style="quiet")
