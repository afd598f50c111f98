"""Options that say how a measurement is carried out: by whom, which part of it, kept where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import measuring, options

if TYPE_CHECKING:
    from sqlwright.lab.evaluation.shards import Shard

QUESTION_SECONDS = 1800.0
"""Seconds that a worker may be at a question, as `lab.evaluation.settings` has it."""
EXECUTORS = ("threads", "processes", "ray")


def _executor(text: str) -> str:
    if text and text not in EXECUTORS:
        raise typer.BadParameter(f"{text!r} isn't one of {', '.join(EXECUTORS)}")
    return text


Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "-w",
        metavar="N",
        parser=options.count,
        help="Processes that ask side by side, each with the models loaded; none if not given.",
    ),
]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="NAME",
        parser=_executor,
        help="threads, processes or ray; processes where there are workers.",
    ),
]
QuestionSeconds = Annotated[
    float,
    typer.Option(
        "--question-seconds",
        metavar="S",
        parser=options.seconds,
        help="Seconds that a worker may be at a question before it is killed.",
    ),
]
OneShard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Ask one of N parts, counted from 1; 'sqlwright lab merge-runs' puts them together.",
    ),
]
Traces = Annotated[
    bool, typer.Option("--traces", help="Keep the trace of each question in the run folder.")
]
Databases = Annotated[
    str,
    typer.Option(
        "--databases",
        metavar="URL",
        help="Where the databases are, if not with the questions: a folder, or s3://bucket/name.",
    ),
]


def executing(workers: int | None, executor: str, question_seconds: float) -> dict[str, Any]:
    """The fields of `EvaluationSettings` by which questions are asked."""
    return {
        "workers": workers or 0,
        "executor": executor,
        "question_seconds": question_seconds,
    }


def one_shard(text: str | None) -> Shard | None:
    """The part of the run that is named. Raises ConfigError."""
    from sqlwright.lab.evaluation.shards import Shard

    return None if text is None else Shard.parse(text)


def folder(out: str | None, *, resume: bool) -> Path | str | None:
    """The folder of a run, or its URL. Raises UsageError if something is in it and it isn't to go
    on."""
    if out is None:
        if resume:
            raise UsageError("--resume needs the folder of the run", hint="Name it with --out.")
        return None
    from sqlwright.boundary.remote_files import RemoteFolder, is_remote

    if not is_remote(out):
        return measuring.check_folder(Path(out), resume=resume)
    if not resume and RemoteFolder(out).names():
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out
