"""A second reading of a golden question: one that the embedded models hold to be about as likely as
gold's, and that gives another result.

The step that asks back when a question is answered (`steps/selection/ask_back.py`) is asked with
gold in the place of the chosen query. It tells of readings that differ in one thing that can be
said, give other rows, and between which neither the question, the evidence nor a description
decides. Where the models didn't think of gold's reading nothing is told: then most often they are
wrong, not the question. That columns of one name stand in several tables is no reading by itself:
nearly every schema has them, and nearly every question says which it means.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwright.api import Session
from sqlwright.candidates import same_result
from sqlwright.protocols import Context, Run
from sqlwright.running.trust import Trust
from sqlwright.steps.selection.ask_back import AskBack
from sqlwright.types import Candidate


def second_reading(session: Session, gold: Candidate, question: str, evidence: str = "") -> str:
    """The readings between which the question leaves the choice, as a sentence; empty where it
    leaves none. `gold` has its result; the session's recipe is `local`."""
    _, state = session.run(question, evidence=evidence)
    weighed = Trust(session.models).weighed(state, session.workspace.schema)
    alike = [one for one in weighed.candidates if not one.goal and same_result(one, gold)]
    twin = max(alike, key=_weight, default=None)
    if twin is None:
        return ""
    chosen = replace(gold, confidence=_weight(twin), account=twin.account)
    asked = AskBack()(
        weighed.evolve(
            selected=chosen, confidence=chosen.confidence, refusal=None, question_back=None
        ),
        Context(session.workspace, Run()),
    ).question_back
    if asked is None:
        return ""
    taken, *others = asked.choices
    told = "; ".join(f"{one.text} gives {one.gives}" for one in others)
    return f"{asked.text} Gold takes {taken.text}; {told}"


def _weight(candidate: Candidate) -> float:
    return candidate.confidence or 0.0
