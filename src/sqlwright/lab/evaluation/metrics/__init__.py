"""Metrics of one answer besides the rules: one file and one line of the registry each.

Public: registry, metric.
"""
