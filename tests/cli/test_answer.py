import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from sqlwright.cli.commands.trace import trace_lines
from sqlwright.cli.terminal.console import Glyphs
from sqlwright.cli.views.answer import DisplayOptions, answer_lines, confidence_text, one_line_sql
from sqlwright.cli.views.explain import explain_lines
from sqlwright.presentation.answer import NO_ROWS
from sqlwright.running.trace import Trace
from sqlwright.sql.in_words.query import read_query
from sqlwright.types import (
    Answer,
    Candidate,
    ExecutionError,
    ExecutionResult,
    StepTime,
    UnitTest,
    Usage,
    ValueMatch,
)
from tests.cli.answers import (
    ANSWER,
    CITY,
    REFUSED,
    SCHEMA,
    SQL,
    STATE,
    STATUS,
    hostile_answer,
    hostile_state,
)
from tests.cli.hostile import acting, texts
from tests.cli.rendering import look, rendered, screen

TEXTS = texts()
WIDTHS = [32, 40, 60, 80, 120, 200]
SGR = re.compile(r"\x1b\[[0-9;]*m")


def test_an_answer_tells_everything_in_reading_order() -> None:
    text = rendered(answer_lines(ANSWER, look(80)), 80)
    parts = [
        "\"munich\" → customers.city = 'München' (412 rows)",
        "customers, orders",
        "SELECT c.segment",
        "Wholesale",
        "83% likely right",
        "SUM(o.total - o.discount)",
        "143",
        "sql: no such column: x",
        "isn't indexed yet",
        "0.1 s · recipe local · trace 20261120-211500-ab12",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places, [part for part in parts if part not in text]
    assert places == sorted(places)


def understood(sql: str, *values: ValueMatch, width: int | None = None) -> str:
    """What is shown as understood of a query."""
    answer = replace(ANSWER, sql=sql, values=values, reading=read_query(sql, SCHEMA, values))
    text = rendered(answer_lines(answer, look(width)), width)
    return text.split("from        ")[0]


def test_the_operator_is_that_of_the_query() -> None:
    sql = "SELECT id FROM customers WHERE city <> 'München'"
    assert understood(sql, CITY) == (
        "understood  \"munich\" → customers.city != 'München' (412 rows have it)\n"
    )


def test_conditions_without_a_phrase_are_told_too() -> None:
    sql = (
        "SELECT city, SUM(total) FROM orders, customers WHERE city IN ('München', 'Bonn') AND"
        " (total > 5 OR customers.id = orders.id) GROUP BY city ORDER BY 2 DESC LIMIT 3"
    )
    assert understood(sql, CITY).splitlines() == [
        "understood  \"munich\" → customers.city in ('München', 'Bonn') (412 rows have it)",
        "            either orders.total > 5",
        "            or customers.id = orders.id",
        "            SUM(orders.total) per customers.city",
        "            highest SUM(orders.total) first, only the first 3 rows",
    ]


def test_what_is_within_is_set_in() -> None:
    sql = (
        "SELECT id FROM customers WHERE id NOT IN (SELECT id FROM orders WHERE status = 'SHIPPED')"
    )
    assert understood(sql, STATUS).splitlines() == [
        "understood  customers.id not in (orders.id from orders):",
        "              \"shipped\" → orders.status = 'SHIPPED' (8,120 rows)",
    ]


def test_a_value_that_the_query_does_not_hold_was_not_understood() -> None:
    sql = "SELECT id FROM customers WHERE city = 'Bonn'"
    assert understood(sql, CITY) == "understood  customers.city = 'Bonn'\n"


def test_a_query_without_conditions_says_nothing() -> None:
    assert understood("SELECT city FROM customers") == ""


def test_a_long_reading_is_cut_and_says_so() -> None:
    conditions = " AND ".join(f"id <> {number}" for number in range(20))
    shown = understood(f"SELECT city FROM customers WHERE {conditions}")
    assert "customers.id != 7\n            and 12 more\n" in shown
    assert "customers.id != 8" not in shown


def test_the_reasoning_does_not_repeat_what_the_query_says() -> None:
    text = rendered(explain_lines(ANSWER, STATE, look(100)), 100)
    assert text.count("highest SUM(orders.total) first") == 1


def test_a_refusal_says_why_and_what_instead() -> None:
    text = rendered(answer_lines(REFUSED, look(80)), 80)
    assert "no answer   This asks to change data, and sqlwright only reads." in text
    assert "instead     Ask which rows it would concern." in text
    assert "how sure" not in text
    assert "considered" not in text


def test_a_failure_shows_the_query_it_failed_with() -> None:
    failed = replace(ANSWER, status="failed", message="no candidate ran", rows=(), columns=())
    text = rendered(answer_lines(failed, look(80)), 80)
    assert "failed      no candidate ran" in text
    assert "SELECT c.segment" in text
    assert "how sure" not in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("answer", [ANSWER, REFUSED], ids=["answered", "refused"])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(answer: Answer, width: int) -> None:
    text = rendered(explain_lines(answer, STATE, look(width)), width)
    for line in text.splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


def test_no_two_blank_lines_and_none_at_the_ends() -> None:
    for answer in (ANSWER, REFUSED):
        text = rendered(answer_lines(answer, look(80)), 80)
        assert "\n\n\n" not in text
        assert not text.startswith("\n")
        assert not text.endswith("\n\n")


def test_a_terminal_shows_few_rows_and_says_how_to_see_more() -> None:
    many = replace(ANSWER, rows=tuple((f"s{i}", i, float(i)) for i in range(300)))
    text = rendered(answer_lines(many, look(80)), 80)
    assert "s19 " in text
    assert "s20 " not in text
    assert "… 280 more of 300 rows: --max-rows" in text


def test_a_pipe_gets_all_rows_whole() -> None:
    many = replace(ANSWER, rows=tuple(("x" * 300 + str(i), i, 0.5) for i in range(300)))
    text = rendered(answer_lines(many, look(None)))
    assert all("x" * 300 + str(i) in text for i in range(300))
    assert SQL.splitlines()[0] in text


def test_a_cut_result_is_marked() -> None:
    text = rendered(answer_lines(replace(ANSWER, truncated=True), look(80)), 80)
    assert "cut off here, there are more" in text


def test_no_rows_is_said() -> None:
    assert "  no rows" in rendered(answer_lines(replace(ANSWER, rows=()), look(80)), 80)


def test_an_alternative_shows_where_it_differs() -> None:
    line = one_line_sql(SQL.replace("'SHIPPED'", "'SENT'"), SQL, 40, Glyphs())
    assert line.startswith("… ")
    assert "'SENT'" in line
    assert cell_len(line) <= 40


@pytest.mark.parametrize(
    ("confidence", "words"),
    [
        (1.0, "100% very likely right"),
        (0.9, "very likely"),
        (0.8, "80% likely right"),
        (0.5, "more likely right than not"),
    ],
)
def test_confidence_in_words(confidence: float, words: str) -> None:
    assert words in rendered(answer_lines(replace(ANSWER, confidence=confidence), look(80)), 80)


DOUBTED = replace(ANSWER, confidence=0.31, doubt="another query is about as likely (28%)")


@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_doubt_stands_above_the_query_and_its_rows_and_once(width: int | None) -> None:
    text = rendered(answer_lines(DOUBTED, look(width)), width)
    whole = " ".join(text.split())
    assert whole.count("Not sure (31%): another query is about as likely (28%)") == 1
    assert text.index("Not sure (31%)") < text.index("SELECT") < text.index("Wholesale")
    assert "how sure" not in text
    assert whole.count("31%") == 1


def test_no_rows_as_the_reason_for_doubt_is_told_once() -> None:
    doubted = replace(DOUBTED, rows=(), doubt=NO_ROWS)
    assert rendered(answer_lines(doubted, look(80)), 80).count("no rows") == 1


def test_few_rows_of_a_doubtful_answer_are_shown_on_a_terminal() -> None:
    many = replace(DOUBTED, rows=tuple((f"s{i}", i, float(i)) for i in range(300)))
    shown = {width: screen(width) for width in (80, None)}
    texts = {
        width: rendered(answer_lines(many, DisplayOptions.of(one)), width)
        for width, one in shown.items()
    }
    assert "s4 " in texts[80]
    assert "s5 " not in texts[80]
    assert "… 295 more of 300 rows: --max-rows" in texts[80]
    assert "s299 " in texts[None]
    asked = rendered(answer_lines(many, DisplayOptions.of(shown[80], 12)), 80)
    assert "s11 " in asked
    sure = rendered(
        answer_lines(replace(many, doubt="", confidence=0.5), DisplayOptions.of(shown[80])), 80
    )
    assert "s19 " in sure


def test_the_confidence_bar_is_told_without_colour() -> None:
    half, whole = (confidence_text(share, Glyphs()).plain for share in (0.5, 1.0))
    assert half.split()[0] != whole.split()[0]
    assert cell_len(half.split()[0]) == cell_len(whole.split()[0])


@pytest.mark.parametrize("width", [60, 80, 112, 120, 200])
def test_an_alternative_takes_one_line(width: int) -> None:
    long = replace(ANSWER.alternatives[0], sql=f"SELECT 1 UNION {SQL} UNION {SQL}")
    text = rendered(answer_lines(replace(ANSWER, alternatives=(long,)), look(width)), width)
    block = text[text.index("considered") :].split("\n\n", 1)[0]
    assert len(block.splitlines()) == 1


def test_the_reasoning_names_every_candidate_and_step() -> None:
    text = rendered(explain_lines(ANSWER, STATE, look(100)), 100)
    for part in (
        "shipped means status SHIPPED",
        "0.97  customers.city",
        "score -0.700, by generation.embedded  ✓ chosen",
        "added a join",
        "'SENT'",
        "looking for stored values",
        "by the clock",
    ):
        assert part in text


def test_the_reasoning_shows_revisions_unit_tests_and_their_verdicts() -> None:
    failed = ExecutionResult(error=ExecutionError("sql", "no such column: x"))
    first = Candidate("SELECT x\nFROM t", "generation.direct", result=failed)
    second = Candidate(
        "SELECT y FROM t",
        "repair.revise",
        result=ExecutionResult(("y",), ()),
        parent=first,
        tried=(Candidate("SELECT z FROM t", "repair.revise", result=failed, note="revised"),),
        note="revised: it failed",
    )
    other = Candidate("SELECT 2", "generation.direct", result=ExecutionResult(("2",), ((2,),)))
    tests = (UnitTest("It reads y.", (0,)), UnitTest("It counts.", ()), UnitTest("It joins."))
    state = replace(STATE, candidates=(second, other), tests=tests, keywords=("revenue",))
    times = tuple(StepTime("repair.revise", 0.5) for _ in range(3))
    answer = replace(ANSWER, sql=second.sql, times=times)
    text = " ".join(rendered(explain_lines(answer, state, look(100)), 100).split())
    for part in (
        "keywords revenue",
        "1 no rows by repair.revise, passed 1 of 2 tests ✓ chosen",
        "SELECT y FROM t tried in vain: revised: no such column: x SELECT z FROM t",
        "revised: it failed: no such column: x SELECT x FROM t",
        "1 It reads y. passed by 1",
        "2 It counts. passed by none",
        "3 It joins. not judged",
        "mending queries × 3 1.5 s",
    ):
        assert part in text


def test_what_models_took_is_broken_at_blanks() -> None:
    usage = Usage(12, 345_678, 9_012, 0.1234)
    answer = replace(ANSWER, usage=usage, usage_by_step={"retrieval.extract_keywords": usage})
    text = rendered(explain_lines(answer, STATE, look(60)), 60)
    assert "345,678 tokens in, 9,012 out" in text
    assert max(cell_len(line) for line in text.split("\n")) <= 60


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_is_never_interpreted(name: str) -> None:
    answer, state = hostile_answer(TEXTS[name]), hostile_state(TEXTS[name])
    plain = rendered(explain_lines(answer, state, look(80)), 80)
    assert acting(plain) <= {"\n"}
    coloured = rendered(explain_lines(answer, state, look(80, colour=True)), 80, colour=True)
    assert SGR.sub("", coloured) == plain
    piped = rendered(explain_lines(answer, state, look(None)))
    assert acting(piped) <= {"\n"}
    assert len(piped) < 500_000


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("width", [32, 80])
def test_hostile_text_stays_within_the_terminal(name: str, width: int) -> None:
    text = rendered(explain_lines(hostile_answer(TEXTS[name]), None, look(width)), width)
    assert max(cell_len(line) for line in text.split("\n")) <= width


def test_a_trace_tells_the_reason_for_doubt() -> None:
    answer = {"status": "answered", "confidence": 0.2, "doubt": "it is odd"}
    shown = rendered(trace_lines(Trace("t", answer=answer), look(80)), 80)
    assert "because     it is odd" in shown
