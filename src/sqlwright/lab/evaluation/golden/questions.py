"""A user's own golden set: questions, each with what answers it.

A YAML or JSON list, JSON a line (`.jsonl`), or CSV with a header. Fields: `question`; `sql`, a
query or a list of queries each of which is right; or `expected`, a result (`columns`, `rows`,
`ordered`); `evidence`, `database` (a path from the file's folder), `engine`, `id`, `tags`. In CSV
`expected` and `tags` are JSON.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.database.address import Address, parse_address, split_url
from sqlwright.errors import DatasetError
from sqlwright.lab.calibrating import GoldenQuestion
from sqlwright.lab.datasets.example import Dataset, Example, Expected
from sqlwright.lab.datasets.reading import digests, read_rows, text_field
from sqlwright.lab.datasets.selection import Selection
from sqlwright.types import Cell

QUERIES = ("sql", "sqls", "SQL", "query", "gold")
"""The field of the reference query, then its other names."""
FIELDS = (*QUERIES, "question", "evidence", "expected", "database", "engine", "id", "tags")
ENGINES = {"postgresql": "postgres", "mariadb": "mysql"}
"""Names of engines that `Address.engine` calls otherwise."""


def load_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """The questions of a golden set with their first queries. Raises DatasetError, also for a
    question that has none."""
    found = []
    for where, row in _rows(path):
        example = _example(row, where, None)
        if not example.gold_sql:
            raise DatasetError(f"{where} has no sql", hint="An expected result isn't enough here.")
        found.append(GoldenQuestion(example.question, example.gold_sql, example.evidence))
    return tuple(found)


def load_golden_file(path: Path, selection: Selection) -> Dataset:
    """A golden set as a data set: `load_golden_set` as the registry wants it."""
    if path.is_dir():
        raise DatasetError(f"{path} is a folder", hint="Name the file with your questions.")
    return load_golden_set(path, database=selection.database)


def load_golden_set(path: Path, *, database: str | Path | None = None) -> Dataset:
    """The questions of a golden set; `database`, a file or a server's URL, is asked where a
    question names none. Gold queries are in the dialect of their database.

    Those that name an engine other than their database's are left out. Raises DatasetError, and
    DatabaseUnavailable for an address that can't be read.
    """
    examples, elsewhere, seen = [], Counter[str](), Counter[str]()
    usual = None if database is None else parse_address(str(database))
    for where, row in _rows(path):
        address = _asked(str(row.get("database") or "").strip(), path.parent, usual)
        if address is None:
            raise DatasetError(
                f"{where} names no database", hint="Add a field database, or give --database."
            )
        example = _example(row, where, address, seen)
        wanted = str(row.get("engine") or address.engine).strip().lower()
        if ENGINES.get(wanted, wanted) not in _engines(address):
            elsewhere[wanted] += 1
        else:
            examples.append(example)
    if not examples and not elsewhere:
        raise DatasetError(f"{path} has no questions", hint="Each takes question and sql.")
    left_out = [
        f"{counted(count, 'question')} over {engine} left out: the database is another engine's"
        for engine, count in elsewhere.items()
    ]
    return Dataset(
        path.stem,
        tuple(examples),
        files=digests(path.parent, [path]),
        left_out=tuple(left_out),
    )


def _asked(named: str, folder: Path, usual: Address | None) -> Address | None:
    """The database of a question: the usual one where it names none, and where it names the same
    login of the same server, since a file lacks the password."""
    if not named:
        return usual
    address = parse_address(named)
    if address.path is not None:
        return address if "://" in named else parse_address(str(folder / named))
    same = usual is not None and usual.identity == address.identity
    return usual if same else address


def _engines(address: Address) -> set[str]:
    """Names that the engine of a database may have: DuckDB reads files, and a URL's scheme names
    another one that SQLAlchemy reaches."""
    also = {"files": "duckdb", "generic": split_url(address.text).scheme.partition("+")[0]}
    return {address.engine, also.get(address.engine, address.engine)}


def default_id(question: str) -> str:
    """The id of a question that has none: the same wherever it stands and whatever its query."""
    words = " ".join(question.split()).casefold()
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records, each with its position for messages."""
    rows = read_rows(path)
    if not rows:
        raise DatasetError(f"{path} has no questions", hint="Each takes question and sql.")
    for number, row in enumerate(rows, 1):
        where = f"{path}, question {number}"
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where} isn't an object", hint="It takes question and sql.")
        given = {str(key).strip(): value for key, value in row.items() if value not in (None, "")}
        for key in given:
            if key not in FIELDS:
                near = difflib.get_close_matches(key, FIELDS, n=1, cutoff=0.5)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise DatasetError(
                    f"{where} has an unknown field {key!r}{meant}",
                    hint=f"Known: {', '.join(FIELDS)}.",
                )
        yield where, (_csv_row(given, where) if path.suffix.lower() == ".csv" else given)


def _csv_row(row: dict[str, Any], where: str) -> dict[str, Any]:
    """The record with what stands as JSON in a cell read."""
    read = dict(row)
    for key in {"expected", "tags"} & set(row):
        try:
            read[key] = json.loads(row[key])
        except (TypeError, ValueError) as error:
            raise DatasetError(f"{where}: {key} can't be read as JSON: {error}") from None
    return read


def _example(
    row: Mapping[str, Any], where: str, address: Address | None, seen: Counter[str] | None = None
) -> Example:
    question = text_field(row, ["question"], where).strip()
    expected = _expected(row["expected"], where) if "expected" in row else None
    queries = [query for query in _queries(row, where) if query or expected is None]
    if not question or any(not query for query in queries):
        raise DatasetError(f"{where} has an empty question or query")
    if not queries and expected is None:
        raise DatasetError(f"{where} has no sql", hint="It takes sql, or an expected result.")
    tags = _tags(row.get("tags"), where)
    return Example(
        id=_id(row, question, where, Counter() if seen is None else seen),
        db_id="" if address is None else address.name,
        question=question,
        gold_sql=queries[0] if queries else "",
        database=Path() if address is None else address.path or Path(address.identity),
        url=address.text if address is not None and address.path is None else "",
        evidence=str(row.get("evidence") or ""),
        difficulty=tags.get("difficulty", ""),
        also=tuple(queries[1:]),
        expected=expected,
        tags=tags,
        engine="sqlite" if address is None else address.engine,
    )


def _queries(row: Mapping[str, Any], where: str) -> list[str]:
    given: Any = next((row[name] for name in QUERIES if name in row), [])
    listed = given if isinstance(given, list) else [given]
    if not all(isinstance(query, str) for query in listed):
        raise DatasetError(f"{where}: sql takes a query or a list of queries")
    return [query.strip() for query in listed]


def _id(row: Mapping[str, Any], question: str, where: str, seen: Counter[str]) -> str:
    """The question's own id, or one of its words; `seen` counts those before it."""
    if "id" in row:
        own = str(row["id"]).strip()
        if seen[own]:
            raise DatasetError(f"{where} has the id {own!r} of another question")
        seen[own] += 1
        return own
    usual = default_id(question)
    seen[usual] += 1
    return usual if seen[usual] == 1 else f"{usual}-{seen[usual]}"


def _tags(given: Any, where: str) -> dict[str, str]:
    if isinstance(given, Mapping):
        return {str(tag): str(value) for tag, value in given.items()}
    if isinstance(given, list):
        return {str(tag): "yes" for tag in given}
    if given is None:
        return {}
    raise DatasetError(f"{where}: tags takes a mapping or a list")


def _expected(given: Any, where: str) -> Expected:
    if not isinstance(given, Mapping) or not isinstance(given.get("rows"), list):
        raise DatasetError(
            f"{where}: expected has no rows", hint="It takes {columns: [...], rows: [[...], ...]}."
        )
    if unknown := set(given) - {"columns", "rows", "ordered"}:
        raise DatasetError(f"{where}: expected has an unknown field {min(map(str, unknown))!r}")
    columns = given.get("columns") or []
    if not isinstance(columns, list) or not all(isinstance(row, list) for row in given["rows"]):
        raise DatasetError(f"{where}: columns and each row of expected are lists")
    rows = tuple(tuple(_cell(cell, where) for cell in row) for row in given["rows"])
    if len({len(row) for row in rows} | ({len(columns)} if columns else set())) > 1:
        raise DatasetError(f"{where}: the rows of expected aren't all as wide as its columns")
    return Expected(tuple(map(str, columns)), rows, ordered=bool(given.get("ordered", False)))


def _cell(cell: Any, where: str) -> Cell:
    if isinstance(cell, list):
        return tuple(_cell(one, where) for one in cell)
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if cell is None or isinstance(cell, int | float | str):
        return cell
    raise DatasetError(f"{where}: {cell!r} in expected is no number, text, list or null")
