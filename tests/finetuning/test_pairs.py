"""Preference pairs of examples: in order, capped by the seed, the same for each example whatever
else the set holds."""

from __future__ import annotations

import pytest

from sqlwright.lab.finetuning.example import TrainingExample, Turn
from sqlwright.lab.finetuning.trainer.pairs import Pairs, paired


def example(name: str, right: str, *wrong: str, role: str = "generator") -> TrainingExample:
    turns = (Turn("user", f"Which for {name}?"),)
    return TrainingExample(name, role, "step", name, "shop", "set", turns, right, wrong)


def shown(pairs: Pairs) -> list[tuple[str, str, str]]:
    return [(pair.example.id, pair.chosen, pair.rejected) for pair in pairs.pairs]


MANY = example("many", "0", *map(str, range(1, 21)))


@pytest.mark.parametrize(
    ("role", "right", "wrong"),
    [
        ("linker", '["orders"]', ('["customers"]', '["orders", "customers"]')),
        ("generator", "SELECT 1", ("SELECT 2", "SELECT 3")),
        ("critic", "2", ("1", "3")),
        ("selector", "A", ("B",)),
    ],
)
def test_pairs_of_every_role(role: str, right: str, wrong: tuple[str, ...]) -> None:
    found = paired([example("one", right, *wrong, role=role)])
    assert shown(found) == [("one", right, each) for each in wrong]
    assert found.roles == {role: len(wrong)}


def test_replies_that_are_the_same_make_no_pair() -> None:
    found = paired([example("one", "A", "A", " A\n", "B", "B "), example("two", "A")])
    assert shown(found) == [("one", "A", "B")]
    assert found.statistics == {
        "examples": 2,
        "pairs": 1,
        "examples_without_pairs": 1,
        "same_replies": 3,
        "replies_beyond_the_most": 0,
        "pairs_by_role": {"generator": 1},
    }


def test_no_example_has_more_than_its_share() -> None:
    found = paired([MANY, example("one", "A", "B")], most=4, seed=3)
    assert [name for name, _, _ in shown(found)] == ["many"] * 4 + ["one"]
    assert found.beyond == 16
    numbers = [int(wrong) for name, _, wrong in shown(found) if name == "many"]
    assert numbers == sorted(set(numbers))


def test_the_seed_draws_and_other_examples_do_not_matter() -> None:
    alone = shown(paired([MANY], seed=1))
    assert alone == shown(paired([MANY], seed=1))
    beside = paired([example("other", "A", "B"), MANY, example("last", "A")], seed=1)
    assert [one for one in shown(beside) if one[0] == "many"] == alone
    assert {str(shown(paired([MANY], seed=seed))) for seed in range(5)} != {str(alone)}


def test_an_empty_set_has_no_pairs() -> None:
    assert paired([]).statistics["pairs"] == 0
