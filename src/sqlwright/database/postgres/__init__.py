"""PostgreSQL, and what speaks its protocol. The only room that talks to psycopg.

`database` and `login` run in the caller's process, `engine` and `connection` in the worker.
"""
