"""Families of features: each holds one side of a query against the question."""
