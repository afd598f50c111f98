"""Controls of a page: the fields that filter a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.presentation.html.elements import Content, Html, element

EVERY = "all"
"""The choice that leaves nothing out."""


def filters(place: str, choices: Mapping[str, tuple[str, Sequence[tuple[str, str]]]]) -> Html:
    """Fields that filter the list whose id is `place`, hidden until the script is there: a field
    for words, and for each of `choices` (an attribute `data-NAME` of entries) its title and values,
    each with what is shown of it."""
    fields = [
        _field(
            "Words",
            element("input", type="search", id=f"{place}-text", data_field="text"),
            f"{place}-text",
        )
    ]
    for name, (title, values) in choices.items():
        at = f"{place}-{name}"
        options = [element("option", EVERY, value="")]
        options += [element("option", told, value=value) for value, told in values]
        fields.append(_field(title, element("select", *options, id=at, data_field=name), at))
    return element(
        "div",
        *fields,
        element("button", "Open or close all", type="button"),
        element("output", class_="faint"),
        class_="filters",
        role="group",
        aria_label="Filter",
        hidden="",
        data_filters=place,
    )


def _field(title: str, control: Content, place: str) -> Html:
    return element("div", element("label", title, for_=place), control, class_="field")
