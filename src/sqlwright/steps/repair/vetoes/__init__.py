"""Vetoes: faults of a query that runs, read from its form, that no right query has.

Each rule takes a query's form and what is known about question and database (`reading.Reading`) and
gives findings: a veto and, where the rule can write it, the form without the fault. `rules.RULES`
lists them; `steps/repair/veto.py` applies them to candidates.
"""
