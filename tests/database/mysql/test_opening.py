"""Opening a MariaDB server's database: its schema, what the login may see, what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.mysql.database import MysqlDatabase
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Database, Run
from tests.database.mysql.conftest import Shop
from tests.servers.mariadb import PASSWORD

PAGE = Path(__file__).parents[3] / "docs" / "engines.md"


@pytest.fixture
def opened() -> Iterator[Callable[..., MysqlDatabase]]:
    made: list[MysqlDatabase] = []

    def open_one(url: str, **options: list[str]) -> MysqlDatabase:
        found = open_database(url, **options)
        assert isinstance(found, MysqlDatabase)
        made.append(found)
        return found

    yield open_one
    for one in made:
        one.close()


def test_schema(shop: Shop, database: MysqlDatabase) -> None:
    assert isinstance(database, Database)
    assert database.dialect == "mariadb"
    assert PASSWORD not in f"{database.url}{database.identity}"
    schema = database.schema()
    assert [t.name for t in schema.tables] == ["adults", "order lines", "people", "secret"]
    people = schema.table("people")
    assert people is not None
    assert (people.description, people.primary_key, people.kind) == ("who buys", ("id",), "table")
    by_name = {column.name: column for column in people.columns}
    assert by_name["name"].description == "full name"
    assert by_name["kind"].type == "enum"
    assert by_name["kind"].value_description == "one of: new, it's, a\\b"
    assert by_name["twice"].generated
    assert not by_name["id"].nullable
    (key,) = schema.foreign_keys
    assert (key.table, key.columns, key.target_table, key.target_columns) == (
        "order lines", ("person",), "people", ("id",),
    )  # fmt: skip
    view = schema.table("adults")
    assert view is not None
    assert view.kind == "view"
    assert "people" in view.definition
    assert (database.size() or 0) > 0


def test_only_what_the_login_may_select(shop: Shop, opened: Callable[..., MysqlDatabase]) -> None:
    login = shop.server.login(
        f"SELECT ON {shop.name}.people",
        f"SELECT (shown) ON {shop.name}.secret",
        f"INSERT ON {shop.name}.`order lines`",
    )
    schema = opened(shop.server.url(shop.name, login)).schema()
    assert {t.name: len(t.columns) for t in schema.tables} == {"people": 5, "secret": 1}


def test_other_databases(
    shop: Shop, mariadb_database: Callable[[str], str], opened: Callable[..., MysqlDatabase]
) -> None:
    other = mariadb_database("CREATE TABLE people (a INT); INSERT INTO people VALUES (7)")
    login = shop.server.login(f"SELECT ON {shop.name}.*", f"SELECT ON {other}.*")
    url = shop.server.url(shop.name, login)
    assert opened(url).schema().table(f"{other}.people") is None
    both = opened(f"{url}?databases={other}")
    found = both.schema().table(f"{other}.people")
    assert found is not None
    assert (found.namespace, found.own_name) == (other, "people")
    assert both.execute(f"SELECT a FROM `{other}`.people", Run()).rows == ((7,),)
    none = opened(shop.server.url("", login))
    assert {t.namespace for t in none.schema().tables} == {shop.name, other}


def test_listed_tables(shop: Shop, opened: Callable[..., MysqlDatabase]) -> None:
    database = opened(shop.reader, tables=["People"])
    assert database.tables == ("people",)
    assert [t.name for t in database.schema().tables] == ["people"]
    assert database.execute("SELECT COUNT(*) FROM people", Run()).rows == ((2,),)
    error = database.execute("SELECT COUNT(*) FROM secret", Run()).error
    assert error is not None
    assert error.cause == "unknown_table"
    with pytest.raises(ConfigError, match="has no table 'nope'"):
        opened(shop.reader, tables=["nope"])


def test_a_table_made_later_is_found(
    shop: Shop, mariadb_database: Callable[[str], str], opened: Callable[..., MysqlDatabase]
) -> None:
    name = mariadb_database("CREATE TABLE a (b INT)")
    database = opened(shop.server.reader(name))
    assert database.execute("SELECT COUNT(*) FROM a", Run()).rows == ((0,),)
    database.settle(lambda: None, kept=False)
    before, marks = database.fingerprint(), database.table_marks(database.schema())
    assert database.fingerprint() == before
    shop.server.run("INSERT INTO a VALUES (1)", name)
    after = database.fingerprint()
    assert after != before
    assert database.table_marks(database.schema()) != marks
    database._known = (0.0, database._known[1]) if database._known else None  # long ago
    shop.server.run("CREATE TABLE later (c INT)", name)
    assert database.execute("SELECT COUNT(*) FROM later", Run()).rows == ((0,),)
    assert database.fingerprint() != after


def test_logins(shop: Shop, opened: Callable[..., MysqlDatabase]) -> None:
    reads = opened(shop.reader).rights()
    assert reads.more == ()
    owns = opened(shop.owner).rights()
    assert owns.more == ("do everything on *.*",)
    some = shop.server.login(f"SELECT, INSERT ON {shop.name}.*", "FILE ON *.*")
    found = opened(shop.server.url(shop.name, some)).rights()
    assert set(found.more) == {
        "read and write files of the server (LOAD_FILE, INTO OUTFILE) on *.*",
        f"INSERT on `{shop.name}`.*",
    }
    assert not any("*" in said and len(said) > 200 for said in found.more)


def test_the_documented_statements_make_a_login_that_only_reads(
    shop: Shop, opened: Callable[..., MysqlDatabase]
) -> None:
    script = PAGE.read_text("utf-8").partition("```sql\nCREATE USER")[2].partition("```")[0]
    script = f"CREATE USER{script}".replace("...", PASSWORD).replace(
        "shop.*", f"{shop.name}.people"
    )
    try:
        for statement in script.split(";\n")[:2]:
            shop.server.run(statement)
        made = opened(shop.server.url(shop.name, "sqlwright_reader"))
        assert made.rights().more == ()
        assert [t.name for t in made.schema().tables] == ["people"]
    finally:
        shop.server.run("DROP USER IF EXISTS sqlwright_reader@'%'")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((":{port}/", ":1/"), "Can't connect"),
        (("{password}", "wrong"), "Access denied"),
        (("/{name}", "/nope"), "denied|Unknown database"),
        (("/{name}", "/{name}?ssl_nope=1"), "an option that isn't known: ssl_nope"),
        (("/{name}", "/{name}?ssl_mode=verify_ca&ssl_ca=/nope.pem"), "certificates"),
        (("/{name}", "/{name}?ssl_mode=required"), "SSL is required|certificate|TLS"),
    ],
)
def test_what_is_wrong_is_said_without_the_password(
    change: tuple[str, str], said: str, shop: Shop
) -> None:
    fields = {
        "port": shop.server.port,
        "name": shop.name,
        "password": shop.reader.partition("//")[2].partition(":")[2].rpartition("@")[0],
    }
    old, new = (part.format(**fields) for part in change)
    with pytest.raises(DatabaseUnavailable, match=said) as caught:
        open_database(shop.reader.replace(old, new)).close()
    assert fields["password"] not in f"{caught.value}{caught.value.hint}"
    assert PASSWORD not in f"{caught.value}{caught.value.hint}"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("user", "written", "mode", "works"),
    [
        ("", "[client]\nuser={user}\npassword='{password}'\n", 0o600, True),
        ("", '[client]\nuser = {user}\n[mysqld]\nport=1\n[client-mariadb]\n'
         'password="{password}"\n!includedir /etc\n', 0o600, True),
        ("{user}", "[client]\npassword={password}\n", 0o600, True),
        ("{user}", "[client]\nuser=other\npassword={password}\n", 0o600, False),
        ("{user}", "[client]\npassword={password}\n", 0o666, False),
        ("{user}", "[mysqld]\npassword={password}\n", 0o600, False),
        ("{user}", "nonsense {password}\n[", 0o600, False),
    ],
)  # fmt: skip
def test_a_password_from_the_option_file(
    user: str,
    written: str,
    mode: int,
    works: bool,
    shop: Shop,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / ".my.cnf"
    file.write_text(written.format(user=shop.user, password=PASSWORD))
    file.chmod(mode)
    monkeypatch.setenv("HOME", str(tmp_path))
    who = user.format(user=shop.user)
    url = f"mysql://{who}{'@' if who else ''}127.0.0.1:{shop.server.port}/{shop.name}"
    if works:
        with open_database(url) as database:
            assert database.execute("SELECT COUNT(*) FROM people", Run()).rows == ((2,),)
            assert PASSWORD not in f"{database.url}{database.identity}{database!r}"
        return
    with pytest.raises(DatabaseUnavailable, match="denied") as caught:
        open_database(url)
    assert "my.cnf" in caught.value.hint
    assert PASSWORD not in f"{caught.value}{caught.value.hint}"


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "inf", "nan"])
def test_a_time_that_is_none(seconds: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="connect_timeout") as caught:
        open_database(f"mysql://ann:s3cret@127.0.0.1/shop?connect_timeout={seconds}")
    assert "connect_timeout=5" in caught.value.hint


def test_options_of_other_clients(shop: Shop) -> None:
    more = "useSSL=false&serverTimezone=UTC&charset=latin1&connection_limit=5"
    with open_database(f"jdbc:{shop.reader}?{more}") as database:
        assert database.schema().table("people") is not None
        (note,) = database.noticed(())
    assert "aren't used here: serverTimezone, connection_limit." in note
