"""MySQL and MariaDB, by PyMySQL: the doorway to that package.

In the worker process: `engine`, `session` (one connection and its settings), `connection` (what may
be asked of it), `cells`, `failures`. In the caller's: `database`, `options` (of the URL),
`introspect`, `planning`, `login`.
"""

LOOSELY = "GROUP LOOSELY"
"""In place of the words before a query that ask for its plan: it may show what isn't in its GROUP
BY."""
