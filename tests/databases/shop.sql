-- A small shop: declared keys, a one-to-many chain, spellings that questions get wrong.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT,
    country TEXT
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    placed TEXT NOT NULL,
    status TEXT NOT NULL,
    total REAL NOT NULL
);
CREATE TABLE lines (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    product TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    price TEXT NOT NULL,
    PRIMARY KEY (order_id, product)
);
INSERT INTO customers VALUES
    (1, 'Ada Brandt', 'München', 'Germany'),
    (2, 'Bo Carlsen', 'Copenhagen', 'Denmark'),
    (3, 'Chen Li', 'München', 'Germany'),
    (4, 'Dora Ek', NULL, 'Sweden');
INSERT INTO orders VALUES
    (10, 1, '2026-01-05', 'open', 120.5),
    (11, 1, '2026-02-11', 'shipped', 80.0),
    (12, 2, '2026-02-12', 'open', 10.25),
    (13, 3, '2026-03-01', 'cancelled', 42.0);
INSERT INTO lines VALUES
    (10, 'Lamp', 2, '9'),
    (10, 'Chair', 1, '100'),
    (11, 'Lamp', 4, '9'),
    (12, 'Vase', 1, '10'),
    (13, 'Chair', 1, '100');
