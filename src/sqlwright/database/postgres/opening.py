"""All that a worker needs to connect to a PostgreSQL server, and how long that may take."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, unquote

from sqlwright.database.address import Address, split_url
from sqlwright.database.served import OPEN_SECONDS

LEAST_SECONDS = 2
"""Seconds for a host that PostgreSQL's own library gives at least."""
_KEPT = ("HOME", "USERPROFILE", "APPDATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "KRB5CCNAME",
         "KRB5_CONFIG")  # fmt: skip
"""Variables that say where certificates, tickets and the files of passwords and services are."""
_ALIVE = {"keepalives_idle": "60", "keepalives_interval": "10", "keepalives_count": "3"}
"""A session that rests keeps its place in firewalls, and a network that is gone is noticed."""


def opening_of(address: Address) -> dict[str, Any]:
    """All that a worker needs to connect. It may hold a password, and goes through a pipe alone."""
    _, _, rest = address.text.partition("://")
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
    return {"text": f"postgresql://{rest}", "environment": environment, "defaults": defaults}


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
    return dict(parse_qsl(split_url(address.text).query))
