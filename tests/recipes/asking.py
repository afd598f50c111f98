"""Questions through a paper's recipe, to a language model that replies as it is told, or badly."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from sqlwright.messages import Missing
from sqlwright.types import Answer, State
from tests.scripted import scripted_models

Ask = Callable[..., tuple[Answer, State, list[tuple[str, str]]]]
"""`ask_once` with all but the replies, overrides and options given."""
BAD = ("", "Here is the query:", '{"reasoning": "', Missing("unavailable", "down"))


def ask_once(
    database: Path,
    home: Path,
    recipe: str,
    written: str,
    says: Callable[[Asked], Any],
    *overrides: str,
    question: str,
    **options: Any,
) -> tuple[Answer, State, list[tuple[str, str]]]:
    """A question through a recipe: the answer, the state, and step and prompt of each request. The
    Responder says what `says` doesn't; the embedded parser writes the query `written`."""
    responder = Responder(faulty=0.0)

    def reply(one: Asked) -> Any:
        said = says(one)
        return responder.scripted(one) if said is None else said

    model = ScriptedModel(Script(otherwise=reply))
    with api.open(
        database,
        recipe=recipe,
        overrides=overrides,
        models=scripted_models(written, llm=model),
        home=home,
        **{"prepare": False, "record": False, **options},
    ) as session:
        answer, state = session.run(question)
    requests = [
        (step, "\n\n".join(str(message.text) for message in request.messages))
        for step, request in model.requests
    ]
    return answer, state, requests


def ask_a_hundred(
    database: Path, home: Path, recipe: str, written: str, *overrides: str, faulty: float
) -> tuple[list[Answer], int]:
    """The answers to a hundred questions where a fifth of the replies is bad, and how many were.
    Of the queries in the others a share is faulty."""
    responder, spoiled = Responder(faulty=faulty), list[Asked]()

    def reply(asked: Asked) -> Any:
        draw = random.Random(f"{asked.seed}/{asked.sample}/{asked.prompt}")
        if draw.random() >= 0.2:
            return responder.scripted(asked)
        spoiled.append(asked)
        return draw.choice(BAD)

    with api.open(
        database,
        recipe=recipe,
        overrides=overrides,
        models=scripted_models(written, llm=ScriptedModel(Script(otherwise=reply))),
        home=home,
        prepare=False,
        record=False,
        stand_in=False,
    ) as session:
        things = ("customers", "orders", "products")
        answers = [
            session.ask(f"Which {things[number % 3]} are there after {number}?")
            for number in range(100)
        ]
    return answers, len(spoiled)
