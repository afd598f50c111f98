"""Answers made by hand."""

from __future__ import annotations

from dataclasses import replace

from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table
from sqlwright.sql.in_words.query import read_query
from sqlwright.types import (
    Answer,
    Candidate,
    ColumnLink,
    ExecutionError,
    ExecutionResult,
    Note,
    QueryCondition,
    QueryPart,
    Question,
    Refusal,
    State,
    StepTime,
    TableLink,
    UnitTest,
    ValueMatch,
)

SQL = """SELECT c.segment, COUNT(*) AS orders, SUM(o.total) AS revenue
FROM customers AS c
JOIN orders AS o ON o.customer_id = c.id
WHERE c.city = 'München' AND o.status = 'SHIPPED'
GROUP BY c.segment
ORDER BY revenue DESC"""

SCHEMA = Schema(
    "shop",
    (
        Table("customers", (Column("id", "INTEGER"), Column("city", "TEXT")), ("id",)),
        Table("orders", (Column("id", "INTEGER"), Column("total", "REAL"), Column("status"))),
    ),
)
CITY = ValueMatch("munich", ColumnRef("customers", "city"), "München", 0.93, 412)
STATUS = ValueMatch("shipped", ColumnRef("orders", "status"), "SHIPPED", 1.0, 8120)

ANSWER = Answer(
    "answered",
    "How much revenue by segment in Munich, shipped only?",
    SQL,
    "sqlite",
    ("segment", "orders", "revenue"),
    (("Retail", 128, 12500.5), ("Wholesale", 33, 99120.0), (None, 4, 120.25)),
    confidence=0.83,
    alternatives=(
        Candidate(
            SQL.replace("SUM(o.total)", "SUM(o.total - o.discount)"),
            "parser",
            -1.2,
            ExecutionResult(("a", "b"), (("x", 1),) * 3),
        ),
        Candidate(
            "SELECT COUNT(*) FROM orders", "parser", -1.9, ExecutionResult(("a",), ((143,),))
        ),
        Candidate(
            SQL.replace("SHIPPED", "SENT"),
            "parser",
            -3.2,
            ExecutionResult(error=ExecutionError("sql", "no such column: x")),
        ),
    ),
    values=(CITY, STATUS),
    reading=read_query(SQL, SCHEMA, (CITY, STATUS)),
    used_tables=("customers", "orders"),
    warnings=(Note("database", "customers.notes isn't indexed yet: run `sqlwright prepare`"),),
    times=(StepTime("retrieval.values", 0.02), StepTime("generation.embedded", 0.09)),
    seconds=0.11,
    recipe="local",
    trace_id="20261120-211500-ab12",
)

REFUSED = Answer(
    "refused",
    "Delete all orders",
    None,
    "sqlite",
    message="This asks to change data, and sqlwright only reads.",
    suggestion="Ask which rows it would concern.",
    recipe="local",
)

STATE = State(
    Question(ANSWER.question, "shipped means status SHIPPED"),
    SchemaView(SCHEMA),
    values=ANSWER.values,
    columns=(ColumnLink(ColumnRef("customers", "city"), 0.97),),
    tables=(TableLink("customers", 0.99), TableLink("orders", 0.98)),
    candidates=(
        Candidate(
            SQL, "generation.embedded", -0.7, ExecutionResult(("a",), ((1,),)), note="added a join"
        ),
        *ANSWER.alternatives,
    ),
)


def hostile_answer(text: str) -> Answer:
    """An answer with the same foreign text wherever foreign text can stand."""
    ref = ColumnRef(text, text)
    match = ValueMatch(text, ref, text, 0.9, 3)
    sql = f"SELECT '{text}' AS \"{text}\" -- {text}"
    result = ExecutionResult((text, text), ((text, None), (text, text.encode("utf-8", "replace"))))
    return Answer(
        "answered",
        text,
        sql,
        "sqlite",
        (text, text),
        ((text, 1), (text.encode("utf-8", "surrogatepass"), None)),
        truncated=True,
        confidence=0.4,
        alternatives=(
            Candidate(sql, text, result=result, note=text),
            Candidate(sql, text, result=ExecutionResult(error=ExecutionError("sql", text))),
            Candidate(sql, text, result=ExecutionResult((text,), ((text,),))),
        ),
        values=(match,),
        reading=hostile_reading(text),
        used_columns=(ref,),
        used_tables=(text, text),
        warnings=(Note("model", text),),
        times=(StepTime(text, 0.1),),
        recipe=text,
        trace_id=text,
    )


def hostile_reading(text: str) -> tuple[QueryPart, ...]:
    """What a query says that holds a foreign text wherever one can stand."""
    ref = ColumnRef(text, text)
    match = ValueMatch(text, ref, text, 0.9, 3)
    condition = QueryCondition(text, "=", (text, text), (ref,), (match,))
    return (
        QueryPart("query", text),
        QueryPart("where", f"either {text} = {text}, {text}", 1, condition, "either"),
        QueryPart("other", text, 1),
    )


def hostile_state(text: str) -> State:
    answer = hostile_answer(text)
    first, second, third = answer.alternatives
    revised = replace(first, parent=second, tried=(third,))
    table = Table(text, (Column(text, text, description=text, label=text),), description=text)
    return State(
        Question(text, text),
        SchemaView(Schema(text, (table,))),
        keywords=(text,),
        values=answer.values,
        columns=(ColumnLink(ColumnRef(text, text), 0.5),),
        tables=(TableLink(text, 0.5),),
        candidates=(revised, second, third),
        tests=(UnitTest(text, (0,)), UnitTest(text)),
        refusal=Refusal("unsure", text, text),
        warnings=(Note("model", text),),
    )
