"""No entry repeats a password, however malformed the address that holds it is."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

import sqlwright
from sqlwright.cli.failure import UNHEALTHY
from sqlwright.cli.main import main
from sqlwright.database.address import parse_address, shown_address
from sqlwright.errors import DatabaseUnavailable, SqlwrightError, UserError

SECRET = "Zq7hunter"
HOST = "127.0.0.1:1"
LISTED = yaml.safe_load((Path(__file__).parents[1] / "cases" / "addresses.yaml").read_text("utf-8"))
SEPARATORS = (":", "/", "//", "@", "?", "=", ";", "&", ",", "#", "\\", " ", "\n", '"', "'", "%", "")
ADDRESSES = 200


def _generated() -> Iterator[str]:
    """Addresses of every form, each with one or two of its separators dropped, doubled or put in
    another's place. The password stays whole."""
    rng = random.Random(20_261_127)
    forms = [
        ("{scheme}", "://", "u", ":", "PW", "@", "HOST", "/", "db"),
        ("{scheme}", "://", "u", ":", "PW", "@", "HOST", "/", "db", "?", "schema", "=", "x"),
        ("{scheme}", "://", "HOST", "/", "db", "?", "user", "=", "u", "&", "password", "=", "PW"),
        ("host", "=", "HOST", " ", "user", "=", "u", " ", "password", "=", "PW", " ", "dbname=db"),
        ("Server", "=", "HOST", ";", "UID", "=", "u", ";", "PWD", "=", "PW"),
        ("jdbc", ":", "{scheme}", "://", "HOST", "/", "db", "?", "password", "=", "PW"),
        ("psql", " ", "{scheme}", "://", "u", ":", "PW", "@", "HOST", "/", "db"),
        ("u", ":", "PW", "@", "HOST", "/", "db"),
    ]
    schemes = ("postgresql", "postgres", "mysql", "mariadb", "mssql", "oracle", "sqlite", "pgsql")
    while True:
        parts = list(rng.choice(forms))
        places = [n for n, part in enumerate(parts) if not part.strip("{}").isalnum()]
        for place in rng.sample(places, min(len(places), rng.choice((1, 1, 2)))):
            parts[place] = rng.choice((parts[place] * 2, *rng.sample(SEPARATORS, 3)))
        text = "".join(parts).format(scheme=rng.choice(schemes))
        # Where no sign is left before it, nothing tells a password from the name of a user.
        if re.search(r"(?<![a-z])PW", text):
            yield text if rng.random() < 0.8 else f'"{text}"'


def _filled(text: str) -> str:
    return re.sub(r"PW(?!D)", SECRET, text.replace("HOST", HOST))


CASES = list(
    islice(dict.fromkeys(map(_filled, chain(LISTED, islice(_generated(), 400)))), ADDRESSES)
)


def _said(error: BaseException | None) -> Iterator[str]:
    """What an exception and those behind it say."""
    while error is not None:
        yield f"{error} {error!r} {error.args} {getattr(error, 'hint', '')}"
        error = error.__cause__ or error.__context__


def _leaks(text: str) -> bool:
    return SECRET in text or quote(SECRET) in text


def _is_readable(address: str) -> bool:
    with suppress(UserError):
        return parse_address(address).path is None
    return False


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name in ("SQLWRIGHT_DATABASE", "DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_there_are_enough() -> None:
    assert len(CASES) == len(set(CASES)) == ADDRESSES
    assert all(SECRET in case for case in CASES)


@pytest.mark.parametrize("address", CASES)
def test_reading_an_address(address: str) -> None:
    said = [shown_address(address)]
    try:
        read = parse_address(address)
        said += [read.url, read.identity, read.name, repr(read), str(read.path)]
    except UserError as error:
        said += _said(error)
    assert not [text for text in said if _leaks(text)]


@pytest.mark.parametrize("address", CASES)
def test_opening_from_python(address: str) -> None:
    said = []
    try:
        with sqlwright.open(address, record=False) as session:
            said += [repr(session)]
    except SqlwrightError as error:
        said += _said(error)
    assert not [text for text in said if _leaks(text)]


@pytest.mark.parametrize("address", [case for case in CASES if "\0" not in case])
def test_the_command_line(
    address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What can be read would be connected to: it is given where no address belongs."""
    opened = () if _is_readable(address) else (["sql", address, "SELECT 1"], ["prepare"])
    monkeypatch.setenv("DATABASE_URL", address)
    for command in opened:
        assert main(["--debug", *command]) == DatabaseUnavailable.exit_code
    main(["--debug", "doctor", "shop.db", address])
    main(["--debug", "lab", "golden", "lint", address])
    main(["--debug", "sql", "shop.db", address, address])
    Path("sqlwright.toml").write_text(f"database = {json.dumps(address)}\n", "utf-8")
    assert opened == () or main(["--debug", "prepare"]) == DatabaseUnavailable.exit_code
    captured = capfd.readouterr()
    assert not _leaks(captured.out + captured.err)
    assert not [path for path in Path.cwd().rglob("*") if _leaks(str(path))]


@pytest.mark.parametrize("address", CASES[20:26:5])
def test_doctor(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--debug", "doctor", address]) == UNHEALTHY
    assert main(["--debug", "ask", address, "how many orders are there?"])
    captured = capfd.readouterr()
    assert "database" in captured.out
    assert not _leaks(captured.out + captured.err)
