"""Countries, provinces and cities with their codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from sqlwright.english.geography import Place, cities, countries, provinces

from .cases import cases

PLACES: dict[str, Callable[[], Iterable[Place]]] = {
    "countries": countries, "provinces": provinces, "cities": cities,
}  # fmt: skip
CASES = [(kind, case) for kind, listed in cases("geography").items() for case in listed]


@pytest.mark.parametrize(("kind", "case"), CASES, ids=str)
def test_a_code_a_name_and_a_people_are_of_one_place(kind: str, case: dict[str, str]) -> None:
    (place,) = [place for place in PLACES[kind]() if case["code"] in place.codes]
    assert case["name"] in place.names
    assert case.get("people") in (None, *place.peoples)


def test_no_two_countries_share_a_code_or_a_name() -> None:
    listed = list(countries())
    assert len(listed) > 190
    taken = Counter(text for place in listed for text in (*place.codes, *place.names))
    assert [text for text, places in taken.items() if places > 1] == []
