"""Kept replies: found for the same request only, private, whole, bounded, shared by processes."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.keeping.cache import ReplyCache, forget
from sqlwright.llm.scripted import Asked, Script, ScriptedEndpoint
from sqlwright.llm.sending.engine import Engine
from sqlwright.messages import Missing, Reply, Text, ToolCall
from sqlwright.spending import Budget
from sqlwright.types import Usage
from tests.llm.gates import Events, a_run, gate, request, texts

REPLY = Reply("SELECT 'München'", (ToolCall("1", "find", '{"a": 1}'),), "tool_calls", 12, 7)
KEPT = [name for name in Usage.__dataclass_fields__ if name.startswith("kept_")]
KEY = "ab" + "0" * 62


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_reply_comes_back_as_it_was_and_says_that_it_was_kept(tmp_path: Path) -> None:
    ReplyCache(tmp_path / "kept").put(KEY, REPLY)
    assert ReplyCache(tmp_path / "kept").get(KEY) == replace(REPLY, cached=True)
    assert ReplyCache(tmp_path / "kept").get("cd" + KEY[2:]) is None


def test_only_the_owner_can_read_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "replies" / "kept"
    for before in (False, True):
        if before:
            folder.chmod(0o755)
        ReplyCache(folder).put(KEY, REPLY)
        (path,) = files(folder)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        places = (folder.parent, folder, path.parent)
        assert {stat.S_IMODE(place.stat().st_mode) for place in places} == {0o700}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"version": 99, "revision": "", "reply": {"text": "x"}}',
        b'{"version": 1, "revision": "", "reply": {"text": 5}}',
        b'{"version": 1, "revision": "", "reply": {"text": "x", "prompt_tokens": -1}}',
        b'{"version": 1, "revision": "", "reply": {"text": "x", "tool_calls": [{"id": 1}]}}',
        b'{"version": 1}',
    ],
)
def test_a_damaged_file_counts_as_absent_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    cache = ReplyCache(tmp_path)
    cache.put(KEY, REPLY)
    files(tmp_path)[0].write_bytes(content)
    assert cache.get(KEY) is None
    cache.put(KEY, REPLY)
    assert cache.get(KEY) is not None


def test_another_revision_of_the_model_is_another_model(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    cache.put(KEY, REPLY, revision="2024-08")
    assert cache.get(KEY, revision="2024-08") is not None
    assert cache.get(KEY) is not None
    assert cache.get(KEY, revision="2025-01") is None


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path, largest=5_000)
    for number in range(401):
        cache.put(f"{number:064x}", Reply("x" * 100))
    sizes = sum(path.stat().st_size for path in files(tmp_path))
    assert 0 < sizes <= 5_000 + 400 * 300
    assert cache.get(f"{400:064x}") is not None
    assert cache.get(f"{0:064x}") is None


def test_a_place_that_can_not_be_used_costs_the_cache_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ReplyCache(tmp_path / "file")
    cache.put(KEY, REPLY)
    assert cache.problem
    assert cache.get(KEY) is None


def test_forgetting_removes_replies_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    cache = ReplyCache(folder)
    for number in range(3):
        cache.put(f"{number}{KEY[1:]}", REPLY)
    (folder / "ab").mkdir(exist_ok=True)
    (folder / "ab" / "notes.txt").write_text("mine")
    assert forget(folder) == 3
    assert files(folder) == [folder / "ab" / "notes.txt"]
    (folder / "ab" / "notes.txt").unlink()
    assert forget(folder) == 0
    assert not folder.exists()
    assert forget(tmp_path / "absent") == 0


WRITER = """
import sys
from pathlib import Path
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.messages import Reply
cache = ReplyCache(Path(sys.argv[1]), largest=20_000)
for number in range(300):
    cache.put(f"{number % 40:02x}" + "0" * 62, Reply(sys.argv[2] * 50))
    found = cache.get(f"{number * 7 % 40:02x}" + "0" * 62)
    assert found is None or found.text in {"a" * 50, "b" * 50}, found
assert not cache.problem, cache.problem
"""


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "kept"), letter], stderr=subprocess.PIPE
        )
        for letter in "ab"
    ]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    for path in files(tmp_path):
        assert set(json.loads(path.read_text())["reply"]["text"]) <= {"a", "b"}


def test_the_same_request_is_answered_without_being_sent_again(tmp_path: Path) -> None:
    events = Events()
    run = a_run(events=events)
    endpoint = ScriptedEndpoint(Script(otherwise=lambda asked: f"reply {asked.seed}"))
    with gate(endpoint=endpoint, cache=ReplyCache(tmp_path)) as (model, _):
        first = model.complete([request("q", n=2, temperature=0.7)], a_run(), step="s")
        again = model.complete([request("q", n=2, temperature=0.7)], run, step="s")
    assert [texts(samples) for samples in first] == [texts(samples) for samples in again]
    assert len(endpoint.calls) == 1
    assert replace(run.spending.total, **dict.fromkeys(KEPT, 0)) == Usage(cached=2)
    assert run.spending.total.kept_calls == 1
    assert (events.calls[0].cached, events.calls[0].cost) == (2, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        request("r"),
        request("s", "q"),
        request("q", temperature=0.5),
        request("q", seed=1),
        request("q", max_tokens=999),
    ],
)
def test_anything_else_about_a_request_makes_it_another(tmp_path: Path, other: object) -> None:
    with gate(cache=ReplyCache(tmp_path)) as (model, endpoint):
        model.complete([request("q")], a_run(), step="s")
        model.complete([other], a_run(), step="s")  # type: ignore[list-item]
    assert len(endpoint.calls) == 2


def test_more_samples_than_are_kept_are_asked_for_by_their_own_seeds(tmp_path: Path) -> None:
    endpoint = ScriptedEndpoint(Script(otherwise=lambda asked: f"reply {asked.seed}"))
    with gate(endpoint=endpoint, cache=ReplyCache(tmp_path)) as (model, _):
        model.complete([request("q", n=2, seed=5)], a_run(), step="s")
        (samples,) = model.complete([request("q", n=4, seed=5)], a_run(), step="s")
    assert texts(samples) == ["reply 5", "reply 6", "reply 7", "reply 8"]
    assert [(call.n, call.seed) for call in endpoint.calls] == [(2, 5), (2, 7)]


def test_another_configured_revision_is_asked_anew(tmp_path: Path) -> None:
    sent = []
    for revision in ("a", "b", "a"):
        with gate(cache=ReplyCache(tmp_path), revision=revision) as (model, endpoint):
            model.complete([request("q")], a_run(), step="s")
        sent.append(len(endpoint.calls))
    assert sent == [1, 1, 0]


def test_another_reported_revision_is_asked_anew_but_not_another_server_of_it(
    tmp_path: Path,
) -> None:
    sent = []
    for revision in ("gpt-1/fp_aa", "gpt-1/fp_bb", "gpt-2/fp_aa"):
        endpoint = ScriptedEndpoint(Script(otherwise="yes"), revision=revision)
        with gate(endpoint=endpoint, cache=ReplyCache(tmp_path)) as (model, _):
            # A reply to something new tells which revision is served now.
            model.complete([request(f"new to {revision}")], a_run(), step="s")
            model.complete([request("q")], a_run(), step="s")
        sent.append(len(endpoint.calls))
    assert sent == [2, 1, 2]


def test_replies_at_hand_need_no_endpoint(tmp_path: Path) -> None:
    def never() -> ScriptedEndpoint:
        raise AssertionError("nothing needs to be sent")

    with gate(cache=ReplyCache(tmp_path)) as (model, endpoint):
        model.complete([request("q")], a_run(), step="s")
    again = GatedModel(
        model.name, endpoint.capabilities, Connection(never, Engine()), cache=ReplyCache(tmp_path)
    )
    assert texts(again.complete([request("q")], a_run(), step="s")[0]) == ["yes"]


def test_what_is_missing_is_not_kept(tmp_path: Path) -> None:
    with gate(Script(otherwise=Missing("unavailable", "down")), cache=ReplyCache(tmp_path)) as (
        model,
        _,
    ):
        model.complete([request("q")], a_run(), step="s")
    assert files(tmp_path) == []


def test_a_reply_that_was_cut_is_not_kept_unless_it_is_whole(tmp_path: Path) -> None:
    def cut(asked: Asked) -> Reply:
        return Reply("SELECT", finish="length", reply_tokens=asked.max_tokens)

    with gate(Script(otherwise=cut), cache=ReplyCache(tmp_path)) as (model, endpoint):
        model.complete([request("q")], a_run(Budget(tokens=500)), step="s")
        assert endpoint.calls[0].max_tokens < 500
        assert files(tmp_path) == []
        model.complete([request("q")], a_run(Budget(calls=1)), step="s")
        assert files(tmp_path) == []
        whole = request("q", is_whole=lambda text: text == "SELECT")
        model.complete([whole], a_run(Budget(calls=1)), step="s")
    assert len(files(tmp_path)) == 1


def test_kept_files_hold_nothing_of_the_prompt(tmp_path: Path) -> None:
    prompt = Text.of("canary-schema", "schema") + Text.of("canary-value", "value")
    with gate("SELECT 1", cache=ReplyCache(tmp_path)) as (model, _):
        model.complete([request(prompt)], a_run(), step="s")
    for path in files(tmp_path):
        assert "canary" not in path.read_text() + path.name
