"""The texts that are looked up for keywords: each keyword and its pieces, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sqlwright.english.words import singular, split_name
from sqlwright.indexes.folding import soften
from sqlwright.schema import SchemaView
from sqlwright.sql.pieces import pieces
from sqlwright.steps.retrieval.values import SKIPPED, Phrase
from sqlwright.types import Question

LONGEST = 100
"""Characters of a text that is searched for."""
SHORTEST = 2
"""Characters of a keyword's piece that is searched for."""
NOTHING = frozenset({"null", "nan", "none", "nil", "n/a", "na", "empty", "blank", "missing"})
"""Words for what isn't stored."""

_PAIRS = {"'": "'", '"': '"', "`": "`", "(": ")", "[": "]", "“": "”", "‘": "’"}
_MARKS = frozenset("=<>")
_QUOTES = frozenset("'\"“”‘’")

Name = tuple[str, ...]
"""The words of a name, in the singular."""


def names_of(view: SchemaView) -> frozenset[Name]:
    """The names of the tables and columns that are shown, and their labels."""
    schema, found = view.visible_schema(), []
    for table in schema.tables:
        found += [table.own_name, table.label]
        found += [name for column in table.columns for name in (column.name, column.label)]
    return frozenset(filter(None, map(words_of, found)))


def looked_up(
    keywords: Sequence[str], question: Question, names: frozenset[Name] = frozenset()
) -> list[Phrase]:
    """Each keyword, what begins or ends it at a blank, and what is right of a `=`, each once.

    Of its pieces, single letters and words that mean nothing by themselves are left out. So are
    texts that aren't meant as values unless they are quoted: names of tables and columns (but for
    those written as a name within the question) and words for what isn't there such as “null”.
    Spans are
    those in the question, its evidence and what is in neither, one after the other.
    """
    text = f"{question.text}\n{question.evidence}"
    found: dict[str, Phrase] = {}
    for keyword in keywords:
        whole = _bare(" ".join(keyword.split())[:LONGEST])
        start, end = _place(whole, text) or (len(text) + 1, len(text) + 1 + len(whole))
        if start > len(text):
            text = f"{text}\n{whole}"
        for piece in (whole, *map(_bare, _pieces(whole))):
            low, high = _place(piece, text, start, end) or (start, end)
            phrase = Phrase(piece, (low, high), text[low - 1 : low] in _QUOTES)
            if piece != whole and len(piece) < SHORTEST:
                continue
            folded = soften(piece)
            if folded and folded not in found and _meant(phrase, folded, names, question):
                found[folded] = phrase
    return list(found.values())


def _meant(phrase: Phrase, folded: str, names: frozenset[Name], question: Question) -> bool:
    """True if a text may be meant as a stored value."""
    if phrase.quoted:
        return True
    if is_formula(phrase.text, names):
        return False  # its sides are texts of their own
    if phrase.text.isupper() and not question.text.isupper():
        return folded not in NOTHING  # the US, grade A
    if set(folded.split()) <= SKIPPED | NOTHING:
        return False
    return words_of(phrase.text) not in names or _is_name(phrase, question.text)


def is_formula(text: str, names: frozenset[Name]) -> bool:
    """True for a comparison, and for a calculation: operators or functions over nothing but
    numbers and names of tables and columns. A hyphen or stroke within a word is no operator."""
    if not _MARKS.isdisjoint(text):
        return True
    operands, words, calculated = list[str](), list[str](), False
    cut = [piece for piece in pieces(text) if piece.kind != "comment"]
    for piece, after in zip_longest(cut, cut[1:]):
        follows = text[piece.start + len(piece.text) :][:1]
        calls = piece.kind == "word" and after is not None and after.text == "("
        apart = piece.text == "*" or (text[piece.start - 1 : piece.start] == follows == " ")
        if piece.kind in {"word", "quoted"} and not calls:
            words.append(piece.text)
        elif piece.kind == "number" or calls or (piece.kind == "operator" and apart):
            calculated |= piece.kind != "number"
            operands.append(" ".join(words))
            words = []
        elif piece.text not in {" ", "(", ")", "."}:
            return False
    operands.append(" ".join(words))
    return calculated and all(words_of(name) in names for name in operands if name)


def _is_name(phrase: Phrase, question: str) -> bool:
    """True if a text is written as a name within a sentence of the question."""
    before = question[: phrase.span[0]].rstrip()
    within = before[-1:].isalnum() or before[-1:] in {",", "-"}
    return within and phrase.capitalised and phrase.span[1] <= len(question)


def words_of(name: str) -> Name:
    """The words of a name or a text, in the singular."""
    return tuple(map(singular, split_name(name)))


def _place(
    text: str, within: str, start: int = 0, end: int | None = None
) -> tuple[int, int] | None:
    """Start and end of a text in another, as whole words, whatever the case."""
    shape = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    found = shape.search(within, start, len(within) if end is None else end)
    return found.span() if found and text else None


def _pieces(keyword: str) -> Iterator[str]:
    for blank in re.finditer(r" ", keyword):
        yield keyword[: blank.start()]
        yield keyword[blank.end() :]
    if "=" in keyword:
        yield keyword.rsplit("=", 1)[1]


def _bare(text: str) -> str:
    """A text without marks around it and blanks at its ends."""
    text = text.strip(" ,;")
    while len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
        text = text[1:-1].strip(" ,;")
    return text
