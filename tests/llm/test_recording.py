"""Recordings: an open form, played back exactly, made and used by the gate."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from sqlwright.boundary.secrets import mask
from sqlwright.errors import ConfigError
from sqlwright.llm.gate import GatedModel
from sqlwright.llm.keeping.recording import FORMAT, Recorder, Recording, read_recording
from sqlwright.llm.scripted import Script, ScriptedEndpoint, When
from sqlwright.messages import Capabilities, Missing, Text
from tests.llm.gates import MODEL, Events, a_run, gate, request, texts

ABLE = Capabilities(n=True, tools=True, json_schema=True, context_tokens=9_000)


def record(path: Path, *requests: Any, otherwise: Any = "yes", **rules: Any) -> None:
    script = Script([When(words, says) for words, says in rules.items()], otherwise)
    endpoint = ScriptedEndpoint(script, capabilities=ABLE)
    with gate(endpoint=endpoint, recorder=Recorder(path)) as (model, _):
        model.complete(list(requests), a_run(), step="generation.x")


def player(path: Path) -> GatedModel:
    recording = read_recording(path)
    return GatedModel(MODEL, recording.models[MODEL], None, replay=recording)


def test_what_was_recorded_is_played_back_without_a_model(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    asked = [request("a", n=2, temperature=0.5), request("system", "b", seed=3)]
    record(path, *asked, otherwise=lambda a: f"{a.prompt} {a.seed}")
    events = Events()
    run = a_run(events=events)
    model = player(path)
    found = model.complete(asked, run, step="generation.x")
    assert [texts(samples) for samples in found] == [["a 0", "a 1"], ["system\n\nb 3"]]
    assert model.capabilities == ABLE
    total = run.spending.total
    assert (total.cached, total.calls, total.cost) == (3, 0, 0.0)
    assert total.kept_calls == 2
    assert len(events.calls) == 2


def test_what_was_not_recorded_is_missing_as_such(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("a", n=2))
    (more, other) = player(path).complete([request("a", n=3), request("b")], a_run(), step="s")
    assert texts(more) == ["yes", "yes", "!unrecorded"]
    assert texts(other) == ["!unrecorded"]


def test_the_limit_of_tokens_does_not_matter_and_the_seed_does(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("a"))
    longer, seeded = player(path).complete(
        [request("a", max_tokens=5), request("a", seed=1)], a_run(), step="s"
    )
    assert texts(longer) == ["yes"]
    assert texts(seeded) == ["!unrecorded"]


def test_what_an_endpoint_failed_to_do_is_played_back_too(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("bad"), request("good"), bad=Missing("unavailable", "down"))
    bad, good = player(path).complete([request("bad"), request("good")], a_run(), step="s")
    assert bad == (Missing("unavailable", "scripted/model: down (1 attempts)"),)
    assert texts(good) == ["yes"]


def test_a_second_run_adds_to_a_recording_and_the_later_reply_counts(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("a"), otherwise="first")
    record(path, request("a"), request("b"), otherwise="second")
    found = player(path).complete([request("a"), request("b")], a_run(), step="s")
    assert [texts(samples) for samples in found] == [["second"], ["second"]]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("format") for line in lines] == [FORMAT, *[None] * 4]


def test_the_form_is_readable_json_lines_that_only_the_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("Who is Müller?", seed=4), otherwise="SELECT 'Müller'")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert lines[1]["model"] == MODEL
    request_form = lines[2]["request"]
    assert request_form["messages"] == [{"role": "user", "text": "Who is Müller?"}]
    assert (request_form["step"], request_form["seed"]) == ("generation.x", 4)
    assert lines[2]["replies"][0]["text"] == "SELECT 'Müller'"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_credentials_in_prompts_and_replies_are_masked_and_still_found(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    key = "sk-canary0123456789abcdef"
    asked = request(Text.of(f"postgresql://me:canarypassword@db/x {key}", "question"))
    record(path, asked, otherwise=f"use {key}")
    assert "canary" not in path.read_text()
    (samples,) = player(path).complete([asked], a_run(), step="s")
    assert texts(samples) == [mask(f"use {key}")]


def test_odd_text_survives(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    odd = "a\u2028b\x00c\ud800d</script>\r\n\u202e"
    record(path, request(Text.of(odd, "value")), otherwise="x\u2028y\x1b[31m")
    (samples,) = player(path).complete([request(Text.of(odd, "value"))], a_run(), step="s")
    assert texts(samples) == ["x\u2028y\x1b[31m"]
    assert path.read_text("utf-8").count("\n") == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "not a recording"),
        ("hello\n", "line 1: not JSON"),
        ('{"format": "other"}\n', "not a recording"),
        ('{"format": "sqlwright-recording", "version": 9}\n', "can't read"),
        ('{"format": "sqlwright-recording", "version": 1}\n[]\n', "line 2: not an object"),
        (
            '{"format": "sqlwright-recording", "version": 1}\n'
            '{"key": "x", "replies": [{"sample": 0, "text": 5}]}\n',
            "a reply in it can't be read",
        ),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(ConfigError, match=says):
        read_recording(path)


def test_a_recording_that_is_not_there_or_can_not_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        read_recording(tmp_path / "absent.jsonl")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="can't be written"):
        Recorder(tmp_path / "file" / "run.jsonl")
    with pytest.raises(ConfigError, match="not a recording"):
        Recorder(tmp_path / "file")


def test_a_last_line_cut_short_by_a_kill_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    record(path, request("a"), request("b"))
    path.write_text(path.read_text()[:-40])
    assert len(read_recording(path).samples) == 1


def test_an_empty_replay_has_nothing() -> None:
    model = GatedModel(MODEL, Capabilities(), None, replay=Recording({}, {}))
    (samples,) = model.complete([request("a")], a_run(), step="s")
    assert texts(samples) == ["!unrecorded"]
