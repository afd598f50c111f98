"""Write the plan of each worked example of `generation/query_plan` from the engine's own EXPLAIN.

    python scripts/demonstration_plans.py

Run it when a worked example's query or the wording of plans changes; a test holds that the file is
what this writes. `note` stays: it says what no engine can know, such as the form of a date.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlwright.database import open_database
from sqlwright.prompts.demonstrations import database_script, read_demonstrations
from sqlwright.protocols import Run
from sqlwright.sql.plans.reading import read_plan
from sqlwright.sql.plans.words import plan_text

FILE = Path(__file__).parents[1].joinpath(
    "src", "sqlwright", "prompts", "demonstrations", "query_plan.toml"
)  # fmt: skip


def plans() -> list[str]:
    """The plan of each example, in the file's order."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, entry in enumerate(read_demonstrations("query_plan")):
            path = Path(folder) / f"{number}.sqlite"
            with closing(sqlite3.connect(path)) as connection:
                connection.executescript(database_script(entry["database"]))
            database = open_database(str(path))
            try:
                plan = database.plan(entry["sql"], Run())
            finally:
                database.close()
            if plan.error is not None:
                raise SystemExit(f"{entry['question']}: {plan.error.message}")
            found.append(plan_text(read_plan(plan)))
    return found


def main() -> None:
    written = iter(plans())
    text = re.sub(
        r"(?<=^reasoning = ''')\n.*?(?=''')",
        lambda _: f"\n{next(written)}",
        FILE.read_text("utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    FILE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
