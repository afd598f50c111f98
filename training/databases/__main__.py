"""Builds all databases, or those named, into a folder: `python -m training.databases FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from training.databases import build, names, script
from training.databases._size import size

if len(sys.argv) < 2:
    sys.exit("usage: python -m training.databases FOLDER [NAME ...]")
if unknown := set(sys.argv[2:]) - set(names()):
    sys.exit(f"no such database: {', '.join(sorted(unknown))}; there are: {', '.join(names())}")
for name in sys.argv[2:] or names():
    start = time.perf_counter()
    path = build(name, Path(sys.argv[1]))
    seconds, built = time.perf_counter() - start, size(path)
    kib = len(script(name).encode()) // 1024
    print(f"{path}  {kib} KiB of SQL, {seconds:.2f} s")
    print(f"  Size: {built.tables} tables, {built.columns} columns, {built.rows} rows.")
    if built.broken:
        listed = ", ".join(f"{table} ({n})" for table, n in sorted(built.broken.items()))
        print(f"  Broken keys: {listed}.")
