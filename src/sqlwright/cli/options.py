"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sqlwright.cli.failure import UsageError

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        help="Database to use, as a path or URL, instead of the first argument.",
    ),
]
DatabaseWord = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATABASE]",
        help="Path or URL. Without it: SQLWRIGHT_DATABASE, the project file, DATABASE_URL.",
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe", "-r", metavar="NAME", help="Recipe to answer with; 'sqlwright recipes' lists."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change one setting of the recipe. May be repeated."
    ),
]
Descriptions = Annotated[
    Path | None,
    typer.Option(
        "--descriptions",
        metavar="FOLDER",
        help="Folder with one CSV file of column descriptions per table.",
    ),
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Let the recipe name steps by import path, which runs their code."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        help="Time for the whole answer; best at hand then.",
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows",
        metavar="N",
        min=1,
        help="Rows to show; 20 on a terminal, all that were fetched otherwise.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")]


def one_form(**chosen: bool) -> str:
    """The machine-readable form asked for, or an empty string. Raises UsageError for two."""
    forms = [name for name, wanted in chosen.items() if wanted]
    if len(forms) > 1:
        raise UsageError(
            f"only one form of output at a time, not {' and '.join(forms)}",
            hint="--json holds everything that the others show.",
        )
    return forms[0] if forms else ""
