"""Options that let a measurement pass or fail, and the files that they name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.presentation.answer import readable

if TYPE_CHECKING:
    from sqlwright.lab.evaluation.golden.gate import Gate


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


def number(text: str | int) -> int:
    """A count, 0 included. Raises typer.BadParameter."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise typer.BadParameter(f"it takes a whole number, 0 or more, not {readable(str(text))!r}")
    return value


GoldenSet = Annotated[
    Path,
    typer.Argument(metavar="GOLDEN_SET", help="Your own questions: YAML, JSON, JSONL or CSV."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under",
        metavar="SHARE",
        parser=share,
        help="Fail (exit code 14) if fewer of all questions are answered rightly, such as 0.9.",
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Fail (exit code 15) if an answer is wrong now that was right in this baseline or "
        "run folder.",
    ),
]
AllowLost = Annotated[
    int | None,
    typer.Option(
        "--allow-lost",
        metavar="N",
        parser=number,
        help="With --baseline: so many answers may be wrong now; 0 unless given.",
    ),
]
WriteBaseline = Annotated[
    Path | None,
    typer.Option(
        "--write-baseline", metavar="FILE", help="Keep which answers are right, for --baseline."
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option(
        "--junit", metavar="FILE", help="Write JUnit's XML: a test case for each question."
    ),
]


@dataclass(frozen=True, slots=True)
class Gating:
    """The options as they were given."""

    least: float | None = None
    baseline: Path | None = None
    lost: int | None = None
    write: Path | None = None
    junit: Path | None = None

    @property
    def given(self) -> bool:
        """True if anything is to be checked or written."""
        return self != Gating()

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

        if self.lost is not None and self.baseline is None:
            raise UsageError("--allow-lost needs a baseline", hint="Name it with --baseline FILE.")
        if self.write is not None and limit is not None:
            raise UsageError(
                "--write-baseline keeps every question",
                hint="Leave out --limit, or --write-baseline.",
            )
        for path in (self.write, self.junit):
            if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
                raise UsageError(
                    f"{readable(str(path))} can't be written",
                    hint="Name a file in a folder that is there.",
                )
        known = None if self.baseline is None else read_baseline(self.baseline, rule)
        return Gate(self.least, known, self.lost or 0)
