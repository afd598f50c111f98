"""Write the plans of the worked examples of `generation/query_plan` from the engine's own EXPLAIN.

    python scripts/demonstration_plans.py

`reasoning` is the bytecode in plain words, `outline` EXPLAIN QUERY PLAN, the short form. Run it
when a worked example's query or the wording of plans changes; a test holds that the file is what
this writes.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlwright.database import open_database
from sqlwright.prompts.demonstrations import database_script, read_demonstrations
from sqlwright.protocols import Run
from sqlwright.sql.plans.outline import outline_text, read_outline
from sqlwright.sql.plans.reading import read_plan
from sqlwright.sql.plans.words import plan_text
from sqlwright.types.plans import EnginePlan

FILE = Path(__file__).parents[1].joinpath(
    "src", "sqlwright", "prompts", "demonstrations", "query_plan.toml"
)  # fmt: skip
FORMS = ("reasoning", "outline")
"""Fields of the file that hold a plan."""


def engine_plans() -> Iterator[EnginePlan]:
    """The plan of each example, in the file's order."""
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
            yield plan


def plan_texts(plan: EnginePlan) -> dict[str, str]:
    """A plan in words, by the field of the file that holds it."""
    return {
        "reasoning": plan_text(read_plan(plan)),
        "outline": outline_text(read_outline(plan)),
    }


def main() -> None:
    texts = [plan_texts(plan) for plan in engine_plans()]
    written = FILE.read_text("utf-8")
    for form in FORMS:
        plans = iter([each[form] for each in texts])
        written = re.sub(
            rf"(?<=^{form} = ''')\n.*?(?=''')",
            lambda _, plans=plans: f"\n{next(plans)}",  # type: ignore[misc]
            written,
            flags=re.MULTILINE | re.DOTALL,
        )
    FILE.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
