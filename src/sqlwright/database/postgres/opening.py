"""All that a worker needs to connect to a PostgreSQL server, and how long that may take."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote, unquote, urlencode

from sqlwright.database.address import SEARCH_PATHS, Address, search_path, split_url
from sqlwright.database.served import OPEN_SECONDS
from sqlwright.errors import DatabaseUnavailable

LEAST_SECONDS = 2
"""Seconds for a host that PostgreSQL's own library gives at least."""
_KEPT = ("HOME", "USERPROFILE", "APPDATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "KRB5CCNAME",
         "KRB5_CONFIG")  # fmt: skip
"""Variables that say where certificates, tickets and the files of passwords and services are."""
_ALIVE = {"keepalives_idle": "60", "keepalives_interval": "10", "keepalives_count": "3"}
"""A session that rests keeps its place in firewalls, and a network that is gone is noticed."""
_NAMES = (
    "host hostaddr port dbname user password passfile require_auth channel_binding service "
    "connect_timeout client_encoding options application_name fallback_application_name keepalives "
    "keepalives_idle keepalives_interval keepalives_count tcp_user_timeout gssencmode krbsrvname "
    "gsslib gssdelegation requirepeer target_session_attrs load_balance_hosts sslmode ssl "
    "requiressl sslnegotiation sslcompression sslcert sslkey sslpassword sslcertmode sslrootcert "
    "sslcrl sslcrldir sslsni ssl_min_protocol_version ssl_max_protocol_version"
)
_PARAMETERS = {name.replace("_", ""): name for name in _NAMES.split()}
"""The library's parameters by their names without underscores, as JDBC writes some of them."""
_MODES = {"no-verify": "require", "required": "require"}
"""Modes of encryption as other clients call them."""


def divided(address: Address) -> tuple[dict[str, str], list[str]]:
    """The URL's parameters that PostgreSQL's library knows, and the names of other clients' ones,
    which are left out. Raises DatabaseUnavailable for one that may ask for encryption."""
    known, others = dict[str, str](), list[str]()
    for pair in filter(None, split_url(address.text).query.split("&")):
        written, _, value = map(unquote, pair.partition("="))  # a plus sign is one, as there
        name = _PARAMETERS.get(written.lower().replace("_", ""))
        if name is not None:
            lower = value.lower()
            known[name] = _MODES.get(lower, lower) if name == "sslmode" else value
        elif written.lower().startswith(("ssl", "tls")):
            raise DatabaseUnavailable(
                f"{address.url}: the address has an option that isn't known: {written}.",
                hint="Encryption is asked for by sslmode, sslrootcert, sslcert and sslkey.",
            )
        elif written.lower() not in SEARCH_PATHS:
            others.append(written)
    return known, others


def opening_of(address: Address) -> dict[str, Any]:
    """All that a worker needs to connect. It may hold a password, and goes through a pipe alone."""
    rest = address.text.partition("://")[2].partition("?")[0]
    parameters = urlencode(divided(address)[0], quote_via=quote)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or (name.startswith("PG") and name.isupper())
    }
    defaults = {"client_encoding": "UTF8", "application_name": "sqlwright", **_ALIVE}
    if "PGAPPNAME" in environment:
        del defaults["application_name"]
    if not _asked(address):
        defaults["connect_timeout"] = str(max(int(OPEN_SECONDS) // _hosts(address), LEAST_SECONDS))
    return {
        "text": f"postgresql://{rest}?{parameters}",
        "environment": environment,
        "defaults": defaults,
        "path": search_path(split_url(address.text).query),
    }


def open_seconds(address: Address) -> float:
    """The time that connecting may take, whatever the number of hosts: `connect_timeout` for each
    of them where it is given, else one for all."""
    asked = _asked(address)
    if not asked:
        return max(OPEN_SECONDS, LEAST_SECONDS * _hosts(address))
    return float(max(asked, LEAST_SECONDS) * _hosts(address))


def _asked(address: Address) -> int:
    """The seconds for each host that somebody asks for; 0 for none."""
    said = _given(address).get("connect_timeout") or os.environ.get("PGCONNECT_TIMEOUT", "")
    try:
        return max(int(float(said)), 0)
    except (ValueError, OverflowError):
        return 0


def _hosts(address: Address) -> int:
    named = unquote(split_url(address.text).netloc.rpartition("@")[2])
    given = _given(address)
    said = named or given.get("hostaddr") or given.get("host") or os.environ.get("PGHOST", "")
    return said.count(",") + 1


def _given(address: Address) -> dict[str, str]:
    return divided(address)[0]
