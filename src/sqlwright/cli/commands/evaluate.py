"""`sqlwright evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sqlwright.cli.failure import UsageError
from sqlwright.cli.typed import options

if TYPE_CHECKING:
    from sqlwright.datasets.example import Dataset

EXAMPLES = """\
sqlwright evaluate --spider data/spider --split dev --out runs/local
sqlwright evaluate --bird data/bird --limit 100
"""


def command(
    *,
    spider: Annotated[
        Path | None,
        typer.Option("--spider", metavar="FOLDER", help="A benchmark in Spider's layout."),
    ] = None,
    bird: Annotated[
        Path | None,
        typer.Option("--bird", metavar="FOLDER", help="A benchmark in BIRD's layout."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", metavar="FILE", help="Another file of questions for it."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="NAME",
            help="Databases that its split.json lists so; also fit, valid or calib.",
        ),
    ] = None,
    recipe: options.Recipe = None,
    settings: options.Settings = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    budget: options.Budget = None,
    privacy: options.Privacy = None,
    remote: options.Remote = None,
    reasoning: options.Reasoning = None,
    no_cache: options.NoCache = False,
    record: options.Record = None,
    replay: options.Replay = None,
    no_stand_in: Annotated[
        bool,
        typer.Option(
            "--no-stand-in",
            help="Questions that the language model writes no query for fail; embedded models "
            "don't answer them.",
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", parser=options.count, help="Questions to ask."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Run folder; a temporary one if none."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that the folder holds.")
    ] = False,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> int:
    """Measure a recipe on a benchmark: accuracy, calibration, time.

    Interrupt it whenever you like: with --out and --resume it goes on where it was.
    """
    dataset = _dataset(spider, bird, questions, split)

    from sqlwright.cli.opening import note_destinations, settled
    from sqlwright.cli.terminal.console import Screen, settle_streams
    from sqlwright.cli.views.evaluate import measure

    settle_streams()
    screen = Screen.open()
    chosen = settled(
        recipe=recipe,
        overrides=settings,
        llm=options.llm_flags(
            model=model,
            base_url=base_url,
            budget=budget,
            privacy=privacy,
            remote=remote,
            reasoning=reasoning,
            no_cache=no_cache,
            record=record,
            replay=replay,
        ),
    )
    note_destinations(screen, chosen, allow_code=allow_code)
    return measure(
        screen,
        dataset,
        recipe=chosen.recipe,
        overrides=chosen.overrides,
        llm=chosen.llm,
        home=chosen.home,
        limit=limit,
        folder=_folder(out, resume),
        allow_code=allow_code,
        as_json=as_json,
        stand_in=not no_stand_in,
    )


def _dataset(
    spider: Path | None, bird: Path | None, questions: Path | None, split: str | None
) -> Dataset:
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


def _folder(out: Path | None, resume: bool) -> Path | None:
    if out is None:
        if resume:
            raise UsageError("--resume needs the folder of the run", hint="Name it with --out.")
        return None
    if not resume and out.is_dir() and any(out.iterdir()):
        raise UsageError(
            f"{out} isn't empty",
            hint="Go on with the run it holds with --resume, or name another folder.",
        )
    return out
