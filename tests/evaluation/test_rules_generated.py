"""The three official rules over generated pairs of queries, against verdicts worked out anew here.

Each pair is a gold query and a changed one over a small table of its own. The verdicts here share
nothing with the rules: no DISTINCT is cut out of a text (the pair is written without it), and
columns are arranged by trying every order.
"""

import sqlite3
from collections import Counter
from dataclasses import dataclass, replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.types import ExecutionResult

PAIRS = 300
CELLS = st.one_of(
    st.none(),
    st.integers(-2, 2),
    st.sampled_from([0.5, 1.0, -0.0, 0.1 + 0.2, 0.3, 1e300, 2.5]),
    st.sampled_from(["a", "A", "ä", "a\u0308", "1", "", "東京", "order by", "distinct", "O'Hara"]),
    st.sampled_from([b"a", b""]),
)
ROW = st.tuples(CELLS, CELLS, CELLS)
ROWS = st.lists(ROW, max_size=6).flatmap(
    lambda rows: st.lists(st.sampled_from(rows or [(1, 2, 3)]), max_size=2).map(rows.__add__)
)
EXPRESSIONS = ("a", "b", "c", "t.a", "a || ''", "count({0}a)", "max(b)", "typeof(c)", "'order by'")
CONDITIONS = ("", "a IS NULL", "b = 1", "c > 0", "a = 'distinct'", "b IN (SELECT {0}a FROM t)")
ORDERS = ("", "1", "1 DESC", "b, a, c", "2")
GROUPS = ("", "a", "b")


@dataclass(frozen=True)
class Written:
    """A query, so that it can be written with its DISTINCT and without."""

    shown: tuple[str, ...]
    distinct: bool = False
    where: str = ""
    group: str = ""
    order: str = ""
    limit: int | None = None
    alias: str = ""

    def text(self, *, kept: bool = True) -> str:
        distinct = "DISTINCT " if kept else ""
        shown = ", ".join(f"{one}{f' AS {self.alias}{i}' if self.alias else ''}"
                          for i, one in enumerate(self.shown))  # fmt: skip
        parts = [f"SELECT {distinct if self.distinct else ''}{shown.format(distinct)} FROM t"]
        parts += [f"WHERE {self.where}".format(distinct)] if self.where else []
        parts += [f"GROUP BY {self.group}"] if self.group else []
        parts += [f"ORDER BY {self.order}"] if self.order else []
        parts += [f"LIMIT {self.limit}"] if self.limit is not None else []
        return " ".join(parts)

    @property
    def says_order_by(self) -> bool:
        """Spider's script takes a literal for a clause, too."""
        return bool(self.order) or "'order by'" in self.shown


QUERIES = st.builds(
    Written,
    shown=st.lists(st.sampled_from(EXPRESSIONS), min_size=1, max_size=4).map(tuple),
    distinct=st.booleans(),
    where=st.sampled_from(CONDITIONS),
    group=st.sampled_from(GROUPS),
    order=st.sampled_from(ORDERS),
    limit=st.sampled_from([None, None, 0, 1, 3]),
)


@st.composite
def pairs(draw):
    """A gold query, and one that differs from it by a few changes or altogether."""
    gold = draw(QUERIES)
    predicted = gold
    for _ in range(draw(st.integers(0, 2))):
        change = draw(st.sampled_from(["shown", "distinct", "where", "order", "limit", "alias"]))
        if change == "shown":
            predicted = replace(predicted, shown=tuple(draw(st.permutations(predicted.shown))))
        elif change == "distinct":
            predicted = replace(predicted, distinct=not predicted.distinct)
        elif change == "alias":
            predicted = replace(predicted, alias="n")
        else:
            predicted = replace(predicted, **{change: getattr(draw(QUERIES), change)})
    return gold, predicted if draw(st.integers(0, 9)) else draw(QUERIES)


def run(rows, sql):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b, c)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error:
        return None
    finally:
        connection.close()


def same_for_spider(predicted, gold, ordered):
    if predicted == [] and gold == []:
        return True
    if len(predicted) != len(gold) or len(predicted[0]) != len(gold[0]):
        return False
    for order in permutations(range(len(gold[0]))):
        moved = [tuple(row[place] for place in order) for row in predicted]
        if moved == gold or (not ordered and Counter(moved) == Counter(gold)):
            return True
    return False


def verdicts(rows, gold, predicted):
    """By rule, worked out anew."""
    found = {}
    for name in ("spider", "spider-nodistinct", "bird"):
        kept = name != "spider-nodistinct"
        ours, theirs = (run(rows, one.text(kept=kept)) for one in (predicted, gold))
        if ours is None or theirs is None:
            found[name] = False
        elif name == "bird":
            found[name] = set(ours) == set(theirs)
        else:
            found[name] = same_for_spider(ours, theirs, gold.says_order_by)
    return found


def judged(rows, gold, predicted):
    """By rule, as the rules have it."""
    found = {}
    for name in ("spider", "spider-nodistinct", "bird"):
        rule = find_rule(name)
        ours, theirs = (run(rows, rule.rewrite(one.text())) for one in (predicted, gold))
        found[name] = ours is not None and theirs is not None and rule.agrees(
            ExecutionResult((), tuple(ours)), ExecutionResult((), tuple(theirs)), gold.text()
        )  # fmt: skip
    return found


@settings(max_examples=PAIRS)
@given(ROWS, pairs())
def test_generated_pairs_are_judged_alike(rows, pair):
    assert judged(rows, *pair) == verdicts(rows, *pair)


CELL_LISTS = st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=4)


@settings(max_examples=PAIRS)
@given(CELL_LISTS, CELL_LISTS, st.booleans(), st.randoms(use_true_random=False))
def test_generated_results_are_judged_alike(gold, other, ordered, random):
    """Results that differ by one thing at most, which queries seldom give."""
    change = random.choice(["columns", "rows", "repeat", "cell", "other", "nothing"])
    predicted = [tuple(row) for row in (other if change == "other" else gold)]
    gold = [tuple(row) for row in gold]
    if change == "columns":
        predicted = [row[::-1] for row in predicted]
    if change == "rows":
        random.shuffle(predicted)
    if change == "repeat":
        predicted.append(random.choice(predicted))
    if change == "cell":
        predicted[0] = (predicted[0][0], random.choice(other)[0])
    sql = "SELECT a FROM t ORDER BY a" if ordered else "SELECT a FROM t"
    ours, theirs = ExecutionResult((), tuple(predicted)), ExecutionResult((), tuple(gold))
    spider, bird = find_rule("spider"), find_rule("bird")
    assert spider.agrees(ours, theirs, sql) == same_for_spider(predicted, gold, ordered)
    assert bird.agrees(ours, theirs, sql) == (set(predicted) == set(gold))


@pytest.mark.parametrize("name", ["spider", "spider-nodistinct", "bird"])
def test_generated_pairs_have_both_verdicts(name):
    """The pairs above try a rule only if some are right and some are wrong by it."""
    found = set()
    table = [(1, "a", 2), (1, "b", None), (2, "a", 2), (1, "a", 2)]

    @settings(max_examples=100, derandomize=True, database=None)
    @given(pairs())
    def collect(pair):
        found.add(judged(table, *pair)[name])

    collect()
    assert found == {True, False}
