"""A team's own golden set: baselines of it, checks on a run, JUnit, its own faults, new questions.

Public.
"""
