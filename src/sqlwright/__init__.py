"""Ask a database questions in plain language; get a query to trust, its rows and the evidence.

    import sqlwright

    with sqlwright.open("shop.sqlite") as shop:
        answer = shop.ask("How many support tickets are still open?")

Nothing else is imported before a name below is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.api import Session as Session
    from sqlwright.api import open as open  # noqa: A004
    from sqlwright.errors import SqlwrightError as SqlwrightError
    from sqlwright.errors import UserError as UserError
    from sqlwright.local.models import EmbeddedModels as EmbeddedModels
    from sqlwright.protocols import Limits as Limits
    from sqlwright.types import Answer as Answer
    from sqlwright.types import Candidate as Candidate
    from sqlwright.types import Turn as Turn

__version__ = "0.1.0"

_PLACES = {
    "Answer": "sqlwright.types",
    "Candidate": "sqlwright.types",
    "EmbeddedModels": "sqlwright.local.models",
    "Limits": "sqlwright.protocols",
    "Session": "sqlwright.api",
    "SqlwrightError": "sqlwright.errors",
    "Turn": "sqlwright.types",
    "UserError": "sqlwright.errors",
    "open": "sqlwright.api",
}

__all__ = [  # noqa: PLE0604 - the names are the keys above
    "__version__",
    *_PLACES,
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'sqlwright' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
