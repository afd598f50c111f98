"""Recipes played back with replies that were typed by somebody who saw the prompts alone.

Replies are found by the prompt they were typed for, so a prompt that changed, or was emptied,
fails until somebody has looked at the difference (`python -m tests.transcripts`).
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import sqlwright
from sqlwright.demo.business import demo_questions
from sqlwright.llm.options import LlmOptions
from tests.llm.server import Asked, ModelServer
from tests.transcripts.played import Played, database_file, difference, play
from tests.transcripts.stored import Exchange, Transcript, load, save

TRANSCRIPTS = load()
GERMANY = next(each for each in TRANSCRIPTS if "ss-cg" in each.name and "germany" in each.name)
ADVICE = "look at every difference and take them over with: python -m tests.transcripts"
SHOWN = 30
"""Lines of a difference in a failure."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transcripts")


def changes(played: Played) -> str:
    """What was asked that isn't stored, against what is stored and wasn't asked."""
    told = []
    for new in played.unmatched:
        told.append(f"{new.step}, seed {new.seed}: no reply is stored for this prompt")
        old = next((each for each in played.unasked if each.step == new.step), None)
        told += difference(old.prompt, new.prompt)[:SHOWN] if old else new.prompt.split("\n")[:5]
    told += [f"{old.step}, seed {old.seed}: not asked any more" for old in played.unasked]
    return "\n".join([*told, ADVICE] if told else [])


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda each: each.name)
def test_a_transcript_has_its_prompts_and_its_answer(transcript: Transcript, made: Path) -> None:
    played = play(transcript, made)
    assert not changes(played), changes(played)
    assert played.outcome == (transcript.status, transcript.sql, transcript.right)


def with_prompts(transcript: Transcript, old: str, new: str) -> Transcript:
    """As if the replies had been typed for other prompts."""
    exchanges = [replace(e, prompt=e.prompt.replace(old, new)) for e in transcript.exchanges]
    assert tuple(exchanges) != transcript.exchanges
    return replace(transcript, exchanges=tuple(exchanges))


def emptied(transcript: Transcript) -> Transcript:
    exchanges = [replace(each, prompt="<<user>>\n\n") for each in transcript.exchanges]
    return replace(transcript, exchanges=tuple(exchanges))


@pytest.mark.parametrize(
    "other", [emptied(GERMANY), with_prompts(GERMANY, "Germany", "Deutschland")], ids=["", "word"]
)
def test_another_prompt_gets_no_reply(other: Transcript, made: Path) -> None:
    played = play(other, made)
    assert played.unmatched
    assert ADVICE in changes(played)


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "tests.transcripts", "--folder", str(folder), *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("other", [emptied(GERMANY), with_prompts(GERMANY, "question", "task")])
def test_the_command_shows_what_changed_and_takes_it_over(
    other: Transcript, tmp_path: Path
) -> None:
    save([other], tmp_path)
    done = command(tmp_path)
    assert done.returncode == 0, done.stderr
    assert any(line.startswith("+") and "question" in line for line in done.stdout.splitlines())
    assert load(tmp_path) == [GERMANY]
    again = command(tmp_path)
    assert again.stdout == "0 of 1 transcripts have prompts that changed\n"


def test_seeds_and_steps_that_changed_are_found_again(tmp_path: Path) -> None:
    def elsewhere(each: Exchange) -> Exchange:
        return replace(each, step=f"older.{each.step}", seed=each.seed + 1)

    save([replace(GERMANY, exchanges=tuple(map(elsewhere, GERMANY.exchanges)))], tmp_path)
    assert command(tmp_path).returncode == 0
    assert load(tmp_path) == [GERMANY]


def test_an_answer_that_changed_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    wrong = replace(GERMANY, sql="SELECT 'something else'", right=False)
    save([wrong], tmp_path)
    done = command(tmp_path)
    assert done.returncode == 1
    assert "the answer changed" in done.stdout
    assert load(tmp_path) == [wrong]
    assert command(tmp_path, "--answers").returncode == 1
    assert load(tmp_path) == [GERMANY]


def test_a_recording_is_added_whether_right_or_wrong(tmp_path: Path) -> None:
    question = "How many orders are there?"

    def reply(asked: Asked) -> str:
        assert question in asked.prompt
        return "SELECT COUNT(*) FROM returns"

    recording, home = tmp_path / "recording.jsonl", tmp_path / "home"
    with ModelServer(answer=reply) as server:
        options = LlmOptions(
            model="openai-compatible/typed", base_url=server.url, record=recording, cache=False
        )
        file = database_file("demo", tmp_path)
        with sqlwright.open(
            file, recipe="baseline", llm=options, home=home, prepare=True
        ) as session:
            answer = session.ask(question)
    save([GERMANY], tmp_path / "stored")
    asked = ("--recipe", "baseline", "--database", "demo", "--question", question)
    unsaid = command(tmp_path / "stored", "add", str(recording), *asked)
    assert unsaid.returncode == 2
    assert "--gold SQL, --right or --wrong" in unsaid.stderr
    gold = ("--gold", "SELECT COUNT(*) FROM orders")
    done = command(tmp_path / "stored", "add", str(recording), *asked, *gold)
    assert done.returncode == 0, done.stderr
    (added,) = [each for each in load(tmp_path / "stored") if each.recipe == "baseline"]
    assert (added.sql, added.right) == (answer.sql, False)
    assert not changes(play(added, tmp_path))


def test_the_demo_knows_what_is_right() -> None:
    gold = {one.text: one.sql for one in demo_questions()}
    for each in TRANSCRIPTS:
        if each.database == "demo" and each.question in gold:
            assert each.gold == gold[each.question]
