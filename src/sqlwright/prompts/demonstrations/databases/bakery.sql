-- A chain of bakeries. Kinds are codes; a product that is still sold has no day of withdrawal.
CREATE TABLE shops (
    shop_id INTEGER PRIMARY KEY,
    town TEXT NOT NULL, -- e.g. 'Harwick', 'Ostley'
    opened TEXT NOT NULL, -- YYYY-MM-DD
    floor_area REAL -- square metres
);
CREATE TABLE staff (
    staff_id INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    shop_id INTEGER NOT NULL REFERENCES shops (shop_id),
    position TEXT NOT NULL, -- e.g. 'baker', 'counter', 'driver'
    hired TEXT NOT NULL, -- YYYY-MM-DD
    monthly_pay INTEGER -- NULL: paid by the hour
);
CREATE TABLE products (
    code TEXT PRIMARY KEY,
    title TEXT NOT NULL, -- e.g. 'Rye loaf'
    kind TEXT NOT NULL, -- 'BR' bread, 'PA' pastry, 'CK' cake
    price REAL NOT NULL,
    withdrawn TEXT -- YYYY-MM-DD; NULL: still sold
);
CREATE TABLE sales (
    receipt INTEGER NOT NULL,
    shop_id INTEGER NOT NULL REFERENCES shops (shop_id),
    product_code TEXT NOT NULL REFERENCES products (code),
    sold_on TEXT NOT NULL, -- YYYY-MM-DD
    pieces INTEGER NOT NULL,
    PRIMARY KEY (receipt, product_code)
);
INSERT INTO shops VALUES
    (1, 'Harwick', '2008-04-12', 85.0),
    (2, 'Harwick', '2016-09-01', 140.5),
    (3, 'Ostley', '2011-03-20', 60.0),
    (4, 'Pellmouth', '2019-11-08', NULL);
INSERT INTO staff VALUES
    (1, 'Ines Calder', 1, 'baker', '2009-02-01', 2650),
    (2, 'Tomas Wray', 2, 'baker', '2017-05-15', 2480),
    (3, 'Goldie Fenn', 2, 'counter', '2016-09-01', 1990),
    (4, 'Aurel Pike', 2, 'driver', '2020-01-07', 2100),
    (5, 'Maud Okafor', 3, 'baker', '2012-08-30', 2820),
    (6, 'Sef Lindt', 3, 'counter', '2021-06-11', NULL),
    (7, 'Rosa Till', 4, 'baker', '2019-11-08', 2300);
INSERT INTO products VALUES
    ('P01', 'Rye loaf', 'BR', 3.8, NULL),
    ('P02', 'Seeded roll', 'BR', 0.9, NULL),
    ('P03', 'Almond twist', 'PA', 2.4, NULL),
    ('P04', 'Plum slice', 'CK', 3.1, '2025-03-31'),
    ('P05', 'Cardamom bun', 'PA', 2.2, NULL),
    ('P06', 'Honey cake', 'CK', 18.5, NULL);
INSERT INTO sales VALUES
    (501, 1, 'P01', '2025-03-03', 2),
    (501, 1, 'P03', '2025-03-03', 4),
    (502, 2, 'P03', '2025-03-03', 1),
    (503, 2, 'P05', '2025-03-09', 6),
    (504, 3, 'P01', '2025-03-15', 1),
    (504, 3, 'P04', '2025-03-15', 3),
    (505, 2, 'P06', '2025-03-28', 1),
    (506, 4, 'P05', '2025-04-02', 2),
    (507, 1, 'P05', '2025-04-04', 10),
    (508, 3, 'P02', '2025-04-19', 12),
    (509, 2, 'P03', '2025-04-20', 5);
