"""The value index: what it forgives, what it refuses, and how it fails."""

from __future__ import annotations

import json
import random
import stat
import threading
import zlib
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sqlwright.errors import Cancelled, WorkspaceError
from sqlwright.indexes.storage import in_memory
from sqlwright.indexes.values.arrays import build_arrays
from sqlwright.indexes.values.covering import Coverage, PhraseToken
from sqlwright.indexes.values.index import (
    ColumnValues,
    DiskValueIndex,
    build_value_index,
    memory_value_index,
    open_value_index,
)
from sqlwright.indexes.values.reader import ArrayReader
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch
from tests.indexes.values_data import CITY, CODE, COLUMNS, PERSON, columns


@pytest.fixture(scope="module")
def index() -> DiskValueIndex:
    return memory_value_index(columns())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_value_index(columns(), tmp_path / "values")
    return tmp_path / "values"


@pytest.mark.parametrize(
    ("phrase", "value"),
    [
        ("PARIS", "Paris"),
        ("lodz", "Łódź"),
        ("Sao Paulo", "São Paulo"),
        ("zuerich", "Zürich"),
        ("San Fransisco", "San Francisco"),
        ("Sna Franciso", "San Francisco"),
        ("sanfrancisco", "San Francisco"),
        ("Francisco San", "San Francisco"),
        ("San Franciscos", "San Francisco"),
        ("Newcastle Tyne", "Newcastle upon Tyne"),
        ("the city of Newcastle upon Tyne", "Newcastle upon Tyne"),
        ("Newcastle up", "Newcastle upon Tyne"),
        ("kennedy", "John F. Kennedy International Airport"),
        ("JF Kenedy airport", "John F. Kennedy International Airport"),
        ("ab123", "AB-123"),
        ("AB 123", "AB-123"),
        ("xy 9 2001", "XY/9/2001"),
        ("conor obrien", "O'Brien, Conor"),
        ("c++", "C++"),
        ("C#", "C#"),
        ("+", "+"),
        ("a", "A"),
        ("東京", "東京都"),
    ],
)
def test_forgives(index: DiskValueIndex, phrase: str, value: str) -> None:
    assert index.search(phrase)[0].value == value


def test_score_is_one_only_when_equal_after_folding(index: DiskValueIndex) -> None:
    assert index.search("zÜrich")[0].score == 1.0
    assert index.search("c")[0].score < 1.0
    assert index.search("AB 123")[0].score < 1.0


def test_a_dense_column_does_not_crowd_out_another() -> None:
    dense = [(f"{first} Smithson {n}", 1) for n in range(3000) for first in ("Al", "Bo")]
    small = ColumnRef("vendor", "title")
    index = memory_value_index(
        [
            ColumnValues(PERSON, dense),
            ColumnValues(small, [("The Honourable Company of Smithson", 1)]),
        ]
    )
    found = index.search("smithson", 10)
    assert small in {m.column for m in found}
    assert sum(m.column == PERSON for m in found) == 3


def test_a_text_in_many_columns_is_stored_once() -> None:
    refs = [ColumnRef("t", f"c{i}") for i in range(40)]
    index = memory_value_index([ColumnValues(ref, [("Berlin", i)]) for i, ref in enumerate(refs)])
    assert len(index) == 1
    assert {(m.column, m.row_count) for m in index.search("berlin", 50)} == {
        (ref, i) for i, ref in enumerate(refs)
    }


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_small_indexes_work(tmp_path: Path, count: int) -> None:
    values = [(f"word{i} x", 1) for i in range(count)]
    build_value_index([ColumnValues(CITY, values)], tmp_path / "v")
    index = open_value_index(tmp_path / "v")
    index.verify()
    assert len(index) == count
    expected = ["word1 x"] if count > 1 else ["word0 x"][:count]
    assert [m.value for m in index.search("word1 x", 1)] == expected
    assert index.search("zzz") == []


def test_odd_texts_come_back_as_they_were(tmp_path: Path) -> None:
    odd = ["a\0b", "line\nbreak", " padded ", "\x01", "\ud800 lone", "x" * 5000, "é" * 40, "ﬁ", "İ"]
    build_value_index([ColumnValues(CITY, [(text, 1) for text in odd])], tmp_path / "v")
    index = open_value_index(tmp_path / "v")
    for text in odd:
        if text != "\x01":  # nothing of it can be asked for
            assert text in [m.value for m in index.search(text)], repr(text)


def test_a_value_that_no_word_divides_is_found_by_its_beginning() -> None:
    url = "http://example.org/" + "segment/" * 20
    index = memory_value_index([ColumnValues(CITY, [(url, 1), ("http://example.com", 1)])])
    assert index.search(url[:60])[0].value == url


BEGINNINGS = ["ab", "abcd", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghij", "abcdefghz", "abd"]


@pytest.mark.parametrize("divide", [str, " ".join], ids=["words", "letters"])
@pytest.mark.parametrize("phrase", BEGINNINGS)
def test_texts_that_begin_alike_are_told_apart(phrase: str, divide: Callable[[str], str]) -> None:
    stored = [divide(text) for text in BEGINNINGS]
    index = memory_value_index([ColumnValues(CITY, [(text, 1) for text in stored])])
    found = index.search(divide(phrase), 50, per_column=50)
    assert (found[0].value, found[0].score) == (divide(phrase), 1.0)
    assert all(match.score < 0.98 for match in found[1:])
    if len(divide(phrase)) > 2:
        longer = {text for text in stored if text.startswith(divide(phrase))}
        assert longer <= {match.value for match in found}


def test_common_words_count_though_they_bring_in_no_value() -> None:
    """`station` alone is too common to bring in a value; beside a rare word it decides."""
    many = [(f"{n:05d} station", 1) for n in range(3000)]
    index = memory_value_index(
        [ColumnValues(CITY, [*many, ("Ravensbourne pier", 1), ("Ravensbourne station", 1)])]
    )
    found = index.search("station Ravensbourne", 50, per_column=50)
    assert [match.value for match in found] == ["Ravensbourne station", "Ravensbourne pier"]
    assert index.search("00007 station")[0].value == "00007 station"
    assert len(index.search("station", 50, per_column=50)) == 50


def test_a_plural_that_no_value_has_counts_as_its_singular() -> None:
    texts = [
        "Royal Navy",
        "Royal Albert Hall",
        "Navigator",
        "Ditch",
        "Tex",
        "Texas",
        "Folk",
        "Folkers",
    ]
    index = memory_value_index([ColumnValues(CITY, [(text, 1) for text in texts])])
    assert index.search("royal navys")[0].value == "Royal Navy"
    assert index.search("ditches")[0].value == "Ditch"
    for misspelt, value in (("texs", "Texas"), ("folkes", "Folkers")):
        assert value in [match.value for match in index.search(misspelt)]


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ("movies", "Movie"),
        ("companies", "Company"),
        ("buses", "Bus"),
        ("people", "Person"),
        ("children", "Child"),
        ("school children", "School child"),
        ("wives", "Wife"),
        ("photos", "Photo"),
    ],
)
def test_any_plural_finds_its_singular(asked: str, value: str) -> None:
    texts = [value, "Mover", "Compass", "Busy", "Chilled", "Phone", "Wire", "Perform"]
    index = memory_value_index([ColumnValues(CITY, [(text, 1) for text in texts])])
    assert index.search(asked)[0].value == value


def test_a_phrase_that_is_found_brings_in_no_misspellings() -> None:
    texts = ["12-AB-34", "12AB35", "Oslo Gas Works", "Romania", "Rome"]
    index = memory_value_index([ColumnValues(CITY, [(text, 1) for text in texts])])
    assert [match.value for match in index.search("12ab34")] == ["12-AB-34"]
    assert index.search("oslo gas wo")[0].value == "Oslo Gas Works"
    assert {"Romania", "Rome"} <= {match.value for match in index.search("roma")}


def test_few_values_are_weighed_as_many_are() -> None:
    """Adding up one by one and by arrays give the same values and shares."""
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefgs", k=rng.randint(2, 7))) for _ in range(60)]
    words += [word + "s" for word in words[:20]]
    texts = {" ".join(rng.choices(words, k=rng.randint(1, 4))) for _ in range(400)}
    built = build_arrays([ColumnValues(CITY, [(text, 1) for text in texts])])
    reader = ArrayReader(in_memory(built.arrays))
    by_one, by_arrays = Coverage(reader, 1), Coverage(reader, 1, few=0)
    for text in sorted(texts):
        tokens = [PhraseToken.look_up(word, reader) for word in dict.fromkeys(text.split())]
        shares = by_one.shares(tokens, found=False)
        assert shares
        assert shares == pytest.approx(by_arrays.shares(tokens, found=False), abs=1e-5)


def test_agrees_with_a_full_scan_on_single_typos() -> None:
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(5, 11))) for _ in range(3000)]
    index = memory_value_index([ColumnValues(CITY, [(word, 1) for word in set(words)])])
    for word in words[:200]:
        at = rng.randrange(len(word))
        misspelt = word[:at] + "z" + word[at + 1 :]
        assert word in [m.value for m in index.search(misspelt)]


def test_many_values_sort_and_search_alike_in_chunks() -> None:
    values = [
        (f"{word} number {n:05d}", 1) for n in range(14_000) for word in ("näive", "plain", "東")
    ]
    index = memory_value_index([ColumnValues(CITY, values)])
    for text in ("naive number 00007", "plain number 13999", "東 number 09000"):
        assert index.search(text)[0].score == 1.0


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        build_value_index(columns(), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_files_are_private_and_a_rebuild_replaces_the_whole_folder(folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    old = open_value_index(folder)
    build_value_index([ColumnValues(CITY, [("Oslo", 1)])], folder)
    assert [m.value for m in open_value_index(folder).search("oslo")] == ["Oslo"]
    assert old.search("paris")[0].value == "Paris"  # a reader keeps what it had opened
    assert [path.name for path in folder.parent.iterdir()] == ["values"]


def test_arrays_are_plain_numpy_files(folder: Path) -> None:
    offsets = np.load(folder / "text_at.npy", allow_pickle=False)
    texts = np.load(folder / "text.npy", allow_pickle=False).tobytes()
    stored = {texts[a:b].decode() for a, b in pairwise(offsets)}
    assert stored == {value for values in COLUMNS.values() for value, _ in values}


def test_progress_and_cancellation(tmp_path: Path) -> None:
    told: list[int] = []
    build_value_index(columns(), tmp_path / "v", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == sum(map(len, COLUMNS.values()))
    run = Run()
    run.cancelled.set()
    with pytest.raises(Cancelled):
        build_value_index(columns(), tmp_path / "w", run=run)
    assert not (tmp_path / "w").exists()


def test_a_folder_that_cannot_be_written_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WorkspaceError, match="can't be written"):
        build_value_index(columns(), tmp_path / "file" / "values")


def test_missing_index(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no value index") as error:
        open_value_index(tmp_path / "absent")
    assert error.value.hint


def test_another_version_is_named(folder: Path) -> None:
    header = json.loads((folder / "header.json").read_text())
    body = json.loads(header["body"]) | {"version": 99}
    text = json.dumps(body)
    sealed = {"crc": zlib.crc32(text.encode()), "body": text}
    (folder / "header.json").write_text(json.dumps(sealed))
    with pytest.raises(WorkspaceError, match="version 99"):
        open_value_index(folder)


@pytest.mark.parametrize("damage", ["{", "[]", '{"body": 3, "crc": 1}', '{"body": "{}", "crc": 0}'])
def test_a_damaged_header_is_refused(folder: Path, damage: str) -> None:
    (folder / "header.json").write_text(damage)
    with pytest.raises(WorkspaceError, match="damaged"):
        open_value_index(folder)


@pytest.mark.parametrize("change", ["shorter", "longer", "absent"])
def test_files_of_another_size_are_refused(folder: Path, change: str) -> None:
    for path in list(folder.glob("*.npy")):
        before = path.read_bytes()
        if change == "absent":
            path.unlink()
        else:
            path.write_bytes(before[:-1] if change == "shorter" else before + b"\0")
        with pytest.raises(WorkspaceError):
            open_value_index(folder)
        path.write_bytes(before)
    open_value_index(folder)


@pytest.mark.parametrize("seed", range(3))
def test_flipped_bits_never_crash_and_never_give_what_was_not_stored(
    folder: Path, seed: int
) -> None:
    """Each array damaged in turn: a result is right, or the search says that it's damaged."""
    rng = random.Random(seed)
    stored = {(c, value): rows for c, values in COLUMNS.items() for value, rows in values}
    for path in sorted(folder.glob("*.npy")):
        before = path.read_bytes()
        data = bytearray(before)
        start = len(data) - max(len(data) - 128, 1) if len(data) > 128 else 0
        for _ in range(40):
            data[rng.randrange(start, len(data))] = rng.randrange(256)
        path.write_bytes(data)
        try:
            index = open_value_index(folder)
            with pytest.raises(WorkspaceError):
                index.verify()
        except WorkspaceError:
            index = None
        for phrase in ("paris", "smith", "new yrok", "ab123", "东京", "Newcastl", "C++", "zurich"):
            try:
                found = open_value_index(folder).search(phrase)
            except WorkspaceError:
                continue
            assert all(stored.get((m.column, m.value)) == m.row_count for m in found)
        path.write_bytes(before)
        open_value_index(folder).verify()


def test_damage_in_the_middle_of_a_long_text_is_noticed(tmp_path: Path) -> None:
    long = "needle " + "x" * 60_000
    build_value_index([ColumnValues(CITY, [(long, 1)])], tmp_path / "v")
    assert open_value_index(tmp_path / "v").search("needle")[0].value == long
    data = bytearray((tmp_path / "v" / "text.npy").read_bytes())
    data[30_000] ^= 1
    (tmp_path / "v" / "text.npy").write_bytes(data)
    with pytest.raises(WorkspaceError, match="text"):
        open_value_index(tmp_path / "v").search("needle")


def test_threads_share_an_index(index: DiskValueIndex) -> None:
    phrases = ["paris", "san fransisco", "smith", "ab123", "kennedy airport"] * 20
    expected = [index.search(phrase) for phrase in phrases]
    results: dict[int, list[object]] = {}

    def work(number: int) -> None:
        results[number] = [index.search(phrase) for phrase in phrases]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[n] == expected for n in range(4))


def test_codes_are_not_taken_for_their_neighbours(index: DiskValueIndex) -> None:
    assert [m.value for m in index.search("AB-123") if m.score == 1.0] == ["AB-123"]
    assert {m.column for m in index.search("AB-123", 1)} == {CODE}


def test_a_match_is_complete_however_it_was_made() -> None:
    index = memory_value_index([ColumnValues(CITY, [("Lisbon", 3)])])
    (match,) = index.search("lisbon")
    assert match == ValueMatch("lisbon", CITY, "Lisbon", 1.0, 3)
    assert hash(match) == hash(replace(match))
    assert asdict(match).keys() == {field.name for field in fields(ValueMatch)}
