"""Benchmark files as examples. Only evaluation and training may import this package.

Public.
"""
