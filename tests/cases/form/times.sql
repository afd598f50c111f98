-- Dates and times at the edges of days, months and years, in SQL that DuckDB, PostgreSQL and MariaDB take.
CREATE TABLE times (id INTEGER PRIMARY KEY, d DATE, t TIMESTAMP NULL, paid BOOLEAN);
INSERT INTO times VALUES
    (1, '1989-12-31', '1989-12-31 23:59:59', TRUE),
    (2, '1990-01-01', '1990-01-01 00:00:00', FALSE),
    (3, '1990-12-31', '1990-12-31 23:59:59', TRUE),
    (4, '1991-01-01', '1991-01-01 00:00:00', FALSE),
    (5, '1995-12-31', '1995-12-31 12:00:00', TRUE),
    (6, '1996-01-01', '1996-01-01 00:00:00', NULL),
    (7, '2024-02-28', '2024-02-28 23:59:59', FALSE),
    (8, '2024-02-29', '2024-02-29 00:00:00', TRUE),
    (9, '2024-02-29', '2024-02-29 23:59:59', TRUE),
    (10, '2024-03-01', '2024-03-01 00:00:00', FALSE),
    (11, NULL, NULL, NULL);
