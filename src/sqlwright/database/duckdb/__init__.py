"""DuckDB files: opened read-only in a worker, held twice, by what a statement names and by the
configuration. `connection` is the doorway to the library.

Internal: may change without notice.
"""
