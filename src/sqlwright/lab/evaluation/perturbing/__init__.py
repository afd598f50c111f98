"""Perturbed copies of a database, on which a query that only happens to agree with gold gives
another result.

Public: suite.
"""
