CREATE TYPE order_status AS ENUM ('open', 'shipped', 'lost');
CREATE TABLE customers (
    id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, vip BOOLEAN NOT NULL, born DATE, token UUID, photo BLOB,
    nicknames VARCHAR[], settings JSON
);
COMMENT ON TABLE customers IS 'Everybody who bought something';
COMMENT ON COLUMN customers.vip IS 'True of those who have a contact of their own';
INSERT INTO customers VALUES
    (1, 'Ada Brandt', true, '1980-02-29', '5b6bd1a4-6e57-4c27-9d50-3a2c0b2ad1a1', '\x00\xFF\x10', ['Ad', 'A, B'], '{"a": [1, null]}'),
    (2, 'Bo "Bob" Øst', false, NULL, NULL, NULL, NULL, NULL),
    (3, 'Chen <b>Li</b>', false, '1999-12-31', 'a0000000-0000-4000-8000-000000000000', '', [], '{}');
CREATE SCHEMA sales;
CREATE TABLE sales."Order Items" (
    id INTEGER PRIMARY KEY, customer_id INTEGER, status order_status NOT NULL,
    "Total Price" DECIMAL(12, 2), "placedAt" TIMESTAMPTZ NOT NULL, due TIME, took INTERVAL, rate DOUBLE
);
COMMENT ON COLUMN sales."Order Items"."Total Price" IS 'In euros, taxes included';
INSERT INTO sales."Order Items" VALUES
    (1, 1, 'open', 19.90, '2024-01-31 10:30:00+02', '08:15', '1 day 02:00:00', 0.1),
    (2, 1, 'shipped', 1234567890.10, '2024-02-29 00:00:00+00', '23:59:59', '90 minutes', 0.25),
    (3, 2, 'lost', NULL, '2024-02-01 12:00:00+00', NULL, NULL, NULL),
    (4, 3, 'shipped', 0.10, '2023-12-31 23:59:59.5+00', '00:00', '-1 hour', 1e-9);
CREATE VIEW sales.shipped AS SELECT id, "Total Price" AS price, "placedAt" FROM sales."Order Items" WHERE status = 'shipped';
CREATE TABLE visits (day DATE NOT NULL, customer_id INTEGER REFERENCES customers (id), pages INTEGER);
INSERT INTO visits VALUES ('2023-05-01', 1, 3), ('2024-01-31', 1, 10), ('2024-03-01', 2, 7), ('2024-03-02', 3, 1);
