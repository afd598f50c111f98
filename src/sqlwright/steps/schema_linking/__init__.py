"""Schema linking: which tables and columns the question needs."""
