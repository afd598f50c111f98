"""There is one rule of each kind about words, quoting and numbers: no second one has appeared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from sqlwright.english import cues, vocabulary

from .sources import trees
from .test_fences import nodes

RULES = {
    "stem": {"english/words.py", "english/as_trained.py"},
    "singular": {"english/words.py"},
    "plural": {"english/words.py"},
    # Names of models are split at a slash, by the vendor.
    "split_name": {"english/words.py", "english/as_trained.py", "llm/vendors/services.py"},
    "is_abbreviation": {"english/words.py"},
    "quote_name": {"sql/tokens.py"},
    "quote_text": {"sql/tokens.py"},
    "quoted": set(),
    "type_class": {"sql/declared_types.py"},
    "affinity": {"sql/declared_types.py"},
    "sigmoid": {"local/numerics.py"},
    # The standard library is enough for a handful of candidates.
    "softmax": {"local/numerics.py", "candidates.py"},
    "reciprocal_rank": {"local/numerics.py"},
}
"""Where functions of these names, underscored or not, may stand."""

LISTS = {
    "function words": vocabulary.FUNCTION_WORDS,
    "number words": frozenset(vocabulary.NUMBERS),
    "months": frozenset(vocabulary.MONTHS),
    "days": vocabulary.WEEKDAYS,
    "words of keys": frozenset(vocabulary.KEY_WORDS),
    "abbreviations": frozenset(vocabulary.ABBREVIATIONS),
    "written short": frozenset(vocabulary.WRITTEN_SHORT),
    "units": frozenset(unit for units in vocabulary.UNITS for unit in units),
    "deeds": vocabulary.DEEDS | vocabulary.GENERAL_WORDS,
    "extremes": frozenset({*cues.HIGH_END, *cues.LOW_END, "max", "min", "latest", "earliest"}),
    "directions and orders": vocabulary.vocabulary(
        """ascending descending asc desc increasing decreasing alphabetical alphabetically
        chronological lexicographical order ordered ordering sort sorted sorting rank ranked"""
    ),
}
FEWEST = 5
MOST_FUNCTION_WORDS = 25
"""Words that two lists must share to be alike; what a cue is made of are function words, too."""
ELSEWHERE = (
    "english/",  # where the lists are, and cues that are made of such words
)


def declared() -> Iterator[tuple[str, str]]:
    """Modules and names of functions that aren't methods."""
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                yield module, node.name


@pytest.mark.parametrize("name", RULES)
def test_a_rule_stands_in_one_place(name: str) -> None:
    found = {module for module, function in declared() if function.lstrip("_") == name}
    assert found == RULES[name]


def test_quotes_are_doubled_in_one_place() -> None:
    found = set()
    for module, call in nodes(ast.Call):
        given = [a.value for a in call.args if isinstance(a, ast.Constant)]
        if isinstance(call.func, ast.Attribute) and given in (["'", "''"], ['"', '""']):
            found.add((module, given[0]))
    # A cell of CSV isn't SQL.
    assert found == {
        ("sql/tokens.py", "'"),
        ("sql/tokens.py", '"'),
        ("presentation/as_csv.py", '"'),
    }


def texts_in(nodes: list[ast.expr | None]) -> list[str]:
    """The texts among some nodes."""
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def members(node: ast.AST) -> list[str]:
    """The words of a collection, of a text that is split, or of a pattern with alternatives."""
    match node:
        case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
            return texts_in([*elements])
        case ast.Dict(keys):
            return texts_in(keys)
        case ast.Call(ast.Attribute(ast.Constant(str(text)), "split")):
            return text.split()
        case ast.Call(ast.Name("vocabulary"), [ast.Constant(str(text))]):
            return text.split()
        case ast.Constant(str(text)) if text.count("|") >= FEWEST - 1:
            return re.findall(r"[a-z]+", text)
    return []


def word_lists() -> Iterator[tuple[str, frozenset[str]]]:
    """The words of each literal with its module and line."""
    for module, tree in trees().items():
        if not module.startswith(ELSEWHERE):
            for node in ast.walk(tree):
                words = frozenset(map(str.casefold, members(node)))
                if len(words) >= FEWEST:
                    yield f"{module}:{getattr(node, 'lineno', 0)}", words


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_words_has_no_double(name: str) -> None:
    listed = LISTS[name]
    fewest = MOST_FUNCTION_WORDS if name == "function words" else FEWEST
    alike = [
        f"{place}: {' '.join(sorted(words & listed))}"
        for place, words in word_lists()
        if len(words & listed) >= fewest and len(words & listed) > len(words) / 2
    ]
    assert alike == []
