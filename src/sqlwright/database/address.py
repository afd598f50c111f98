"""The database that an address names: a file, some files, or a server by its URL. Addresses as
people copy them from other programs are read as what they mean; and of every text it is told
whether it may hold a password, so that no message repeats it."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from sqlwright.errors import DatabaseUnavailable

FILE_SCHEMES = {"sqlite": "sqlite", "sqlite3": "sqlite", "file": "", "duckdb": "duckdb"}
"""Schemes of files and the engine that reads them; empty: by the file's name and first bytes."""
SERVER_SCHEMES = {
    **dict.fromkeys(("postgresql", "postgres", "postgre", "pgsql", "psql", "pg"), "postgres"),
    **dict.fromkeys(("mysql", "mysql2", "mariadb"), "mysql"),
}
"""Schemes of servers that something is written for, and the engine's folder; also those that other
programs use."""
_AROUND = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb<>,; \t\r\n\f\v\u00a0\u200b\u2060\ufeff"
"""Characters at the ends of an address that was copied with what stood around it."""
_BEFORE = re.compile(
    r"^(?:(?:export\s+|set\s+)?\w*(?:URL|URI|DSN|DATABASE)\s*=|[a-z]\w*\s+(?:-d\s*|--\w+[= ])?)"
    r"\s*(?=[\"'`\u201c]?(?:[A-Za-z][\w+.:-]*:/|(?:host|hostaddr|dbname|service)\s*=))",
    re.IGNORECASE,
)
"""A variable or a program before an address."""
_JDBC = re.compile(r"^jdbc:(?=[a-z]\w*:)", re.IGNORECASE)
_SERVER = re.compile(
    rf"({'|'.join(sorted(SERVER_SCHEMES, key=len, reverse=True))})(\+\w+)?(:?)(/*)(?=\S)(.*)",
    re.IGNORECASE | re.DOTALL,
)
_BREAK = re.compile(r"(?<=[@/:?&=,.-])\s*[\r\n]+\s*|\s*[\r\n]+\s*(?=[@/:?&=,.-])")
_KEYWORD = re.compile(r"\s*(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s\\;]|\\.)*)(?=\s|$)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_ADDRESS = re.compile(
    r"\S*(?:[A-Za-z]://\S|[:/][^\s@]*@\S)|(?:[^\s:]*:){4}\S+$|[\w ]+=[^;=]*;\s*[\w ]+="
    r"|\w+\s*=\s*\S+(?:\s+\w+\s*=\s*\S+)+$|(?:psql|pgcli|mysql|mariadb)\s+(?:-|\S+$)"
)
"""Beginnings of addresses in words and settings, a line of a file of passwords, a program."""
_ODD_WORD = re.compile(r"\S*(?:[@;&=\\{}|<>]|:\S|\?\S|//)\S*")
_SETTING = re.compile(r"\w[=:]\S")
_LIBPQ = frozenset({"host", "hostaddr", "dbname", "service"})
SECRET_WORDS = re.compile(
    r"(?:pass|pwd|\bpw|secret|token|credential)\w*[\"']?\s*[=:]|\bkey\s*[=:]", re.IGNORECASE
)
_UNLIKE_PATHS = re.compile(r"[@;&|<>{}\x00-\x1f]|(?<!^[A-Za-z]):|=[^/]*\s|\s[^/]*=|(?:^|\s)--?\w")
"""Parts of addresses, command lines and settings that few paths have."""


def plain_address(text: str) -> str:
    """The path or URL that is meant, without what was copied along with it; a text that names a
    file as it is. libpq's `host=... dbname=...` and JDBC's forms become URLs."""
    text = text.strip()
    if is_there(text):
        return text
    before = ""
    while before != text:
        before, text = text, text.strip(_AROUND)
        text = _JDBC.sub("", _BEFORE.sub("", text, count=1), count=1)
    if (pairs := _keywords(text)) is not None:
        return _url_of(pairs)
    found = _SERVER.fullmatch(text)
    if found is None or not (found[3] or len(found[4]) >= 2):
        return text
    scheme, driver, _, slashes, rest = found.groups()
    if len(slashes) < 2:
        slashes = "//" if "@" in rest or "/" in rest or slashes else "///"
    # A line break comes from where the address was wrapped, a blank is part of a name.
    rest = _BREAK.sub("", rest).replace(" ", "%20")
    return f"{scheme}{driver or ''}:{slashes}{rest}"


def is_address(word: str, *, first: bool = False) -> bool:
    """True for a text that is surely meant as an address, whether or not it can be read as one; a
    question isn't. With `first`, before other words, one word with signs that no word has, too."""
    plain = plain_address(word)
    if _CONTROLS.search(plain):
        return False
    settings = len(_SETTING.findall(plain)) > 1 and SECRET_WORDS.search(plain) is not None
    odd = first and _ODD_WORD.fullmatch(plain) is not None
    return settings or odd or _ADDRESS.match(plain) is not None


def may_hold_secret(text: str) -> bool:
    """True for a text that isn't surely a path: it may be an address with a password in it, in a
    form that nothing here can read."""
    return any(
        SECRET_WORDS.search(form) is not None or _UNLIKE_PATHS.search(form) is not None
        for form in (text, unquote(text))
    )


def is_there(text: str) -> bool:
    """True if a path or a pattern names something that exists."""
    try:
        path = str(Path(text).expanduser())
        if os.path.exists(path):  # noqa: PTH110 - never raises
            return True
        return glob.has_magic(path) and next(glob.iglob(path), None) is not None  # noqa: PTH207
    except (RuntimeError, ValueError, OSError):
        return False


def ignored_note(names: Iterable[str]) -> tuple[str, ...]:
    """The note on options of an address that are other programs'."""
    told = ", ".join(dict.fromkeys(names))
    return (f"Options of the database's address that aren't used here: {told}.",) if told else ()


def _keywords(text: str) -> dict[str, str] | None:
    """The parameters of libpq's keyword form; None for any other text."""
    pairs, place = dict[str, str](), 0
    while place < len(text):
        found = _KEYWORD.match(text, place)
        if found is None:
            return None
        value = found[2]
        value = value[1:-1] if value.startswith("'") else value
        pairs[found[1].lower()] = re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        place = found.end()
    return pairs if len(pairs) > 1 and not _LIBPQ.isdisjoint(pairs) else None


def _url_of(pairs: dict[str, str]) -> str:
    """PostgreSQL's URL for parameters. Sockets and services stay parameters."""
    host = pairs.pop("host") if re.fullmatch(r"[\w.-]+", pairs.get("host", "")) else ""
    port = f":{pairs.pop('port')}" if host and "port" in pairs else ""
    user, password = pairs.pop("user", ""), pairs.pop("password", "")
    who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    name = quote(pairs.pop("dbname", ""), safe="")
    rest = f"?{urlencode(pairs)}" if pairs else ""
    return f"postgresql://{who}{'@' if who else ''}{host}{port}/{name}{rest}"


_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+._-]+):")
_PORTS = {"postgres": 5432, "mysql": 3306}
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "dbname": "PGDATABASE",
    "service": "PGSERVICE",
}
"""Parameters of PostgreSQL's URLs, and the variables that stand in for them."""
_TELLING = frozenset({
    "service_name", "sid", "dsn", "server", "host", "port", "database", "dbname", "catalog",
    "schema", "http_path", "role", "project", "dataset", "uid",
})  # fmt: skip
"""Parameters of other engines' URLs that name a database, its place or who asks."""
WORKBOOK_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
DATA_ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson", *WORKBOOK_ENDINGS)
"""Endings of files that are tables."""
COMPRESSED = (".gz", ".zst")
DUCKDB_ENDINGS = (".duckdb", ".ddb")
_DUCKDB_MAGIC = (8, b"DUCK")
_HINT = (
    "Give the path of a SQLite or DuckDB file, of CSV or Parquet files, or a URL: "
    "shop.db, sales.csv, postgresql://user@host/database."
)


_URL_HINT = (
    "Write engine://user@host:port/database, and in a password %40 for @, %2F for /, %23 for # "
    "and %3F for ?."
)
_USER = re.compile(r"[\w.$+#~\\-]*(?:@[\w.-]+)?")
_PLACE = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|(?:[\w.~-]|%2[Ff])*)(?::([0-9]{0,5}))?")
_NAME = re.compile(r"[^@:;=&?|\s]*")
"""A login, a host with its port, and a database as names go: anything else may be a password that
isn't where it belongs."""
_SECRET = frozenset({"password", "sslpassword", "odbc_connect"})
_STRAY = re.compile(rf"{SECRET_WORDS.pattern}|[:/][^@]*@", re.IGNORECASE)
"""A password, or all of an address, in the value of something else."""
SEARCH_PATHS = frozenset({"schema", "currentschema", "search_path", "searchpath"})
"""Parameters by which other clients name the namespaces of a PostgreSQL session."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database's address, taken apart. Its text may hold a password; `url` never does."""

    engine: str
    """Name of the engine's folder below `sqlwright.database`: sqlite, duckdb, files, postgres,
    mysql or generic (by SQLAlchemy)."""
    text: str
    """The address as a driver takes it, secrets included; a path or pattern for files."""
    url: str
    """The same for people, without secrets."""
    identity: str
    """Tells databases apart, however they are named; no secrets."""
    name: str
    """A short name: the file's without its ending, or the database's on the server."""
    path: Path | None = None
    """The file or folder, absolute; None for a server."""

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


def parse_address(url_or_path: str) -> Address:
    """The database meant. Symbolic links are followed later, by opening.

    `sqlite:///a/b.db` is relative, `sqlite:////a/b.db` absolute, `~` the home folder. Raises
    DatabaseUnavailable where no database can be meant, without repeating anything secret.
    """
    text = plain_address(url_or_path)
    if not text:
        raise DatabaseUnavailable("No database was named.", hint=_HINT)
    kind, rest = _scheme(text)
    if kind and kind not in FILE_SCHEMES:
        return _server(SERVER_SCHEMES.get(kind, "generic"), text)
    if kind:
        whole = rest.startswith("//")  # else the path follows the colon, as SQLite takes it
        path = _file_url_path(kind, rest[2:]) if whole else unquote(rest.partition("?")[0])
        return _file(path, FILE_SCHEMES[kind])
    return _file(text, "")


def file_of(address: Address) -> Path:
    """The absolute path of the file meant. Raises DatabaseUnavailable for servers."""
    if address.path is None:
        raise DatabaseUnavailable(f"{address.url} is on a server; a file is needed here.")
    return address.path


def shown_address(url_or_path: str) -> str:
    """An address for messages: without the password and parameters that its URL may hold, a file's
    as it is typed, and dots for what may hold a password in another way."""
    text = plain_address(url_or_path)
    kind, rest = _scheme(text)
    if kind not in {"", *FILE_SCHEMES}:
        return without_secrets(text) or f"{text.partition(':')[0]}://..."
    return "..." if may_hold_secret(rest) and not is_there(rest.removeprefix("///")) else text


def is_bare_path(url_or_path: str) -> bool:
    """True for a path or pattern without a scheme."""
    return not _scheme(plain_address(url_or_path))[0]


def _scheme(text: str) -> tuple[str, str]:
    """The scheme of an address as it is looked up, and what follows; empty for a path."""
    found = _SCHEME.match(text)
    kind = found[1].lower().partition("+")[0] if found else ""
    rest = text[found.end() :] if found else text
    return (kind, rest) if rest.startswith("//") or kind in FILE_SCHEMES else ("", text)


def whole_address(shown: str, usual: str | None) -> str:
    """An address that was kept without its password: another one in its place where that is the
    same database and login. Raises DatabaseUnavailable."""
    same = usual and parse_address(usual).identity == parse_address(shown).identity
    return usual if usual and same else shown


def split_url(url: str) -> SplitResult:
    """A URL taken apart. Its scheme may have underscores, as SQLAlchemy's names of drivers have.
    Raises ValueError."""
    scheme, sign, rest = url.partition("://")
    if not sign:
        return urlsplit(url)
    return urlsplit(f"url://{rest}")._replace(scheme=scheme.lower())


def without_secrets(url: str) -> str:
    """A URL without password and parameters; empty where it can't be read, or a part of the
    password may not be where one belongs."""
    parts = _parts(url)
    if parts is None:
        return ""
    user = f"{parts.username}@" if parts.username else ""
    return f"{parts.scheme}://{user}{_place(parts)}{parts.path}"


def _parts(url: str) -> SplitResult | None:
    """A URL taken apart; None where it can't be, or where something isn't as names go."""
    try:
        parts = split_url(url)
        user = unquote(parts.username or "")
    except ValueError:
        return None
    who, _, place = parts.netloc.rpartition("@")
    named = place.replace("\\", "") if who else place  # an instance of SQL Server
    places = [_PLACE.fullmatch(one) for one in named.split(",")]
    if not all(one and 0 <= int(one[1] or 0) < 65_536 for one in places):
        return None
    engine = SERVER_SCHEMES.get(parts.scheme.partition("+")[0])
    query = parts.query if not who or "@" in parts.query.partition("=")[0] else ""
    given = parse_qsl(parts.query)
    users = [user, *(value for key, value in given if key.lower() == "user")]
    fits = (
        all(map(_USER.fullmatch, users))
        and _NAME.fullmatch(unquote(parts.path))
        and not re.search(r"[\s#]", url)
        and not (engine in _PORTS and "/" in parts.path.strip("/"))
        and not (engine == "mysql" and "," in place)
        and not {"@", "\\"}.intersection(parts.username or "")
        and not ("@" in query or ";" in parts.query)
        and all("=" in pair for pair in parts.query.split("&") if pair)
        and not any(_STRAY.search(value) for key, value in given if key not in _SECRET)
    )
    return parts if fits else None


def _place(parts: SplitResult) -> str:
    """Host and port of a URL, or all of them."""
    place = parts.netloc.rpartition("@")[2]
    return place if "," in place else f"{_host(parts.hostname)}{_port(parts)}"


def _host(name: str | None) -> str:
    return f"[{name}]" if name and ":" in name else name or ""


def _port(parts: SplitResult) -> str:
    several = "," in parts.netloc.rpartition("@")[2]
    return f":{parts.port}" if not several and parts.port else ""


def _server(engine: str, text: str) -> Address:
    parts, shown = _parts(text), without_secrets(text)
    if parts is None:
        raise DatabaseUnavailable("The database's URL can't be read.", hint=_URL_HINT)
    who, _, place = parts.netloc.rpartition("@")
    if "@" in who:  # drivers divide at another one than this, and would show a part of the password
        escaped = who.replace("@", "%40")
        text = text.replace(parts.netloc, f"{escaped}@{place}", 1)
    scheme = parts.scheme.partition("+")[0]
    if engine == "generic" and not (parts.netloc or parts.path.strip("/") or parts.query):
        raise DatabaseUnavailable(f"{scheme}:// names no database.", hint=_HINT)
    given = dict(parse_qsl(parts.query))
    user = parts.username or (given.get("user", "") if engine == "mysql" else "")
    port = _port(parts) or (f":{_PORTS[engine]}" if engine in _PORTS else "")
    host = (parts.hostname or "localhost").lower()
    name = unquote(parts.path.strip("/")) or user or scheme
    if engine == "postgres":
        identity, name = _of_postgres(parts)
        return Address(engine, text, shown, identity, name)
    kind = engine if engine in _PORTS else scheme
    if engine == "mysql" and (path := given.get("unix_socket") or given.get("socket")):
        host, port = path, ""
    identity = f"{kind}://{user}@{host}{port}/{name}{_telling(parts.query)}"
    return Address(engine, text, shown, identity, name.rpartition("/")[2])


def _telling(query: str) -> str:
    """The parameters of a URL that tell one database from another, in a fixed order."""
    given = parse_qsl(query)
    for _, value in [one for one in given if one[0] == "odbc_connect"]:
        given += [(key, said) for key, _, said in (one.partition("=") for one in value.split(";"))]
    told = sorted({(key.strip().lower(), value) for key, value in given})
    found = "&".join(f"{key}={value}" for key, value in told if key in _TELLING)
    return f"?{found}" if found else ""


def _of_postgres(parts: SplitResult) -> tuple[str, str]:
    """Identity and name of a database; what its URL leaves out is in the environment."""
    given = dict(parse_qsl(parts.query))

    def told(value: str | None, parameter: str) -> str:
        return value or given.get(parameter) or os.environ.get(_VARIABLES[parameter], "")

    user = told(unquote(parts.username or ""), "user")
    host = told(parts.hostname, "host").lower() or "localhost"
    port = told(_port(parts).removeprefix(":"), "port") or "5432"
    place = parts.netloc.rpartition("@")[2].lower()
    if "," in place:  # a server and those that stand in for it
        places = [one.rpartition(":") for one in place.split(",")]
        *first, (host, _, port) = [
            (head, ":", tail) if tail.isdecimal() else (f"{head}{colon}{tail}", ":", "5432")
            for head, colon, tail in places
        ]
        host = ",".join([*("".join(one) for one in first), host])
    name = told(unquote(parts.path.strip("/")), "dbname") or user or "postgres"
    # A service stands for whatever its file says of it.
    telling = {"service": told("", "service"), "search_path": search_path(parts.query)}
    said = "&".join(f"{key}={value}" for key, value in telling.items() if value)
    behind = f"?{said}" if said else ""
    return f"postgres://{user}@{host}:{port}/{name}{behind}", name


def search_path(query: str) -> str:
    """The namespaces that the parameters of a PostgreSQL URL ask for, as other clients write it."""
    given = parse_qsl(query)
    return next((value for key, value in given if key.lower() in SEARCH_PATHS and value), "")


def _file(text: str, engine: str) -> Address:
    if "\0" in text:
        raise DatabaseUnavailable("The database's address holds a NUL character.", hint=_HINT)
    if may_hold_secret(text) and not is_there(text):
        raise DatabaseUnavailable(
            "The database's address names no file that exists, and can't be read as a URL. It "
            "isn't repeated here, as it may hold a password.",
            hint=f"{_HINT} {_URL_HINT}",
        )
    path = _absolute(text)
    engine = engine or _engine_of(path)
    url = f"{engine}:///{path}" if engine in {"sqlite", "duckdb"} else str(path)
    try:
        real = str(path.resolve())
    except (OSError, RuntimeError):
        real = str(path)
    name = path.name if os.path.isdir(path) else _without_endings(path)  # noqa: PTH112 - never raises
    return Address(engine, str(path), url, real, name, path)


def _without_endings(path: Path) -> str:
    name = path.name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return Path(name).stem


def _engine_of(path: Path) -> str:
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    if name.endswith(DATA_ENDINGS) or _holds_data(path):
        return "files"
    if glob.has_magic(str(path)) and not os.path.exists(path):  # noqa: PTH110 - never raises
        return "files"
    if name.endswith(DUCKDB_ENDINGS) or begins_as_duckdb(path):
        return "duckdb"
    return "sqlite"


def _holds_data(folder: Path) -> bool:
    try:
        return folder.is_dir() and any(
            found.name.lower().removesuffix(ending).endswith(DATA_ENDINGS)
            or ("=" in found.name and found.is_dir())  # a partition, as Hive names it
            for found in folder.iterdir()
            for ending in ("", *COMPRESSED)
        )
    except OSError:
        return False


def begins_as_duckdb(path: Path) -> bool:
    """True for a file with DuckDB's mark."""
    offset, magic = _DUCKDB_MAGIC
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(offset + len(magic))[offset:] == magic
    except OSError:
        return False


def _file_url_path(kind: str, rest: str) -> str:
    location = unquote(rest.partition("?")[0].partition("#")[0])
    if kind == "file":
        return location
    host, slash, path = location.partition("/")
    if host or not slash:
        # sqlite://shop.db is a common slip for sqlite:///shop.db; a password may stand there.
        raise DatabaseUnavailable(
            f"A {kind}:// URL has no host part: a third slash is missing.",
            hint=f"Write {kind}:///shop.db (relative) or {kind}:////data/shop.db (absolute).",
        )
    if path in {"", ":memory:"}:
        raise DatabaseUnavailable("The URL names no file.", hint=_HINT)
    if not is_there(path) and is_there(f"/{path}"):
        raise DatabaseUnavailable(
            f"{path} doesn't exist in this folder: after three slashes a path is relative.",
            hint=f"Write {kind}:////{path}",
        )
    return path


def _absolute(path: str) -> Path:
    if path == ":memory:" or not path:
        raise DatabaseUnavailable("An in-memory database has nothing to ask.", hint=_HINT)
    try:
        found = Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~someone without a home folder
        raise DatabaseUnavailable(f"{path}: no such home folder.", hint=_HINT) from error
    plain = Path(os.path.normpath(found))
    # Behind a link, the folder above is another one than the one before it in the path.
    same = ".." in found.parts and os.path.realpath(plain) == os.path.realpath(found)
    return plain if same else found
