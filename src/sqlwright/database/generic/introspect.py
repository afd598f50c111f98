"""The schema by SQLAlchemy's inspector: every namespace that isn't the engine's own, in few
questions where the dialect can tell of all tables at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy.dialects.postgresql.named_types import NamedType
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlalchemy.exc import SQLAlchemyError

SYSTEMS = frozenset({
    "information_schema", "pg_catalog", "pg_toast", "pg_internal", "mysql", "performance_schema",
    "sys", "system", "guest", "db_owner", "db_accessadmin", "db_securityadmin", "db_ddladmin",
    "db_backupoperator", "db_datareader", "db_datawriter", "db_denydatareader", "db_denydatawriter",
    "crdb_internal", "pg_extension",
})  # fmt: skip
"""Namespaces that hold engines' own tables, folded."""
ONE_NAMESPACE = frozenset({"oracle"})
"""Dialects whose namespaces are logins, most of them the engine's own: the login's own is read."""
UNREAD = object()
"""In place of what the engine failed to tell of a table."""


def described(connection: sqlalchemy.Connection) -> Iterator[str]:
    """Each table and view as JSON, those of the usual namespace first, with the parts that the
    engine failed to tell. Raises SQLAlchemyError."""
    inspector = sqlalchemy.inspect(connection)
    usual = inspector.default_schema_name or _alike(inspector)
    for namespace in _namespaces(inspector, usual):
        for told in _of_namespace(inspector, namespace, usual):
            yield json.dumps(told)


def stored_name(dialect: Dialect, name: str) -> str:
    """A name as the engine keeps it: SQLAlchemy writes the upper case of some engines small."""
    denormalize = getattr(dialect, "denormalize_name", None)
    if not getattr(dialect, "requires_name_normalize", False) or denormalize is None:
        return name
    return str(denormalize(name))


def _namespaces(inspector: Inspector, usual: str | None) -> list[str | None]:
    """The namespaces to read; None is the usual one."""
    if inspector.dialect.name in ONE_NAMESPACE:
        return [None]
    names: Sequence[str] = _asked(inspector.get_schema_names, ())
    others = [name for name in names if name != usual and name.casefold() not in SYSTEMS]
    return [None, *(name for name in others if not name.startswith(("pg_toast", "pg_temp")))]


def _alike(inspector: Inspector) -> str | None:
    """The namespace that has the very tables that names alone reach, where the dialect doesn't name
    the usual one."""
    tables = set(_names(inspector, None))
    names: Sequence[str] = _asked(inspector.get_schema_names, ())
    return next((one for one in names if tables and set(_names(inspector, one)) == tables), None)


def _of_namespace(
    inspector: Inspector, namespace: str | None, usual: str | None
) -> Iterator[dict[str, Any]]:
    tables = _names(inspector, namespace)
    views = [
        *_asked(lambda: inspector.get_view_names(schema=namespace), []),
        *_asked(lambda: inspector.get_materialized_view_names(schema=namespace), []),
    ]
    kinds = dict.fromkeys(tables, "table") | dict.fromkeys(views, "view")
    if not kinds:
        return
    columns = _all(inspector, "columns", namespace, kinds)
    keys = _all(inspector, "pk_constraint", namespace, kinds)
    links = _all(inspector, "foreign_keys", namespace, kinds)
    comments = _all(inspector, "table_comment", namespace, kinds)

    def stored(name: Any) -> str:
        return stored_name(inspector.dialect, str(name))

    for name, kind in kinds.items():
        found = {
            "columns": columns.get(name),
            "primary key": keys.get(name),
            "foreign keys": links.get(name),
            "comment": comments.get(name),
        }
        yield {
            "name": stored(name),
            "namespace": "" if namespace is None else stored(namespace),
            "usual": stored(usual) if usual else "",
            "kind": kind,
            "comment": _fields(found["comment"]).get("text") or "",
            "key": [*map(stored, _fields(found["primary key"]).get("constrained_columns") or ())],
            "columns": [_column(one, stored) for one in _items(found["columns"])],
            "keys": [_link(one, stored) for one in _items(found["foreign keys"])],
            "unread": [part for part, told in found.items() if told is UNREAD],
        }


def _fields(told: Any) -> Mapping[str, Any]:
    return {} if told is UNREAD else dict(told or {})


def _items(told: Any) -> Sequence[Mapping[str, Any]]:
    return () if told is UNREAD else told or ()


def _names(inspector: Inspector, namespace: str | None) -> list[str]:
    """A namespace's tables. One that can't be read has none, but for the usual one: its failure is
    the connection's."""
    try:
        return inspector.get_table_names(schema=namespace)
    except (NotImplementedError, SQLAlchemyError):
        if namespace is None:
            raise
        return []


def _column(column: Mapping[str, Any], stored: Callable[[Any], str]) -> dict[str, Any]:
    return {
        "name": stored(column["name"]),
        "type": _declared(column["type"]),
        "nullable": bool(column.get("nullable", True)),
        "comment": column.get("comment") or "",
        "generated": column.get("computed") is not None,
    }


def _declared(kind: Any) -> str:
    """A type as it is declared; an enumeration that has a name by that, since it is no text."""
    named = getattr(kind, "name", None) if isinstance(kind, NamedType) else None
    return str(named or kind)


def _link(found: Mapping[str, Any], stored: Callable[[Any], str]) -> list[Any]:
    namespace = found.get("referred_schema")
    return [
        [stored(one) for one in found["constrained_columns"]],
        stored(namespace) if namespace else "",
        stored(found["referred_table"]),
        [stored(one) for one in found["referred_columns"]],
    ]


def _all(
    inspector: Inspector, part: str, namespace: str | None, names: Mapping[str, str]
) -> dict[str, Any]:
    """Columns, keys or comment of each table: asked for all together, or one by one where the
    dialect can't or one of them can't be read. None where the dialect tells nothing, UNREAD where
    the engine failed to."""
    together, singly = getattr(inspector, f"get_multi_{part}"), getattr(inspector, f"get_{part}")
    found = _told(inspector, partial(together, schema=namespace, kind=ObjectKind.ANY))
    if found is not None and found is not UNREAD:
        return {name: told for (_, name), told in found.items()}
    return {name: _told(inspector, partial(singly, name, schema=namespace)) for name in names}


def _told(inspector: Inspector, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except NotImplementedError:
        return None
    except SQLAlchemyError:
        # Some engines take no other statement in the transaction of one that failed.
        if isinstance(inspector.bind, sqlalchemy.Connection):
            inspector.bind.rollback()
        return UNREAD


def _asked(ask: Callable[[], Any], otherwise: Any) -> Any:
    """The answer of an inspector; something else where its dialect has none."""
    try:
        return ask()
    except (NotImplementedError, SQLAlchemyError):
        return otherwise
