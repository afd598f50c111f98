-- NULLs, duplicate rows, numbers as text, floats that differ in the last digits.
CREATE TABLE readings (sensor TEXT, value REAL, note TEXT);
INSERT INTO readings VALUES
    ('a', 0.1, NULL), ('a', 0.2, NULL), ('a', 0.1, NULL), ('a', 0.1, NULL),
    ('b', NULL, 'lost'), ('b', 0.30000000000000004, 'sum'), (NULL, 0.3, 'typed');
CREATE TABLE prices (item TEXT, amount TEXT, year TEXT);
INSERT INTO prices VALUES ('x', '9', '2024'), ('y', '10', '2025'), ('z', '100', '2026'), ('w', NULL, NULL);
