"""Replies of models asked for tables and columns, and the stored names that they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from sqlwright.schema import ColumnRef, Schema, Table

_CLOSED = ConfigDict(json_schema_extra={"additionalProperties": False})
"""Endpoints that hold a model to a schema want it closed; what a reply has beyond it is no harm."""


class TablesReply(BaseModel):
    """The tables a question needs."""

    model_config = _CLOSED
    reasoning: str
    tables: list[str]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        found, reasoning = _list_in(data, ("tables", "table_names", "selected_tables", "answer"))
        return {"reasoning": reasoning, "tables": [_name_of(entry) for entry in found]}


class NamedTables(BaseModel):
    """The tables a question needs, from a model that was trained to name them and nothing else."""

    model_config = _CLOSED
    tables: list[str]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        return {"tables": TablesReply.model_validate(data).tables}


class TableColumns(BaseModel):
    """Columns of one table."""

    model_config = _CLOSED
    table: str
    columns: list[str]


class ColumnsReply(BaseModel):
    """The columns a question needs, by table."""

    model_config = _CLOSED
    reasoning: str
    tables: list[TableColumns]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        keys = ("tables", "columns", "selected_columns", "keep", "relevant", "answer")
        found, reasoning = _list_in(data, keys)
        if not found and isinstance(data, Mapping) and not set(data) & set(keys):
            found = [data]
        return {"reasoning": reasoning, "tables": list(_grouped(found))}


class RelevanceReply(BaseModel):
    """Whether a question needs one column."""

    model_config = _CLOSED
    reasoning: str
    relevant: Literal["yes", "no"]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        verdict = data.get("relevant", data.get("is_relevant", data.get("answer")))
        if isinstance(verdict, bool):
            verdict = "yes" if verdict else "no"
        if isinstance(verdict, str):
            verdict = verdict.strip().rstrip(".!").casefold()
            verdict = {"true": "yes", "false": "no", "relevant": "yes", "irrelevant": "no"}.get(
                verdict, verdict
            )
        return {"reasoning": _text(data.get("reasoning")), "relevant": verdict}


class EntityColumns(BaseModel):
    """Something the question speaks of, and the columns that may hold it, the likeliest first."""

    model_config = _CLOSED
    entity: str
    columns: list[str]


class EntitiesReply(BaseModel):
    """The things a question speaks of, each with its columns."""

    model_config = _CLOSED
    reasoning: str
    entities: list[EntityColumns]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        found, reasoning = _named_entries(data, "entities")
        entries = []
        for name, entry in found:
            columns = entry.get("columns", []) if isinstance(entry, Mapping) else entry
            listed = columns.split(",") if isinstance(columns, str) else columns
            if isinstance(listed, Mapping):
                listed = _grouped([listed])
            if not isinstance(listed, Iterable):
                raise ValueError(f"the columns of {name!r} are no list")
            entries.append({"entity": name, "columns": list(map(_column_of, listed))})
        return {"reasoning": reasoning, "entities": entries}


class TableSentence(BaseModel):
    """A table, and in one sentence what it holds."""

    model_config = _CLOSED
    table: str
    summary: str


class SummariesReply(BaseModel):
    """A sentence for each table."""

    model_config = _CLOSED
    tables: list[TableSentence]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        found, _ = _named_entries(data, "tables")
        entries = []
        for name, entry in found:
            told = entry
            if isinstance(entry, Mapping):
                told = entry.get("summary", entry.get("sentence", entry.get("description")))
            entries.append({"table": name, "summary": _text(told)})
        return {"tables": entries}


class RepliedNames:
    """Finds the stored table or column a reply names, whatever its case, quotes and prefixes."""

    def __init__(self, schema: Schema) -> None:
        self._tables: dict[str, Table] = {}
        self._columns: dict[tuple[str, str], ColumnRef] = {}
        for table in schema.tables:
            self._tables.setdefault(_folded(table.name), table)
            for column in table.columns:
                ref = ColumnRef(table.name, column.name)
                self._columns.setdefault((table.name, _folded(column.name)), ref)

    def table(self, name: str) -> Table | None:
        """The table, also when a column (`orders.total`) or a database (`main.orders`) is named
        along; None for a name that isn't there."""
        whole = self._tables.get(_folded(name))
        if whole is not None:
            return whole
        parts = [self._tables.get(_folded(part)) for part in name.split(".")]
        return next((part for part in parts if part is not None), None)

    def column(self, table: str, name: str) -> ColumnRef | None:
        """The column; its own prefix (`orders.total`) counts when no table is given."""
        prefix, _, last = name.rpartition(".")
        for owner, wanted in ((table, name), (table, last), (prefix, last)):
            stored = self.table(owner) if owner else None
            ref = self._columns.get((stored.name, _folded(wanted))) if stored else None
            if ref is not None:
                return ref
        return None

    def tables(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Stored names of those that are there, and the names that aren't."""
        found, unknown = [], []
        for name in names:
            table = self.table(name)
            if table is None:
                unknown.append(name)
            else:
                found.append(table.name)
        return found, unknown

    def columns(
        self, groups: Iterable[TableColumns], *, whole: bool = False
    ) -> tuple[list[ColumnRef], list[str]]:
        """Columns that are there, and the names that aren't. With `whole` a table that is named
        without columns stands for all of its."""
        found, unknown = [], []
        for group in groups:
            if whole and not group.columns:
                table = self.table(group.table)
                found += (
                    [ColumnRef(table.name, entry.name) for entry in table.columns] if table else []
                )
            for name in group.columns:
                ref = self.column(group.table, name)
                if ref is None:
                    unknown.append(f"{group.table}.{name}".lstrip("."))
                else:
                    found.append(ref)
        return found, unknown


def _folded(name: str) -> str:
    return " ".join(name.translate(_QUOTES).split()).casefold()


_QUOTES = str.maketrans("", "", "\"'`[]")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list_in(data: Any, keys: tuple[str, ...]) -> tuple[list[Any], str]:
    """The list a reply is about, whichever of the keys it stands under, and the reasoning."""
    if isinstance(data, list):
        return data, ""
    if not isinstance(data, Mapping):
        raise ValueError(f"it has no list of {keys[0]}")
    reasoning = _text(data.get("reasoning"))
    for key in keys:
        value = data.get(key)
        if isinstance(value, Mapping):
            return [value], reasoning
        if isinstance(value, str):
            return [part for part in value.split(",") if part.strip()], reasoning
        if isinstance(value, list):
            return value, reasoning
    if keys[0] == "tables" and "columns" in keys:
        return [], reasoning
    raise ValueError(f"it has no list of {keys[0]}")


def _named_entries(data: Any, key: str) -> tuple[list[tuple[str, Any]], str]:
    """Names with what is said of each, from a list of objects that hold a name or from an object
    whose keys are the names; and the reasoning."""
    reasoning = _text(data.get("reasoning")) if isinstance(data, Mapping) else ""
    if isinstance(data, Mapping):
        data = data.get(key, {name: one for name, one in data.items() if name != "reasoning"})
    if isinstance(data, Mapping):
        if not {"entity", "table", "name"} & data.keys():
            return [(str(name), entry) for name, entry in data.items()], reasoning
        data = [data]
    if not isinstance(data, list):
        raise ValueError(f"it has no list of {key}")
    found: list[tuple[str, Any]] = []
    for entry in data:
        if not isinstance(entry, Mapping):
            raise ValueError(f"an entry of {key} is no object")
        name = entry.get("entity", entry.get("table", entry.get("name")))
        if isinstance(name, str):
            found.append((name, entry))
        else:
            found += [(str(name), one) for name, one in entry.items()]
    return found, reasoning


def _column_of(entry: Any) -> str:
    """A column's name with its table's, from `"orders.total"` or an object that has both."""
    if isinstance(entry, Mapping):
        table, column = entry.get("table"), entry.get("column", entry.get("columns"))
        if isinstance(column, list) and len(column) == 1:
            column = column[0]
        entry = f"{table}.{column}" if isinstance(table, str) and table else column
    if not isinstance(entry, str):
        raise ValueError("a column is not named by a text")
    return entry.strip().strip("<>")


def _name_of(entry: Any) -> str:
    """A table's name from `"orders"` or `{"table": "orders"}`."""
    if isinstance(entry, Mapping):
        entry = entry.get("table", entry.get("name"))
    if not isinstance(entry, str):
        raise ValueError("a table is not named by a text")
    return entry


def _grouped(found: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Each of `{"table": "orders", "columns": [...]}`, `{"orders": [...]}` and `"orders.total"` in
    the first form."""
    for entry in found:
        if isinstance(entry, str):
            yield {"table": "", "columns": [entry]}
        elif not isinstance(entry, Mapping):
            raise ValueError("a column is not named by a text")
        elif isinstance(entry.get("table"), str):
            names = entry.get("columns", entry.get("column", []))
            yield {"table": entry["table"], "columns": [names] if isinstance(names, str) else names}
        else:
            for table, names in entry.items():
                if table in {"reasoning", "chain_of_thought_reasoning"}:
                    continue
                yield {"table": str(table), "columns": [names] if isinstance(names, str) else names}
