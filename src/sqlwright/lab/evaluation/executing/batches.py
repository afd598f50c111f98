"""Questions asked in threads whose language models are asked by batches of their vendors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import Keep, Notice, Plan, Skipped
from sqlwright.lab.evaluation.executing.on_this_machine import Threads
from sqlwright.lab.evaluation.executing.opened import OpenDatabase
from sqlwright.lab.evaluation.records import Record
from sqlwright.llm.sending.batches import Batches
from sqlwright.spending import Spending


@dataclass
class InBatches:
    """Threads, each of which waits for its question's part of a batch; the run's folder keeps the
    batches' ids."""

    plan: Plan
    notice: Notice
    account: Spending
    folder: Path
    skipped: list[Skipped] = field(default_factory=list)

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """As `Executor` says. Raises UserError where a batch is refused or cancelled, too."""
        settings, journal = self.plan.settings, self.folder / "batches.jsonl"
        with Batches(
            journal, self.notice, len(examples), at_once=settings.jobs, pace=settings.pace
        ) as batches:

            def ask(
                database: OpenDatabase, example: Example, stopping: threading.Event
            ) -> tuple[Record, str]:
                with batches.question():
                    return database.answer(example, stopping)

            llm = replace(settings.llm, batches=batches)
            plan = replace(self.plan, settings=replace(settings, llm=llm))
            Threads(plan, self.notice, self.account, self.skipped, ask).run(examples, keep)
