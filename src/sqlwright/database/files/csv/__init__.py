"""CSV files: how they are read, as DuckDB guesses it and as it doesn't.

Internal: may change without notice.
"""
