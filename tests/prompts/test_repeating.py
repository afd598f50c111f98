"""The part that is used of a reply that repeats itself without end, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from sqlwright.errors import MalformedReply
from sqlwright.events import Event, ReplyUnreadable
from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Message, Reply
from sqlwright.prompts.replies import items_from, json_from, sql_from
from sqlwright.prompts.sampling import ENDLESS, Prompt, Sampling, ask
from sqlwright.prompts.templates import plain_text
from sqlwright.protocols import Context, Run
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.schema_linking.replies import TablesReply
from sqlwright.types import Question, State


def read(text: str, parse: Callable[[str], Any], events: list[Event]) -> Any:
    script = Script(otherwise=Reply(text, finish="repeats"))
    workspace: Any = SimpleNamespace(catalog=None)
    context = Context(workspace, Run(seed=3, events=events.append), {"llm": ScriptedModel(script)})
    prompt = Prompt((Message("user", plain_text("What for?")),), parse)
    state = State(Question("What for?"), SchemaView(Schema("x", ())))
    ((found,),) = ask([prompt], state, context, step="s", sampling=Sampling(again=1))
    return found


def tables(text: str) -> tuple[str, ...]:
    return tuple(json_from(text, TablesReply).tables)


@pytest.mark.parametrize(
    ("text", "parse", "found"),
    [
        ('["Hull", ' + '"Leeds", "New Leeds", ' * 60, items_from, "Hull/Leeds/New Leeds"),
        ('["East York", "New York", ' + '"York", ' * 99, items_from, "East York/New York/York"),
        ("Keywords:\n- Hull\n" + "- Leeds\n- New York\n" * 60, items_from, "Hull/Leeds/New York"),
        ('{"reasoning": "r", "tables": ["a", ' + '"b", "c", ' * 90, tables, "a/b/c"),
        ("It is ```sql\nSELECT 1\n```\n" * 50, lambda text: (sql_from(text),), "SELECT 1"),
    ],
)
def test_what_does_not_depend_on_the_number_of_copies_is_used(
    text: str, parse: Callable[[str], Any], found: str
) -> None:
    events: list[Event] = []
    assert read(text, parse, events) == tuple(found.split("/"))
    assert not events


@pytest.mark.parametrize(
    ("text", "parse"),
    [
        ("```sql\nSELECT 1 FROM t WHERE " + "a = 1 OR " * 100, sql_from),
        ("SELECT 1 FROM t JOIN u ON a = b " + "LEFT JOIN u ON a = b " * 60, sql_from),
        ('{"reasoning": "' + "so it is " * 100, tables),
        ("so it is " * 100, items_from),
    ],
)
def test_what_has_no_end_is_asked_for_again(text: str, parse: Callable[[str], Any]) -> None:
    events: list[Event] = []
    with pytest.raises(MalformedReply, match=ENDLESS):
        read(text, parse, events)
    assert [event.problem for event in events if isinstance(event, ReplyUnreadable)] == [
        ENDLESS
    ] * 2
