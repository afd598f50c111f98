"""MySQL and MariaDB, by PyMySQL: the doorway to that package."""

LOOSELY = "GROUP LOOSELY"
"""In place of the words before a query that ask for its plan: it may show what isn't in its GROUP
BY."""
