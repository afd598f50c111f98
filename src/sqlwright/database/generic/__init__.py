"""Any other engine, by its SQLAlchemy dialect: the doorway to SQLAlchemy.

Nothing here knows an engine, so the login has to be one that can only read, and somebody has to
say so once (`boundary.accepted`). `engine` and `connection` run in the worker process, `database`
in the caller's.
"""
