"""The messages between a pool and its workers, and what a worker does when it gets one."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from sqlwright.errors import DatabaseUnavailable, ModelUnavailable, UserError
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.executing.executor import Notice, Plan
from sqlwright.lab.evaluation.executing.opened import OpenDatabase, open_database
from sqlwright.lab.evaluation.records import Record
from sqlwright.local.models import EmbeddedModels


@dataclass(frozen=True, slots=True)
class Load:
    """Get ready to go by a plan."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Open:
    """Open a question's database, and close the one that was open."""

    example: Example


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question of the open database."""

    example: Example


@dataclass(frozen=True, slots=True)
class Ready:
    """It is loaded or opened."""

    dialect: str = ""
    """Of the database that was opened."""


@dataclass(frozen=True, slots=True)
class Told:
    """A line for whoever watches; the reply is still to come."""

    line: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's record, and its trace where it is kept."""

    record: Record
    trace: str


@dataclass(frozen=True, slots=True)
class Unopened:
    """The database can't be opened."""

    error: DatabaseUnavailable


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that ends the run, since it would end every question."""

    error: UserError | ModelUnavailable


@dataclass(frozen=True, slots=True)
class Gone:
    """The worker ended without a reply; the pool says so in its place."""

    reason: str


Order = Load | Open | Ask
Reply = Ready | Told | Answered | Unopened | Refused | Gone


class Answering:
    """A worker's inside: the models it loaded once, and the database that is open."""

    def __init__(self, notice: Notice) -> None:
        self._notice = notice
        self._models = EmbeddedModels()
        self._plan: Plan | None = None
        self._open: OpenDatabase | None = None
        self._never = threading.Event()

    def reply(self, order: Order) -> Reply:
        """Do as told. What isn't an error of the user's is raised: it ends the worker."""
        try:
            return self._done(order)
        except DatabaseUnavailable as error:
            return Unopened(error)
        except (UserError, ModelUnavailable) as error:
            return Refused(error)

    def close(self) -> None:
        """Close the database that is open."""
        if self._open is not None:
            self._open.session.close()
            self._open = None

    def _done(self, order: Order) -> Reply:
        if isinstance(order, Load):
            self._plan = order.plan
            return Ready()
        if isinstance(order, Open):
            assert self._plan is not None
            self.close()
            self._open = open_database(self._plan, order.example, self._models, self._notice)
            return Ready(self._open.session.workspace.schema.dialect)
        assert self._open is not None
        record, trace = self._open.answer(order.example, self._never)
        return Answered(record, trace)
