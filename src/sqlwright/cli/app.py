"""The commands put together: one file each, this one only lists them."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from sqlwright.cli.commands import (
    ablate,
    ask,
    calibrate,
    chat,
    demo,
    doctor,
    evaluate,
    prepare,
    purge,
    recipes,
    sql,
    trace,
)
from sqlwright.cli.commands.finetune.group import group as finetune
from sqlwright.cli.commands.golden.group import group as golden
from sqlwright.cli.commands.merging import merge_databases
from sqlwright.cli.commands.report import command as report
from sqlwright.cli.commands.runs import merge
from sqlwright.cli.commands.tables import command as tables
from sqlwright.cli.help import GROUP_EPILOG, CalmCommand, CalmGroup

app = typer.Typer(
    name="sqlwright",
    cls=CalmGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    epilog=GROUP_EPILOG,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for _name, _module in (
    ("ask", ask),
    ("chat", chat),
    ("sql", sql),
    ("prepare", prepare),
    ("calibrate", calibrate),
    ("purge", purge),
    ("doctor", doctor),
    ("trace", trace),
    ("demo", demo),
    ("evaluate", evaluate),
    ("ablate", ablate),
    ("merge-databases", merge_databases),
    ("tables", tables),
    ("merge-runs", merge),
):
    app.command(_name, cls=CalmCommand, epilog=_module.EXAMPLES)(_module.command)
app.add_typer(recipes.group, name="recipes")
app.add_typer(golden, name="golden")
app.add_typer(report.group, name="report")
app.add_typer(finetune, name="finetune")


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


COMMANDS = frozenset(command.name for command in app.registered_commands) | frozenset(
    one.name for one in app.registered_groups
)


@cache
def parser() -> Any:
    """The program that reads a command line, made of the commands' signatures once."""
    return get_command(app)
