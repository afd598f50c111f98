"""`sqlwright lab compare`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.text import Text

from sqlwright.boundary.text import duration, readable
from sqlwright.cli.failure import FAILED, INTERRUPTED, REFUSED, UsageError
from sqlwright.cli.opening import Opener, note_destinations, opener, settled
from sqlwright.cli.page import check_place, keep_page
from sqlwright.cli.terminal.console import UNLIMITED, Screen, write_result
from sqlwright.cli.terminal.interrupt import interruptible
from sqlwright.cli.terminal.layout import labelled, shorten, side_by_side, wrapped
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import measuring, options
from sqlwright.cli.typed.target import TypedQuestion, read_target
from sqlwright.cli.views.answer import (
    DisplayOptions,
    doubt_lines,
    result_lines,
    sql_lines,
    verdict_lines,
)
from sqlwright.errors import Cancelled
from sqlwright.events import Event, RunStarted
from sqlwright.lab.comparison.asking import compare
from sqlwright.lab.comparison.records import ComparedRecipe, Comparison
from sqlwright.lab.comparison.words import (
    ASPECT_TITLES,
    STAGE_CAPTIONS,
    STAGE_TITLES,
    STAGES,
    STATUS_WORDS,
    advice,
    also_wrote,
    calls_words,
    cost_words,
    headline,
    sure_words,
    tokens,
)
from sqlwright.presentation.sureness import basis_lines
from sqlwright.settings.policy import check_model_is_asked
from sqlwright.settings.values import Settings
from sqlwright.types import Usage

EXAMPLES = """\
sqlwright lab compare shop.sqlite "How many orders are pending?" --recipes local,local-unscored
sqlwright lab compare shop.sqlite -r local,chess-ir-ss-cg,chase -m openai/gpt-4.1 \\
  --set chase:samples.count=2 --html compared.html "How many orders are pending?"
"""


def command(
    *,
    words: options.QuestionWords = None,
    recipes: Annotated[
        str | None,
        typer.Option(
            "--recipes", "-r", metavar="A,B", help="Recipes to compare, with commas between them."
        ),
    ] = None,
    database: options.Database = None,
    as_json: options.AsJson = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write it as one page of HTML, too."),
    ] = None,
    evidence: options.Evidence = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="[RECIPE:]KEY=VALUE",
            help="Change one setting of all recipes, or of one. May be repeated.",
        ),
    ] = None,
    model: options.ModelOptions,
    access: options.AccessOptions,
    limits: options.AnswerLimits,
    no_stand_in: measuring.NoStandIn = False,
    descriptions: options.Descriptions = None,
    allow_code: options.AllowCode = False,
) -> int:
    """Ask a question by several recipes and see side by side what each did.

    What each chose, at what cost, which results are equal and where the queries differ; a page has
    what was retrieved, linked, generated and repaired, too. Budget and timeout are each recipe's.
    A recipe that fails is shown with the reason.
    """
    target = read_target(words or (), database)

    screen = Screen.open()
    check_place(html)
    chosen = settled(
        model,
        access,
        limits,
        max_rows=limits.max_rows,
        descriptions=descriptions,
        recipe="local",
    )
    if target.note:
        screen.note(clean(target.note, 400))
    asking = comparing(
        screen,
        chosen,
        target,
        named_recipes(recipes or ""),
        settings or (),
        evidence=readable(evidence),
        stand_in=not no_stand_in,
        allow_code=allow_code,
    )
    with Spinner(screen) as spinner:
        comparison, interrupted = interruptible(lambda: asking.run(spinner), asking.cancel)
    return show_comparison(
        screen, comparison, interrupted, as_json=as_json, page=html, max_rows=limits.max_rows
    )


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
        keep_page(screen, page, comparison.to_html())
    if as_json:
        from sqlwright.boundary.text import to_json
        from sqlwright.lab.comparison.as_json import comparison_to_dict

        write_result(to_json(comparison_to_dict(comparison, rows=max_rows), indent=2) + "\n")
    elif page is None:
        screen.show(comparison_lines(comparison, DisplayOptions.of(screen, max_rows or ROWS)))
    else:
        display = DisplayOptions.of(screen)
        screen.show([*overview_lines(comparison, display), *outcome_lines(comparison, display)])
    if interrupted:
        screen.note("stopped early: this is what was at hand", style="warning")
        return INTERRUPTED
    statuses = {one.status for one in comparison.recipes}
    if "answered" in statuses:
        return 0
    return REFUSED if "refused" in statuses else FAILED


TAKEN = ("calls", "tokens", "cost", "time")
"""Columns of what a recipe or a stage took."""
SPARED = ("how sure", "tokens", "cost", "calls")
"""Those that a narrow terminal does without, first to last."""
SAID = 300
"""Characters shown of one statement."""


def comparison_lines(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """The overview, the outcome, what each recipe chose and where the queries differ, and the
    cost by stage; a page has what was retrieved, linked, generated and repaired, too."""
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
    yield from _choices(comparison, display)
    yield from _differences(comparison, display)
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


def _choices(comparison: Comparison, display: DisplayOptions) -> Iterator[Text]:
    """The answer of each recipe, beside one another where the terminal is wide enough."""
    yield from _title(STAGE_TITLES["selection"], STAGE_CAPTIONS["selection"], display.width)

    def block(one: ComparedRecipe) -> Callable[[int], Iterable[Text]]:
        return lambda width: [*_chosen(one, replace(display, width=width)), Text()]

    titled = [(_heading(one, comparison), block(one)) for one in comparison.recipes]
    lines = list(side_by_side(titled, display.width))
    while lines and not lines[-1].plain:
        lines.pop()
    yield from lines


def _heading(one: ComparedRecipe, comparison: Comparison) -> Text:
    """The recipe's name, and the letter of its result."""
    line = Text.assemble((clean(one.name, 80), "name"))
    if letter := comparison.letter(one.name):
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
