"""Exported weights come back into the model, and training goes on from them."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytestmark = pytest.mark.training

from training.embedded.minilm import MiniLm  # noqa: E402
from training.embedded.parser.export import export  # noqa: E402
from training.embedded.parser.model import ParserModel, Sizes  # noqa: E402
from training.embedded.parser.restore import GRAPHS, restore  # noqa: E402
from training.embedded.parser.train import Trainer, TrainingSettings, mark_frozen  # noqa: E402

from sqlwright.local.parser.nodes import FEATURES, RELATIONS  # noqa: E402
from sqlwright.local.parser.pointers import FIRST_NODE  # noqa: E402


def random_model(seed: int, keywords: int = FIRST_NODE) -> ParserModel:
    """A model no two weights of which are alike, as after training: the exporter would write equal
    ones once, under one name."""
    torch.manual_seed(seed)
    sizes = Sizes(len(FEATURES), len(RELATIONS), keywords)
    made = ParserModel(sizes, MiniLm(), torch.zeros(1, 384), 0.1, frozen=1)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(torch.randn_like(value) * 0.02)
    mark_frozen(made, TrainingSettings())
    return made.eval()


@pytest.fixture(scope="module")
def model() -> ParserModel:
    return random_model(1)


@pytest.fixture(scope="module")
def exported(model: ParserModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    export(model, folder)
    return folder


def test_weights_come_back_but_for_their_rounding(model: ParserModel, exported: Path) -> None:
    other = random_model(2)
    restore(other, exported)
    before = dict(model.named_parameters())
    for name, value in other.named_parameters():
        if not value.requires_grad:
            continue
        # One scale a row: half a step of 127 from the largest weight is the most that can be lost.
        step = before[name].detach().abs().amax(dim=-1, keepdim=True) / 127
        lost = (value - before[name]).detach().abs()
        assert bool((lost <= 0.51 * step + 1e-7).all()), name


def test_frozen_layers_stay(exported: Path) -> None:
    other = random_model(2)
    before = {k: v.detach().clone() for k, v in other.named_parameters() if not v.requires_grad}
    restore(other, exported)
    assert len(before) > 10
    for name, value in other.named_parameters():
        assert name not in before or torch.equal(value, before[name])


def test_restoring_and_exporting_again_loses_nothing_more(exported: Path, tmp_path: Path) -> None:
    other = random_model(3)
    restore(other, exported)
    export(other, tmp_path)
    for name in GRAPHS:
        assert (tmp_path / name).read_bytes() == (exported / name).read_bytes()


def test_keywords_that_the_graphs_do_not_know_are_new(model: ParserModel, exported: Path) -> None:
    larger = random_model(4, FIRST_NODE + 3)
    restore(larger, exported)
    old, new = model.decoder, larger.decoder
    assert torch.equal(new.keywords.weight[: FIRST_NODE - 1], old.keywords.weight[:-1])
    assert torch.equal(new.keywords.weight[-1], old.keywords.weight[-1]), "the start of a query"
    assert torch.equal(new.keyword_bias[-1], old.keyword_bias[-1])
    unknown = new.keyword_bias[FIRST_NODE - 1 : -1]
    assert bool((unknown == old.keyword_bias.min()).all())


def test_a_model_that_trains_more_than_was_exported_is_refused(exported: Path) -> None:
    other = random_model(2)
    for value in other.parameters():
        value.requires_grad_(requires_grad=True)
    with pytest.raises(ValueError, match=r"minilm\.layers\.0"):
        restore(other, exported)


def test_a_run_begins_with_exported_weights(exported: Path, tmp_path: Path) -> None:
    trainer = Trainer(TrainingSettings(minutes=1.0), tmp_path, weights=exported, first=7)
    other = random_model(2)
    restore(other, exported)
    found = dict(trainer.model.named_parameters())
    for name, value in other.named_parameters():
        if value.requires_grad:
            assert torch.equal(found[name], value), name
            assert torch.equal(trainer.average[name], value), name
    assert trainer.number == 7


@pytest.mark.parametrize("name", GRAPHS)
def test_exported_graphs_are_optimised_already(exported: Path, name: str) -> None:
    import onnx

    kinds = {node.op_type for node in onnx.load(str(exported / name)).graph.node}
    assert "DynamicQuantizeMatMul" in kinds
    assert not kinds & {"MatMulInteger", "Erf"}


def test_newer_keywords_stay_as_they_were(tmp_path: Path) -> None:
    known = FIRST_NODE - 5
    older = random_model(1, known)
    export(older, tmp_path)
    other = random_model(2)
    before = other.decoder.keywords.weight.detach().clone()
    restore(other, tmp_path)
    found, given = other.decoder.keywords.weight, older.decoder.keywords.weight
    assert torch.allclose(found[: known - 1], given[:-1], atol=0.02)
    assert torch.equal(found[known - 1 : -1], before[known - 1 : -1])
    assert torch.allclose(found[-1], given[-1], atol=0.02)
