"""The tables of the four papers, filled with figures of our own runs.

A paper's tables stand in `described/` as YAML: rows, columns, which run shows a cell, where its
figure stands in a run's report, and the paper's own figure. Here is what reads them, finds runs,
fills the cells and writes the tables.

Internal: may change without notice.
"""
