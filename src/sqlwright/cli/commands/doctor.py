"""`sqlwright doctor`."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated

import typer

from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database

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

    from sqlwright.cli.opening import settled
    from sqlwright.cli.terminal.console import Screen, write_result
    from sqlwright.cli.terminal.progress import Spinner
    from sqlwright.cli.views.doctor import checks, lines
    from sqlwright.cli.views.files import corrections_of
    from sqlwright.presentation.answer import to_json

    screen = Screen.open()
    if corrections:
        write_result(corrections_of(target))
        return 0
    settings = settled()
    with Spinner(screen, "checking") as spinner:
        found = []
        for check in checks(target, settings):
            spinner.tell(f"checked {check.name}")
            found.append(check)
    healthy = all(check.state != "bad" for check in found)
    if as_json:
        listed = {"healthy": healthy, "checks": [asdict(check) for check in found]}
        write_result(to_json(listed, indent=2) + "\n")
    else:
        screen.show(lines(found, screen))
    return 0 if healthy else UNHEALTHY
