"""A step that lets a language model choose among its steps, turn by turn.

The published CHESS drives each of its agents this way (section 3.1), but its model sees neither the
state nor what a tool did. Here it sees both. It can only choose: the tools are ordinary steps, they
run under the same limits, and when the model stops making sense, spends its turns or ends without
the agent's goal, those that haven't run yet run in their fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from sqlwright.candidates import normalized_sql
from sqlwright.errors import BudgetSpent, MalformedReply, ModelFailed
from sqlwright.messages import Text
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, PromptStep, Sampling, ask
from sqlwright.prompts.templates import plain_text, question_text, render
from sqlwright.protocols import Context, Step
from sqlwright.running import combinators
from sqlwright.running.agent.known import changes, summary
from sqlwright.running.agent.tools import DONE, chosen_name, offered, samples_in, tools_of
from sqlwright.types import State

NAME = "agent"


class Choice(BaseModel):
    """The model's next move."""

    reason: str = Field(default="", description="One short sentence.")
    tool: str = Field(description="The name of a tool, or 'done'.")


@dataclass(frozen=True)
class Agent(combinators.Sequence, PromptStep):
    """Steps as tools of a model. As a sequence, it is what runs when the model is of no use.

    A tool is offered while it applies and what it reads has changed since it ran; one that writes
    queries may always run again. With nothing left to offer the agent ends without a call, and the
    only tool that can bring its goal nearer runs without one.

    A tool that runs again draws new samples, under numbers of their own. A query that it has
    written before isn't taken twice.
    """

    task: str = ""
    """The agent's task, in a sentence."""
    goal: str = ""
    """The state's field that must hold something at the end, such as `candidates`."""
    turns: int = 10
    """Tools run at most before the fixed order takes over."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "agent"

    def __call__(self, state: State, context: Context) -> State:
        tools = tools_of(self.steps)
        ran = _Runs()
        happened: list[Text] = []
        for _ in range(self.turns):
            if state.refusal is not None:
                return state
            useful = {
                name: tool
                for name, tool in tools.items()
                if ran.may_help(name, tool, state) and tool.applies(state, context)
            }
            if not useful:
                break
            try:
                name = self._next(useful, ran, state, context, happened)
            except (MalformedReply, ModelFailed, BudgetSpent) as error:
                state = state.warn("model", f"tools were run in their fixed order: {error}", error)
                break
            if name == DONE:
                break
            before, state = state, ran.run(name, tools[name], state, context)
            told = changes(before, state)
            if again := ran.left_out:
                told += plain_text(f"; {again} of its queries it had written before")
            happened.append(plain_text(f"{name}: ") + told)
            if self._declined(state):
                return state
        if self._reached(state):
            return state
        for name, tool in tools.items():  # those that the model left out, in order
            if name not in ran.times and state.refusal is None:
                state = tool(state, context)
        return state

    def _declined(self, state: State) -> bool:
        """True if queries were wanted and all that came says that there can be none."""
        return self.goal == "candidates" and bool(state.declines) and not state.candidates

    def _reached(self, state: State) -> bool:
        return bool(getattr(state, self.goal)) if self.goal else True

    def _next(
        self,
        useful: dict[str, Step],
        ran: _Runs,
        state: State,
        context: Context,
        happened: Sequence[Text],
    ) -> str:
        """The next tool: without a call where nothing else can bring the goal nearer."""
        only = next(iter(useful))
        if self.goal and len(useful) == 1 and only not in ran.times and not self._reached(state):
            return only
        return self._chosen(useful, state, context, happened)

    def _chosen(
        self,
        tools: dict[str, Step],
        state: State,
        context: Context,
        happened: Sequence[Text],
    ) -> str:
        """The name of the tool that the model wants, or `done`."""

        def read(reply: str) -> str:
            wanted = json_from(reply, Choice).tool
            name = chosen_name(wanted, tools)
            if name is None:
                raise MalformedReply(
                    f"there is no tool {wanted[:60]!r} now, only {', '.join([*tools, DONE])}"
                )
            return name

        calls = context.llm(self.sampling.model).capabilities.tools
        messages = render(
            self.prompt,
            task=plain_text(self.task),
            tools=[plain_text(f"{name}: {tool.purpose}") for name, tool in tools.items()],
            calls=calls,
            question=question_text(state.question.text),
            evidence=question_text(state.question.evidence),
            state=summary(state, grouped=context.run.privacy == "full"),
            happened=list(happened),
            left=self.turns - len(happened),
        )
        prompt = Prompt(messages, read, Choice.model_json_schema(), offered(tools))
        ((wanted,),) = ask([prompt], state, context, step=NAME, sampling=self.sampling)
        return wanted or DONE


class _Runs:
    """The runs of an agent's tools: numbers of samples taken, and who wrote which query."""

    def __init__(self) -> None:
        self.times: dict[str, int] = {}
        self.left_out = 0
        """Queries of the last run that its tool had written in an earlier one."""
        self._read: dict[str, list[object]] = {}
        """The fields that a tool reads, as its last run left them."""
        self._author: dict[str, str] = {}
        """The tool that wrote a candidate, by the id of the candidate's first version."""

    def may_help(self, name: str, tool: Step, state: State) -> bool:
        """False if the tool has run and nothing that it reads has changed since. One that writes
        queries draws new samples, or mends what it has written."""
        if name not in self.times or "candidates" in tool.writes:
            return True
        return self._read[name] != _fields(tool, state)

    def run(self, name: str, tool: Step, state: State, context: Context) -> State:
        """The state after one more run of a tool."""
        times = self.times.get(name, 0)
        self.times[name] = times + 1
        # Seeds and the order of what prompts show depend on the number of the sample.
        after = tool(state.evolve(sample=state.sample + times * samples_in(tool)), context)
        after = after.evolve(sample=state.sample)
        self._read[name] = _fields(tool, after)
        if after.candidates is state.candidates:
            self.left_out = 0
            return state if after == state else after
        return self._without_repeats(name, state, after)

    def _without_repeats(self, name: str, before: State, after: State) -> State:
        old = {one.first.id for one in before.candidates}
        staying = {
            normalized_sql(one.first.sql, one.first.dialect)
            for one in after.candidates
            if one.first.id in old and self._author.get(one.first.id) == name
        }
        kept = [
            one
            for one in after.candidates
            if one.first.id in old
            or normalized_sql(one.first.sql, one.first.dialect) not in staying
        ]
        for one in kept:
            self._author.setdefault(one.first.id, name)
        self.left_out = len(after.candidates) - len(kept)
        return after.evolve(candidates=tuple(kept)) if self.left_out else after


def _fields(tool: Step, state: State) -> list[object]:
    return [getattr(state, name) for name in sorted(tool.reads)]
