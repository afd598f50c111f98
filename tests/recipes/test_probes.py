"""Each list of a paper, as it ships, leaves out what it says and nothing else: counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.prepare import open_workspace
from sqlwright.recipes.ablation_lists import ablations, find_ablation
from tests.conftest import build_database
from tests.recipes.probing import counted

CASES = Path(__file__).parents[1] / "cases" / "ablations"
PROBES: dict[str, dict[str, Any]] = yaml.safe_load((CASES / "probes.yaml").read_text("utf-8"))
MENDING = {
    "chess-without-mending", "baseline-without-mending", "chase-without-mending",
    "mag-without-mending", "msc-without-mending",
}  # fmt: skip
"""Lists that are tried with queries which the schema can mend."""
DETAIL = re.compile(
    "descriptions|cut|quoted|found|queries by repair|tests$|candidates|(un)?checked|frequent|"
    ".*( as JSON| at [0-9.]+| of [0-9]+| with log probabilities)$"
)
"""Names of counts that follow from others: a list names those that matter for it."""


@pytest.fixture(scope="module")
def count(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Counter[str]]]:
    """The counts of a list or recipe, taken once."""
    folder = tmp_path_factory.mktemp("club")
    database = build_database(CASES / "club.sql", folder / "club.sqlite")
    workspace = open_workspace(
        str(database), folder=folder / "absent", descriptions=CASES / "described"
    )

    @cache
    def of(name: str, *, mendable: bool = False) -> Counter[str]:
        return counted(find_ablation(name), workspace, mendable=mendable)

    yield of
    workspace.database.close()


@pytest.mark.parametrize("name", PROBES)
def test_a_list_leaves_out_what_it_says_and_nothing_else(
    name: str, count: Callable[..., Counter[str]]
) -> None:
    one, probe = find_ablation(name), PROBES[name]
    mendable = name in MENDING
    ablated, whole = (count(each, mendable=mendable) for each in (name, one.against or one.recipe))
    gone = {part for part in whole if whole[part] and not ablated[part]}
    new = {part for part in ablated if ablated[part] and not whole[part]}
    for found, said in ((gone, set(probe.get("gone", ()))), (new, set(probe.get("new", ())))):
        assert said <= found
        assert {part for part in found - said if not DETAIL.match(part)} == set()
    numbers = probe.get("counts", {})
    assert {part: [ablated[part], whole[part]] for part in numbers} == numbers
    assert all(before != after for before, after in numbers.values())
    assert probe.keys() & {"gone", "new", "counts"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, probe in PROBES.items()
        if {"repair.revise", "repair.refine"} & {*probe.get("gone", ())}
    ],
)
def test_without_repair_the_schema_mends_nothing_either(
    name: str, count: Callable[..., Counter[str]]
) -> None:
    ran = count(name, mendable=True)
    assert [part for part in ran if "repair." in part and ran[part]] == ["repair.execute"]


def test_every_list_of_a_paper_is_probed() -> None:
    assert list(PROBES) == [name for name, one in ablations().items() if one.listed != "local"]
