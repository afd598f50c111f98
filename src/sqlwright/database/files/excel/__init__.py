"""Workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods): each sheet with a table is a table.

A workbook comes from anybody, so it is read in a worker process alone: `workbook.py` has the cells,
`loading.py` says where the table is and what its columns hold and puts it into DuckDB's memory.
`sheets.py` is the caller's side, which sees no cell.

Internal: may change without notice.
"""
