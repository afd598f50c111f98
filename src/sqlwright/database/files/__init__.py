"""CSV, TSV, Parquet and JSON files as tables: one file, a folder of them, or those of a pattern.

DuckDB reads them in a worker that may open exactly these files. Their settings are guessed, told
(`FilesDatabase.sources`) and corrected by a file beside them (`corrections.NAME`).

Internal: may change without notice.
"""
