"""CSV, TSV, Parquet, JSON and Excel files as tables: one file, a folder, or those of a pattern.

DuckDB reads them in a worker that may open exactly these files. Their settings are guessed, told
(`FilesDatabase.sources`) and corrected by a file beside them (`corrections.NAME`).

Internal: may change without notice.
"""
