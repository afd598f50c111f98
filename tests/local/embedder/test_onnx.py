from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import sqlwright
from sqlwright.errors import ModelUnavailable
from sqlwright.local.embedder.onnx import FILES, LOWER, MAX_PIECES, OnnxEmbedder
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.runtime import open_session
from sqlwright.protocols import Embedder

WEIGHTS = Path(sqlwright.__file__).parent / "local" / "weights"
TEXTS = ["salary", "How many singers are there?", "income", "", "a town by the sea " * 9]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder.load(WEIGHTS)


def test_vectors_have_unit_length_and_keep_the_order_of_texts(embedder: OnnxEmbedder) -> None:
    together = embedder.embed(TEXTS)
    assert together.shape == (len(TEXTS), embedder.dimension) == (len(TEXTS), 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-4)
    for place, text in enumerate(TEXTS):
        assert embedder.embed([text])[0] @ together[place] > 0.96  # int8 rounds with the batch


def test_words_of_like_meaning_are_closer_than_others(embedder: OnnxEmbedder) -> None:
    salary, income, river = embedder.embed(["salary", "income", "river"])
    assert salary @ income > salary @ river + 0.2


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


def test_text_beyond_the_limit_is_cut_not_refused(embedder: OnnxEmbedder) -> None:
    long, longer = embedder.embed(["word " * MAX_PIECES, "word " * MAX_PIECES * 3])
    assert long @ longer > 0.999


def test_both_embedders_satisfy_the_protocol(embedder: OnnxEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    assert isinstance(StaticEmbedder.load(WEIGHTS), Embedder)


def test_static_vectors_know_synonyms_and_give_zero_for_nothing() -> None:
    static = StaticEmbedder.load(WEIGHTS)
    car, vehicle, salary, nothing = static.embed(["car", "vehicle", "salary", ""])
    assert car @ vehicle > 0.4 > car @ salary
    assert not nothing.any()


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_file_says_so(missing: str, tmp_path: Path) -> None:
    for name in FILES:
        if name != missing:
            (tmp_path / name).symlink_to(WEIGHTS / name)
    with pytest.raises(ModelUnavailable, match="can't be read"):
        OnnxEmbedder.load(tmp_path)


def test_a_damaged_graph_says_so(tmp_path: Path) -> None:
    for name in FILES[1:]:
        (tmp_path / name).symlink_to(WEIGHTS / name)
    (tmp_path / FILES[0]).write_bytes((WEIGHTS / FILES[0]).read_bytes()[:5000])
    with pytest.raises(ModelUnavailable):
        OnnxEmbedder.load(tmp_path)


def test_bytes_do_not_overflow_on_processors_without_vnni() -> None:
    # Emulating such a processor takes minutes; docs/experiments/parser.md has what came of it.
    session = open_session(WEIGHTS / "embedder.onnx")
    settings = session.get_session_options()
    assert settings.get_session_config_entry("session.x64quantprecision") == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' names are Unicode")
def test_graphs_open_in_a_folder_whose_name_is_not_unicode(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    shutil.copyfile(WEIGHTS / LOWER, folder / LOWER)
    assert open_session(folder / LOWER).get_outputs()[0].name == "lower"
