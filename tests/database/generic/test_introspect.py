"""What an engine fails to tell of a table is told, and never leaves it out silently."""

from __future__ import annotations

import json

import pytest

sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")


def _refusing(part: str, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The tables `a` and `b` of an engine that refuses to tell a part of `b`."""
    from sqlalchemy.engine.reflection import Inspector

    singly = getattr(Inspector, f"get_{part}")

    def refuse(self: Inspector, name: str, **asked: object) -> object:
        if name == "b":
            raise sqlalchemy.exc.OperationalError("", None, Exception("no right"))
        return singly(self, name, **asked)

    def refuse_all(self: Inspector, **asked: object) -> object:
        raise sqlalchemy.exc.OperationalError("", None, Exception("no right"))

    monkeypatch.setattr(Inspector, f"get_{part}", refuse)
    monkeypatch.setattr(Inspector, f"get_multi_{part}", refuse_all)
    return _described()


def _described() -> list[dict[str, object]]:
    from sqlwright.database.generic.engine import described

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        for name in "ab":
            connection.exec_driver_sql(f"CREATE TABLE {name} (id int PRIMARY KEY)")
        connection.commit()
        connection.exec_driver_sql("ATTACH ':memory:' AS aux")
        return [json.loads(one) for one in described(connection)]


def _notes(told: list[dict[str, object]]) -> list[tuple[str, str]]:
    from sqlwright.database.generic.database import unread_notes

    return list(unread_notes(told))


def test_a_table_whose_columns_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = _refusing("columns", monkeypatch)
    assert [one["name"] for one in told] == ["a", "b"]
    assert _notes(told) == [("b", "b is left out: none of its columns can be read.")]


@pytest.mark.parametrize(
    ("part", "called"), [("pk_constraint", "primary key"), ("foreign_keys", "foreign keys")]
)
def test_keys_that_cannot_be_read_are_told(
    part: str, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _notes(_refusing(part, monkeypatch)) == [("b", f"b: its {called} can't be read.")]


def test_a_dialect_without_comments_is_no_failure() -> None:
    from sqlwright.database.generic.engine import described

    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE a (id int)")
        connection.commit()
        assert _notes([json.loads(one) for one in described(connection)]) == []


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ("get_table_names", ("aux", "aux is left out: its tables can't be listed.")),
        ("get_view_names", ("aux", "aux: its views can't be listed.")),
        ("get_schema_names", ("", "Only the usual namespace is read: others can't be listed.")),
    ],
)
def test_namespaces_that_cannot_be_listed_are_told(
    asked: str, note: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.engine.reflection import Inspector

    listed = getattr(Inspector, asked)

    def refuse(self: Inspector, **options: object) -> object:
        if options.get("schema", "aux") == "aux":
            raise sqlalchemy.exc.OperationalError("", None, Exception("no right"))
        return listed(self, **options)

    monkeypatch.setattr(Inspector, asked, refuse)
    told = _described()
    assert [one["name"] for one in told if one["name"]] == ["a", "b"]
    assert _notes(told) == [note]
