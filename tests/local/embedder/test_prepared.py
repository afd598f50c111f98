"""Vectors of texts in a file: found by text, and not used when anything about the file is wrong."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sqlwright.indexes.text_vectors import (
    PROBE,
    KeptVectors,
    PreparedVectors,
    Remembering,
    TextVectors,
    file_content,
    open_file,
    text_keys,
)
from sqlwright.protocols import FloatArray

TEXTS = ("name", "order date", "", "名前", "\udcff", "name of the customer who ordered")


class Hashing:
    """An embedder whose vectors are drawn by text; says what it was asked for."""

    dimension = 16

    def __init__(self, salt: str = "") -> None:
        self.salt = salt
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> FloatArray:
        self.asked += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = hashlib.sha256((self.salt + text).encode("utf-8", "surrogatepass")).digest()
            drawn = np.random.default_rng(list(seed)).normal(size=self.dimension)
            row[:] = drawn / np.linalg.norm(drawn)
        return rows


def written(path: Path, texts: Sequence[str] = TEXTS, embedder: Hashing | None = None) -> Path:
    embedder = embedder or Hashing()
    probe = embedder.embed([PROBE])
    path.write_bytes(file_content(text_keys(texts), embedder.embed(texts), probe, "weights"))
    return path


def kept(path: Path) -> KeptVectors:
    found = open_file(path)
    assert found is not None
    return found


def test_what_is_written_is_found_again_by_text(tmp_path: Path) -> None:
    found = kept(written(tmp_path / "v", (*TEXTS, "name")))
    assert found.model == "weights"
    assert len(found.keys) == len(TEXTS)
    places = found.find(text_keys([*TEXTS, "absent"]))
    assert places[-1] == -1
    assert sorted(places[:-1]) == list(range(len(TEXTS)))
    assert np.allclose(found.vectors[places[:-1]], Hashing().embed(TEXTS), atol=1e-3)


def test_a_file_without_texts_finds_none(tmp_path: Path) -> None:
    assert list(kept(written(tmp_path / "v", ())).find(text_keys(["name"]))) == [-1]


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def signed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def with_header(content: bytes, before: bytes, after: bytes) -> bytes:
    """The file with another header and a hash that fits."""
    assert len(before) == len(after)
    return signed(content[:-32].replace(before, after, 1))


def swapped_keys(content: bytes) -> bytes:
    start = content.index(b"\n", content.index(b"\n") + 1) + 1
    first, second = content[start : start + 8], content[start + 8 : start + 16]
    return signed(content[:start] + second + first + content[start + 16 : -32])


@pytest.mark.parametrize(
    "harm",
    [
        lambda content: b"",
        lambda content: content[:40],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[-200:],
        lambda content: b"x" * len(content),
        lambda content: with_header(content, b'"rows": 6', b'"rows": 7'),
        lambda content: with_header(content, b'"rows": 6', b'"rows":-6'),
        lambda content: with_header(content, b'"rows": 6', b'"rows":1e'),
        lambda content: with_header(content, b'"rows"', b'"sown"'),
        lambda content: with_header(content, b'"dimension": 16', b'"dimension": 61'),
        lambda content: with_header(content, b'"dimension": 16', b'"dimension":-16'),
        lambda content: with_header(content, b"{", b"["),
        swapped_keys,
    ],
)
def test_a_damaged_file_counts_as_absent(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "v")
    path.write_bytes(harm(path.read_bytes()))
    assert open_file(path) is None
    assert PreparedVectors(path).open(Hashing()) is None


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "v")
    content = path.read_bytes()
    for number in range(0, len(content), 7):
        path = tmp_path / f"v{number}"
        path.write_bytes(flipped(content, number))
        assert open_file(path) is None


def test_a_missing_file_or_a_folder_in_its_place(tmp_path: Path) -> None:
    assert open_file(tmp_path / "absent") is None
    assert open_file(tmp_path) is None


def test_only_what_is_not_prepared_is_embedded_and_only_once(tmp_path: Path) -> None:
    prepared = PreparedVectors(written(tmp_path / "v"))
    embedder = Hashing()
    texts = ("new", *TEXTS, "newer")
    vectors = TextVectors(texts, embedder, prepared)
    assert vectors.unprepared == 2
    embedder.asked.clear()
    for numbers in ([1, 2, 1], [0, 3], [0, 7, 1], list(range(8))):
        rows = vectors.rows(np.array(numbers))
        wanted = Hashing().embed([texts[number] for number in numbers])
        assert np.allclose(rows, wanted, atol=1e-3)
        cosines = vectors.cosines(wanted[:1], np.array(numbers))
        assert np.allclose(cosines, wanted[:1] @ wanted.T, atol=2e-3)
    assert embedder.asked == ["new", "newer"]
    assert vectors.unprepared == 2


def test_without_a_file_all_is_embedded_when_it_is_asked_for() -> None:
    embedder = Hashing()
    vectors = TextVectors(TEXTS, embedder)
    assert embedder.asked == []
    vectors.rows(np.array([1, 4]))
    vectors.rows(np.array([4, 0]))
    assert embedder.asked == [TEXTS[1], TEXTS[4], TEXTS[0]]
    assert vectors.rows(np.zeros(0, np.int64)).shape == (0, 16)


def test_vectors_of_another_embedder_are_not_used(tmp_path: Path) -> None:
    prepared = PreparedVectors(written(tmp_path / "v"))
    assert prepared.open(Hashing()) is not None
    assert prepared.open(Hashing("other")) is None

    class Narrow(Hashing):
        dimension = 8

    assert prepared.open(Narrow()) is None
    assert TextVectors(TEXTS, Hashing("other"), prepared).unprepared == len(TEXTS)


def test_an_embedder_that_remembers_asks_for_the_rest(tmp_path: Path) -> None:
    embedder = Hashing()
    remembering = Remembering(embedder, kept(written(tmp_path / "v")))
    texts = [*itertools.islice(TEXTS, 2), "new"]
    vectors = remembering.embed(texts)
    assert embedder.asked == ["new"]
    assert np.allclose(vectors, Hashing().embed(texts), atol=1e-3)
    assert remembering.embed([]).shape == (0, remembering.dimension)
