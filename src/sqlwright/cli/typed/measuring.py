"""Options of the commands that measure, and the data set and settings that they name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options

if TYPE_CHECKING:
    from sqlwright.datasets.example import Dataset

Spider = Annotated[
    Path | None,
    typer.Option("--spider", metavar="FOLDER", help="A benchmark in Spider's layout."),
]
Bird = Annotated[
    Path | None,
    typer.Option("--bird", metavar="FOLDER", help="A benchmark in BIRD's layout."),
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
        help="Databases that its split.json lists so; also fit, valid or calib.",
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
    spider: Path | None, bird: Path | None, questions: Path | None, split: str | None
) -> Dataset:
    """The data set that the options name. Raises UsageError and DatasetError."""
    if (spider is None) == (bird is None):
        raise UsageError(
            "name one benchmark folder", hint="Give either --spider FOLDER or --bird FOLDER."
        )
    if spider is not None:
        from sqlwright.datasets.spider import load_spider

        return load_spider(spider, questions=questions, split=split)
    from sqlwright.datasets.bird import load_bird

    if split is not None:
        raise UsageError("--split goes with --spider", hint="Use --questions FILE with --bird.")
    assert bird is not None
    return load_bird(bird, questions=questions)


def check_folder(out: Path, *, resume: bool) -> Path:
    """The folder of a run. Raises UsageError if something is in it and it isn't to go on."""
    if not resume and out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out
