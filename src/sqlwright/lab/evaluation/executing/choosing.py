"""The executor that settings name; what only one of them needs is loaded for it alone."""

from __future__ import annotations

from sqlwright.lab.evaluation.executing.executor import Executor, Notice, Plan


def executor_for(plan: Plan, notice: Notice) -> Executor:
    """The executor that the plan's settings name."""
    if plan.settings.executor == "threads":
        from sqlwright.lab.evaluation.executing.threads import Threads

        return Threads(plan, notice)
    from sqlwright.lab.evaluation.executing.pool import Pool

    if plan.settings.executor == "ray":
        from sqlwright.lab.evaluation.executing.ray import RayWorkers

        return Pool(plan, notice, RayWorkers(plan.settings.workers))
    from sqlwright.lab.evaluation.executing.processes import Processes

    return Pool(plan, notice, Processes())
