"""Everything that is learnt from or measured on, as one folder that needs nothing of this one.

    python -m training.export FOLDER

writes `pairs.jsonl` (database, part, question, evidence, sql, kinds), `unanswerable.jsonl`
(database, part, question, why) and `databases/NAME.sqlite` of the databases of our own. Those of
Spider's stay where they are; their questions have `"spider": true`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from training.databases import build, names
from training.parts import part_of
from training.questions import FOLDER, load

UNANSWERABLE = FOLDER.parent / "unanswerable"


def main(out: Path) -> None:
    """Write the folder."""
    out.mkdir(parents=True, exist_ok=True)
    own = set(names())
    for name in sorted(own):
        build(name, out / "databases")
    fields = ("id", "database", "question", "evidence", "sql", "kinds")
    _write(out / "pairs.jsonl", FOLDER, fields, own)
    _write(out / "unanswerable.jsonl", UNANSWERABLE, ("id", "database", "question", "why"), own)


def _write(path: Path, folder: Path, fields: tuple[str, ...], own: set[str]) -> None:
    rows: list[dict[str, Any]] = []
    for source in sorted(folder.rglob("*.jsonl")):
        for one in load(source):
            name = one["database"]
            told = {"part": part_of(name), "spider": name not in own}
            rows.append({**{key: one[key] for key in fields}, **told})
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path.write_text("".join(lines), "utf-8")
    print(f"{path}: {len(rows)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m training.export FOLDER")
    main(Path(sys.argv[1]))
