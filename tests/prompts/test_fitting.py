"""What a prompt leaves out to fit a context, and in which order."""

from __future__ import annotations

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Capabilities, Message, Text
from sqlwright.prompts.fitting import Fitted, Portion, fit
from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.types import Question, State
from tests.scripted import ScriptedLinker

FULL = Portion(shots=4, style="ddl", examples=3)
SIZES = {"fixed": 300, "shot": 200, "ddl": 500, "compact": 300, "example": 60, "listed": 160,
         "described": 100, "column": 10}  # fmt: skip


def words(portion: Portion, state: State) -> str:
    """A text with as many tokens for each part as `SIZES` says."""
    shown = sum(1 for _ in state.view.visible) if portion.columns is not None else 0
    tokens = SIZES["fixed"] + portion.shots * SIZES["shot"] + portion.examples * SIZES["example"]
    tokens += int(portion.listed * SIZES["listed"]) + portion.described * SIZES["described"]
    tokens += shown * SIZES["column"] if portion.columns is not None else SIZES[portion.style]
    return "abc" * tokens


def fitted(
    workspace: Workspace, room: int, *, narrow: bool = True, small: bool = False
) -> tuple[Fitted, State]:
    can = Capabilities(context_tokens=room + 1_024, remote=False, small=small)
    model = ScriptedModel(Script(), capabilities=can)
    context = Context(workspace, Run(), {"llm": model, "linker": ScriptedLinker()})
    state = State(Question("Which orders?"), SchemaView(workspace.schema))
    found = fit(
        lambda portion, shown: (Message("user", Text.of(words(portion, shown), "template")),),
        FULL,
        state,
        context,
        step="s",
        sampling=Sampling(max_tokens=1_024),
        narrow=narrow,
    )
    return found, found.noted(state, "s")


@pytest.mark.parametrize(
    ("room", "portion", "says"),
    [
        (2_100, FULL, ""),
        (1_900, Portion(3, "ddl", 3), "3 of 4 worked examples"),
        (1_300, Portion(0, "ddl", 3), "0 of 4 worked examples"),
        (1_100, Portion(0, "compact", 3), "0 of 4 worked examples and the schema in short"),
        (950, Portion(0, "compact", 1), "one stored value a column"),
        (850, Portion(0, "compact", 1, 0.25), "a part of the rows and names"),
        (740, Portion(0, "compact", 0, 0.0625), "no stored values of columns"),
        (640, Portion(0, "compact", 0, 0.0, described=False), "no descriptions that were found"),
    ],
)
def test_what_matters_least_is_left_out_first(
    room: int, portion: Portion, says: str, shop_workspace: Workspace
) -> None:
    found, state = fitted(shop_workspace, room)
    assert (found.portion, found.fits) == (portion, True)
    told = " ".join(note.text for note in state.warnings)
    assert says in told
    assert bool(told) == bool(says)
    if says:
        assert f"the model's context of {room + 1_024:,} tokens" in told


@pytest.mark.parametrize(
    ("room", "portion", "says"),
    [
        (9_000, Portion(1, "compact", 3), "for a model of few weights, prompts of s show 1 of 4"),
        (1_100, Portion(0, "compact", 3), "the model's context of 2,124 tokens, prompts of s show"),
    ],
)
def test_a_small_model_is_shown_less_than_there_is_room_for(
    room: int, portion: Portion, says: str, shop_workspace: Workspace
) -> None:
    found, state = fitted(shop_workspace, room, small=True)
    assert (found.portion, found.fits) == (portion, True)
    (note,) = state.warnings
    assert says in note.text


def test_columns_are_left_out_last_those_furthest_from_the_question_first(
    shop_workspace: Workspace,
) -> None:
    found, state = fitted(shop_workspace, 420)
    assert found.fits
    assert found.portion.columns is not None
    assert found.portion.columns >= 8
    assert "columns nearest to the question" in state.warnings[0].text
    assert state.warnings[0].kind == "prompt"


@pytest.mark.parametrize("narrow", [True, False])
def test_what_cannot_fit_says_so(narrow: bool, shop_workspace: Workspace) -> None:
    found, _ = fitted(shop_workspace, 200, narrow=narrow)
    assert not found.fits
