"""The shipped weights: found, whole, and the ones the code was released with."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from sqlwright.boundary.processors import processors
from sqlwright.errors import ModelUnavailable
from sqlwright.local.critic.critic import Critic
from sqlwright.local.digests import DIGESTS
from sqlwright.local.embedder.onnx import OnnxEmbedder
from sqlwright.local.models import FILES, WEIGHTS, EmbeddedModels, check_file, load
from sqlwright.local.parser.parser import Parser
from sqlwright.local.runtime import threads


def test_an_unknown_role_says_which_there_are() -> None:
    with pytest.raises(ModelUnavailable, match="embedder, linker, parser"):
        load("poet")


@pytest.mark.parametrize("role", sorted(FILES))
def test_a_missing_file_is_named(role: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="missing") as caught:
        load(role, folder=tmp_path)
    assert "Reinstall" in caught.value.hint


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"right")
    digest = hashlib.sha256(b"right").hexdigest()
    check_file(path, digest)
    path.write_bytes(b"wrong")
    with pytest.raises(ModelUnavailable, match="isn't the file"):
        check_file(path, digest)


def test_a_damaged_graph_is_refused(tmp_path: Path) -> None:
    for name in FILES["parser"]:
        if not (WEIGHTS / name).exists():
            pytest.skip("the weights aren't there")
        shutil.copyfile(WEIGHTS / name, tmp_path / name)
    (tmp_path / "parser_decoder.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelUnavailable, match="can't be read"):
        load("parser", folder=tmp_path)


def test_every_shipped_file_is_the_one_released() -> None:
    """Fails when weights were changed without `python -m training.embedded.stamp`."""
    shipped = {path.name: path for path in WEIGHTS.iterdir() if path.suffix != ".md"}
    assert set(shipped) == set(DIGESTS)
    for name, path in shipped.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGESTS[name], name


def test_the_critic_was_fitted_to_the_weights_beside_it() -> None:
    """Fails when the parser or linker was trained anew and the critic wasn't fitted to it."""
    critic = load("critic")
    assert isinstance(critic, Critic)
    assert critic.caution == ""


def test_a_critic_fitted_to_other_weights_carries_a_caution() -> None:
    found = DIGESTS | {"parser_decoder.onnx": "0" * 64}
    assert "runs/embedded.sh" in Critic.load(WEIGHTS, weights=found).caution
    assert Critic.load(WEIGHTS).caution == ""


def test_what_encoders_begin_with_is_loaded_once() -> None:
    embedder = load("embedder")
    assert isinstance(embedder, OnnxEmbedder)
    parser = load("parser", embedder=embedder)
    assert isinstance(parser, Parser)
    assert parser.front is embedder.front


def test_models_loaded_ahead_are_the_ones_that_are_asked_for() -> None:
    models = EmbeddedModels()
    models.load_ahead()
    first = {role: models[role] for role in models}
    assert first == {role: models[role] for role in models}
    assert first["parser"].front is first["embedder"].front


def test_the_weights_stay_small() -> None:
    sizes = [path.stat().st_size for path in WEIGHTS.iterdir()]
    assert max(sizes) <= 15 * 1024 * 1024
    assert sum(sizes) <= 45 * 1024 * 1024


@pytest.mark.parametrize(("said", "most"), [("", 2), ("1", 1), ("0", 1), ("8", 2), ("many", 2)])
def test_threads_of_a_network_are_as_numerical_libraries_are_told(
    said: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert threads() == min(most, processors())
