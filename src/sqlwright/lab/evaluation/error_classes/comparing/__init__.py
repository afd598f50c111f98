"""Differences between a query and gold, as findings."""
