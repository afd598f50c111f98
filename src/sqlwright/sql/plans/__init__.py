"""An engine's plan for a query in plain words, read from the plan and nothing else.

`reading.read_plan` turns SQLite's bytecode into steps, `outline.read_outline` the lines of EXPLAIN
QUERY PLAN; `words.plan_text` writes steps as numbered sentences. What the values in registers are
is worked out by following the instructions (`registers`, `branches`), so that a sentence names
tables, columns and constants. The query's text isn't looked at.

Internal: may change without notice.
"""
