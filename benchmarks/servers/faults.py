"""Sessions that are ended, servers that are killed, networks that fail: every answer is right or a
clear error, and the next one is right."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.proxy import FailingProxy, Mode
from tests.servers.served import MANY, MANY_ROWS, PEOPLE, SLOW, SLOW_RESULT, Served

from sqlwright.database.failures import ReadFailed
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.errors import DatabaseUnavailable
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Limits, Run

COUNT = "SELECT COUNT(*) FROM people"
CLEAR = {"unavailable", "timeout", "cancelled"}
NETWORK_SECONDS = 1.0
PREPARED = {"person 4321", "city 7"}
"""Texts that are found once a shop is prepared, one of each table."""


@dataclass
class Tried:
    """Outcomes by stage, and the slowest of each."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)

    def take(self, stage: str, act: Callable[[], str]) -> None:
        """Run one and count how it went."""
        began = time.monotonic()
        try:
            outcome = act()
        except DatabaseUnavailable as error:
            outcome = "error" if str(error) and error.hint else "unclear error"
        self.outcomes[f"{stage} {outcome}"] += 1
        self.slowest[stage] = max(self.slowest.get(stage, 0.0), time.monotonic() - began)

    @property
    def holds(self) -> bool:
        return not any(word in said for said in self.outcomes for word in ("wrong", "unclear"))

    def __str__(self) -> str:
        times = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in self.slowest.items())
        return f"{dict(self.outcomes)}; slowest in seconds: {times}"


class Stages:
    """What is under way when something fails. Each tells whether it was right."""

    def __init__(self, served: Served, database: GuardedDatabase, folder: Path) -> None:
        self._url, self._database, self._folder = served.url, database, folder
        self._number = 0
        self.all: dict[str, tuple[Callable[[], str], Callable[[], str]]] = {
            "schema": (self.schema, self.asked),
            "prepare": (self.prepare, self.prepared),
            "execution": (self.execution, self.asked),
            "fetch": (self.fetch, self.asked),
        }
        """Each with what comes next."""

    def schema(self) -> str:
        return "right" if len(self._database.schema().tables) == 2 else "wrong"

    def prepare(self) -> str:
        self._number += 1
        read = prepare(self._url, folder=self._place).read
        return self._found() if len(read) == 2 else "wrong"

    def prepared(self) -> str:
        """What an interrupted preparation left is no less right than none, and goes on to all."""
        before = self._found()
        prepare(self._url, folder=self._place)
        after = self._found()
        return "wrong" if {before, after} & {"wrong", "error"} else after

    def execution(self) -> str:
        result = self._database.execute(SLOW, Run())
        if result.error is not None:
            clear = result.error.kind in CLEAR and result.error.cause
            return "error" if clear else f"unclear error ({result.error})"
        return "right" if result.rows == ((SLOW_RESULT,),) else "wrong"

    def fetch(self) -> str:
        try:
            with self._database.reader(seconds=10) as reader:
                count = sum(1 for _ in reader.rows(MANY))
        except ReadFailed as error:
            clear = error.failure.kind in CLEAR and error.failure.cause
            return "error" if clear else f"unclear error ({error.failure})"
        return "right" if count == MANY_ROWS else "wrong"

    def asked(self) -> str:
        return _counted(self._database)

    @property
    def _place(self) -> Path:
        return self._folder / f"prepared-{self._number}"

    def _found(self) -> str:
        """The shop opened with what is prepared: asked, and all its values found. A server that was
        killed has forgotten its counts of changes, so that what was prepared can be called
        changed."""
        space = open_workspace(self._url, folder=self._place)
        with space.database as database:
            result = database.execute(COUNT, Run())
            if result.error is not None:
                return "error" if result.error.kind in CLEAR else "wrong"
            if result.rows != ((PEOPLE,),):
                return "wrong"
            found = {match.value for text in PREPARED for match in space.values.search(text)}
        if space.notes:
            return "noted"
        return "right" if found >= PREPARED else "wrong"


def measured(stages: Stages) -> dict[str, float]:
    """Seconds that each stage takes when nothing fails."""
    found = {}
    for name, (act, _) in stages.all.items():
        began = time.monotonic()
        act()
        found[name] = time.monotonic() - began
    return found


def measure_sessions(served: Served, times: int, folder: Path) -> bool:
    """The server ends the sessions at random moments of each stage."""
    tried = Tried()
    with served.open() as database:
        stages = Stages(served, database, folder / "sessions")
        usual = measured(stages)
        for name, (act, following) in stages.all.items():
            for _ in range(times):
                timer = threading.Timer(random.uniform(0, usual[name]), served.end_sessions)
                timer.start()
                tried.take(name, act)
                timer.join()
                tried.take(f"{name}, next", following)
    gone = served.gone(3)
    print(f"{served.engine} sessions ended: {tried}; left running: {not gone}")
    return tried.holds and gone


def measure_kills(served: Served, times: int, folder: Path) -> bool:
    """The whole server is killed at random moments of each stage, and started again on the spot,
    a moment later, or when the error was seen."""
    tried = Tried()
    with served.open() as database:
        stages = Stages(served, database, folder / "kills")
        usual = measured(stages)
        for name, (act, following) in stages.all.items():
            for number in range(times):
                again = threading.Thread(
                    target=_kill, args=(served, random.uniform(0, usual[name]), number % 3)
                )
                again.start()
                tried.take(name, act)
                again.join()
                if number % 3 == 2:
                    served.killed.start()
                tried.take(f"{name}, next", following)
        for _ in range(times):
            served.killed.kill()
            served.killed.start()
            tried.take("idle", stages.asked)
        for _ in range(times):
            served.killed.kill()
            starting = threading.Thread(target=served.killed.start)
            starting.start()
            time.sleep(random.uniform(0, 0.2))
            tried.take("while it starts", stages.execution)
            starting.join()
            tried.take("while it starts, next", stages.asked)
    gone = served.gone(3)
    print(f"{served.engine} kills: {tried}; left running: {not gone}")
    return tried.holds and gone


def _kill(served: Served, after: float, how: int) -> None:
    time.sleep(after)
    served.killed.kill()
    if how == 2:
        return
    time.sleep(how * random.uniform(0, 0.5))
    served.killed.start()


def measure_network(served: Served, times: int) -> bool:
    """A network that stalls, resets and trickles; each a clear error within the limit, and right
    again afterwards."""
    proxy = FailingProxy(served.server.port)
    tried = Tried()
    modes: tuple[Mode, ...] = ("stall", "reset", "trickle")
    try:
        with served.open(served.through(proxy.port)) as database:
            acts = {
                "schema": lambda: _schema_within(database),
                "execution": lambda: _many_within(database),
            }
            for name, act in acts.items():
                assert act() == "right"
                for mode in modes * times:
                    _fail(proxy, mode, lambda: tried.take(f"{name}, {mode}", act))  # noqa: B023
                    tried.take(f"{name}, {mode}, next", lambda: _counted(database))
    finally:
        proxy.close()
    gone = served.gone(3)
    print(
        f"{served.engine} network, {times} times each, limit {NETWORK_SECONDS:.0f} s: {tried}; "
        f"left running: {not gone}"
    )
    slowest = max(took for name, took in tried.slowest.items() if not name.endswith("next"))
    return tried.holds and gone and slowest <= NETWORK_SECONDS + 0.5


def _fail(proxy: FailingProxy, mode: Mode, act: Callable[[], None]) -> None:
    """Act while the network fails, and mend it."""
    timer = threading.Timer(random.uniform(0, 0.02), proxy.reset)
    if mode == "reset":
        timer.start()
    else:
        proxy.mode = mode
    act()
    if mode == "reset":
        timer.join()
    proxy.mode = "pass"
    proxy.reset()


def _schema_within(database: GuardedDatabase) -> str:
    return "right" if len(database.schema(seconds=NETWORK_SECONDS).tables) == 2 else "wrong"


def _many_within(database: GuardedDatabase) -> str:
    limits = Limits(seconds=NETWORK_SECONDS)
    result = database.execute("SELECT id, name FROM people LIMIT 900", Run(), limits=limits)
    if result.error is not None:
        return "error" if result.error.kind in CLEAR else f"wrong ({result.error})"
    return "right" if len(result.rows) == 900 else "wrong"


def _counted(database: GuardedDatabase) -> str:
    result = database.execute(COUNT, Run())
    return "right" if result.rows == ((PEOPLE,),) else f"wrong ({result.error})"
