"""Samples by seed and stratum: their sizes, and what they have in common."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.selection import Selection, chosen

BIRD_DEV = {
    "california_schools": 89, "card_games": 191, "codebase_community": 186,
    "debit_card_specializing": 64, "european_football_2": 129, "financial": 106, "formula_1": 174,
    "student_club": 158, "superhero": 129, "thrombosis_prediction": 163, "toxicology": 145,
}  # fmt: skip
"""Questions of each database of BIRD's development set: counts, as published."""


def dataset(sizes: dict[str, int]) -> Dataset:
    """Questions by database; every fourth is hard, and every other one is urgent."""
    return Dataset(
        "dev",
        tuple(
            Example(
                f"{db_id}-{number}",
                db_id,
                "?",
                "SELECT 1",
                Path(f"{db_id}.sqlite"),
                evidence="told",
                difficulty="easy" if number % 4 else "hard",
                tags={"urgent": "yes"} if number % 2 else {},
            )
            for db_id, size in sizes.items()
            for number in range(size)
        ),
    )


def taken(sizes: dict[str, int], **options: object) -> list[Example]:
    return list(chosen(dataset(sizes), Selection(**options)).examples)  # type: ignore[arg-type]


def test_chess_s_rule_gives_as_many_questions_as_the_paper_has() -> None:
    found = taken(BIRD_DEV, sample="sds")
    assert len(found) == 147
    assert Counter(one.db_id for one in found) == {
        db_id: size // 10 for db_id, size in BIRD_DEV.items()
    }


@pytest.mark.parametrize(
    ("sample", "by", "counts"),
    [
        ("10", "database", {"a": 6, "b": 3, "c": 1}),
        ("50%", "database", {"a": 30, "b": 15, "c": 4}),
        ("1000", "database", {"a": 60, "b": 30, "c": 9}),
    ],
)
def test_strata_have_their_share(sample: str, by: str, counts: dict[str, int]) -> None:
    found = taken({"a": 60, "b": 30, "c": 9}, sample=sample, by=by)
    assert Counter(one.db_id for one in found) == counts


def test_difficulties_and_tags_are_strata_too() -> None:
    sizes = {"a": 40, "b": 40}
    hard = Counter(one.difficulty for one in taken(sizes, sample="8", by="difficulty"))
    assert hard == {"easy": 6, "hard": 2}
    urgent = Counter(bool(one.tags) for one in taken(sizes, sample="25%", by="urgent"))
    assert urgent == {True: 10, False: 10}


def test_a_sample_is_that_of_its_seed_and_in_the_questions_order() -> None:
    sizes = {"a": 50, "b": 50}
    one, again, other = (taken(sizes, sample="20", seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    places = [dataset(sizes).examples.index(example) for example in one]
    assert places == sorted(places)


def test_a_larger_sample_has_all_of_a_smaller_one() -> None:
    small, large = (taken({"a": 50, "b": 50}, sample=n, by="database") for n in ("10%", "40"))
    assert {one.id for one in small} < {one.id for one in large}


def test_a_database_s_sample_doesnt_depend_on_the_other_databases() -> None:
    alone = taken({"a": 50}, sample="10%", by="database")
    assert taken({"a": 50, "b": 9}, sample="10%", by="database") == alone


def test_the_name_says_what_was_selected() -> None:
    whole = dataset({"a": 20, "b": 20})
    picked = chosen(whole, Selection(databases=("b",), evidence=False, sample="5", by="difficulty"))
    assert picked.name == "dev, b, no evidence, 5 by difficulty, seed 0"
    assert {(one.db_id, one.evidence) for one in picked.examples} == {("b", "")}
    assert chosen(whole, Selection()) == whole


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sample": "many"}, "'many' is no sample"),
        ({"sample": "0"}, "is no sample"),
        ({"sample": "101%"}, "is no sample"),
        ({"sample": "2.5"}, "is no sample"),
        ({"sample": "1%"}, "has no questions"),
        ({"sample": "3", "by": "colour"}, "have no 'colour'"),
        ({"by": "database"}, "are for a sample"),
        ({"databases": ("a", "z")}, "asks nothing of z"),
    ],
)
def test_what_cant_be_selected_is_told(options: dict[str, object], says: str) -> None:
    with pytest.raises(DatasetError, match=says) as caught:
        taken({"a": 20}, **options)
    assert caught.value.hint
