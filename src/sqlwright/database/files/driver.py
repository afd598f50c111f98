"""A check that what reads workbooks is there. It is imported in workers alone."""

from __future__ import annotations

import importlib.util

LIBRARY = "python_calamine"
"""Package that a worker imports for workbooks."""
HINT = "Install what reads them: pip install 'sqlwright[excel]'"


def is_installed() -> bool:
    """True if workbooks can be read."""
    return importlib.util.find_spec(LIBRARY) is not None
