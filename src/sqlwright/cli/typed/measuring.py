"""Options of the commands that measure, and the data set and settings that they name."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sqlwright.boundary.text import readable
from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options
from sqlwright.cli.typed.target import default_database

if TYPE_CHECKING:
    from sqlwright.cli.terminal.console import Screen
    from sqlwright.lab.datasets.example import Dataset
    from sqlwright.lab.evaluation.golden.gate import Gate
    from sqlwright.lab.evaluation.settings import EvaluationSettings, Shard
    from sqlwright.settings.values import Settings

GOLDEN = "golden"
"""The name of the data set that is a file of the user's."""
TRACES = "traces"
"""That of questions which were asked here and judged; it takes no database but the usual one."""
QUESTION_SECONDS = 1800.0
"""Seconds that a worker may be at a question, as `lab.evaluation.settings` has it."""

_questions = partial(typer.Option, rich_help_panel="Questions")
_running = partial(typer.Option, rich_help_panel="Running")
_gate = partial(typer.Option, rich_help_panel="Checks")


def share(text: str | float) -> float:
    """A share from the command line, 0.9 or 90%. Raises typer.BadParameter."""
    word = str(text).strip()
    try:
        value = float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise typer.BadParameter(
            f"it takes a share from 0 to 1, or a percentage, not {readable(word)!r}"
        )
    return value


GoldenSet = Annotated[
    Path,
    typer.Argument(metavar="GOLDEN_SET", help="Your own questions: YAML, JSON, JSONL or CSV."),
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
NoStandIn = Annotated[
    bool,
    typer.Option(
        "--no-stand-in",
        help="Questions that the language model writes no query for fail; embedded models "
        "don't answer them.",
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


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """A data set, and which of its questions."""

    data: Annotated[
        list[str] | None,
        _questions(
            "--data",
            metavar="NAME:FOLDER",
            help="A data set and where it is: spider, bird and others, golden:FILE for your own.",
        ),
    ] = None
    database: Annotated[
        str | None,
        _questions(
            "--database",
            "-d",
            metavar="URL",
            help="Database of a golden set's questions that name none.",
        ),
    ] = None
    questions: Annotated[
        Path | None,
        _questions("--questions", metavar="FILE", help="Another file of questions for it."),
    ] = None
    split: Annotated[
        str | None,
        _questions(
            "--split",
            metavar="NAME",
            help="A part of it: databases that its split.json lists so, also fit, valid or calib, "
            "or a question file.",
        ),
    ] = None
    no_evidence: Annotated[
        bool, _questions("--no-evidence", help="Leave out the evidence that comes with questions.")
    ] = False
    sample: Annotated[
        str,
        _questions(
            "--sample",
            metavar="N|N%|sds",
            help="So many questions drawn by seed; sds is a tenth of each database, as in CHESS.",
        ),
    ] = ""
    by: Annotated[
        str,
        _questions(
            "--by",
            metavar="STRATUM",
            help="Draw the sample from each database, difficulty or tag as it is large.",
        ),
    ] = ""
    seed: Annotated[int, _questions("--seed", metavar="N", help="Seed of the sample.")] = 0
    db_ids: Annotated[
        str | None,
        _questions(
            "--db-ids",
            metavar="A,B",
            help="Only questions of these databases, commas between them.",
        ),
    ] = None
    limit: Annotated[
        int | None,
        _questions("--limit", "-n", metavar="N", parser=options.count, help="Questions to ask."),
    ] = None

    def dataset(self, golden: Path | None = None) -> Dataset:
        """The questions; `golden` is a file of the user's own in the place of `data`. Raises
        UsageError, ConfigError and DatasetError."""
        from sqlwright.lab.datasets.registry import load_dataset
        from sqlwright.lab.datasets.selection import Selection

        named = list(self.data or ())
        if len(named) + (golden is not None) != 1:
            several = named or golden is not None
            raise UsageError(
                "name one data set, not two" if several else "name one data set",
                hint="Give --data NAME:FOLDER, such as --data spider:data/spider, or a file of "
                "your own questions.",
            )
        name, folder = named_folder(named[0]) if golden is None else (GOLDEN, golden)
        if self.database is not None and name != GOLDEN:
            raise UsageError(
                "--database goes with a golden set", hint="A benchmark names its databases itself."
            )
        selection = Selection(
            questions=self.questions,
            split=self.split,
            evidence=not self.no_evidence,
            sample=self.sample,
            by=self.by,
            seed=self.seed,
            databases=tuple(one.strip() for one in (self.db_ids or "").split(",") if one.strip()),
            database=usual_database(self.database) if name in {GOLDEN, TRACES} else None,
        )
        return load_dataset(name, folder, selection)


@dataclass(frozen=True, slots=True)
class RunningOptions:
    """Workers, their limits, and the state that databases are taken in."""

    jobs: Annotated[
        int,
        _running(
            "--jobs",
            "-j",
            metavar="N",
            parser=options.count,
            help="Questions side by side. Answers are the same; times aren't.",
        ),
    ] = 1
    workers: Annotated[
        int | None,
        _running(
            "--workers",
            "-w",
            metavar="N",
            parser=options.count,
            help="Processes that ask side by side, each with the models loaded; none if not given.",
        ),
    ] = None
    executor: Annotated[
        Literal["threads", "processes", "ray", "batches"] | None,
        _running(
            "--executor",
            help="By what; processes where there are workers, else threads. batches asks language "
            "models by their vendors' batches: half the price, hours.",
        ),
    ] = None
    question_seconds: Annotated[
        float,
        _running(
            "--question-seconds",
            metavar="S",
            parser=options.seconds,
            help="Seconds that a worker may be at a question before it is killed.",
        ),
    ] = QUESTION_SECONDS
    prepare: Annotated[
        bool,
        _running(
            "--prepare",
            help="Prepare each database, and what the recipe reads of it, before it is asked; else "
            "it is taken as it is.",
        ),
    ] = False
    no_stand_in: Annotated[
        bool,
        _running(
            "--no-stand-in",
            help="Questions that the language model writes no query for fail; embedded models "
            "don't answer them.",
        ),
    ] = False

    def settings(
        self, chosen: Settings, questions: QuestionOptions, **more: Any
    ) -> EvaluationSettings:
        """The settings of a run, `more` of them those that one command has alone."""
        from sqlwright.lab.evaluation.settings import EvaluationSettings

        return EvaluationSettings(
            limit=questions.limit,
            llm=chosen.llm,
            home=chosen.home,
            prepare=self.prepare,
            scan=chosen.max_scan,
            allowed=chosen.allowed,
            jobs=self.jobs,
            stand_in=not self.no_stand_in,
            workers=self.workers or 0,
            executor=self.executor or "",
            question_seconds=self.question_seconds,
            **more,
        )


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Conditions under which a measurement passes, and their files."""

    fail_under: Annotated[
        float | None,
        _gate(
            "--fail-under",
            metavar="SHARE",
            parser=share,
            help="Fail (exit code 14) if fewer of all questions are answered rightly, such as 0.9.",
        ),
    ] = None
    baseline: Annotated[
        Path | None,
        _gate(
            "--baseline",
            metavar="FILE",
            help="Fail (exit code 15) if an answer is wrong now that was right in this baseline or "
            "run folder.",
        ),
    ] = None
    allow_lost: Annotated[
        int | None,
        _gate(
            "--allow-lost",
            metavar="N",
            parser=partial(options.count, least=0),
            help="With --baseline: so many answers may be wrong now; 0 unless given.",
        ),
    ] = None
    write_baseline: Annotated[
        Path | None,
        _gate(
            "--write-baseline", metavar="FILE", help="Keep which answers are right, for --baseline."
        ),
    ] = None
    junit: Annotated[
        Path | None,
        _gate("--junit", metavar="FILE", help="Write JUnit's XML: a test case for each question."),
    ] = None

    @property
    def given(self) -> bool:
        """True if anything is to be checked or written."""
        return self != GateOptions()

    def check_run(self, folder: Path | str | None, *, part: bool) -> None:
        """Raise UsageError where a run has not all records at hand: kept at a URL, or a part."""
        if isinstance(folder, str):
            raise UsageError(
                "a run that is kept at a URL can't be checked", hint="Name a folder with --out."
            )
        if part:
            raise UsageError(
                "a shard isn't checked on its own",
                hint="Put the shards together with 'sqlwright lab merge-runs'; "
                "'sqlwright report diff' compares runs.",
            )

    def gate(self, rule: str, limit: int | None) -> Gate:
        """The conditions, with the baseline read. Called before anything is asked, so that a
        mistake costs no run. Raises UsageError and DatasetError."""
        from sqlwright.lab.evaluation.golden.baseline import read_baseline
        from sqlwright.lab.evaluation.golden.gate import Gate

        if self.allow_lost is not None and self.baseline is None:
            raise UsageError("--allow-lost needs a baseline", hint="Name it with --baseline FILE.")
        if self.write_baseline is not None and limit is not None:
            raise UsageError(
                "--write-baseline keeps every question",
                hint="Leave out --limit, or --write-baseline.",
            )
        for path in (self.write_baseline, self.junit):
            if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
                raise UsageError(
                    f"{readable(str(path))} can't be written",
                    hint="Name a file in a folder that is there.",
                )
        known = None if self.baseline is None else read_baseline(self.baseline, rule)
        return Gate(self.fail_under, known, self.allow_lost or 0)


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
        screen.warn(line)


def check_folder(out: Path, *, resume: bool) -> Path:
    """The folder of a run. Raises UsageError if something is in it and it isn't to go on."""
    if not resume and out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out


def one_shard(text: str | None) -> Shard | None:
    """The part of the run that is named. Raises ConfigError."""
    from sqlwright.lab.evaluation.settings import Shard

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
        return check_folder(Path(out), resume=resume)
    if not resume and RemoteFolder(out).names():
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out
