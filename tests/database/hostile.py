"""Hostile and damaged database files, made by code from a seed."""

from __future__ import annotations

import os
import random
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

BASE = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE INDEX people_city ON people (city);
CREATE TABLE orders (id INTEGER PRIMARY KEY, person REFERENCES people (id), total REAL);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE total > 10;
CREATE VIRTUAL TABLE notes USING fts5(body);
INSERT INTO notes VALUES ('hello world'), ('more words');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO people SELECT i, 'name ' || i, 'city ' || (i % 7) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO orders SELECT i, i, i * 1.5 FROM n;
"""
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {count})"
SCRIPTS = {
    "a view of a large text": "CREATE VIEW big AS SELECT printf('%.*c', 60000000, 'x') AS a",
    "a view of large texts": "CREATE VIEW big AS SELECT "
    + ", ".join(f"printf('%.*c', 60000000, 'x') AS a{i}" for i in range(60)),
    "a view of many large rows": f"CREATE VIEW big AS {NUMBERS.format(count=100000)} "
    "SELECT i, printf('%.*c', 1000000, 'x') AS a FROM n",
    "a view of large blobs": f"CREATE VIEW big AS {NUMBERS.format(count=100000)} "
    "SELECT i, zeroblob(60000000) AS a FROM n",
    "a view that sorts": f"CREATE VIEW big AS {NUMBERS.format(count=100000000)} "
    "SELECT i, printf('%.*c', 1000, 'x') AS a FROM n ORDER BY random()",
    "a view that groups": f"CREATE VIEW big AS {NUMBERS.format(count=100000000)} "
    "SELECT group_concat(i || 'xxxxxxxxxx') AS a FROM n",
    "an endless view": f"CREATE VIEW big AS {NUMBERS.format(count=-1)} SELECT i AS a FROM n",
    "a view that never gives a row": f"CREATE VIEW big AS {NUMBERS.format(count=-1)} "
    "SELECT i AS a FROM n WHERE i < 0",
    "a view of wide letters": "CREATE VIEW big AS "
    "SELECT printf('%.*c', 15000000, 'x') || '\U0001f600' AS a",
    "a generated column": "CREATE TABLE big (id INTEGER PRIMARY KEY, "
    "a TEXT GENERATED ALWAYS AS (printf('%.*c', 50000000, 'x')) VIRTUAL);"
    f"INSERT INTO big (id) {NUMBERS.format(count=5000)} SELECT i FROM n",
    "views of views": "CREATE VIEW v0 AS SELECT 1 AS a, 2 AS b;"
    + "".join(
        f"CREATE VIEW v{i} AS SELECT x.a, y.b FROM v{i - 1} x, v{i - 1} y WHERE x.a = y.b;"
        for i in range(1, 16)
    ),
    "unions of views": "CREATE VIEW v0 AS SELECT 1 AS a;"
    + "".join(
        f"CREATE VIEW v{i} AS SELECT * FROM v{i - 1} UNION ALL SELECT * FROM v{i - 1};"
        for i in range(1, 18)
    ),
    "a view with many joins": "CREATE TABLE p (a); CREATE VIEW big AS SELECT 1 AS a FROM p"
    + " JOIN p" * 30,
    "generated columns of generated columns": "CREATE TABLE big (a, "
    "b AS (printf('%.*c', 60000000, 'x')), c AS (b || b), d AS (c || c));"
    "INSERT INTO big (a) VALUES (1), (2), (3)",
    "many columns": "CREATE TABLE big (" + ", ".join(f"c{i}" for i in range(1900)) + ")",
    "many tables": ";".join(f"CREATE TABLE t{i} (a, b, c)" for i in range(2000)),
    "a long name": f'CREATE TABLE "{"x" * 200_000}" (a); INSERT INTO "{"x" * 200_000}" VALUES (1)',
    "a large cell": "CREATE TABLE big (a); INSERT INTO big VALUES (printf('%.*c', 30000000, 'x'))",
}
Damage = Callable[[Path, random.Random], None]


def _base(path: Path, *, wal: bool = False) -> None:
    connection = sqlite3.connect(path)
    if wal:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(BASE)
    connection.close()


def _flip(path: Path, drawn: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(drawn.choice((1, 5, 50, 500))):
        data[drawn.randrange(16, len(data))] = drawn.randrange(256)
    path.write_bytes(data)


def _flip_head(path: Path, drawn: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(drawn.choice((1, 2, 5))):
        data[drawn.randrange(16, 200)] = drawn.randrange(256)
    path.write_bytes(data)


def _cut(path: Path, drawn: random.Random) -> None:
    os.truncate(path, drawn.randrange(100, path.stat().st_size))


def _zeros(path: Path, drawn: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = drawn.randrange(100, len(data))
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def _pages(path: Path, drawn: random.Random) -> None:
    data = bytearray(path.read_bytes())
    count = len(data) // 4096
    for _ in range(3):
        a, b = (drawn.randrange(count) * 4096 for _ in range(2))
        data[a + 100 : a + 4096], data[b + 100 : b + 4096] = (
            data[b + 100 : b + 4096],
            data[a + 100 : a + 4096],
        )
    path.write_bytes(data)


def _schema(path: Path, drawn: random.Random) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema=ON")
    texts = ("CREATE TABLE people (a", "x", "CREATE VIEW people AS SELECT * FROM people", None,
             "CREATE TABLE people AS SELECT 1", "CREATE VIRTUAL TABLE people USING nothing(a)",
             "CREATE VIEW open_orders AS SELECT load_extension('x') AS a",
             "CREATE TABLE people (a DEFAULT (load_extension('x')))")  # fmt: skip
    connection.execute(
        "UPDATE sqlite_schema SET sql = ?, rootpage = ? WHERE name = ?",
        (drawn.choice(texts), drawn.choice((0, 1, 2, 3, 999999, -5)),
         drawn.choice(("people", "open_orders", "notes", "people_city"))),
    )  # fmt: skip
    connection.commit()
    connection.close()


def _beside(ending: str) -> Damage:
    def damage(path: Path, drawn: random.Random) -> None:
        content = drawn.randbytes(drawn.choice((1, 32, 512, 4096, 40_000)))
        heads = {"-wal": b"\x37\x7f\x06\x82", "-journal": bytes.fromhex("d9d505f920a163d7")}
        if ending in heads and drawn.random() < 0.6:
            content = heads[ending] + content
        Path(f"{path}{ending}").write_bytes(content)

    return damage


def _log(path: Path, drawn: random.Random) -> None:
    """A log of its own with damage in it, and rubbish for its index."""
    path.unlink()
    _base(path, wal=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("UPDATE people SET name = 'changed'")
    parts = {ending: Path(f"{path}{ending}").read_bytes() for ending in ("", "-wal", "-shm")}
    connection.close()
    for ending, content in parts.items():
        data = bytearray(content)
        for _ in range(drawn.choice((0, 1, 100)) if ending == "-wal" else 0):
            data[drawn.randrange(len(data))] = drawn.randrange(256)
        Path(f"{path}{ending}").write_bytes(data)
    chosen = drawn.randrange(3)
    if chosen == 0:
        Path(f"{path}-shm").write_bytes(drawn.randbytes(32768))
    elif chosen == 1:
        Path(f"{path}-shm").unlink()


def _super_journal(path: Path, drawn: random.Random) -> None:
    victim = path.parent / "victim"
    victim.write_bytes(b"keep")
    name = str(victim).encode()
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 1, 2, 512, 4096)
    end = struct.pack(">I", 1) + name + struct.pack(">2I", len(name), sum(name))
    Path(f"{path}-journal").write_bytes(
        head + bytes(512 - len(head)) + end + bytes.fromhex("d9d505f920a163d7")
    )


def _link(ending: str, target: str) -> Damage:
    def damage(path: Path, drawn: random.Random) -> None:
        Path(f"{path}{ending}").symlink_to(target)

    return damage


def _pipe(ending: str) -> Damage:
    def damage(path: Path, drawn: random.Random) -> None:
        os.mkfifo(f"{path}{ending}")

    return damage


DAMAGES: dict[str, Damage] = {
    "bytes changed": _flip,
    "bytes changed at the head": _flip_head,
    "cut": _cut,
    "zeros": _zeros,
    "pages swapped": _pages,
    "schema changed": _schema,
    "rubbish as log": _beside("-wal"),
    "rubbish as journal": _beside("-journal"),
    "rubbish as index": _beside("-shm"),
    "a damaged log": _log,
}
SPECIAL: dict[str, Damage] = {
    "a journal that names a file": _super_journal,
    "a log that is a device": _link("-wal", "/dev/zero"),
    "a journal that is a device": _link("-journal", "/dev/zero"),
    "an index that is a device": _link("-shm", "/dev/zero"),
    "a log that is elsewhere": _link("-wal", "/etc/passwd"),
    "a log that is a pipe": _pipe("-wal"),
    "a journal that is a pipe": _pipe("-journal"),
    "an index that is a pipe": _pipe("-shm"),
}


def hostile_files(folder: Path, count: int, seed: int) -> Iterator[tuple[str, Path]]:
    """Files to be read at one's peril, each in a folder of its own: all kinds that are made by SQL
    and that are special, then `count` damaged ones."""
    for number, (kind, script) in enumerate(SCRIPTS.items()):
        path = _place(folder, f"script-{number}")
        _base(path)
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()
        yield kind, path
    for kind in SPECIAL:
        yield kind, special_file(folder, kind)
    for number in range(count):
        kind = list(DAMAGES)[number % len(DAMAGES)]
        path = _place(folder, f"damaged-{number}")
        drawn = random.Random(f"{seed}-{number}")
        _base(path, wal=drawn.random() < 0.3)
        DAMAGES[kind](path, drawn)
        yield kind, path


def special_file(folder: Path, kind: str) -> Path:
    """A sound file with something odd beside it."""
    path = _place(folder, kind.replace(" ", "-"))
    _base(path)
    SPECIAL[kind](path, random.Random(1))
    return path


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    return place / "shop.db"
