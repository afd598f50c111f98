"""`sqlwright doctor`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from sqlwright.boundary.text import duration, to_json
from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.opening import settled
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database
from sqlwright.doctor import Check, checks, corrections_of
from sqlwright.errors import SqlwrightError
from sqlwright.local.models import EmbeddedModels
from sqlwright.local.runtime import is_silent

EXAMPLES = """\
sqlwright doctor
sqlwright doctor shop.sqlite
sqlwright doctor exports/ --corrections
"""


def command(
    *,
    word: options.DatabaseWord = None,
    database: options.Database = None,
    as_json: options.AsJson = False,
    corrections: Annotated[
        bool,
        typer.Option(
            "--corrections",
            help="Print how files were read, as lines of a sqlwright-files.yaml to put right.",
        ),
    ] = False,
) -> int:
    """Check the installation, the models, the guard, a database.

    The guard is really tried, on a database made for the purpose. Ends with code 12 when
    something is wrong.
    """
    target = database or word or default_database(os.environ)

    screen = Screen.open()
    if corrections:
        write_result(corrections_of(target))
        return 0
    settings = settled()
    with Spinner(screen, "checking") as spinner:
        found = []
        for check in checks(target, settings, models=models_check(), silent=is_silent()):
            spinner.tell(f"checked {check.name}")
            found.append(check)
    healthy = all(check.state != "bad" for check in found)
    if as_json:
        listed = {"healthy": healthy, "checks": [asdict(check) for check in found]}
        write_result(to_json(listed, indent=2) + "\n")
    else:
        screen.show(lines(found, screen))
    return 0 if healthy else UNHEALTHY


def lines(found: Sequence[Check], screen: Screen) -> Iterator[Text]:
    """One line per check, and a last one that sums up."""
    width = screen.width
    for check in found:
        sign = {"good": screen.glyphs.tick, "fair": "!", "bad": screen.glyphs.cross}[check.state]
        entry = Text.assemble((f"{sign} ", check.state), clean(check.found, 1_000))
        yield from labelled(check.name, [entry], width, hang=2)
        if check.advice:
            advice = [
                Text.assemble((f"  {clean(line, 400)}", "quiet"))
                for line in check.advice.split("\n")
            ]
            yield from labelled("", advice, width)
    wrong = sum(check.state == "bad" for check in found)
    yield Text()
    yield (
        Text.assemble(("everything is in order", "good"))
        if not wrong
        else Text.assemble((f"{wrong} thing{'s are' if wrong > 1 else ' is'} wrong", "bad"))
    )


def models_check() -> Check:
    """The embedded models, loaded."""
    models, missing, advice = EmbeddedModels(), [], ""
    started = time.perf_counter()
    for role in models:
        try:
            models[role]
        except SqlwrightError as error:
            missing.append(f"{role}: {error}")
            advice = error.hint or "Install sqlwright again; its weights come with the package."
    if missing:
        return Check("models", "bad", "; ".join(missing), advice)
    seconds = duration(time.perf_counter() - started)
    if models.critic.caution:
        return Check("models", "bad", models.critic.caution)
    return Check("models", "good", f"{', '.join(models)}: as expected, loaded in {seconds}")
