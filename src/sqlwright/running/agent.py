"""A step that lets a language model choose among its steps, turn by turn.

The published CHESS drives each of its agents this way (section 3.1), but its model sees neither the
state nor what a tool did. Here it sees both. It can only choose: the tools are ordinary steps, they
run under the same limits, and when the model stops making sense, spends its turns or ends without
the agent's goal, those that haven't run yet run in their fixed order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from sqlwright.candidates import group_by_result, valid
from sqlwright.errors import BudgetSpent, MalformedReply, ModelFailed
from sqlwright.messages import Span, Text
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.templates import (
    Prompt,
    PromptStep,
    Sampling,
    ask,
    plain_text,
    question_text,
    render,
)
from sqlwright.protocols import Context, Step
from sqlwright.running import combinators
from sqlwright.running.combinators import NamedStep
from sqlwright.schema import Detail
from sqlwright.types import State

DONE = "done"
NAME = "agent"


class Choice(BaseModel):
    """The model's next move."""

    reason: str = Field(default="", description="One short sentence.")
    tool: str = Field(description="The name of a tool, or 'done'.")


@dataclass(frozen=True)
class Agent(combinators.Sequence, PromptStep):
    """Steps as tools of a model. As a sequence, it is what runs when the model is of no use."""

    task: str = ""
    """The agent's task, in a sentence."""
    goal: str = ""
    """The state's field that must hold something at the end, such as `candidates`."""
    turns: int = 10
    """Tools run at most before the fixed order takes over."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "agent"

    def __call__(self, state: State, context: Context) -> State:
        ran: list[str] = []
        happened: list[Text] = []
        for _ in range(self.turns):
            if state.refusal is not None:
                return state
            try:
                tool = self._chosen(state, context, happened)
            except (MalformedReply, ModelFailed, BudgetSpent) as error:
                state = state.warn("model", f"tools were run in their fixed order: {error}", error)
                break
            if tool is None:
                break
            before, state = state, tool(state, context)
            ran.append(tool.name)
            happened.append(plain_text(f"{tool.name}: ") + changes(before, state))
        return state if self._reached(state) else self._rest(state, context, ran)

    def _reached(self, state: State) -> bool:
        return bool(getattr(state, self.goal)) if self.goal else True

    def _rest(self, state: State, context: Context, ran: Sequence[str]) -> State:
        """Run the tools that the model left out, in order."""
        for tool in self.tools:
            if tool.name not in ran and state.refusal is None:
                state = tool(state, context)
        return state

    @property
    def tools(self) -> tuple[NamedStep, ...]:
        """Its steps, each under a name of its own; a combinator is named after its steps."""
        return tuple(
            step if isinstance(step, NamedStep) else NamedStep(_tool_name(step), step)
            for step in self.steps
        )

    def _chosen(self, state: State, context: Context, happened: Sequence[Text]) -> NamedStep | None:
        tools = {tool.name: tool for tool in self.tools}
        names = [plain_text(f"{name}: {_purpose(tool)}") for name, tool in tools.items()]

        def read(reply: str) -> str:
            wanted = json_from(reply, Choice).tool.strip()
            if wanted.casefold() != DONE and wanted not in tools:
                raise MalformedReply(f"there is no tool {wanted[:60]!r}")
            return wanted

        messages = render(
            self.prompt,
            task=plain_text(self.task),
            tools=names,
            question=question_text(state.question.text),
            evidence=question_text(state.question.evidence),
            state=summary(state),
            happened=list(happened),
        )
        prompt = Prompt(messages, read, Choice.model_json_schema())
        ((wanted,),) = ask([prompt], state, context, step=NAME, sampling=self.sampling)
        return tools.get(wanted or DONE)


def summary(state: State) -> Text:
    """A few lines on what is known so far; spans that tell of the data are marked as such."""
    return Text.join("\n", [plain_text(f"{what}: ") + much for what, much in _known(state)])


def changes(before: State, after: State) -> Text:
    """The changes a tool made, in a few words."""
    if after is before:
        return plain_text("changed nothing")
    changed = []
    for (what, was), (_, now) in zip(_known(before), _known(after), strict=True):
        if str(was) != str(now):
            changed.append(plain_text(f"{what}: ") + was + plain_text(" -> ") + now)
    return Text.join("; ", changed) or plain_text("changed nothing that is counted")


def _known(state: State) -> list[tuple[str, Text]]:
    """The kinds of findings in a state, each with its amount."""
    shown = sum(1 for ref in state.view.schema.columns if state.view.detail(ref) != Detail.HIDDEN)
    selected = "yes" if state.selected is not None else "no"
    found, rough = str(len(state.values)), _few(len(state.values))
    return [
        ("columns in view", plain_text(f"{shown} of {state.view.schema.column_count}")),
        ("keywords", plain_text(f"{len(state.keywords)}")),
        ("stored values found", Text((Span(found, "value", rough),))),
        ("columns with a similar name", plain_text(f"{len(state.similar_columns)}")),
        ("descriptions found", plain_text(f"{len(state.descriptions)}")),
        ("candidates", _candidates(state)),
        ("tests", plain_text(f"{len(state.tests)}")),
        ("selected", plain_text(selected)),
    ]


def _few(number: int) -> str:
    """A count that tells no more of the data than 0, 1 or many."""
    return "many" if number > 1 else str(number)


def _candidates(state: State) -> Text:
    if not state.candidates:
        return plain_text("0")
    ran = [candidate for candidate in state.candidates if valid(candidate)]
    failed = sum(1 for c in state.candidates if c.result is not None and not c.result.ok)
    empty = sum(1 for c in ran if c.result is not None and c.result.empty)
    groups = len(group_by_result(ran))
    exact, rough = (
        f" ({say(failed)} failed, {say(empty)} found nothing, {say(groups)} different results)"
        for say in (str, _few)
    )
    count = Span(str(len(state.candidates)), "template")
    return Text((count, Span(exact, "value", rough)))


def _purpose(tool: NamedStep) -> str:
    """The first sentence of a step's own description."""
    described = [
        (type(leaf).__doc__ or "").strip().split("\n")[0].rstrip(".")
        for leaf in combinators.leaves(tool.step)
    ]
    return "; then: ".join(dict.fromkeys(filter(None, described)))


def _tool_name(step: Step) -> str:
    return "+".join(dict.fromkeys(_names(step))) or type(step).__name__.lower()


def _names(step: Step) -> Iterator[str]:
    """Names of the steps in a combinator, in order."""
    if isinstance(step, NamedStep):
        yield step.name
    elif isinstance(step, combinators.Combinator):
        for child in step.children:
            yield from _names(child)
