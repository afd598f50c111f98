"""JSON files: what DuckDB's reader loses of them.

Internal: may change without notice.
"""
