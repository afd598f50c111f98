"""The commands put together: a module each, loaded when it is called; this only lists them."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from sqlwright.cli.help import CONTEXT, CalmGroup

EXAMPLES = """\
sqlwright demo --save shop.sqlite
sqlwright ask shop.sqlite "Which customer in Munich has the most orders?"
sqlwright chat shop.sqlite
sqlwright sql shop.sqlite "SELECT count(*) FROM orders" --check"""

SECTIONS = {
    "Ask": ("ask", "chat", "sql"),
    "Set up": ("demo", "prepare", "doctor", "purge"),
    "Look inside": ("recipes", "trace"),
    "Measure": ("evaluate", "report", "lab"),
}
COMMANDS = frozenset(name for names in SECTIONS.values() for name in names)

app = typer.Typer(
    name="sqlwright",
    cls=CalmGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings=dict(CONTEXT),
)


def _print_version(value: bool) -> None:
    if value:
        from sqlwright import __version__

        typer.echo(f"sqlwright {__version__}")
        raise typer.Exit


@app.callback()
def _sqlwright(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  (the callback acts on it)
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[  # noqa: ARG001  (taken out of the arguments in main.py)
        bool, typer.Option("--debug", help="Show tracebacks. Works after the command too.")
    ] = False,
) -> None:
    """Ask a database questions in plain language; get a query you can trust, its rows and the
    evidence. Everything runs on this machine unless you name a language model
    elsewhere, and nothing is ever written to your database.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def parser() -> Any:
    """The program that reads a command line."""
    group: Any = get_command(app)
    names = [name for section in SECTIONS.values() for name in section]
    group.places = {name: f"sqlwright.cli.commands.{name}" for name in names}
    group.sections = SECTIONS
    return group
