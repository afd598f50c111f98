"""Questions that were answered here and judged by the user, as a data set.

A folder of traces: the gold query of a question is its answer's where that was called right, and
the one that was given in its place where it was corrected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlwright.boundary.feedback import ENDING, Feedback, feedback_on, keep_feedback
from sqlwright.boundary.text import counted, readable
from sqlwright.database import open_database
from sqlwright.database.address import parse_address, whole_address
from sqlwright.errors import DatabaseUnavailable, DatasetError, UserError, WorkspaceError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import digests
from sqlwright.lab.datasets.selection import Selection
from sqlwright.protocols import Limits, Run
from sqlwright.running.trace import read_trace
from sqlwright.settings.values import Settings

NAME = "traces"
LONGEST = 4_000
"""Characters of a text that a trace holds whole; a longer one is cut there."""


def load_traces(folder: Path, selection: Selection) -> Dataset:
    """The judged questions of a folder of traces. The selection's database is asked where it is
    that of a trace, which has no password. Raises DatasetError."""
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder", hint="Name the folder with the traces.")
    examples, left_out, read = list[Example](), Counter[str](), list[Path]()
    for said in sorted(folder.glob(f"*{ENDING}")):
        trace = said.with_name(f"{said.name.removesuffix(ENDING)}.jsonl")
        try:
            examples.append(_example(trace, selection.database))
        except (_LeftOut, WorkspaceError) as reason:
            left_out[str(reason) if isinstance(reason, _LeftOut) else "can't be read"] += 1
            continue
        read += [trace, said]
    return Dataset(
        NAME,
        _told_apart(examples),
        files=digests(folder, read),
        left_out=tuple(
            f"{counted(count, 'question')} left out: {reason}"
            for reason, count in sorted(left_out.items())
        ),
    )


class _LeftOut(Exception):
    """The reason why a trace gives no question."""


def _example(trace: Path, usual: str | Path | None) -> Example:
    feedback = feedback_on(trace)
    start, answer, of = _ends(trace)
    if feedback is None or not start:
        raise _LeftOut("the trace is gone or can't be read")
    if of:  # a reading was chosen of the answer to an earlier run, which has all that was asked
        start = _ends(trace.with_name(f"{Path(of).name}.jsonl"))[0] or start
    if max(len(str(start.get(name) or "")) for name in ("question", "evidence")) > LONGEST:
        raise _LeftOut("the question is too long to be whole in the trace")
    if start.get("history"):
        raise _LeftOut("they follow other questions")
    sql = _gold(feedback, answer)
    try:
        shown = str(start.get("database", ""))
        address = parse_address(whole_address(shown, None if usual is None else str(usual)))
    except DatabaseUnavailable:
        raise _LeftOut("the database's address can't be read") from None
    return Example(
        id=trace.stem,
        db_id=address.name,
        question=str(start.get("question", "")),
        gold_sql=sql,
        database=address.path or Path(address.identity),
        url=address.text if address.path is None else "",
        engine=address.engine,
        evidence=str(start.get("evidence") or ""),
        tags={"feedback": feedback.word},
    )


def _gold(feedback: Feedback, answer: Mapping[str, Any]) -> str:
    sql = answer.get("sql") if feedback.right else feedback.sql
    if not isinstance(sql, str) or not sql:
        raise _LeftOut("they were called wrong, and no right query was given")
    if feedback.right and len(sql) > LONGEST:
        raise _LeftOut("the query is too long to be whole in the trace")
    return sql


def _ends(trace: Path) -> tuple[Mapping[str, Any], Mapping[str, Any], str]:
    """The first event and the last answer of a trace, empty where there is none, and the run of
    whose answer it chose a reading."""
    events = list(_events(trace))
    start = events[0] if events and events[0].get("kind") == "start" else {}
    answers = [event for event in events if event.get("kind") == "answer"]
    of = next((str(e.get("of") or "") for e in events if e.get("kind") == "choice"), "")
    return start, answers[-1] if answers else {}, of


def _events(trace: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = trace.read_text("utf-8", "replace").split("\n")
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:  # a kill cut it short
            continue
        if isinstance(event, dict):
            yield event


def _told_apart(examples: list[Example]) -> tuple[Example, ...]:
    """Databases of one name in different folders get names of their own."""
    paths: dict[str, list[Path]] = {}
    for one in examples:
        known = paths.setdefault(one.db_id, [])
        if one.database not in known:
            known.append(one.database)
    return tuple(
        replace(one, db_id=f"{one.db_id}-{place + 1}" if place else one.db_id)
        for one in examples
        for place in [paths[one.db_id].index(one.database)]
    )


def judge(
    path: Path,
    *,
    right: bool,
    sql: str = "",
    usual: str | None = None,
    chosen: Settings | None = None,
) -> Feedback:
    """Keep beside a trace whether its answer was right, with a right query where it wasn't.

    The query must be one that reads, and run on the trace's database. `usual` is the address that
    questions go to without one: where it is the same database, it has the password. `chosen` says
    what the query may read and call. Raises WorkspaceError for a trace without an answer, UserError
    for another query, DatabaseUnavailable.
    """
    trace = read_trace(path)
    if not trace.answer:
        raise WorkspaceError(f"{trace.id} never came to an answer", hint="Judge another one.")
    if right and (trace.answer.get("status") != "answered" or not trace.answer.get("sql")):
        raise WorkspaceError(
            f"{trace.id} has no query that could be right", hint="Say --wrong, or judge another."
        )
    if sql:
        _check(
            sql, whole_address(str(trace.start.get("database", "")), usual), chosen or Settings()
        )
    said = datetime.now(UTC).isoformat(timespec="seconds")
    feedback = Feedback(right, readable(sql), said)
    keep_feedback(path, feedback)
    return feedback


def _check(sql: str, url: str, chosen: Settings) -> None:
    tables, functions = chosen.tables_for(url), chosen.functions_for(url)
    database = open_database(url, tables=tables, functions=functions)
    try:
        result = database.execute(sql, Run(), limits=Limits(scan=chosen.max_scan))
    finally:
        database.close()
    if result.error is not None:
        raise UserError(
            f"the query doesn't run: {result.error.message}",
            hint="Give a query that reads, as it would have been right.",
        )
