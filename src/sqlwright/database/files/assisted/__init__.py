"""The worker of files that DuckDB can't read by itself: workbooks, and texts in other encodings.

Internal: may change without notice.
"""
