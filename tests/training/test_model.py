"""The torch model: batches, masks, resuming, and the graphs exported from it."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytestmark = pytest.mark.training

from training.embedded.minilm import MiniLm, bundled_minilm  # noqa: E402
from training.embedded.parser.export import export, load_model  # noqa: E402
from training.embedded.parser.model import ParserModel, Sizes  # noqa: E402
from training.embedded.parser.packing import Packed, batches, collate, make_target, pack  # noqa: E402
from training.embedded.parser.train import (  # noqa: E402
    Trainer,
    TrainingSettings,
    loaded,
    stream,
)

from sqlwright.local.form.read.sql import read_sql  # noqa: E402
from sqlwright.local.form.sequence.grammar import linearize  # noqa: E402
from sqlwright.local.parser.encode import encode  # noqa: E402
from sqlwright.local.parser.nodes import FEATURES, RELATIONS, Encoded, WordPieces  # noqa: E402
from sqlwright.local.parser.parser import feature_flags  # noqa: E402
from sqlwright.local.parser.pointers import FIRST_NODE, to_tokens  # noqa: E402
from sqlwright.types import Question  # noqa: E402
from tests.local.singers import SINGERS  # noqa: E402

PAIRS = [
    ("How many singers are there?", "SELECT count(*) FROM singer"),
    ("names of singers older than 20", "SELECT Name FROM singer WHERE Age > 20"),
    ("average age by country", "SELECT Country, avg(Age) FROM singer GROUP BY Country"),
    ("the oldest singer", "SELECT Name FROM singer ORDER BY Age DESC LIMIT 1"),
]


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    from tokenizers import Tokenizer

    return WordPieces(Tokenizer.from_file(str(bundled_minilm() / "tokenizer.json")))


@pytest.fixture(scope="module")
def packed(pieces: WordPieces) -> Packed:
    examples = []
    for text, sql in PAIRS:
        question = Question(text)
        encoded = encode(question, SINGERS, (), {}, pieces)
        symbols = linearize(read_sql(sql, SINGERS))
        tokens = to_tokens(symbols, encoded, question)
        assert tokens is not None
        examples.append((encoded, make_target(symbols, tokens)))
    return pack(examples)


@pytest.fixture(scope="module")
def model() -> ParserModel:
    torch.manual_seed(1)
    sizes = Sizes(len(FEATURES), len(RELATIONS), FIRST_NODE)
    words = torch.randn(30522, 384) * 0.05
    return ParserModel(sizes, MiniLm(), words, 0.1, frozen=1)


def test_every_gold_symbol_is_allowed(packed: Packed) -> None:
    batch = collate(packed, range(len(PAIRS)))
    steps = batch.targets >= 0
    rows, places = torch.nonzero(steps, as_tuple=True)
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        target = int(batch.targets[row, place])
        if target < FIRST_NODE:
            assert batch.keyword_mask[row, place, target]
        else:
            assert batch.kind_mask[row, place, batch.node_kind[row, target - FIRST_NODE]]


def test_every_example_is_in_one_batch(packed: Packed) -> None:
    rows = np.concatenate(list(batches(packed, seed=3)))
    assert sorted(rows.tolist()) == list(range(len(PAIRS)))


def test_padding_changes_nothing(packed: Packed, model: ParserModel) -> None:
    model.eval()
    with torch.no_grad():
        together = collate(packed, [0, 1, 2, 3])
        alone = collate(packed, [2])
        first = model.encode(together, torch.float32)[3][2]
        second = model.encode(alone, torch.float32)[3][0]
    count = int(alone.node_mask.sum())
    assert torch.allclose(first[:count], second[:count], atol=1e-4)


def test_frozen_layers_get_no_gradient(packed: Packed, tmp_path: Path) -> None:
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path)
    before = {k: v.clone() for k, v in trainer.model.named_parameters()}
    trainer.model.train()
    trainer.train_step(collate(packed, [0, 1, 2, 3]))
    changed = {k for k, v in trainer.model.named_parameters() if not torch.equal(v, before[k])}
    assert not any(k.startswith("encoder.minilm.layers.0.") for k in changed)
    assert any(k.startswith("encoder.minilm.layers.1.") for k in changed)


def test_batches_that_other_processes_make_are_those_of_the_stream(
    packed: Packed, tmp_path: Path
) -> None:
    for number in (3, 4):
        packed.save(tmp_path / f"pass_{number:02d}.npz")
    settings = TrainingSettings(pieces=64)
    made = loaded(tmp_path, settings, 3, 2)
    for (number, batch), (own_number, own) in zip(
        islice(made, 2), islice(stream(tmp_path, settings, 3), 2), strict=True
    ):
        assert number == own_number
        assert all(torch.equal(part, same) for part, same in zip(batch, own, strict=True))


def test_the_text_encoder_can_be_left_alone(packed: Packed, tmp_path: Path) -> None:
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path)
    trainer.model.train()
    batch = collate(packed, [0, 1, 2, 3])
    trainer.train_step(batch)
    trainer.leave_text()
    before = {k: v.clone() for k, v in trainer.model.named_parameters()}
    trainer.train_step(batch)
    for name, value in trainer.model.named_parameters():
        text = name.startswith(("encoder.minilm.", "encoder.features."))
        assert torch.equal(value, before[name]) or not text, name
        assert not text or torch.equal(trainer.average[name], value), name
    assert not torch.equal(trainer.model.encoder.link.weight, before["encoder.link.weight"])


def test_a_run_goes_on_where_it_stopped(packed: Packed, tmp_path: Path) -> None:
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path)
    trainer.model.train()
    trainer.train_step(collate(packed, [0, 1, 2, 3]))
    trainer.save()
    again = Trainer(TrainingSettings(minutes=1.0), tmp_path)
    again.resume()
    assert (again.step, again.seen) == (1, 4)
    assert again.spent > 0
    for name, value in trainer.model.named_parameters():
        assert torch.equal(value, dict(again.model.named_parameters())[name])
    assert load_model(tmp_path / "checkpoint.pt").sizes == trainer.model.sizes


def test_a_slice_of_a_run_leaves_a_checkpoint_and_the_last_one_says_so(
    packed: Packed, tmp_path: Path
) -> None:
    packed.save(tmp_path / "pass_00.npz")
    trainer = Trainer(TrainingSettings(minutes=60.0), tmp_path)
    trainer.run(tmp_path, minutes=0.0)
    assert (tmp_path / "checkpoint.pt").exists()
    assert not (tmp_path / "done").exists()
    last = Trainer(TrainingSettings(minutes=1e-6), tmp_path)
    last.resume()
    last.run(tmp_path, minutes=0.0)
    assert last.step == trainer.step + 1
    assert (tmp_path / "done").exists()


def test_a_run_that_goes_on_reads_what_it_has_not_read(packed: Packed, tmp_path: Path) -> None:
    packed.save(tmp_path / "pass_00.npz")
    settings = TrainingSettings(pieces=1)  # as small batches as there are
    begun = [batch.pieces.tolist() for _, batch in islice(stream(tmp_path, settings, 0), 2)]
    _, following = next(stream(tmp_path, settings, 0, after=1))
    assert following.pieces.tolist() == begun[1] != begun[0]
    places = []
    for _ in range(2):
        trainer = Trainer(settings, tmp_path)
        trainer.resume()
        trainer.run(tmp_path, minutes=0.0)  # one batch
        places.append((trainer.number, trainer.position))
    assert places[0] == (0, 1) < places[1]


def test_the_budget_is_counted_by_the_given_clock(tmp_path: Path) -> None:
    seconds = [100.0]
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path, clock=lambda: seconds[0])
    assert trainer.progress == 0.0
    seconds[0] += 15.0
    assert trainer.progress == pytest.approx(0.25)
    trainer.save()
    again = Trainer(TrainingSettings(minutes=1.0), tmp_path, clock=lambda: seconds[0])
    again.resume()
    assert again.progress == pytest.approx(0.25)


def test_the_rate_warms_up_and_decays(tmp_path: Path) -> None:
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path)
    factors = []
    for spent in (0.0, 1.8, 3.6, 30.0, 60.0):
        trainer.spent = spent - (trainer.clock() - trainer.started)
        factors.append(trainer.schedule())
    assert factors[0] < factors[1] < factors[2]
    assert factors[2] > factors[3] > factors[4] == pytest.approx(0.0, abs=1e-3)


def test_exported_graphs_give_what_the_model_gives(
    model: ParserModel, pieces: WordPieces, packed: Packed, tmp_path: Path
) -> None:
    from sqlwright.local.runtime import open_session

    model.eval()
    export(model, tmp_path, int8=False)
    encoded: Encoded = encode(Question(PAIRS[1][0]), SINGERS, (), {}, pieces)
    batch = collate(packed, [1])
    with torch.no_grad():
        link, _, _, memory = model.encode(batch, torch.float32)
        words = model.words[torch.from_numpy(encoded.pieces.astype(np.int64))][None]
        lower = model.encoder.lower(words, torch.ones(words.shape[:2]))
    nodes, length = len(encoded.nodes), len(encoded.pieces)
    pool = np.zeros((1, nodes, length), dtype=np.float32)
    for piece, owner in enumerate(encoded.node_of_piece.tolist()):
        if owner >= 0:
            pool[0, owner, piece] = 1.0
    pool /= np.maximum(pool.sum(-1, keepdims=True), 1.0)
    session = open_session(tmp_path / "parser_encoder.onnx")
    found = session.run(
        ["link", "memory"],
        {
            "lower": lower.numpy(),
            "features": feature_flags(encoded.features)[None],
            "pool": pool,
            "node_features": feature_flags(encoded.node_features)[None],
            "relations": encoded.relations.astype(np.int64)[None],
        },
    )
    assert np.allclose(found[0][0], link[0, :nodes].numpy(), atol=1e-3)
    assert np.allclose(found[1][0], memory[0, :nodes].numpy(), atol=1e-3)


def test_stepwise_decoding_agrees_with_teacher_forcing(
    model: ParserModel, packed: Packed, tmp_path: Path
) -> None:
    from sqlwright.local.runtime import open_session

    model.eval()
    export(model, tmp_path, int8=False)
    batch = collate(packed, [1])
    nodes = int(batch.node_mask.sum())
    steps = int((batch.targets[0] >= 0).sum())
    with torch.no_grad():
        _, inputs, keys, memory = model.encode(batch, torch.float32)
        table = torch.cat([model.decoder.keywords.weight[None], inputs], 1)
        chosen = table[0][batch.inputs[0, :steps]][None]
        states = model.decoder.in_norm(chosen + model.decoder.positions.weight[:steps])
        causal = torch.full((steps, steps), -1e4).triu(1)
        bias = ((1.0 - batch.node_mask) * -1e4)[:, None, None, :]
        states, _ = model.decoder.steps(
            states, None, model.decoder.split_memory(memory), (causal, bias)
        )
        expected = model.decoder.logits(states, keys)[0, :, : FIRST_NODE + nodes].numpy()
    session = open_session(tmp_path / "parser_decoder.onnx")
    sizes = model.sizes
    past = np.zeros((2 * sizes.decoder_layers, 1, sizes.heads, 0, 384 // sizes.heads), np.float32)
    for step in range(steps):
        logits, past = session.run(
            ["logits", "present"],
            {
                "tokens": batch.inputs[0, step : step + 1].numpy(),
                "inputs": inputs[:, :nodes].numpy(),
                "keys": keys[:, :nodes].numpy(),
                "memory": memory[:, :nodes].numpy(),
                "past": past,
            },
        )
        assert np.allclose(logits[0], expected[step], atol=2e-3), step


def test_shuffled_tables_keep_the_query(pieces: WordPieces) -> None:
    from training.embedded.questions.augment import Rates, shown_schema

    question = Question(PAIRS[1][0])
    symbols = linearize(read_sql(PAIRS[1][1], SINGERS))
    for seed in range(5):
        schema = shown_schema(SINGERS, Rates(), random.Random(seed))
        encoded = encode(question, schema, (), {}, pieces)
        tokens = to_tokens(symbols, encoded, question)
        assert tokens is not None
        named = [encoded.nodes[t - FIRST_NODE] for ids in tokens for t in ids if t >= FIRST_NODE]
        assert ("singer", "Name") in named
