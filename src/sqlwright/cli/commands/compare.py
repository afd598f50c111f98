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
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    budget: options.Budget = None,
    privacy: options.Privacy = None,
    remote: options.Remote = None,
    reasoning: options.Reasoning = None,
    no_cache: options.NoCache = False,
    no_stand_in: measuring.NoStandIn = False,
    max_rows: options.MaxRows = None,
    timeout: options.Timeout = None,
    max_scan: options.MaxScan = None,
    descriptions: options.Descriptions = None,
    tables: options.Tables = None,
    functions: options.Functions = None,
    no_prepare: options.NoPrepare = False,
    record: options.Record = None,
    replay: options.Replay = None,
    allow_code: options.AllowCode = False,
) -> int:
    """Ask a question by several recipes and see side by side what each did.

    What was retrieved, linked, generated, repaired and chosen, at what cost, which results are
    equal and where the queries differ. Budget and timeout are each recipe's. A recipe that fails
    is shown with the reason.
    """
    target = read_target(words or (), database)

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, settle_streams
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

    settle_streams()
    screen = Screen.open()
    check_page(html)
    flags = options.llm_flags(
        model=model, base_url=base_url, budget=budget, privacy=privacy, remote=remote,
        reasoning=reasoning, no_cache=no_cache, record=record, replay=replay,
    )  # fmt: skip
    chosen = settled(
        recipe="local",
        descriptions=descriptions,
        tables=tables, functions=functions, timeout=timeout, max_scan=max_scan, max_rows=max_rows,
        prepare=False if no_prepare else None,
        llm=flags,
    )  # fmt: skip
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
        screen, comparison, interrupted, as_json=as_json, page=html, max_rows=max_rows
    )
