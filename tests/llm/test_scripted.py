"""The scripted double: rules in order, in turn, by step, words or test; remembers all."""

from __future__ import annotations

from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.messages import Capabilities, Missing, Reply
from sqlwright.protocols import LanguageModel
from tests.llm.gates import a_run, request, texts


def test_the_first_rule_that_fits_has_the_word() -> None:
    script = Script(
        [
            When("extract_keywords", '["oakland"]'),
            When("SQL", "SELECT 1"),
            When(lambda asked: asked.sample == 1, "second sample"),
        ],
        otherwise=lambda asked: asked.prompt.upper(),
    )
    model = ScriptedModel(script)
    by_step = model.complete([request("SQL please")], a_run(), step="extract_keywords")
    by_words = model.complete([request("system", "SQL please")], a_run(), step="s")
    by_test = model.complete([request("hello", n=2)], a_run(), step="s")
    assert texts(by_step[0]) == ['["oakland"]']
    assert texts(by_words[0]) == ["SELECT 1"]
    assert texts(by_test[0]) == ["HELLO", "second sample"]
    assert [asked.step for asked in script.asked] == ["extract_keywords", "s", "s", "s"]
    assert [step for step, _ in model.requests] == ["extract_keywords", "s", "s"]


def test_replies_are_given_in_turn_and_the_last_one_stays() -> None:
    model = ScriptedModel(Script([When("q", ["one", Missing("rejected", "no"), "three"])]))
    found = [model.complete([request("q")], a_run(), step="s")[0] for _ in range(4)]
    assert [texts(samples)[0] for samples in found] == ["one", "!rejected", "three", "three"]


def test_what_no_rule_knows_is_missing() -> None:
    (samples,) = ScriptedModel(Script()).complete([request("q")], a_run(), step="s")
    assert texts(samples) == ["!unavailable"]


def test_a_whole_reply_is_given_as_it_is() -> None:
    reply = Reply("cut", finish="length", reply_tokens=9)
    (samples,) = ScriptedModel(Script(otherwise=reply)).complete([request("q")], a_run(), step="s")
    assert samples == (reply,)


def test_a_cancelled_run_gets_no_reply() -> None:
    run = a_run()
    run.cancelled.set()
    model = ScriptedModel(Script(otherwise="yes"))
    assert texts(model.complete([request("q")], run, step="s")[0]) == ["!cancelled"]
    assert model.script.asked == []


def test_it_is_a_language_model_with_the_abilities_it_claims() -> None:
    model = ScriptedModel(Script(), name="a/b", capabilities=Capabilities(tools=True))
    assert isinstance(model, LanguageModel)
    assert (model.name, model.capabilities.tools) == ("a/b", True)


def test_a_test_sees_all_about_a_reply() -> None:
    seen: list[Asked] = []
    script = Script(otherwise=lambda asked: (seen.append(asked), "x")[1])
    ScriptedModel(script).complete(
        [request("q", n=2, seed=7, temperature=0.5, max_tokens=9)], a_run(), step="s"
    )
    assert seen[1] == Asked("q", "s", 1, 8, 0.5, 9)
