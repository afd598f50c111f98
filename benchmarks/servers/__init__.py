"""Real PostgreSQL and MariaDB under stress: speed, denials, kills, a failing network."""
