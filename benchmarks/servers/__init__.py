"""Real PostgreSQL and MariaDB under stress: speed, queries without end, kills, a failing network."""
