"""Ask every question of a data set and keep the scored answers in a folder that can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlwright.boundary.remote_files import is_remote
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.executing.executor import Executor, Notice, Plan
from sqlwright.lab.evaluation.figures.summary import summarize
from sqlwright.lab.evaluation.files import locked, read_object, write_json
from sqlwright.lab.evaluation.folder.described import claim, finish, run_rule
from sqlwright.lab.evaluation.folder.mirror import Mirror
from sqlwright.lab.evaluation.folder.submission import write_submission
from sqlwright.lab.evaluation.metrics.metric import find_metric
from sqlwright.lab.evaluation.records import KeptRecords, Record, write_trace
from sqlwright.lab.evaluation.settings import EvaluationSettings, in_order
from sqlwright.spending import Budget, Spending
from sqlwright.types import Usage

__all__ = ["EvaluationSettings", "Progress", "evaluate", "run_rule", "write_json"]

Progress = Callable[[int, int, Record | None], None]


class RunAccount(Spending):
    """The account of a run, or of several, with what was spent before, by a file of a folder."""

    def __init__(self, budget: Budget, folder: Path) -> None:
        super().__init__(budget)
        self._path = folder / "spent.json"
        self.book("before", Usage(**read_object(self._path)))

    def save(self) -> None:
        """Write what is spent, if there is a limit to it."""
        if self.limited:
            write_json(self._path, asdict(self.total))


def evaluate(
    dataset: Dataset,
    settings: EvaluationSettings,
    folder: Path | str,
    *,
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
    account: RunAccount | None = None,
) -> dict[str, Any]:
    """Ask, score, record; return the summary, which is also written to `report.json`.

    Questions that the folder already holds are not asked again; a folder made with other settings,
    or that another process is writing, is refused. Records are on disk as soon as a question has
    ended, and in the order of the questions by databases at the end. `folder` may be a URL
    (`s3://bucket/run`): the run is made in a folder here, of which copies go there meanwhile. A
    database that can't be opened is left out, which `notice` is told in one line and the summary
    says. With a budget of the run (`llm.run_budget`) it ends once that has no room for a request;
    `run_budget` in the summary then lists the questions that were not asked. `account` is that of
    several runs together. Raises DatasetError, DatabaseUnavailable if no database can be opened,
    and whatever other UserError opening and asking raise.
    """
    settings = settings.checked()
    for metric in map(find_metric, settings.metrics):
        if metric.needs_files:
            dataset.check_sqlite(f"the metric {metric.name}")
    examples = chosen(dataset, settings)
    with ExitStack() as stack:
        mirror = None
        if is_remote(str(folder)):
            mirror = stack.enter_context(Mirror(str(folder), settings.home))
            folder = mirror.local
        folder = Path(folder)
        stack.enter_context(locked(folder))
        if mirror is not None:
            mirror.fetch()
        claim(folder, dataset, settings, examples)
        plan = Plan(settings, dataset.rule, dataset.descriptions)
        account = account or RunAccount(settings.llm.run_budget, folder)
        executor = executor_for(plan, notice or _unsaid, account, folder)
        stack.callback(account.save)

        def tell(done: int, total: int, record: Record | None) -> None:
            account.save()
            (progress or _silent)(done, total, record)

        _asked(executor, examples, folder, tell, mirror)
        summary = _concluded(dataset, examples, folder, executor, account)
        if mirror is not None:
            mirror.finish()
        return summary


def chosen(dataset: Dataset, settings: EvaluationSettings) -> list[Example]:
    """The questions to ask, in the data set's order."""
    examples = list(dataset.examples[: settings.limit])
    if not examples:
        raise DatasetError(f"{dataset.name} has no questions")
    if len({example.id for example in examples}) < len(examples):
        raise DatasetError(f"{dataset.name} has two questions with the same id")
    if settings.shard is None:
        return examples
    mine = {example.id for example in settings.shard.of(examples)}
    if not mine:
        raise DatasetError(f"shard {settings.shard} of {dataset.name} has no questions")
    return [example for example in examples if example.id in mine]


def executor_for(plan: Plan, notice: Notice, account: Spending, folder: Path) -> Executor:
    """The executor that the plan's settings name; what only one of them needs is loaded for it
    alone."""
    if plan.settings.executor == "batches":
        from sqlwright.lab.evaluation.executing.batches import InBatches

        return InBatches(plan, notice, account, folder)
    if plan.settings.executor == "threads":
        from sqlwright.lab.evaluation.executing.on_this_machine import Threads

        return Threads(plan, notice, account)
    from sqlwright.lab.evaluation.executing.workers import Workers

    if plan.settings.executor == "ray":
        from sqlwright.lab.evaluation.executing.ray import RayWorkers

        return Workers(plan, notice, RayWorkers(plan.settings.workers))
    from sqlwright.lab.evaluation.executing.on_this_machine import Processes

    return Workers(plan, notice, Processes())


def _asked(
    executor: Executor,
    examples: Sequence[Example],
    folder: Path,
    tell: Progress,
    mirror: Mirror | None,
) -> None:
    """Ask what has no record yet."""
    kept = KeptRecords(folder)
    done = sum(example.id in kept for example in examples)
    tell(done, len(examples), None)

    def keep(record: Record, trace: str) -> None:
        nonlocal done
        if trace:
            write_trace(folder, record, trace)
        kept.append(record)
        done += 1
        if mirror is not None:
            mirror.checkpoint()
        tell(done, len(examples), record)

    executor.run([example for example in examples if example.id not in kept], keep)
    if not done and executor.skipped:
        raise executor.skipped[-1].error


def _concluded(
    dataset: Dataset,
    examples: Sequence[Example],
    folder: Path,
    executor: Executor,
    account: Spending,
) -> dict[str, Any]:
    """The records in their order, the summary and the submission; nothing is held but ids."""
    KeptRecords(folder).arrange(example.id for example in in_order(examples))
    asked = {example.id for example in examples}
    summary = summarize(
        _those(folder, asked),
        dataset.rule,
        {one.db_id: (one.questions, str(one.error)) for one in executor.skipped},
    )
    left = set()
    if account.limited:
        kept, skipped = KeptRecords(folder), {one.db_id for one in executor.skipped}
        left = {one.id for one in examples if one.id not in kept and one.db_id not in skipped}
        spent = asdict(account.total)
        told = {"limit": str(account.budget), "spent": spent, "not_asked": sorted(left)}
        summary["run_budget"] = told
    write_json(folder / "report.json", summary)
    write_submission(folder, dataset.rule)
    if not left:
        finish(folder)
    return summary


def _those(folder: Path, asked: set[str]) -> Iterator[Record]:
    return (record for record in records.stream(folder) if record.id in asked)


def _unsaid(line: str) -> None:
    del line


def _silent(done: int, total: int, record: Record | None) -> None:
    del done, total, record
