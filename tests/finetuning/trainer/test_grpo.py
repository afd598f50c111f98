"""Training on rewards: a model that is right sometimes is right more often; its prompts are those
of inference; a run goes on to the same weights."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwright.errors import Cancelled, ConfigError, DatasetError
from sqlwright.lab.finetuning.building.set_folder import SourceRecord
from sqlwright.lab.finetuning.example import TrainingExample, Turn
from sqlwright.lab.finetuning.trainer.plan import RewardOptions, Settings, TrainingPlan
from sqlwright.lab.finetuning.trainer.record import RunFolder
from sqlwright.lab.finetuning.trainer.train import train
from tests.evaluation.sets import spider_set
from tests.finetuning.trainer.marks import NEEDS
from tests.finetuning.trainer.sets import SETTINGS, SPREAD, save_set
from tests.llm.tiny_weights import save_tiny

pytestmark = NEEDS

ASKED = {
    "how many": ("SELECT COUNT(*) FROM a", "SELECT x FROM a"),
    "all of b": ("SELECT x FROM b", "DROP TABLE b"),
    "over one": ("SELECT x FROM a WHERE x > 1", "SELECT x FROM a WHERE (x > 1"),
    "largest": ("SELECT MAX(x) FROM a", "SELECT COUNT(x) FROM a"),
}
"""The right query to each question, and a wrong one. The last is right on this database alone."""
OPTIONS = RewardOptions(group=8, max_reply_tokens=30, query_seconds=5.0)
REWARDED = Settings(
    dropout=0.0, epochs=10.0, batch=32, learning_rate=2e-4, schedule="constant", warm_up=0.0,
    max_tokens=200,
)  # fmt: skip


def example(number: int, question: str, sql: str) -> TrainingExample:
    return TrainingExample(
        f"toy/{number}/{sql}", "generator", "generation.direct", f"dev-{number:05d}", "shop1",
        "dev", (Turn("user", question),), sql,
    )  # fmt: skip


def right() -> list[TrainingExample]:
    return [example(n, question, sqls[0]) for n, (question, sqls) in enumerate(ASKED.items())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, its set, and a model that was taught right and wrong queries alike."""
    made = tmp_path_factory.mktemp("grpo")
    with closing(sqlite3.connect(made / "toy.db")) as connection, connection:
        connection.executescript(
            "CREATE TABLE a (x REAL); INSERT INTO a VALUES (1), (2), (3);"
            "CREATE TABLE b (x INTEGER); INSERT INTO b VALUES (4);"
        )
    (made / "data").mkdir()
    golds = {question: sqls[0] for question, sqls in ASKED.items()}
    spider_set(made / "data", made / "toy.db", golds)
    source = SourceRecord(f"spider:{made / 'data'}", None, "dev", "spider", {})
    save_set(made / "set", right(), sources=(source,))
    both = [
        example(number, question, sql)
        for number, (question, sqls) in enumerate(ASKED.items())
        for sql in sqls
    ]
    save_set(made / "warm", both)
    save_tiny(made / "tiny", spread=SPREAD)
    train(
        TrainingPlan(made / "warm", made / "tiny", made / "warmed", device="cpu", micro_batch=8,
                     settings=replace(SETTINGS, batch=8, epochs=80.0, max_tokens=200))
    )  # fmt: skip
    return made


def plan(folder: Path, out: str | Path, **changed: object) -> TrainingPlan:
    begun = TrainingPlan(
        folder / "set", folder / "tiny", folder / out, objective="grpo", settings=REWARDED,
        start=folder / "warmed", rewards=OPTIONS, micro_batch=32, device="cpu",
    )  # fmt: skip
    return replace(begun, **changed)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained(folder: Path) -> RunFolder:
    return train(plan(folder, "run"))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def test_a_model_that_is_right_sometimes_is_right_more_often(trained: RunFolder) -> None:
    steps = [row for row in trained.logged() if "reward" in row]
    first, last = steps[0], steps[-3:]  # the first replies are those of the model as it began
    assert 0.05 < first["reward"] < 0.7
    assert first["right_by_luck"] > 0
    assert mean([row["reward"] for row in last]) > first["reward"] + 0.2
    assert mean([row["right"] for row in last]) > first["right"] + 0.2
    assert mean([row["right_by_luck"] for row in last]) < first["right_by_luck"]


def test_the_record_says_what_it_was_trained_on(trained: RunFolder) -> None:
    record = trained.record()
    assert record["objective"] == "grpo"
    assert record["settings"]["group"] == 8
    assert record["start"]["digest"]
    assert record["examples"]["trained"] == 4
    assert record["examples"]["not_judged"] == {}
    assert (trained.adapter / "adapter_model.safetensors").exists()


def test_a_run_goes_on_to_the_same_weights(folder: Path, trained: RunFolder) -> None:
    interrupted = plan(folder, "interrupted", checkpoint_steps=3)

    def interrupt(step: int, _of: int, _loss: float, _left: float) -> None:
        if step == 5:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Cancelled):
        train(interrupted, progress=interrupt)
    again = train(interrupted)
    assert [row["reward"] for row in again.logged()] == [row["reward"] for row in trained.logged()]
    weights = "adapter_model.safetensors"
    assert (again.adapter / weights).read_bytes() == (trained.adapter / weights).read_bytes()


def test_the_prompts_are_those_of_inference(folder: Path) -> None:
    """What the model reads first in a step, whatever stands before it in its row."""
    from sqlwright.lab.finetuning.building.set_folder import SetFolder
    from sqlwright.lab.finetuning.trainer.loading import load, quiet, with_lora
    from sqlwright.lab.finetuning.trainer.objectives import Rewarded
    from sqlwright.lab.finetuning.trainer.train import Work
    from sqlwright.lab.finetuning.trainer.work import computing_of
    from sqlwright.llm.endpoint import Call
    from sqlwright.llm.vendors.weights import Weights

    quiet()
    chosen = plan(folder, "tokens", settings=replace(REWARDED, epochs=1.0))
    work = Work(chosen, SetFolder.open(folder / "set"), RunFolder(chosen.out), computing_of(chosen))
    loaded = with_lora(load(folder / "tiny", device="cpu"), chosen.settings, seed=0)
    read = []

    def listen(_module: object, _given: object, named: dict[str, object]) -> None:
        read.append(named)

    loaded.model.get_base_model().register_forward_pre_hook(listen, with_kwargs=True)
    way = Rewarded()
    trainer = way.trainer(work, loaded, way.prepared(work, loaded))
    trainer.train()
    rows = zip(read[0]["input_ids"].tolist(), read[0]["attention_mask"].tolist(), strict=True)
    found = [tuple(token for token, seen in zip(*row, strict=True) if seen) for row in rows]
    asked = Weights(folder / "tiny", "")
    prompts = {tuple(asked._prompt(Call(one.plain))) for one in right()}
    assert len(found) == 32
    assert set(found) == prompts


def test_questions_that_cannot_be_judged_are_left_out(folder: Path, tmp_path: Path) -> None:
    from sqlwright.lab.finetuning.building.set_folder import SetFolder

    sources = SetFolder.open(folder / "set").about.sources
    lost = replace(right()[0], id="lost", question_id="dev-00099")
    save_set(tmp_path / "set", [*right(), lost], sources=sources)
    chosen = plan(folder, tmp_path / "run", set_folder=tmp_path / "set")
    record = train(replace(chosen, settings=replace(REWARDED, epochs=1.0))).record()
    assert record["examples"]["trained"] == 4
    assert record["examples"]["not_judged"] == {"shop1": 1}


@pytest.mark.parametrize(
    ("settings", "group", "told"),
    [
        (REWARDED, 5, "a batch of 32 replies can't be divided into groups of 5"),
        (replace(REWARDED, batch=64), 8, "a batch has 8 prompts .* there are 4 prompts"),
    ],
)
def test_batches_without_whole_groups_are_refused(
    settings: Settings, group: int, told: str, folder: Path, tmp_path: Path
) -> None:
    options = replace(OPTIONS, group=group)
    with pytest.raises(ConfigError, match=told):
        train(plan(folder, tmp_path / "run", settings=settings, rewards=options))


def test_other_roles_are_refused(folder: Path, tmp_path: Path) -> None:
    save_set(tmp_path / "set", [replace(one, role="critic") for one in right()])
    with pytest.raises(ConfigError, match="for the generator, not for the critic"):
        train(plan(folder, tmp_path / "run", set_folder=tmp_path / "set"))


def test_data_that_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    files = {"dev.json": "0" * 64}
    source = SourceRecord(f"spider:{folder / 'data'}", None, "dev", "spider", files)
    save_set(tmp_path / "set", right(), sources=(source,))
    with pytest.raises(DatasetError, match=r"dev\.json isn't as it was"):
        train(plan(folder, tmp_path / "run", set_folder=tmp_path / "set"))
