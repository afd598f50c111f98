-- Composite keys, two keys between the same tables, a table that refers to itself, a view.
CREATE TABLE airports (code TEXT NOT NULL, country TEXT NOT NULL, name TEXT, PRIMARY KEY (code, country));
CREATE TABLE flights (
    number TEXT NOT NULL,
    day TEXT NOT NULL,
    from_code TEXT, from_country TEXT,
    to_code TEXT, to_country TEXT,
    PRIMARY KEY (number, day),
    FOREIGN KEY (from_code, from_country) REFERENCES airports (code, country),
    FOREIGN KEY (to_code, to_country) REFERENCES airports (code, country)
) WITHOUT ROWID;
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES staff (id));
CREATE VIEW departures AS SELECT number, day, from_code FROM flights;
INSERT INTO airports VALUES ('MUC', 'DE', 'Munich'), ('CPH', 'DK', 'Kastrup'), ('ARN', 'SE', 'Arlanda');
INSERT INTO flights VALUES
    ('SK1', '2026-05-01', 'MUC', 'DE', 'CPH', 'DK'),
    ('SK1', '2026-05-02', 'MUC', 'DE', 'CPH', 'DK'),
    ('SK2', '2026-05-01', 'CPH', 'DK', 'ARN', 'SE');
INSERT INTO staff VALUES (1, 'Root', NULL), (2, 'Leaf', 1), (3, 'Twig', 1);
