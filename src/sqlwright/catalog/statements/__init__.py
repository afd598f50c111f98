"""SQL that sqlwright itself writes to read a database, in the dialect of each engine.

`columns` reads cells without the weight of long texts, `sampling` tells how large a table is and
picks some of its rows, `lookups` counts values of one column
that another one has. Tables and columns are given by the schema; nothing of a question gets here.

Internal: may change without notice.
"""
