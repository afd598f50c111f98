"""`sqlwright lab golden`: add a question to a golden set, or look for faults in one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sqlwright import api
from sqlwright.boundary.text import counted, readable, to_json
from sqlwright.cli.failure import ANSWERS_LOST, UNDER_SHARE, UNHEALTHY, UsageError
from sqlwright.cli.help import as_command, command_group
from sqlwright.cli.opening import settled
from sqlwright.cli.terminal.console import Screen, write_result
from sqlwright.cli.terminal.layout import labelled, rest
from sqlwright.cli.terminal.progress import Spinner
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.cli.typed import measuring, options
from sqlwright.cli.typed.measuring import GateOptions, note_left_out
from sqlwright.cli.typed.target import default_database
from sqlwright.cli.views.answer import DisplayOptions
from sqlwright.database import open_database
from sqlwright.database.address import parse_address, whole_address
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.files import write_whole
from sqlwright.lab.evaluation.golden.adding import (
    NewQuestion,
    add_question,
    stored_result,
    traced_question,
)
from sqlwright.lab.evaluation.golden.baseline import taken, write_baseline
from sqlwright.lab.evaluation.golden.gate import Checked, Gate, junit_xml
from sqlwright.lab.evaluation.golden.lint import RULES, Fault, Lint
from sqlwright.lab.evaluation.golden.questions import load_golden_set
from sqlwright.local.models import EmbeddedModels
from sqlwright.protocols import Limits
from sqlwright.running.trace import find_trace
from sqlwright.settings.values import Settings

ADD_EXAMPLES = """\
sqlwright lab golden add my-questions.yaml --last
sqlwright lab golden add my-questions.yaml --trace 20261120-2104 --with-result
sqlwright lab golden add my-questions.yaml --last --sql "SELECT COUNT(*) FROM orders"
"""


def add(
    *,
    file: measuring.GoldenSet,
    trace: Annotated[
        str, typer.Option("--trace", metavar="ID", help="A trace's id, its beginning, or its file.")
    ] = "",
    last: Annotated[bool, typer.Option("--last", help="The question asked last.")] = False,
    sql: Annotated[
        str, typer.Option("--sql", metavar="SQL", help="The right query, if the answer's wasn't.")
    ] = "",
    with_result: Annotated[
        bool,
        typer.Option("--with-result", help="Run the query and keep its rows, 100 at most."),
    ] = False,
) -> int:
    """Add a question that was asked, with its evidence, query and database.

    Whoever adds it says that the query is right: look at it first. What the file holds stays as it
    is, comments included; a question that is there already is refused.
    """
    if last is bool(trace):
        raise UsageError(
            "name one question", hint="Give --last, or --trace ID; 'sqlwright trace' lists them."
        )

    chosen = settled()
    folder = chosen.home_folder / "traces"
    path = Path(trace) if trace.endswith(".jsonl") else find_trace(folder, trace)
    add_traced(
        Screen.open(),
        file,
        path,
        sql=readable(sql).strip(),
        with_result=with_result,
        usual=default_database(os.environ),
        chosen=chosen,
    )
    return 0


LINT_EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden lint my-questions.yaml -d shop.sqlite --strict --json
"""


def lint(
    *,
    file: measuring.GoldenSet,
    database: measuring.Database = None,
    access: options.AccessOptions,
    readings: Annotated[
        bool,
        typer.Option(
            "--readings/--no-readings",
            help="Ask the embedded models whether a question can be read in two ways, or don't.",
            show_default=False,
        ),
    ] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with code 12 for warnings, too.")
    ] = False,
    as_json: options.AsJson = False,
) -> int:
    """Find what is wrong with a golden set before it measures anything.

    Errors: a query fails, writes, or doesn't give the stored result; a question stands there twice
    with other results. Warnings: a result says nothing or is chance, queries disagree, a question
    has two readings. Ends with code 12 for errors.
    """

    screen = Screen.open()
    chosen = settled(access)
    usual = measuring.usual_database(database)
    dataset = load_golden_set(file, database=usual)
    found = examined(screen, dataset, chosen, readings=readings)
    asked = len(dataset.examples)
    if as_json:
        write_result(to_json(fault_data(found, file, asked), indent=2) + "\n")
    else:
        screen.show(fault_lines(found, asked, screen))
    wrong = [fault for fault in found if strict or fault.severity == "error"]
    return UNHEALTHY if wrong else 0


SHOWN = 50
"""Answers that are listed of a kind; the files have them all."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of a run that is to be, ready before it begins."""

    gating: GateOptions
    dataset: Dataset
    limit: int | None
    gate: Gate

    @classmethod
    def of(
        cls,
        gating: GateOptions,
        dataset: Dataset,
        limit: int | None,
        folder: Path | str | None = None,
        *,
        part: bool = False,
    ) -> Checks | None:
        """The checks that options name; None where they name none, since checking takes all records
        into memory. Raises UsageError and DatasetError."""
        if not gating.given:
            return None
        gating.check_run(folder, part=part)
        return cls(gating, dataset, limit, gating.gate(dataset.rule, limit))

    def outcome(self, folder: Path) -> Outcome:
        """Check the run that the folder holds and write what the options name. Raises
        DatasetError."""
        found = records.read(folder)
        asked, rule = self.dataset.examples[: self.limit], self.dataset.rule
        checked = self.gate.check(asked, found, rule)
        if self.gating.junit is not None:
            text = junit_xml(self.dataset, asked, found, rule, now=datetime.now(UTC))
            write_whole(self.gating.junit, text)
        if self.gating.write_baseline is not None:
            write_baseline(self.gating.write_baseline, taken(found, rule))
        return Outcome(checked)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A checked run, as the command line tells it."""

    checked: Checked

    @property
    def code(self) -> int:
        """The exit code: too few right comes before some lost."""
        if self.checked.under:
            return UNDER_SHARE
        return ANSWERS_LOST if self.checked.lost else 0

    def data(self) -> dict[str, Any]:
        """The outcome for a JSON summary; empty where nothing was to be checked."""
        gate = self.checked.gate
        checks = gate.least is not None or gate.baseline is not None
        return {"gate": self.checked.as_dict()} if checks else {}

    def lines(self, display: DisplayOptions) -> Iterator[Text]:
        """The outcome for reading; nothing where nothing was to be checked."""
        if not self.data():
            return
        yield Text()
        yield from labelled("gate", self._share_entries(), display.width)
        since = self.checked.changes
        if since is None:
            return
        yield from labelled("baseline", [Text(_counts(self.checked))], display.width)
        for label, ids in (("broken", since.lost), ("mended", since.mended)):
            entries = [self._entry(id_, reason=label == "broken") for id_ in ids[:SHOWN]]
            entries += rest(len(ids) - SHOWN)
            yield from labelled(label, entries, display.width, hang=2)

    def _share_entries(self) -> Iterator[Text]:
        share, gate = self.checked.share, self.checked.gate
        low, high = share.interval
        told = f"{share.hits:,} of all {share.total:,} questions right, {share.value:.1%}"
        told += f" ({low:.1%} to {high:.1%})"
        if gate.least is not None:
            under = self.checked.under
            told += f": {'under' if under else 'not under'} {gate.least:.1%}"
        yield Text(told, style="bad" if self.checked.under else "")
        if self.checked.lost and self.checked.changes is not None:
            most = f", {gate.lost:,} may be" if gate.lost else ""
            yield Text(
                f"{len(self.checked.changes.lost):,} wrong that the baseline has right{most}",
                style="bad",
            )

    def _entry(self, id_: str, *, reason: bool) -> Text:
        question = clean(self.checked.questions[id_], 200)
        why = f": {clean(self.checked.outcomes[id_], 300)}" if reason else ""
        return Text.assemble((clean(id_, 60), "strong"), f"  {question}", (why, "quiet"))


def _counts(checked: Checked) -> str:
    since = checked.changes
    assert since is not None
    counts = {
        "broken": since.lost,
        "mended": since.mended,
        "with another query": since.rewritten,
        "new": since.added,
        "gone": since.removed,
    }
    return ", ".join(f"{len(ids):,} {name}" for name, ids in counts.items())


ALONE = "it followed other questions; a golden set keeps it alone, so say all that it means"


def add_traced(
    screen: Screen,
    file: Path,
    trace: Path,
    *,
    sql: str,
    with_result: bool,
    usual: str | None,
    chosen: Settings,
) -> None:
    """Add the question of a trace, whose query may do what `chosen` allows. `usual` is the address
    that questions go to without one: it may have the password that a trace doesn't. Raises
    WorkspaceError, DatasetError, DatabaseUnavailable and UnsafeQuery."""
    found = traced_question(trace, sql)
    new = found.new
    if with_result or parse_address(new.database).engine != "sqlite":
        address = whole_address(new.database, usual)
        tables, functions = chosen.tables_for(address), chosen.functions_for(address)
        opened = open_database(address, tables=tables, functions=functions)
        with closing(opened) as database:
            if with_result:
                new = replace(new, expected=stored_result(database, new.sql, chosen.max_scan))
            add_question(file, new, database.check)
    else:
        add_question(file, new)
    tell_added(screen, file, new, follows=found.follows)


def tell_added(screen: Screen, file: Path, new: NewQuestion, *, follows: bool) -> None:
    """Say what was added and where."""
    rows = "" if new.expected is None else f", with {counted(len(new.expected.rows), 'row')}"
    screen.note(f"added to {clean(str(file), 400)}{rows}: {clean(new.question, 400)}", style="")
    for line in clean_block(new.sql, 4_000).split("\n"):
        screen.note(f"  {line}")
    if follows:
        screen.note(ALONE, style="warning")


STATES = {"error": "bad", "warning": "fair"}
"""Styles of severities."""


def examined(
    screen: Screen, dataset: Dataset, settings: Settings, *, readings: bool
) -> list[Fault]:
    """All faults of a set, found with the progress shown."""

    models = EmbeddedModels()  # loaded once for all databases

    def opened(url: str) -> api.Session:
        return api.open(
            url, recipe="local", models=models, home=settings.home, prepare=False, record=False,
            limits=Limits(scan=settings.max_scan), tables=settings.tables_for(url),
            functions=settings.functions_for(url) or None,
        )  # fmt: skip

    note_left_out(screen, dataset)
    with Spinner(screen, "examining the questions") as spinner:
        return list(
            Lint(dataset, opened, readings, settings.max_scan).faults(
                lambda done, whole: spinner.tell(f"{done:,} of {whole:,} questions examined")
            )
        )


def fault_lines(found: Sequence[Fault], questions: int, screen: Screen) -> Iterator[Text]:
    """Each question with its faults, then counts by rule."""
    width = screen.width
    for id_, faults in groupby(found, key=lambda fault: fault.id):
        listed = list(faults)
        question = clean(listed[0].question, 400)
        yield Text.assemble((clean(id_, 60), "strong"), f"  {question}")
        for fault in listed:
            meaning = RULES[fault.rule][1]
            entry = Text.assemble(
                (fault.severity, STATES[fault.severity]),
                f" {meaning}: {clean(fault.shown_by, 1_000)}",
            )
            yield from labelled(fault.rule, [entry], width, hang=2)
    if found:
        yield Text()
    yield Text(_summary(found, questions), style=_style(found))


def fault_data(found: Sequence[Fault], file: Path, questions: int) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "file": str(file),
        "questions": questions,
        "errors": _count(found, "error"),
        "warnings": _count(found, "warning"),
        "faults": [fault.as_dict() for fault in found],
    }


def _summary(found: Sequence[Fault], questions: int) -> str:
    told = [
        counted(count, severity)
        for severity in ("error", "warning")
        if (count := _count(found, severity))
    ]
    return f"{' and '.join(told) or 'nothing wrong'} in {counted(questions, 'question')}"


def _style(found: Sequence[Fault]) -> str:
    if _count(found, "error"):
        return "bad"
    return "fair" if found else "good"


def _count(found: Sequence[Fault], severity: str) -> int:
    return sum(fault.severity == severity for fault in found)


EXAMPLES = """\
sqlwright lab golden lint my-questions.yaml --database shop.sqlite
sqlwright lab golden add my-questions.yaml --last
"""

PURPOSE = """\
Look after a golden set: questions of your own, each with a query that answers it.

'sqlwright evaluate' measures with it, 'sqlwright lab calibrate' fits the confidence to it.
"""

group = command_group(PURPOSE, EXAMPLES)
group.add_command(as_command("lint", lint, LINT_EXAMPLES))
group.add_command(as_command("add", add, ADD_EXAMPLES))
