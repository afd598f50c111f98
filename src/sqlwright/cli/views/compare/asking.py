"""A question asked by several recipes, with a line of progress, and what came of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.cli.failure import FAILED, INTERRUPTED, REFUSED, UsageError
from sqlwright.cli.opening import note_destinations, opener
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.cli.views.compare.lines import comparison_lines, outcome_lines, overview_lines
from sqlwright.errors import Cancelled, WorkspaceError
from sqlwright.events import Event, RunStarted
from sqlwright.lab.comparison.asking import compare
from sqlwright.lab.comparison.records import Comparison
from sqlwright.presentation.answer import readable
from sqlwright.settings.policy import check_model_is_asked

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
