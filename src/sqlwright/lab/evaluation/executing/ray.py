"""The doorway to ray: workers on this machine or on a cluster, with the extra `ray`.

Left alone, Ray reports how it is used to its vendor once it runs, and asks the cloud's metadata
service where it is for that; this is turned off before anything of it starts. It starts processes
of its own (gcs_server, raylet, log and runtime-environment agents), which write to `/tmp/ray` and
listen on this machine; ours ends with the run, a cluster that was there stays. `RAY_ADDRESS` names
one; without it a Ray is started for the run on loopback alone, whatever else runs here. On a
cluster's other nodes sqlwright must be installed, and keys of language models set.
"""

from __future__ import annotations

import logging
import os
from types import ModuleType
from typing import Any, cast

from sqlwright.errors import ConfigError, UserError
from sqlwright.lab.evaluation.executing.executor import Notice, Plan
from sqlwright.lab.evaluation.executing.workers import Answering, Order, Reply, WorkerEnded

SILENCE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_USAGE_STATS_PROMPT_ENABLED": "0"}
ADDRESS = "RAY_ADDRESS"
ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Has a Ray of ours listen on loopback, as it does by itself on other systems than Linux. There it
would listen on all addresses: where it is given 127.0.0.1 it takes another one instead."""
STORE_BYTES = 128 * 1024 * 1024
"""Shared memory of a Ray of ours: records are small."""


class _Actor:
    """A worker from inside."""

    def __init__(self, plan: Plan) -> None:
        self._lines: list[str] = []
        self._answering = Answering(plan, self._lines.append)

    def do(self, order: Order) -> tuple[list[str], Reply]:
        """The lines that were told on the way, and the reply."""
        self._lines.clear()
        reply = self._answering.do(order)
        return self._lines, reply


class RayWorker:
    """An actor."""

    def __init__(self, ray: ModuleType, plan: Plan, notice: Notice) -> None:
        self._ray, self._notice = ray, notice
        # Without a processor to itself an actor would wait for one when the node is full.
        self._actor: Any = ray.remote(num_cpus=1, max_restarts=0)(_Actor).remote(plan)

    def do(self, order: Order, seconds: float) -> Reply:
        """Hand over an order and wait for the reply. Raises WorkerEnded."""
        try:
            lines, reply = self._ray.get(self._actor.do.remote(order), timeout=seconds)
        except self._ray.exceptions.GetTimeoutError:
            raise WorkerEnded(f"no reply in {seconds:,.0f} s") from None
        except self._ray.exceptions.RayError as error:
            raise WorkerEnded(_reason(error)) from None
        for line in lines:
            self._notice(line)
        return cast("Reply", reply)

    def kill(self) -> None:
        """End the actor's process."""
        self._ray.kill(self._actor)

    close = kill


class RayWorkers:
    """Starts actors of the cluster that `RAY_ADDRESS` names, or of a Ray of its own."""

    opening_seconds = 24 * 3600.0
    """An actor waits until there is room for it; the others go on meanwhile."""

    def __init__(self, workers: int) -> None:
        self._ray = _ray()
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(workers)

    def start(self, plan: Plan, notice: Notice) -> RayWorker:
        """A new actor."""
        return RayWorker(self._ray, plan, notice)

    def close(self) -> None:
        """End a Ray of ours."""
        if self._ours:
            self._ray.shutdown()

    def _connect(self, workers: int) -> None:
        address = os.environ.get(ADDRESS, "")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if not address:
            options |= {
                "num_cpus": max(1, workers),
                "num_gpus": 0,
                "include_dashboard": False,
                "object_store_memory": STORE_BYTES,
            }
        try:
            self._ray.init(address=address or "local", **options)
        except (OSError, RuntimeError, ValueError) as error:  # ConnectionError included
            where = f"to the Ray at {address}" if address else "to a Ray of its own"
            raise UserError(f"no connection {where}: {error}") from error


def _ray() -> ModuleType:
    """Ray, told to report nothing before it is loaded. Raises ConfigError."""
    os.environ.update(SILENCE)
    if not os.environ.get(ADDRESS):
        for name, value in ALONE.items():
            os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            f"the executor ray needs Ray: {error}", hint="pip install 'sqlwright[ray]'"
        ) from None
    module: ModuleType = ray
    return module


def _reason(error: Exception) -> str:
    """The first line of what Ray says about it that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if "Error" in (lines or [""])[-1] else (lines or [type(error).__name__])[0]
