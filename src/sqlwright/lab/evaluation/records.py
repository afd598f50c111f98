"""Records of a run's questions: one JSON object a line, appended as they are scored; and traces."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlwright.boundary.home import make_private
from sqlwright.errors import DatasetError
from sqlwright.lab.evaluation.files import append_row, line_of, placed_rows_of, row_at, whole_file

PREDICTIONS = "predictions.jsonl"
REMEDY = "Start a new run folder, or remove that line."


@dataclass(frozen=True, slots=True)
class Record:
    """One scored question."""

    id: str
    db_id: str
    question: str
    gold_sql: str
    sql: str | None
    status: str
    """answered, refused, failed, or 'gold' when the gold query itself doesn't run."""
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    """By the name of each rule, true if the answer is right by it."""
    measures: Mapping[str, float | None] = field(default_factory=dict)
    """By the name of each metric its figure; None where it doesn't apply."""
    answered_by: str | None = None
    """A `types.Author`; None without a query."""
    gold_empty: bool = False
    oracle: bool = False
    """True if some candidate is right by the data set's rule."""
    first: bool = False
    """The generator's first candidate is right by the data set's rule."""
    candidates: int = 0
    judged: Sequence[tuple[str, bool]] = ()
    """Of each candidate, in their order, its writer (`types.Candidate.writer`) and whether it is
    right by the data set's rule."""
    judgements: Sequence[tuple[str, Sequence[int], Sequence[float]]] = ()
    """The judgements of candidates that were seen at once: the step, their places among all (from
    0) as they were shown, and the part of the vote of each; none where it was lost."""
    confidence: float | None = 0.0
    """None where nothing was fitted to say how probable the answer is."""
    basis: Mapping[str, Any] = field(default_factory=dict)
    """The answer's grounds by the fields of `types.Basis`: from them a probability can be
    fitted."""
    needed_columns: int = 0
    found_columns: int = 0
    """Needed columns among the linker's best `LINKER_KEEPS`."""
    kept_columns: int = 0
    kept_tables: int = 0
    """Tables of the columns that are kept."""
    needed_tables: int = 0
    found_tables: int = 0
    views: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counts of the whole schema and of what is left after each step that may narrow it: `columns`,
    `tables`, and of the needed ones `found_columns`, `found_tables`."""
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By the name of a part's figure (`figures.parts.parts_of`) its hits and total."""
    sub_questions: int = 0
    """Parts that the question was taken into, itself included; 0 where it wasn't."""
    seconds: float = 0.0
    saved_seconds: float = 0.0
    """Seconds besides, had no reply of a language model been at hand."""
    times: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Usage of language models, by step; the keys are the fields of `types.Usage`."""
    message: str = ""
    notes: Sequence[tuple[str, str]] = ()
    """Kind and text of each of the answer's notes (`types.Note`)."""
    difficulty: str = ""
    """By the data set, or where it says none by Spider's grading of the gold query."""
    features: Sequence[str] = ()
    """SQL features of the gold query."""
    tags: Mapping[str, str] = field(default_factory=dict)
    evidence: str = ""
    """The evidence that the data set gives with the question."""
    dialect: str = "sqlite"
    """The database's, in which its queries are."""
    errors: Sequence[Mapping[str, str]] | None = None
    """Of a wrong answer the classes that hold, the main one first: `class`, `shown_by`. None where
    nobody looked: of right answers."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """Of a wrong answer where the first wrong thing came from: `kind`, `step`, `shown_by`."""
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of a wrong answer the first rows of `gold` and `query`: `columns`, `rows`, `count`, and
    `error` in place of rows."""

    @property
    def fresh_usage(self) -> dict[str, dict[str, Any]]:
        """The usage with nothing in the cache: as sent, and as replies at hand took when made."""
        return {step: _fresh(used) for step, used in self.usage.items()}

    def right(self, rule: str) -> bool:
        """True if the answer is right by the rule of that name."""
        return self.verdicts.get(rule, False)


def _fresh(used: Mapping[str, Any]) -> dict[str, Any]:
    fresh = dict(used)
    for name in ("calls", "prompt_tokens", "reply_tokens", "cost"):
        more = fresh.pop(f"kept_{name}", 0)
        fresh[name] = None if None in (fresh[name], more) else fresh[name] + more
    return fresh


def append(folder: Path, record: Record) -> None:
    """Add one record, on disk before this returns."""
    append_row(folder / PREDICTIONS, asdict(record))


def read(folder: Path) -> list[Record]:
    """The records of a run folder; a last line that a kill cut short is left out."""
    return list(stream(folder))


def stream(folder: Path) -> Iterator[Record]:
    """The records of a run folder one after another, of which one is in memory at a time; a last
    line that a kill cut short is left out. Fields of later versions are passed over. Raises
    DatasetError for any other line that isn't a record.

    Lines are read and checked in one go by pydantic, in half the time of `json` and a dataclass's
    own constructor.
    """
    from pydantic import TypeAdapter, ValidationError

    path = folder / PREDICTIONS
    if not path.exists():
        return
    read_line = _reading_halves(TypeAdapter(Record).validate_json, ValidationError)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield read_line(line)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(map(str, first["loc"]))
                why = f"{where}: {first['msg']}" if where else first["msg"]
                raise DatasetError(
                    f"{path}, line {number} isn't a record: {why}", hint=REMEDY
                ) from None


def _reading_halves(
    read_line: Callable[[bytes], Record], refusal: type[ValueError]
) -> Callable[[bytes], Record]:
    """The same, but halves of characters (lone surrogates), which JSON can escape and it refuses,
    are read as question marks. Only a line that it refuses is looked at twice."""

    def read(line: bytes) -> Record:
        try:
            return read_line(line)
        except refusal:
            if b"\\ud" not in line.lower():
                raise
            with suppress(ValueError):
                line = line_of(json.loads(line)).encode(errors="replace")
            return read_line(line)

    return read


def placed_rows(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records as they are stored, each with the place in the file at which it begins. Raises
    DatasetError for a line that is none."""
    path = folder / PREDICTIONS
    if path.exists():
        yield from placed_rows_of(path, what="a record", remedy=REMEDY)


class KeptRecords:
    """The file of a folder's records. One process writes it at a time (`lock.locked`)."""

    def __init__(self, folder: Path) -> None:
        """Read which questions have a record. Raises DatasetError for a line that is none."""
        self._folder = folder
        self._path = folder / PREDICTIONS
        self._places: dict[str, int] = {}
        for place, row in placed_rows(folder):
            if not isinstance(row.get("id"), str):
                raise DatasetError(f"{self._path} has a record without an id")
            self._places.setdefault(row["id"], place)

    def __contains__(self, question: object) -> bool:
        return question in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, record: Record) -> None:
        """Add one, on disk before this returns."""
        append(self._folder, record)
        # Only its being there counts from now on: places are read again where they are needed.
        self._places[record.id] = -1

    def arrange(self, order: Iterable[str]) -> None:
        """Put the records in the order of these ids, any others behind them as they stand: copied
        from place to place into a file aside, which then takes this one's name."""
        found = KeptRecords(self._folder)
        places = found._places
        known = [question for question in order if question in places]
        listed = set(known)
        known += [question for question in places if question not in listed]
        if known == list(places):
            return
        with self._path.open("rb") as source, whole_file(self._path) as target:
            for question in known:
                source.seek(places[question])
                target.write(source.readline())

    def at(self, questions: Iterable[str]) -> Iterator[Record | None]:
        """The record of each of the questions, None where there is none."""
        places = KeptRecords(self._folder)._places
        for question in questions:
            place = places.get(question)
            found = None if place is None else row_at(self._path, place)
            yield None if found is None else Record(**found)


TRACES = "traces"

_ODD = re.compile(r"[^0-9A-Za-z_.-]|^\.")


def trace_path(folder: Path, record: Record) -> Path:
    """The place of the trace of a record's question, if it was kept."""
    return folder / TRACES / _name(record.db_id) / f"{_name(record.id)}.jsonl"


def write_trace(folder: Path, record: Record, trace: str) -> None:
    """Keep a question's trace; it holds values of the database, so nobody else may read it."""
    path = trace_path(folder, record)
    make_private(path.parent)
    aside = path.with_name(path.name + ".part")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - from a descriptor
        file.write(trace)
    aside.replace(path)


def _name(text: str) -> str:
    """A text as the name of a file; another one has another name."""
    plain = _ODD.sub("_", text)[:100]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
