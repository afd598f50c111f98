"""Each operation of the indexes: searches by example, parts against the plain way to do them."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from sqlwright.english.vocabulary import STOP_WORDS
from sqlwright.errors import Cancelled, WorkspaceError
from sqlwright.indexes import folding, storage
from sqlwright.indexes.derived import Holders
from sqlwright.indexes.descriptions import (
    DescriptionIndex,
    Document,
    StoredVectors,
    documents_digest,
    documents_of,
    embedded,
    stored_content,
)
from sqlwright.indexes.folding import soften
from sqlwright.indexes.minhash import MinHashIndex
from sqlwright.indexes.storage import PAGE, in_memory
from sqlwright.indexes.substring import SubstringIndex
from sqlwright.indexes.values import hashing
from sqlwright.indexes.values.arrays import ColumnValues, bucket_bits, build_arrays
from sqlwright.indexes.values.covering import Coverage, PhraseToken
from sqlwright.indexes.values.index import equal, likenesses, memory_value_index
from sqlwright.indexes.values.reader import ArrayReader, distinct, distinct_first, joined
from sqlwright.indexes.values.strings import SORTED_BYTES, Strings, sorted_order
from sqlwright.indexes.vectors import VectorIndex
from sqlwright.protocols import FloatArray, Run, ValueIndex
from sqlwright.schema import Column, ColumnRef, Schema, Table
from tests.form.notation import cases
from tests.indexes.values_data import AIRPORT, CITY, COLUMNS, LetterEmbedder, columns

quick = settings(deadline=None, max_examples=25)
texts = st.lists(st.text("abcdeéß東 -s0", max_size=12), min_size=1, max_size=12)


def one_column(stored: list[str]) -> list[ColumnValues]:
    return [ColumnValues(CITY, [(text, 1) for text in stored])]


def reader_of(stored: list[str]) -> ArrayReader:
    return ArrayReader(in_memory(build_arrays(one_column(stored)).arrays))


# ---- searches


@pytest.mark.parametrize("case", cases("indexes/searches.yaml"), ids=lambda case: case["name"])
def test_the_value_index_finds(case: dict[str, Any]) -> None:
    index = memory_value_index(one_column(case["stored"]))
    for phrase, expected in case["found"].items():
        found = [[m.value, round(m.score, 3)] for m in index.search(phrase, 4, per_column=4)]
        assert found == expected, phrase


@pytest.mark.parametrize("case", cases("indexes/published.yaml"), ids=lambda case: case["index"])
def test_a_published_index_finds(case: dict[str, Any]) -> None:
    index: ValueIndex
    if case["index"] == "minhash":
        pytest.importorskip("datasketch", reason="the lsh extra (datasketch) is not installed")
        index = MinHashIndex(columns())
    elif case["index"] == "substring":
        index = SubstringIndex(columns())
    else:
        index = VectorIndex(columns(), LetterEmbedder())
    for phrase, expected in case["found"].items():
        found = [[m.value, round(m.score, 3)] for m in index.search(phrase, 3)]
        assert found == expected, phrase


@quick
@given(texts, st.text("abcdeé s0'", max_size=30), st.sampled_from([0.6, 0.85, 0.9]))
def test_substrings_found_over_the_index_are_those_of_a_scan(
    stored: list[str], text: str, threshold: float
) -> None:
    def found(values: list[str]) -> set[tuple[str, float]]:
        index = SubstringIndex(one_column(values), threshold=threshold)
        return {(m.value, m.score) for m in index.search(text, 99, per_column=99)}

    scanned: set[tuple[str, float]] = set()
    for value in dict.fromkeys(stored):
        best, soft = soften(text), soften(value)
        block = SequenceMatcher(None, best, soft, autojunk=False).find_longest_match()
        start, end = block.a, block.a + block.size
        for word in re.finditer(r"\w+", best):
            if word.start() < end and start < word.end():
                start, end = min(start, word.start()), max(end, word.end())
        span = best[start:end]
        score = fuzz.ratio(span, soft) / 100 if span[:1] == soft[:1] else 0.0
        if span and soft not in STOP_WORDS and score >= (1.0 if value.isupper() else threshold):
            scanned.add((value, round(score, 4)))
    assert found(list(dict.fromkeys(stored))) == scanned


def test_the_longest_of_equal_matches_comes_first_and_empty_texts_are_left_out() -> None:
    holders = Holders(one_column(["b", "", "a", "ccc"]))
    assert holders.texts == ["b", "a", "ccc"]
    scored = [(0.5, "b"), (0.5, "ccc"), (0.5, "a"), (0.9, "b")]
    found = holders.matches("p", scored, 4, 4)
    assert [(m.value, m.score) for m in found] == [
        ("b", 0.9), ("ccc", 0.5), ("a", 0.5), ("b", 0.5)
    ]  # fmt: skip
    assert len(holders.matches("p", scored, 2, 4)) == 2
    assert len(holders.matches("p", scored, 4, 1)) == 1


def test_vectors_are_made_of_the_first_values_and_characters() -> None:
    stored = one_column(["abcdef", "xyz", "left out"])
    index = VectorIndex(stored, LetterEmbedder(), most_values=2, most_characters=3, batch=1)
    assert [m.value for m in index.search("left out", 9, per_column=9) if m.score == 1.0] == []
    assert index.search("abcdef")[0].score == 1.0
    assert index.search("abc")[0].value == "abcdef"
    assert index.search("abc")[0].score == 0.999


def test_vectors_give_the_nearest_values_of_each_column_however_far() -> None:
    embedder = LetterEmbedder()
    index = VectorIndex(columns(), embedder)
    (asked,) = embedder.embed(["How far is the airport of Zurich from Newcastle?"])
    found = index.nearest(asked, 2)
    assert set(found) == set(COLUMNS)
    assert found[AIRPORT] == ["Zürich Airport", "Paris"]
    assert "Newcastle upon Tyne" in found[CITY]
    assert [len(values) for values in index.nearest(asked, 9).values()] == [9, 3, 6, 5]


def test_a_cancelled_run_ends_the_making_of_vectors_between_two_batches() -> None:
    class Cancels(LetterEmbedder):
        def embed(self, texts: Sequence[str]) -> FloatArray:
            run.cancelled.set()
            return super().embed(texts)

    run = Run()
    with pytest.raises(Cancelled):
        VectorIndex(columns(), Cancels(), batch=2, run=run)


def test_the_most_frequent_values_of_a_column_are_listed() -> None:
    index = memory_value_index(columns())
    assert index.frequent(CITY, 3) == [("York", 7), ("Newcastle upon Tyne", 5), ("São Paulo", 4)]
    assert sorted(index.frequent(CITY, 99)) == sorted(COLUMNS[CITY])
    assert index.frequent(ColumnRef("city", "absent"), 3) == []
    assert index.beside is None


# ---- folding


@pytest.mark.parametrize("case", cases("indexes/folding.yaml"), ids=lambda case: repr(case["text"]))
def test_texts_are_compared_as(case: dict[str, str]) -> None:
    assert folding.fold(case["text"]) == case["folded"]
    assert folding.soften(case["text"]) == case["soft"]
    assert folding.fold(case["folded"]) == case["folded"]


@quick
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_many_are_folded_as_each_is(stored: list[str]) -> None:
    encoded = "".join(f"{text}\0" for text in stored).encode()
    blob, starts, ends = folding.fold_all(stored, encoded)
    found = [bytes(blob[a:b]).decode() for a, b in zip(starts, ends, strict=True)]
    assert found == [folding.fold(text) for text in stored]


def test_words_of_a_blob_are_its_runs_without_blanks() -> None:
    blob = np.frombuffer(b"ab c\0\0d ef", np.uint8)
    starts, ends = folding.words_of(blob)
    assert [blob.tobytes()[a:b] for a, b in zip(starts, ends, strict=True)] == [
        b"ab", b"c", b"d", b"ef"
    ]  # fmt: skip


# ---- hashing


@quick
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6))
def test_hashes_of_many_are_those_of_each(parts: list[bytes]) -> None:
    blob = np.frombuffer(b"".join(parts), np.uint8)
    ends = np.cumsum([len(part) for part in parts])
    starts = np.concatenate(([0], ends[:-1]))
    found = hashing.Hasher.over(blob).spans(starts, ends)
    assert found.tolist() == [hashing.hash_one(part) for part in parts]
    shared = hashing.Hasher.over(blob, hashing.Powers.upto(len(blob)))
    assert shared.spans(starts, ends).tolist() == found.tolist()


@quick
@given(st.text("abcé東", min_size=1, max_size=12))
def test_hashes_of_deletions_are_those_of_the_shorter_texts(text: str) -> None:
    symbols = [ord(char) for char in text]
    found = hashing.deletion_hashes(symbols)
    shorter = [symbols[:at] + symbols[at + 1 :] for at in range(len(symbols))]
    assert found == [hashing.hash_one(symbols), *map(hashing.hash_one, shorter)]
    points = np.array(symbols, np.uint32)
    at = np.arange(len(symbols))
    hasher = hashing.Hasher.over(points)
    many = hasher.deletions(np.zeros_like(at), np.full_like(at, len(at)), at)
    assert many.tolist() == found[1:]


def test_hashes_are_spread_and_only_the_first_symbols_count() -> None:
    hashes = {hashing.hash_one(b"%d" % number) for number in range(5000)}
    assert len(hashes) == 5000
    assert len({hashed >> 52 for hashed in hashes}) > 2500
    assert hashing.hash_one(b"x" * 256) == hashing.hash_one(b"x" * 256 + b"y")
    assert hashing.hash_one(b"x" * 255) != hashing.hash_one(b"x" * 256)
    assert hashing.hash_one(b"a") != hashing.hash_one(b"a\0")


# ---- strings


def strings_of(parts: list[bytes]) -> Strings:
    ends = np.cumsum([len(part) for part in parts]).astype(np.int64)
    blob = np.frombuffer(b"".join(parts), np.uint8)
    return Strings(blob, ends - [len(part) for part in parts], ends)


def texts_of(strings: Strings) -> list[bytes]:
    pairs = zip(strings.starts, strings.ends, strict=True)
    return [bytes(strings.blob[start:end]) for start, end in pairs]


@quick
@given(st.lists(st.text("ab", max_size=90).map(str.encode), min_size=1, max_size=20))
def test_strings_are_sorted_by_their_first_bytes(parts: list[bytes]) -> None:
    strings = strings_of(parts)
    order = sorted_order(strings).tolist()
    assert order == sorted(range(len(parts)), key=lambda at: (parts[at][:SORTED_BYTES], at))
    taken = strings.taken(np.array(order))
    assert texts_of(taken) == [parts[at] for at in order]
    assert taken.starts[0] == 0
    assert (taken.starts[1:] == taken.ends[:-1]).all()
    some = np.array(order[::2])
    assert texts_of(strings.some(some)) == [parts[at] for at in order[::2]]
    assert texts_of(Strings.joined([strings, taken])) == parts + [parts[at] for at in order]


@pytest.mark.parametrize("skip", [0, 3, 8, 20])
def test_keys_sort_as_the_bytes_they_are_made_of(skip: int) -> None:
    parts = [b"", b"a", b"abcdefgh", b"abcdefghi", b"zz", b"\xff" * 12, b"abc\0d"]
    for first in (1, len(parts)):
        strings = strings_of(parts[-first:])
        keys = strings.keys(np.arange(first), skip).tolist()
        assert keys == [
            int.from_bytes(part[skip : skip + 8].ljust(8, b"\0"), "big") for part in parts[-first:]
        ]


def test_many_strings_are_taken_in_chunks() -> None:
    parts = [b"%05d" % number for number in range(70_000)]
    order = np.arange(len(parts))[::-1]
    assert texts_of(strings_of(parts).taken(order)) == parts[::-1]
    assert sorted_order(strings_of(parts[::-1])).tolist() == order.tolist()


# ---- reader


@quick
@given(texts)
def test_the_reader_gives_back_what_was_stored(stored: list[str]) -> None:
    counted = {text: number + 1 for number, text in enumerate(dict.fromkeys(stored))}
    built = build_arrays(
        [
            ColumnValues(CITY, list(counted.items())),
            ColumnValues(AIRPORT, [(text, 7) for text in list(counted)[::2]]),
        ]
    )
    reader = ArrayReader(in_memory(built.arrays))
    kept = [text for text in counted if text]
    assert reader.size == len(kept)
    numbers = {reader.spelling(value): value for value in range(reader.size)}
    assert set(numbers) == set(kept)
    for text, value in numbers.items():
        holders = reader.holders(value)
        own = {built.columns[column]: rows for column, rows in holders}
        assert own[CITY] == counted[text]
        assert own.get(AIRPORT) == (7 if text in list(counted)[::2] else None)
        assert reader.text(value) == text
        assert reader.forms([value]) == [folding.fold(text)]
        assert reader.lengths(np.array([value])).tolist() == [len(text.encode())]
    forms = reader.forms(range(reader.size))
    assert forms == sorted(forms, key=str.encode)
    vocabulary = sorted({word for form in forms for word in form.split()}, key=str.encode)
    assert reader.tokens(range(reader.vocabulary)) == vocabulary
    for number, word in enumerate(vocabulary):
        assert reader.token_number(word.encode()) == number
        assert reader.token_number(word.encode() + b"q") == -1
        holding = [value for value, form in enumerate(forms) if word in form.split()]
        assert reader.postings(number).tolist() == holding
        low, high = reader.tokens_from(word.encode())
        assert vocabulary[low:high] == [one for one in vocabulary if one.startswith(word)]
    for form in forms:
        low, high = reader.values_from(form.encode())
        assert forms[low:high] == [one for one in forms if one.startswith(form)]
        whole = hashing.hash_one(folding.squash(form).encode())
        assert forms.index(form) in reader.bucket("whole", whole).tolist()


def test_arrays_of_numbers_are_joined_and_made_distinct() -> None:
    assert joined([]).tolist() == []
    assert joined([np.array([3, 1]), np.array([2])]).tolist() == [3, 1, 2]
    assert distinct(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert distinct(np.array([], np.int64)).tolist() == []
    values, first = distinct_first(np.array([3, 1, 3, 2, 1]))
    assert (values.tolist(), first.tolist()) == ([1, 2, 3], [1, 3, 0])


def test_a_table_has_two_or_three_entries_in_a_bucket() -> None:
    assert [bucket_bits(n) for n in (0, 1, 31, 32, 63, 64, 1000)] == [4, 4, 4, 5, 5, 6, 9]


# ---- tokens


STORED = [
    "Royal Navy",
    "Royal Albert Hall",
    "Navigation",
    "Ditch",
    "Boxes",
    "Box",
    "Roy 66",
    "Naval",
]


def values(reader: ArrayReader, variants: Any) -> dict[str, float]:
    weights = np.broadcast_to(variants.weights, variants.values.shape).tolist()
    named = [reader.text(value) for value in variants.values.tolist()]
    return {name: round(weight, 3) for name, weight in zip(named, weights, strict=True)}


@pytest.mark.parametrize("case", cases("indexes/tokens.yaml"), ids=lambda case: case["word"])
def test_a_word_is_found_as_stored_or_alike(case: dict[str, Any]) -> None:
    reader = reader_of(STORED)
    token = PhraseToken.look_up(case["word"], reader)
    assert sorted(reader.text(value) for value in token.postings) == case["holds"]
    assert token.stored is case["stored"]
    assert token.count == len(case["holds"])
    assert token.idf == pytest.approx(math.log(1 + len(STORED) / (token.count or 1)))
    assert values(reader, token.singular(reader)) == case.get("singular", {})
    assert values(reader, token.near(reader)) == case.get("near", {})
    assert values(reader, token.far(reader)) == case.get("far", {})
    every = np.arange(reader.size)
    assert sorted(reader.text(value) for value in every[token.holds(every)]) == case["holds"]


def test_words_far_into_a_text_and_their_ends_are_not_looked_up() -> None:
    far, near = "ab " * 90 + "needle", "ab " * 80 + "needle"
    index = memory_value_index(one_column([far, near, "x" * 31 + "yz"]))
    assert [match.value for match in index.search("needle")] == [near]
    reader = reader_of(["x" * 31 + "yz"])
    assert reader.tokens([0]) == ["x" * 31 + "y"]
    assert PhraseToken.look_up("x" * 31 + "yq", reader).count == 1
    assert PhraseToken.look_up("x" * 31 + "zy", reader).count == 0


# ---- covering and ranking


@pytest.mark.parametrize("case", cases("indexes/shares.yaml"), ids=lambda case: case["phrase"])
@pytest.mark.parametrize("few", [0, 128])
def test_values_cover_shares_of_a_phrase(case: dict[str, Any], few: int) -> None:
    reader = reader_of(case["stored"])
    tokens = [PhraseToken.look_up(word, reader) for word in case["phrase"].split()]
    coverage = Coverage(reader, 1, few=few)
    for _ in range(2):  # the second time scratch space is clean again
        shares = coverage.shares(tokens, found=case.get("found", False))
        named = {reader.text(value): round(share, 2) for value, share in shares.items()}
        assert named == case["shares"]


def test_shares_of_weight_follow_from_how_rare_words_are() -> None:
    rng = random.Random(7)
    words = [f"w{number}x" for number in range(40)]
    stored = sorted({" ".join(rng.sample(words, rng.randint(1, 4))) for _ in range(300)})
    reader = reader_of(stored)
    for _ in range(30):
        asked = rng.sample(words, 3)
        tokens = [PhraseToken.look_up(word, reader) for word in asked]
        total = sum(token.idf for token in tokens)
        shares = Coverage(reader, 1).shares(tokens, found=True)
        for value, share in shares.items():
            own = reader.text(value).split()
            weight = sum(token.idf for token in tokens if token.text in own)
            assert share == pytest.approx(weight / total, abs=1e-5)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("ab 12", "ab12", True), ("ab", "ab", True), ("a b c d", "abcd", False), ("ab", "ac", False)],
)
def test_texts_equal_but_for_few_blanks(one: str, other: str, same: bool) -> None:
    assert equal(one, other) is same


def test_likeness_is_half_share_and_half_spelling() -> None:
    forms = ["new york", "york new", "new york city", "newyork", "york"]
    stored = ["New York", "York New", "New York City", "NewYork", "York"]

    def score(**given: Any) -> list[float]:
        options = {"begin": range(0), "same": [], "spelling": stored.__getitem__, **given}
        found = likenesses("New York", "new york", forms, [1.0, 1.0, 0.4, 0.0, 0.5], **options)
        return [round(one, 3) for one in found]

    assert score() == [0.95, 0.95, 0.543, 0.42, 0.55]
    assert score(begin=range(2, 3))[2] == 0.813
    assert score(same=[0, 3])[0] == 1.0
    assert score(same=[0, 3])[3] == 0.98
    assert score(same=[0], spelling=lambda _: "New-York")[0] == 0.99


# ---- descriptions


def described() -> tuple[dict[str, Any], tuple[Document, ...]]:
    case: Any = cases("indexes/descriptions.yaml")
    tables: dict[str, list[Column]] = {}
    for document in case["documents"]:
        table, column = document["column"].split(".")
        made = Column(
            column,
            label=document["label"],
            description=document["description"],
            value_description=document["values"],
        )
        tables.setdefault(table, []).append(made)
    schema = Schema("s", tuple(Table(name, tuple(own)) for name, own in tables.items()))
    return case, documents_of(schema)


def test_every_description_of_a_column_is_a_document() -> None:
    case, documents = described()
    assert [[str(d.column), d.part, d.text] for d in documents] == case["stored"]


def test_the_nearest_descriptions_are_found() -> None:
    case, documents = described()
    embedder = LetterEmbedder()
    index = DescriptionIndex(documents, embedded(documents, embedder))
    for search in case["searches"]:
        (found,) = index.search(embedder.embed([search["text"]]), search["k"])
        named = [[str(m.column), m.text, round(m.score, 3)] for m in found]
        assert named == search["found"]
    assert index.search(embedder.embed([]), 3) == []
    both = index.search(embedder.embed(["city", "amount"]), 99)
    assert [len(found) for found in both] == [len(documents)] * 2
    assert DescriptionIndex((), np.zeros((0, 64), np.float32)).search(embedder.embed(["x"]), 3) == [
        []
    ]


def test_the_first_of_equal_descriptions_comes_first() -> None:
    documents = [Document(ColumnRef("t", f"c{n}"), "label", "same") for n in range(9)]
    vectors = embedded(documents, LetterEmbedder())
    (found,) = DescriptionIndex(documents, vectors).search(vectors[:1], 3)
    assert [match.column.column for match in found] == ["c0", "c1", "c2"]


def test_equal_texts_are_embedded_once_and_progress_is_told() -> None:
    class Counting(LetterEmbedder):
        seen: list[int]

        def embed(self, texts: Any) -> Any:
            self.seen.append(len(texts))
            return super().embed(texts)

    embedder = Counting()
    embedder.seen = []
    told: list[int] = []
    documents = [Document(CITY, "label", f"text {n % 300}") for n in range(600)]
    vectors = embedded(documents, embedder, progress=told.append)
    assert embedder.seen == [256, 44]
    assert told == [256, 300]
    assert (vectors[0] == vectors[300]).all()
    assert (vectors[0] != vectors[1]).any()


def test_stored_vectors_come_back_only_for_what_they_were_made_of(tmp_path: Path) -> None:
    _, documents = described()
    embedder = LetterEmbedder()
    vectors = embedded(documents, embedder)
    content = stored_content(documents, vectors, embedder)
    path = tmp_path / "vectors"
    path.write_bytes(content)
    stored = StoredVectors(path, documents_digest(documents))
    loaded = stored.load(embedder)
    assert loaded is not None
    assert np.allclose(loaded.astype(np.float32), vectors, atol=1e-3)

    class Other(LetterEmbedder):
        def embed(self, texts: Any) -> Any:
            return -super().embed(texts)

    class Wider(LetterEmbedder):
        dimension = 65

    assert stored.load(Other()) is None
    assert stored.load(Wider()) is None
    assert StoredVectors(path, documents_digest(documents[1:])).load(embedder) is None
    assert StoredVectors(tmp_path / "absent", stored.digest).load(embedder) is None
    for damage in (content[:-1], content[:40], b"", content.replace(b"rows", b"rosw", 1)):
        path.write_bytes(damage)
        assert stored.load(embedder) is None


def test_a_changed_document_changes_the_digest() -> None:
    _, documents = described()
    changed = [
        documents[0]._replace(text="x"),
        documents[0]._replace(part="description"),
        documents[0]._replace(column=ColumnRef("sale", "x")),
    ]
    digests = {documents_digest((one, *documents[1:])) for one in (documents[0], *changed)}
    assert len(digests) == 4


# ---- storage


def test_arrays_of_many_pages_come_back_and_each_page_is_watched(tmp_path: Path) -> None:
    arrays = {
        "long": np.arange(3 * PAGE, dtype="<u4"),
        "short": np.arange(5, dtype="<u2"),
        "empty": np.empty(0, "<u8"),
    }
    folder = tmp_path / "kept"
    storage.write_folder(folder, "kind", 3, arrays, {"more": [1]})
    names = frozenset(arrays)
    found, extra = storage.open_folder(folder, "kind", 3, names)
    assert extra == {"more": [1]}
    for name, data in arrays.items():
        assert (found[name].checked(0, len(data)) == data).all()
        found[name].verify()
    assert found["long"].checked(PAGE // 4 - 1, PAGE // 4 + 1).tolist() == [4095, 4096]
    for start, stop in ((-1, 1), (2, 1), (0, 3 * PAGE + 1)):
        with pytest.raises(WorkspaceError, match="outside"):
            found["long"].checked(start, stop)
    for kind, version, other in (
        ("other", 3, names), ("kind", 4, names), ("kind", 3, names | {"x"})
    ):  # fmt: skip
        with pytest.raises(WorkspaceError):
            storage.open_folder(folder, kind, version, other)


@pytest.mark.parametrize("page", [0, 1, 11])
def test_a_damaged_page_is_noticed_when_it_is_read_and_no_other(tmp_path: Path, page: int) -> None:
    folder = tmp_path / "kept"
    data = np.arange(3 * PAGE, dtype="<u4")
    storage.write_folder(folder, "kind", 1, {"long": data}, {})
    path = folder / "long.npy"
    content = bytearray(path.read_bytes())
    start = len(content) - data.nbytes
    content[start + page * PAGE + 9] ^= 1
    path.write_bytes(content)
    found, _ = storage.open_folder(folder, "kind", 1, frozenset({"long"}))
    per_page = PAGE // 4
    for other in range(12):
        if other != page:
            found["long"].checked(other * per_page, (other + 1) * per_page)
    with pytest.raises(WorkspaceError, match=f"page {page} "):
        found["long"].checked(page * per_page + 1, page * per_page + 2)
    with pytest.raises(WorkspaceError):
        found["long"].verify()
