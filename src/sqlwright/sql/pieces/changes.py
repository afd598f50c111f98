"""Statements that change something, in a text that may be one."""

from __future__ import annotations

from sqlwright.sql.pieces import pieces

_CHANGES = tuple(
    tuple(frozenset(each.split("|")) for each in line.split())
    for line in """
    insert|replace into * (|values|select|default|with|set
    merge into * using|as|*
    delete from * where|returning|;
    update * set * =
    drop table|view|index|trigger|database|schema * ,|cascade|restrict|;
    create table|view * (|as
    create index * on
    create trigger * after|before|instead
    alter table * add|alter|change|drop|modify|rename|set
    truncate table * ;
    grant|revoke all|delete|insert|select|update ,|on|privileges
    """.strip().splitlines()
)
"""Beginnings of statements that change something, word by word: `*` is a name, `;` the end."""
_OPTIONAL = "exists if materialized not temp temporary unique virtual"
_BESIDES = frozenset(_OPTIONAL.split())
"""Words that may stand among them and make no difference."""


def holds_change(text: str) -> bool:
    """True if a statement of SQL that changes data, structure or rights begins at the beginning of
    a text or after a semicolon. A sentence that merely begins with such a word is none."""
    statements: list[list[str]] = [[]]
    before = ""
    for piece in pieces(text):
        if piece.kind == "end":
            statements.append([])
        if piece.kind in {"end", "space", "comment"}:
            continue
        word = "*" if piece.kind == "quoted" else piece.text.lower()
        # Left out: the rest of a name, and what comes after INSERT OR or CREATE OR.
        if not {word, before} & {".", "or"} and word not in _BESIDES:
            statements[-1].append(word)
        before = word
    return any(_begins([*words, ";"], shape) for words in statements for shape in _CHANGES)


def _begins(words: list[str], shape: tuple[frozenset[str], ...]) -> bool:
    return len(words) >= len(shape) and all(
        "*" in wanted or word in wanted for word, wanted in zip(words, shape, strict=False)
    )
