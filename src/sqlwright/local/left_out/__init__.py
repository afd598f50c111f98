"""Faults of a query beside its question: phrases it leaves out or gets wrong, read from its form.

The account (`account.account`) says of each phrase of a question what in a query answers it. Rules
give findings: a fault that no right query has and, where a rule can write it, the form without the
fault. `rules.RULES` lists them; `local/steps/veto.py` applies both to candidates.
"""
