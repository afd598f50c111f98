"""The tree check for other dialects than SQLite's.

`check.py` puts it together: a text is cut as the engine cuts it (`lexicon.py`), every name in front
of a parenthesis must be on the dialect's list (`calls.py`), the parser must have cut the text alike
(`agreement.py`), and its tree may hold only what queries are made of (`nodes.py`) and read only
tables that are listed (`tables.py`) and columns that call nothing (`attributes.py`). The dialects'
own lists: `postgres.py`, `duckdb.py`, `mysql.py` and, for any other, `others.py`.
"""
