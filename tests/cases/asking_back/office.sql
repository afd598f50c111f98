-- Customers and their contacts, each with a name; orders with two dates and a status in two spellings.
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE contacts (
    contact_id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (customer_id),
    name TEXT,
    phone TEXT
);
CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers (customer_id),
    order_date TEXT,
    delivery_date TEXT,
    status TEXT,
    amount REAL
);
CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, opened_on TEXT, closed_on TEXT);
INSERT INTO tickets VALUES (1, '2024-01-02', '2024-01-05'), (2, '2024-01-30', '2024-02-02');
INSERT INTO customers VALUES (1, 'Acme', 'Oslo'), (2, 'Bolt', 'Oslo'), (3, 'Cord', 'Rome'), (4, 'Bolt', 'Rome');
INSERT INTO contacts VALUES (1, 1, 'Ada Berg', '11'), (2, 1, 'Ben Lund', '12'), (3, 2, 'Cleo Moe', '13');
INSERT INTO orders VALUES
    (1, 1, '2023-12-30', '2024-01-02', 'open', 10),
    (2, 1, '2024-02-01', '2024-02-03', 'paid', 20),
    (3, 2, '2024-03-01', '2024-03-09', 'Open', 30),
    (4, 2, '2023-05-01', '2024-01-01', 'paid', 30);
