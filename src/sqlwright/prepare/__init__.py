"""Preparing databases and opening them with what is known.

`prepare` reads a database once and keeps what it learns in a private folder; `open_workspace` uses
that, or learns what it can within seconds; `purge` removes the folder. What is kept:
`manifest.json` (written last), one catalog as JSON, the value index's folder, vectors of what names
and describes tables and columns, where asked for those of stored values and MinHash signatures, and
stages, one file per group of columns, which let an interrupted or repeated preparation skip what
hasn't changed.

Internal: may change without notice.
"""

from __future__ import annotations

from sqlwright.prepare.build import Prepared, prepare
from sqlwright.prepare.opening import open_workspace
from sqlwright.prepare.progress import Progress
from sqlwright.prepare.storage.inventory import purge
from sqlwright.prepare.storage.paths import prepared_folder

__all__ = ["Prepared", "Progress", "open_workspace", "prepare", "prepared_folder", "purge"]
