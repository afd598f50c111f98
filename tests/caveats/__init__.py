"""Tests of what the data does to a query's order, comparisons and sums."""
