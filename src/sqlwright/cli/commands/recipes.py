"""`sqlwright recipes`."""

from __future__ import annotations

from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.presentation.answer import readable

EXAMPLES = """\
sqlwright recipes
sqlwright recipes show local
sqlwright recipes show local > mine.yaml
sqlwright ask shop.sqlite --recipe mine.yaml "How many support tickets are still open?"
"""


def command(
    *,
    action: Annotated[
        str, typer.Argument(metavar="[list|show]", help="What to do; 'list' unless given.")
    ] = "list",
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A recipe by name, or a YAML file.")
    ] = "local",
    allow_code: options.AllowCode = False,
) -> int:
    """List the recipes, or show the steps and settings of one.

    What 'show' prints is a recipe file: save it, change it, use it with --recipe FILE.
    """
    if action not in ("list", "show"):
        raise UsageError(
            f"recipes can't {readable(action)!r}", hint="It knows 'list' and 'show NAME'."
        )

    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views import recipes as cookbook
    from sqlwright.cli.views.answer import DisplayOptions

    settle_streams()
    screen = Screen.open()
    if action == "list":
        screen.show(cookbook.list_lines(DisplayOptions.of(screen)))
    else:
        screen.show(cookbook.recipe_lines(name, allow_code=allow_code))
    return 0
