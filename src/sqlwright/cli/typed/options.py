"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.presentation.answer import readable

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


def count(text: str | int) -> int:
    """A count from the command line. Raises typer.BadParameter as `seconds`."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise typer.BadParameter(f"it takes a whole number, 1 or more, not {readable(str(text))!r}")
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
Tables = Annotated[
    str | None,
    typer.Option(
        "--tables",
        metavar="A,B",
        help="The only tables that may be known of and read, with commas between them.",
    ),
]
Functions = Annotated[
    str | None,
    typer.Option(
        "--functions",
        metavar="A,B",
        help="Functions of the database's own that queries may call, with commas between them.",
    ),
]
NoPrepare = Annotated[
    bool,
    typer.Option(
        "--no-prepare", help="Don't prepare a small database by the way; nothing is kept of it."
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="NAME", help="Language model for recipes with one: provider/model."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Where the model is, if not at its vendor's."),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="AMOUNT",
        help="The most a question may cost: $0.05, '20 calls', '50k tokens', or several.",
    ),
]
Worth = Annotated[
    str | None,
    typer.Option(
        "--worth",
        metavar="AMOUNT",
        help="What a right answer in a wrong one's place is worth: 2.00 (dollars) or "
        "'500k tokens'; the recipe auto spends by it.",
    ),
]
Privacy = Annotated[
    str | None,
    typer.Option(
        "--privacy",
        metavar="full|schema-only",
        help="What a model elsewhere may see; schema-only sends no stored value.",
    ),
]
Remote = Annotated[
    bool | None,
    typer.Option(
        "--remote/--local",
        help="Whether a model is elsewhere, where its address doesn't tell (a gateway here).",
    ),
]
Reasoning = Annotated[
    str | None,
    typer.Option(
        "--reasoning",
        metavar="EFFORT",
        help="How much a model thinks: none, minimal, low, medium, high, xhigh or max.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither use nor keep replies of language models.")
]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Add what models are asked and reply to a file."),
]
Replay = Annotated[
    Path | None,
    typer.Option("--replay", metavar="FILE", help="Take replies from such a file; ask no model."),
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
        parser=seconds,
        help="Time for the whole answer; best at hand then.",
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows",
        metavar="N",
        parser=count,
        help="Rows to show or print; without it 20 on a terminal, all that were fetched otherwise.",
    ),
]
AcceptLogin = Annotated[
    bool,
    typer.Option(
        "--accept-login",
        help="Accept, once and for all, a login whose own rights alone keep queries from writing.",
    ),
]
MaxScan = Annotated[
    str | None,
    typer.Option(
        "--max-scan",
        metavar="AMOUNT",
        help="The most a query may read, by the database's estimate: 10GB, '5M rows', or both.",
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


def llm_flags(
    *,
    model: str | None = None,
    base_url: str | None = None,
    budget: str | None = None,
    worth: str | None = None,
    privacy: str | None = None,
    remote: bool | None = None,
    reasoning: str | None = None,
    no_cache: bool = False,
    record: Path | None = None,
    replay: Path | None = None,
) -> dict[str, Any]:
    """The options about language models under the names of their settings."""
    return {
        "llm.model": model,
        "llm.base_url": base_url,
        "llm.budget": budget,
        "llm.worth": worth,
        "llm.privacy": privacy,
        "llm.remote": remote,
        "llm.reasoning": reasoning,
        "llm.cache": False if no_cache else None,
        "llm.record": None if record is None else str(record),
        "llm.replay": None if replay is None else str(replay),
    }


def one_form(**chosen: bool) -> str:
    """The machine-readable form asked for, or an empty string. Raises UsageError for two."""
    forms = [name.replace("_", "-") for name, wanted in chosen.items() if wanted]
    if len(forms) > 1:
        raise UsageError(
            f"only one form of output at a time, not {' and '.join(forms)}",
            hint="--json holds everything that the others show.",
        )
    return forms[0] if forms else ""
