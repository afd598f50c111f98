"""A catalog as JSON and back. Versioned; anything unexpected is a `WorkspaceError`."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from sqlwright.catalog.formats import Format
from sqlwright.catalog.records import Catalog, ColumnProfile, TableProfile
from sqlwright.errors import WorkspaceError
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.types import Cell

VERSION = 2
"""Version of the JSON form; a catalog of another version is prepared again."""
_PROFILE = tuple(field.name for field in fields(ColumnProfile))
_TABLE_PROFILE = tuple(field.name for field in fields(TableProfile))
_PLAIN_CELLS = frozenset({type(None), bool, int, float, str})
_COLUMN = tuple(field.name for field in fields(Column) if field.name != "labels")


def catalog_to_json(catalog: Catalog) -> bytes:
    """UTF-8 JSON with everything the catalog holds."""
    return _dumped(
        {
            "version": VERSION,
            "schema": schema_to_data(catalog.schema),
            "tables": {
                name: [getattr(profile, field) for field in _TABLE_PROFILE]
                for name, profile in catalog.tables.items()
            },
            "columns": [
                [ref.table, ref.column, *profile_to_data(profile)]
                for ref, profile in catalog.columns.items()
            ],
            "notes": list(catalog.notes),
            "unmatched": [[_key_to_data(key), told] for key, told in catalog.unmatched.items()],
        }
    )


def catalog_from_json(content: bytes) -> Catalog:
    """Raises `WorkspaceError` when the content isn't a catalog of this version."""
    try:
        data = json.loads(content)
        if data["version"] != VERSION:
            raise _damaged(f"version {data['version']}")
        return Catalog(
            schema_from_data(data["schema"]),
            {
                str(name): TableProfile(*_typed(values, (int, bool, bool, str)))
                for name, values in data["tables"].items()
            },
            DecodedProfiles(
                {ColumnRef(table, column): values for table, column, *values in data["columns"]}
            ),
            tuple(map(str, data["notes"])),
            {_key_from_data(key): str(told) for key, told in data["unmatched"]},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(str(error)) from error


class DecodedProfiles(Mapping[ColumnRef, ColumnProfile]):
    """Profiles decoded when they are asked for: of thousands a question needs a few.

    Getting one raises `WorkspaceError` when its data doesn't fit.
    """

    def __init__(self, data: Mapping[ColumnRef, Sequence[Any]]) -> None:
        self._data = data
        self._decoded: dict[ColumnRef, ColumnProfile] = {}

    def __getitem__(self, ref: ColumnRef) -> ColumnProfile:
        known = self._decoded.get(ref)
        if known is None:
            try:
                known = profile_from_data(self._data[ref])
            except (ValueError, TypeError, AttributeError) as error:
                raise _damaged(f"{ref}: {error}") from error
            self._decoded[ref] = known
        return known

    def __iter__(self) -> Iterator[ColumnRef]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, ref: object) -> bool:
        return ref in self._data


def schema_to_data(schema: Schema) -> dict[str, Any]:
    """A schema as plain lists and dictionaries."""
    return {
        "name": schema.name,
        "dialect": schema.dialect,
        "tables": [
            {
                "name": table.name,
                "kind": table.kind,
                **({"namespace": table.namespace} if table.namespace else {}),
                "primary_key": list(table.primary_key),
                "label": table.label,
                "description": table.description,
                "definition": table.definition,
                "columns": list(map(_column_to_data, table.columns)),
            }
            for table in schema.tables
        ],
        "foreign_keys": [_key_to_data(key) for key in schema.foreign_keys],
    }


def schema_from_data(data: Mapping[str, Any]) -> Schema:
    """Raises ValueError, TypeError or KeyError when the data doesn't fit."""
    tables = tuple(
        Table(
            name=str(table["name"]),
            columns=tuple(map(_column_from_data, table["columns"])),
            primary_key=tuple(map(str, table["primary_key"])),
            kind="view" if table["kind"] == "view" else "table",
            namespace=str(table.get("namespace", "")),
            description=str(table["description"]),
            label=str(table["label"]),
            definition=str(table["definition"]),
        )
        for table in data["tables"]
    )
    keys = tuple(map(_key_from_data, data["foreign_keys"]))
    return Schema(str(data["name"]), tables, keys, str(data["dialect"]))


def _column_to_data(column: Column) -> list[Any]:
    """The fields in order; labels stand behind them where there are some."""
    fields_of_all = [getattr(column, field) for field in _COLUMN]
    return [*fields_of_all, list(column.labels)] if column.labels else fields_of_all


def _column_from_data(values: Sequence[Any]) -> Column:
    plain, labels = values[: len(_COLUMN)], values[len(_COLUMN) :]
    found = Column(*_typed(plain, (str, str, bool, bool, str, str, str)))
    return replace(found, labels=tuple(map(str, labels[0]))) if labels else found


def _key_to_data(key: ForeignKey) -> list[Any]:
    return [
        key.table,
        list(key.columns),
        key.target_table,
        list(key.target_columns),
        key.inferred,
        key.evidence,
    ]


def _key_from_data(values: Sequence[Any]) -> ForeignKey:
    table, columns, target, target_columns, inferred, evidence = values
    return ForeignKey(
        str(table),
        tuple(map(str, columns)),
        str(target),
        tuple(map(str, target_columns)),
        bool(inferred),
        str(evidence),
    )


def profile_to_data(profile: ColumnProfile) -> list[Any]:
    """A column's profile as a plain list, field by field."""
    values = {name: getattr(profile, name) for name in _PROFILE}
    values["storage"] = dict(profile.storage)
    values["minimum"] = _cell_to_data(profile.minimum)
    values["maximum"] = _cell_to_data(profile.maximum)
    values["formats"] = [list(form) for form in profile.formats]
    values["frequent"] = [[_cell_to_data(value), count] for value, count in profile.frequent]
    values["odd"] = [[_cell_to_data(value), count] for value, count in profile.odd]
    return [values[name] for name in _PROFILE]


def profile_from_data(values: Sequence[Any]) -> ColumnProfile:
    """Raises ValueError or TypeError when the data doesn't fit."""
    storage, rows, nulls, distinct, exact, low, high, formats, frequent, *rest = values
    sampled, length, indexing, missing, odd = rest
    for count in (rows, nulls, distinct, *storage.values()):
        if type(count) is not int:
            raise TypeError("a count is not a whole number")
    return ColumnProfile(
        storage,
        rows,
        nulls,
        distinct,
        bool(exact),
        _cell_from_data(low),
        _cell_from_data(high),
        tuple(Format(str(name), float(share), str(pattern)) for name, share, pattern in formats),
        tuple((_cell_from_data(value), int(count)) for value, count in frequent),
        bool(sampled),
        float(length),
        indexing,
        tuple((str(text), int(count)) for text, count in missing),
        tuple((_cell_from_data(value), int(count)) for value, count in odd),
    )


def _cell_to_data(cell: Cell) -> Any:
    """A cell for JSON; one without a form there is an object with one entry, named for its kind."""
    if type(cell) in _PLAIN_CELLS and not (isinstance(cell, float) and not math.isfinite(cell)):
        return cell
    if isinstance(cell, bytes):
        return {"hex": cell.hex()}
    if isinstance(cell, float):
        return {"float": repr(cell)}
    if isinstance(cell, tuple):
        return {"array": [_cell_to_data(cast("Cell", part)) for part in cell]}
    if isinstance(cell, datetime.timedelta):
        return {"interval": [cell.days, cell.seconds, cell.microseconds]}
    if isinstance(cell, datetime.date | datetime.time):
        return {type(cell).__name__: cell.isoformat()}
    return {"uuid" if isinstance(cell, uuid.UUID) else "decimal": str(cell)}


def _cell_from_data(data: Any) -> Cell:
    if type(data) in _PLAIN_CELLS:
        return cast("Cell", data)
    ((kind, written),) = data.items()
    if kind not in _READ_CELLS:
        raise ValueError(f"a cell is of an unknown kind: {kind}")
    return _READ_CELLS[kind](written)


def _array(parts: Sequence[Any]) -> Cell:
    return tuple(map(_cell_from_data, parts))


def _decimal(written: str) -> Cell:
    try:
        return decimal.Decimal(written)
    except decimal.InvalidOperation as error:
        raise ValueError(f"{written} is no number") from error


_READ_CELLS: Mapping[str, Callable[[Any], Cell]] = {
    "hex": bytes.fromhex,
    "float": float,
    "array": _array,
    "interval": lambda parts: datetime.timedelta(*map(int, parts)),
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "uuid": uuid.UUID,
    "decimal": _decimal,
}


def _typed(values: Sequence[Any], kinds: tuple[type, ...]) -> tuple[Any, ...]:
    if tuple(map(type, values)) != kinds:
        raise TypeError("a field has the wrong type")
    return tuple(values)


def _dumped(data: Any) -> bytes:
    # Lone surrogates can't be UTF-8; escaped they survive.
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _damaged(what: str) -> WorkspaceError:
    return WorkspaceError(
        f"The prepared catalog is damaged or of another version ({what}).",
        hint="Prepare the database again.",
    )
