"""Options of the commands that measure, and the data set and settings that they name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.terminal.text import clean
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database
from sqlwright.presentation.answer import readable

if TYPE_CHECKING:
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.lab.datasets.example import Dataset

GOLDEN = "golden"
"""The name of the data set that is a file of the user's."""
TRACES = "traces"
"""That of questions which were asked here and judged; it takes no database but the usual one."""

Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="NAME:FOLDER",
        help="A data set and where it is: spider, bird and others, golden:FILE for your own.",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        help="Database of a golden set's questions that name none.",
    ),
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", metavar="FILE", help="Another file of questions for it."),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="NAME",
        help="A part of it: databases that its split.json lists so, also fit, valid or calib, or "
        "a question file.",
    ),
]
NoEvidence = Annotated[
    bool, typer.Option("--no-evidence", help="Leave out the evidence that comes with questions.")
]
Sample = Annotated[
    str,
    typer.Option(
        "--sample",
        metavar="N|N%|sds",
        help="So many questions drawn by seed; sds is a tenth of each database, as in CHESS.",
    ),
]
By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="STRATUM",
        help="Draw the sample from each database, difficulty or tag as it is large.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the sample.")]
DbIds = Annotated[
    str | None,
    typer.Option(
        "--db-ids", metavar="A,B", help="Only questions of these databases, commas between them."
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-n", metavar="N", parser=options.count, help="Questions to ask."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        parser=options.count,
        help="Questions side by side. Answers are the same; times aren't. For models elsewhere.",
    ),
]
Prepare = Annotated[
    bool,
    typer.Option(
        "--prepare",
        help="Prepare each database before it is asked; else it is taken as it is.",
    ),
]
NoStandIn = Annotated[
    bool,
    typer.Option(
        "--no-stand-in",
        help="Questions that the language model writes no query for fail; embedded models "
        "don't answer them.",
    ),
]


def data_set(
    data: str | None,
    *,
    questions: Path | None = None,
    split: str | None = None,
    no_evidence: bool = False,
    sample: str = "",
    by: str = "",
    seed: int = 0,
    db_ids: str | None = None,
    golden: Path | None = None,
    database: str | None = None,
) -> Dataset:
    """The questions that the options name. Raises UsageError, ConfigError and DatasetError."""
    from sqlwright.lab.datasets.registry import load_dataset
    from sqlwright.lab.datasets.selection import Selection

    if (data is None) == (golden is None):
        raise UsageError(
            "name one data set" if data is None else "name one data set, not two",
            hint="Give --data NAME:FOLDER, such as --data spider:data/spider, or a file of your "
            "own questions.",
        )
    name, folder = (GOLDEN, golden) if golden is not None else named_folder(data or "")
    if database is not None and name != GOLDEN:
        raise UsageError(
            "--database goes with a golden set", hint="A benchmark names its databases itself."
        )
    selection = Selection(
        questions=questions,
        split=split,
        evidence=not no_evidence,
        sample=sample,
        by=by,
        seed=seed,
        databases=tuple(one.strip() for one in (db_ids or "").split(",") if one.strip()),
        database=usual_database(database) if name in {GOLDEN, TRACES} else None,
    )
    return load_dataset(name, folder, selection)


def named_folder(data: str) -> tuple[str, Path]:
    """A data set's name and its folder, of NAME:FOLDER. Raises UsageError."""
    from sqlwright.lab.datasets.registry import dataset_names

    name, colon, folder = data.partition(":")
    if not (name.strip() and colon and folder.strip()):
        raise UsageError(
            f"--data takes NAME:FOLDER, not {readable(data)!r}",
            hint=f"Known: {', '.join(dataset_names())}.",
        )
    return name.strip(), Path(folder.strip()).expanduser()


def usual_database(named: str | None) -> str | None:
    """The database of questions that name none; the usual one, where there is one. Raises
    DatabaseUnavailable for an address that can't be read."""
    from sqlwright.database.address import parse_address

    database = named or default_database(os.environ)
    if database is not None:
        parse_address(database)
    return database


def note_left_out(screen: Screen, dataset: Dataset) -> None:
    """Say which questions the loader left out."""
    for line in dataset.left_out:
        screen.note(clean(line, 400), style="warning")


def check_folder(out: Path, *, resume: bool) -> Path:
    """The folder of a run. Raises UsageError if something is in it and it isn't to go on."""
    if not resume and out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out
