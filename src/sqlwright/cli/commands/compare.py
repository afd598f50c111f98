"""`sqlwright lab compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.typed import measuring, options
from sqlwright.cli.typed.target import read_target

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

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.cli.terminal.interrupt import interruptible
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.terminal.text import clean
    from sqlwright.cli.views.compare import (
        check_page,
        comparing,
        named_recipes,
        show_comparison,
    )
    from sqlwright.presentation.answer import readable

    screen = Screen.open()
    check_page(html)
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
