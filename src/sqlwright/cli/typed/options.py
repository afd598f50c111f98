"""Options that several commands share, so that they are spelled and explained alike.

A dataclass is a group of options: a command that has a parameter of its type takes them all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sqlwright.boundary.text import readable
from sqlwright.cli.failure import UsageError

LEAST_SECONDS = 0.1
"""Seconds of a time limit at least."""


def seconds(text: str | float) -> float:
    """A time limit from the command line. Raises typer.BadParameter that says what is allowed."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not LEAST_SECONDS <= value < math.inf:
        raise typer.BadParameter(
            f"it takes a number of seconds, {LEAST_SECONDS:g} or more, not {readable(str(text))!r}"
        )
    return value


def count(text: str | int, least: int = 1) -> int:
    """A count from the command line. Raises typer.BadParameter as `seconds`."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise typer.BadParameter(
            f"it takes a whole number, {least} or more, not {readable(str(text))!r}"
        )
    return value


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
QuestionWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DATABASE] QUESTION", help="Path or URL, then the question; - is stdin."
    ),
]
Evidence = Annotated[
    str,
    typer.Option("--evidence", metavar="TEXT", help="Outside knowledge the question needs."),
]
Descriptions = Annotated[
    Path | None,
    typer.Option(
        "--descriptions",
        metavar="FOLDER",
        help="Folder with one CSV file of column descriptions per table.",
    ),
]
MinHash = Annotated[
    Literal["datasketch", "rensa"] | None,
    typer.Option(
        "--minhash",
        help="Also make the value index that CHESS published, by this library "
        "(for retrieval.entities.values=minhash; extra lsh).",
    ),
]
Vectors = Annotated[
    bool,
    typer.Option(
        "--vectors",
        help="Also embed the stored values, the 2,000 most frequent of each column "
        "(for retrieval.nearest_values).",
    ),
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Let the recipe name steps by import path, which runs their code."
    ),
]
AcceptLogin = Annotated[
    bool,
    typer.Option(
        "--accept-login",
        help="Accept, once and for all, a login whose own rights alone keep queries from writing.",
    ),
]
NoQuestions = Annotated[
    bool,
    typer.Option(
        "--no-questions",
        help="Never ask back: answer the likelier reading and say what was assumed.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV, exactly as stored.")]
AsCsvSafe = Annotated[
    bool,
    typer.Option(
        "--csv-safe", help="Print the rows as CSV in which a spreadsheet sees no formulas."
    ),
]


_recipe = partial(typer.Option, rich_help_panel="Recipe")
_model = partial(typer.Option, rich_help_panel="Language model")
_access = partial(typer.Option, rich_help_panel="Limits")


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """The recipe, and changes of it."""

    recipe: Annotated[
        str | None,
        _recipe("--recipe", "-r", metavar="NAME", help="'sqlwright recipes' lists them."),
    ] = None
    overrides: Annotated[
        list[str] | None,
        _recipe("--set", metavar="KEY=VALUE", help="Change one setting of it. Repeatable."),
    ] = None
    sure: Annotated[
        float | None,
        _recipe(
            "--sure", metavar="NUMBER",
            help="Confidence from which auto asks no language model: 0.8. 0: never; 1: always.",
        ),
    ] = None  # fmt: skip

    def flags(self) -> Mapping[str, Any]:
        """The options under the names of their settings."""
        sure = () if self.sure is None else (f"escalate.sure={self.sure:g}",)
        return {"recipe": self.recipe, "overrides": (*(self.overrides or ()), *sure) or None}


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The language model that is asked, at what cost."""

    model: Annotated[
        str | None,
        _model("--model", "-m", metavar="NAME", help="For recipes with one: provider/model."),
    ] = None
    base_url: Annotated[
        str | None,
        _model("--base-url", metavar="URL", help="Where it is, if not at its vendor's."),
    ] = None
    budget: Annotated[
        str | None,
        _model(
            "--budget",
            metavar="AMOUNT",
            help="The most a question may cost: $0.05, '20 calls', '50k tokens', or several.",
        ),
    ] = None
    privacy: Annotated[
        str | None,
        _model(
            "--privacy",
            metavar="full|schema-only",
            help="What a model elsewhere may see; schema-only sends no stored value.",
        ),
    ] = None
    record: Annotated[
        Path | None,
        _model("--record", metavar="FILE", help="Add what it is asked and replies to a file."),
    ] = None
    replay: Annotated[
        Path | None,
        _model("--replay", metavar="FILE", help="Take replies from such a file; ask no model."),
    ] = None

    def flags(self) -> Mapping[str, Any]:
        """The options under the names of their settings."""
        return {f"llm.{name}": getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """Limits of all that a query may read."""

    tables: Annotated[
        str | None,
        _access(
            "--tables",
            metavar="A,B",
            help="The only tables that may be known of and read, with commas between them.",
        ),
    ] = None
    max_scan: Annotated[
        str | None,
        _access(
            "--max-scan",
            metavar="AMOUNT",
            help="The most a query may read, by the database's estimate: 10GB, '5M rows', or both.",
        ),
    ] = None

    def flags(self) -> Mapping[str, Any]:
        """The options under the names of their settings."""
        tables = None if self.tables is None else tuple(self.tables.split(","))
        return {"tables": tables, "max_scan": self.max_scan}


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Limits of an answer's time and of the rows shown."""

    timeout: Annotated[
        float | None,
        _access(
            "--timeout",
            metavar="SECONDS",
            parser=seconds,
            help="Time for the whole answer; best at hand then.",
        ),
    ] = None
    max_rows: Annotated[
        int | None,
        _access(
            "--max-rows",
            metavar="N",
            parser=count,
            help="Rows to show or print; without it 20 on a terminal, all that were fetched "
            "otherwise.",
        ),
    ] = None

    def flags(self) -> Mapping[str, Any]:
        """The options under the names of their settings."""
        return {"seconds": self.timeout}


def one_form(**chosen: bool) -> str:
    """The machine-readable form asked for, or an empty string. Raises UsageError for two."""
    forms = [name.replace("_", "-") for name, wanted in chosen.items() if wanted]
    if len(forms) > 1:
        raise UsageError(
            f"only one form of output at a time, not {' and '.join(forms)}",
            hint="--json holds everything that the others show.",
        )
    return forms[0] if forms else ""
