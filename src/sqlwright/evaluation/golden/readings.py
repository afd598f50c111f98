"""A second reading of a golden question: one that the embedded models hold to be about as likely as
gold's, and that gives another result.

The step that asks back when a question is answered (`steps/selection/ask_back.py`) is asked with
gold in the place of the chosen query. It tells of readings that differ in one thing that can be
said, give other rows, and between which neither the question, the evidence nor a description
decides. That columns of one name stand in several tables is no reading by itself: nearly every
schema has them, and nearly every question says which it means.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwright.api import Session
from sqlwright.candidates import same_result
from sqlwright.protocols import Context, Run
from sqlwright.running.trust import Trust
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import Candidate, State

UNTHOUGHT = 0.01
"""Weight of a gold query whose result no candidate has; chosen: any, so that likely others are
compared with it."""


def second_reading(session: Session, gold: Candidate, question: str, evidence: str = "") -> str:
    """The readings between which the question leaves the choice, as a sentence; empty where it
    leaves none. `gold` has its result; the session's recipe is `local`."""
    _, state = session.run(question, evidence=evidence)
    asked = AskBack()(_with(gold, session, state), Context(session.workspace, Run())).question_back
    if asked is None:
        return ""
    others = "; ".join(f"{one.text} gives {one.gives}" for one in asked.choices[1:])
    return f"{asked.text} Gold takes {asked.taken.text}; {others}"


def _with(gold: Candidate, session: Session, state: State) -> State:
    """The state with gold selected, as likely as the likeliest candidate of its result."""
    weighed = Trust(session.models).weighed(state, session.workspace.schema)
    alike = [one for one in weighed.candidates if not one.goal and same_result(one, gold)]
    twin = max(alike, key=lambda one: one.confidence or 0.0, default=None)
    weight = UNTHOUGHT if twin is None else max(twin.confidence or 0.0, UNTHOUGHT)
    account = None if twin is None else twin.account
    chosen = replace(gold, confidence=weight, account=account)
    return weighed.evolve(selected=chosen, confidence=weight, refusal=None, question_back=None)
