"""PostgreSQL, on a real server."""
