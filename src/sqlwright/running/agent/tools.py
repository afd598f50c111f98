"""An agent's tools: its steps under names and purposes that a model can tell apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlwright.messages import Tool
from sqlwright.protocols import Step
from sqlwright.running import combinators
from sqlwright.running.combinators import NamedStep
from sqlwright.running.control_flow import Samples

DONE = "done"
FINISHED = "Ends your part: nothing more is to be gained, or nothing more can be done."
LONGEST = 48
"""Characters of a tool's name at most; endpoints take 64. Chosen."""

_OTHER = re.compile(r"[^a-z0-9_]+")
_REASON = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "One short sentence."}},
    "required": ["reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class AgentTool(combinators.Sequence):
    """Steps that are one tool of an agent, under a name and purpose of its own."""

    name: str = ""
    purpose: str = ""
    """In words written for the model."""


def tools_of(steps: Sequence[Step]) -> dict[str, Step]:
    """The steps by the names under which a model chooses them, in their order: lower-case letters,
    digits and underlines, each name once, none of them `done`."""
    named: dict[str, Step] = {}
    for step in steps:
        name = wanted = _OTHER.sub("_", _name(step).casefold()).strip("_")[:LONGEST] or "tool"
        number = 1
        while name in named or name == DONE:
            number += 1
            name = f"{wanted}_{number}"
        named[name] = step
    return named


def offered(tools: dict[str, Step]) -> tuple[Tool, ...]:
    """The tools in the form in which an endpoint takes them, the last one ends the agent."""
    each = (Tool(name, step.purpose, _REASON) for name, step in tools.items())
    return (*each, Tool(DONE, FINISHED, _REASON))


def chosen_name(wanted: str, tools: dict[str, Step]) -> str | None:
    """The tool a model names, however it spells it, or `done`; None when there is no such tool."""
    text = wanted.strip().strip("`'\"").removesuffix("()").casefold()
    for spelled in (text, text.rpartition(".")[2]):
        name = _OTHER.sub("_", spelled).strip("_")
        if name == DONE or name in tools:
            return name
    return None


def samples_in(step: Step) -> int:
    """The most samples that one run of a step draws, each of which has a number."""
    counts = (one.count for one in combinators.walk(step) if isinstance(one, Samples))
    return max(counts, default=1)


def _name(step: Step) -> str:
    if isinstance(step, AgentTool):
        return step.name
    if isinstance(step, NamedStep):
        return step.name.rpartition(".")[2].rpartition(":")[2]
    return "_and_".join(dict.fromkeys(_names(step))) or type(step).__name__


def _names(step: Step) -> Iterator[str]:
    """Names of the steps in a combinator, in order."""
    if isinstance(step, NamedStep):
        yield _name(step)
    elif isinstance(step, combinators.Combinator):
        for child in step.children:
            yield from _names(child)
