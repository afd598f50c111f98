"""An engine's plan for a query in plain words, read from the plan and nothing else.

`reading.read_plan` turns SQLite's bytecode into steps, which `words.plan_text` writes as numbered
sentences. What the values in registers are is worked out by following the instructions
(`registers`, `branches`), so that a sentence names tables, columns and constants. The short form
are the lines of EXPLAIN QUERY PLAN, which `outline.read_outline` turns into sentences and
`outline.outline_text` numbers. The query's text isn't looked at. A plan that can't be told for
certain raises `unreadable.UnreadablePlan`.

Internal: may change without notice.
"""
