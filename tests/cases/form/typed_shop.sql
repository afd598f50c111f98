-- A shop whose columns have types, in SQL that SQLite, DuckDB and PostgreSQL all take.
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    "Name" TEXT NOT NULL,
    city TEXT,
    born DATE,
    seen TEXT,
    spent TEXT,
    code TEXT
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (customer_id),
    total DOUBLE PRECISION,
    pieces INTEGER,
    "at" TIMESTAMP,
    paid BOOLEAN,
    "user" TEXT
);
INSERT INTO customers VALUES
    (1, 'Ada', 'Bonn', '1990-05-17', '2026-01-05', '$1,200.50', '7'),
    (2, 'bob', 'Bonn', '1985-12-01', '2026-02-11 08:30:00', '80', '12'),
    (3, 'Cy_d', 'Köln', NULL, NULL, '$3.25', '3'),
    (4, 'Dora', NULL, '2001-02-28', '2025-12-31', NULL, NULL),
    (5, 'Eve', 'Köln', '1990-01-01', '2026-01-20', '15', '40');
INSERT INTO orders VALUES
    (10, 1, 120.5, 3, '2026-01-05 09:15:00', TRUE, 'kim'),
    (11, 1, 80.0, 0, '2026-02-11 17:40:30', FALSE, 'lee'),
    (12, 2, 10.25, 7, '2025-12-31 23:59:59', TRUE, 'kim'),
    (13, 3, NULL, 2, '2026-03-01 00:00:00', NULL, NULL),
    (14, 5, 42.0, NULL, NULL, FALSE, 'lee'),
    (15, NULL, 9.0, 5, '2026-01-31 12:00:00', TRUE, 'kim');
