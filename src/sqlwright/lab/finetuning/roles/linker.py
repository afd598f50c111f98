"""Training of the model that names the tables a question needs (MSc-SQL section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.lesson import Lesson
from sqlwright.lab.finetuning.roles.preceding import TABLES, gold_tables, state_before, tables_reply
from sqlwright.lab.finetuning.roles.role import REFUSED, TOO_LONG, UNREAD, Asked
from sqlwright.schema import ColumnRef
from sqlwright.steps.schema_linking.narrowing import narrowed
from sqlwright.types import State


@dataclass(frozen=True)
class LinkerRole:
    """The tables of the gold query, in the schema's order, are the right reply.

    A reply is rejected that misses one of them, or names another in its place.
    """

    wrong: int = 3
    """Rejected replies of an example at most."""

    name: ClassVar[str] = "linker"
    step: ClassVar[str] = TABLES
    chooses: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.wrong < 0:
            raise ValueError(f"wrong must not be negative, not {self.wrong}")

    def examples(self, asked: Asked) -> Sequence[TrainingExample]:
        """One; none where there is nothing to choose, or the step doesn't keep what it is told."""
        lesson, example = asked.lesson, asked.example
        schema = lesson.workspace.schema
        tables = gold_tables(example.gold_sql, schema)
        if not tables:
            asked.skipped(UNREAD)
            return ()
        state = state_before(
            self.step, lesson, question=example.question, evidence=example.evidence
        )
        if state.refusal is not None:
            asked.skipped(REFUSED)
            return ()
        if len(state.view.visible_schema().tables) < 2:
            asked.skipped("the schema has one table")
            return ()
        reply = tables_reply(tables, schema)
        step = lesson.step(self.step)
        after, taught = lesson.taught(step, state, lambda _step, _place: reply)
        if not self._kept(tables, state, after):
            asked.skipped("the step doesn't keep the gold tables")
            return ()
        shown = "\n".join(turn.text for one in taught for turn in one.messages)
        if len(taught) != 1 or not all(name in shown for name in tables):
            asked.skipped(TOO_LONG)
            return ()
        (prompt,) = taught
        return (
            asked.training_example(
                self.name,
                prompt,
                rejected=[
                    tables_reply(wrong, schema) for wrong in self._wrong(tables, asked, lesson)
                ],
                facts={"tables": len(tables), "schema_tables": len(schema.tables)},
            ),
        )

    def _kept(self, tables: Sequence[str], before: State, after: State) -> bool:
        """True if the step left the view of these tables and the keys that join them."""
        wanted = {ref for ref in before.view.visible if ref.table in tables}
        shown: set[ColumnRef] = set(narrowed(before, wanted).view.visible)
        return shown == set(after.view.visible) and {ref.table for ref in wanted} == set(tables)

    def _wrong(self, tables: Sequence[str], asked: Asked, lesson: Lesson) -> list[frozenset[str]]:
        """Some lists that lack a table, drawn from all that are one step away."""
        schema = lesson.workspace.schema
        others = [table.name for table in schema.tables if table.name not in tables]
        found = list(dict.fromkeys(self._near(tables, others)))
        return asked.draw.sample(found, min(self.wrong, len(found)))

    @staticmethod
    def _near(tables: Sequence[str], others: Sequence[str]) -> Iterator[frozenset[str]]:
        for table in tables:
            rest = frozenset(tables) - {table}
            if rest:
                yield rest
            yield from (rest | {other} for other in others)


ROLE = LinkerRole()
