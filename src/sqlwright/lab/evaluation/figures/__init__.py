"""A run's figures, taken in one pass over its records: an accumulator for each family of them.

`summary.summarize` is public.
"""
