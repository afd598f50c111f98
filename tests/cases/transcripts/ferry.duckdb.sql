-- A ferry company: two namespaces, an enumeration, intervals, lists, JSON as text, moments with a zone.
CREATE SCHEMA ops;
CREATE SCHEMA crm;
CREATE TYPE sailing_state AS ENUM ('planned', 'boarding', 'departed', 'arrived', 'cancelled');
CREATE TABLE ops.ports (code VARCHAR PRIMARY KEY, name VARCHAR NOT NULL, country VARCHAR NOT NULL);
CREATE TABLE ops.vessels (
    id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, built DATE, car_deck_metres INTEGER,
    max_passengers INTEGER, retired BOOLEAN NOT NULL
);
CREATE TABLE ops.routes (
    id INTEGER PRIMARY KEY, origin VARCHAR REFERENCES ops.ports, destination VARCHAR REFERENCES ops.ports,
    nautical_miles DECIMAL(6, 1)
);
CREATE TABLE ops.sailings (
    id BIGINT PRIMARY KEY, route_id INTEGER REFERENCES ops.routes, vessel_id INTEGER REFERENCES ops.vessels,
    departs TIMESTAMPTZ NOT NULL, arrives TIMESTAMPTZ, state sailing_state NOT NULL, delay INTERVAL
);
CREATE TABLE crm.customers (
    id UUID PRIMARY KEY, name VARCHAR NOT NULL, email VARCHAR, joined DATE, tags VARCHAR[], club BOOLEAN
);
CREATE TABLE crm.bookings (
    id BIGINT PRIMARY KEY, customer UUID NOT NULL REFERENCES crm.customers, sailing BIGINT NOT NULL,
    booked_at TIMESTAMPTZ NOT NULL, passengers INTEGER NOT NULL, vehicle_metres DECIMAL(4, 1),
    price DECIMAL(9, 2) NOT NULL, paid BOOLEAN NOT NULL, extras VARCHAR
);
COMMENT ON COLUMN ops.sailings.delay IS 'How much later than planned it left; empty when on time';
COMMENT ON COLUMN crm.customers.club IS 'Member of the loyalty club';
INSERT INTO ops.ports VALUES
    ('HEL', 'Helsinki', 'Finland'), ('TLL', 'Tallinn', 'Estonia'), ('STO', 'Stockholm', 'Sweden'),
    ('TKU', 'Turku', 'Finland'), ('RIX', 'Riga', 'Latvia'), ('GDN', 'Gdansk', 'Poland');
INSERT INTO ops.vessels VALUES
    (1, 'Aurora', '1998-05-01', 1100, 1800, false), (2, 'Baltic Star', '2009-03-12', 1950, 2500, false),
    (3, 'Silja Wind', '1987-06-30', 600, 1200, true), (4, 'Nordlys', '2017-11-02', 2200, 2800, false),
    (5, 'Kestrel', '2003-01-20', 800, 900, false);
INSERT INTO ops.routes VALUES
    (1, 'HEL', 'TLL', 48), (2, 'TLL', 'HEL', 48), (3, 'STO', 'TKU', 170), (4, 'TKU', 'STO', 170),
    (5, 'STO', 'RIX', 265.5), (6, 'GDN', 'STO', 300);
INSERT INTO ops.sailings SELECT
    g, 1 + g % 6, 1 + (g * 7) % 5, TIMESTAMPTZ '2024-01-01 06:00:00+00' + to_hours(g * 13),
    CASE WHEN g % 11 <> 0 THEN TIMESTAMPTZ '2024-01-01 08:00:00+00' + to_hours(g * 13 + g % 9) END,
    CASE WHEN g % 11 = 0 THEN 'cancelled' WHEN g > 640 THEN 'planned' ELSE 'arrived' END,
    CASE WHEN g % 5 = 0 OR g % 7 = 1 THEN to_minutes(g % 50 + 5) END
FROM range(1, 701) AS r(g);
INSERT INTO crm.customers SELECT
    CAST(md5(CAST(g AS VARCHAR)) AS UUID),
    ['Anna', 'Olli', 'Maarja', 'Piotr', 'Greta', 'Lars', 'Ilze', 'Timo'][1 + g % 8] || ' '
        || ['Virtanen', 'Tamm', 'Kowalski', 'Berg', 'Ozols', 'Nieminen', 'Lind'][1 + g % 7]
        || CASE WHEN g > 56 THEN ' ' || g ELSE '' END,
    'c' || g || '@mail.test', DATE '2019-01-01' + CAST(g * 9 AS INTEGER),
    CASE g % 3 WHEN 0 THEN ['business'] WHEN 1 THEN ['family', 'pets'] END,
    CASE g % 4 WHEN 0 THEN true WHEN 1 THEN false END
FROM range(1, 241) AS r(g);
INSERT INTO crm.bookings SELECT
    g, CAST(md5(CAST(1 + (g * 37) % 240 AS VARCHAR)) AS UUID), 1 + (g * 17) % 700,
    TIMESTAMPTZ '2023-11-01 00:00:00+00' + to_hours(g * 5), 1 + g % 5,
    CASE WHEN g % 3 = 0 THEN 4.5 + g % 4 END, 25 + (g % 97) * 3.5, g % 6 <> 0,
    CASE WHEN g % 4 = 0
        THEN '{"cabin": ' || CASE WHEN g % 8 = 0 THEN 'true' ELSE 'false' END || ', "meals": ' || g % 3 || '}' END
FROM range(1, 3001) AS r(g);
