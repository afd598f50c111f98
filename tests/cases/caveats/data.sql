CREATE TABLE tools (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, price NUMERIC(8, 2), maker VARCHAR(40));
INSERT INTO tools VALUES
    (1, 'Anvil', 30, 'Ada'), (2, 'Bolt', NULL, 'Ada'), (3, 'Chisel', 12, 'Bo'), (4, 'Drill', 45, 'Cy'),
    (5, 'Easel', 45, 'Cy'), (6, 'File', NULL, 'Di'), (7, 'Gauge', 20, 'Bo');
CREATE TABLE lamps (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, watts VARCHAR(20), code VARCHAR(20), lit INTEGER);
INSERT INTO lamps VALUES
    (1, 'Alpha', '100', '101', 7), (2, 'Beta', '9', '102', 3), (3, 'Gamma', '60', '103', 9), (4, 'Delta', '75', '104', 1);
CREATE TABLE probes (id INTEGER PRIMARY KEY, place VARCHAR(40) NOT NULL, reading MIXED, depth INTEGER NOT NULL);
INSERT INTO probes VALUES
    (1, 'North', 10.5, 4), (2, 'South', 'broken', 4), (3, 'East', 20, 9), (4, 'West', '-', 2), (5, 'Moor', 7.25, 9), (6, 'Fell', 3, 1);
CREATE TABLE rides (id INTEGER PRIMARY KEY, rider VARCHAR(40) NOT NULL, km INTEGER NOT NULL, fare NUMERIC(8, 2), tool_id INTEGER REFERENCES tools (id));
INSERT INTO rides VALUES
    (1, 'Ann', 12, 5, 1), (2, 'Ben', 9, NULL, 1), (3, 'Cat', 9, 8, 3), (4, 'Dan', 9, 2, 4), (5, 'Eve', 3, NULL, 6), (6, 'Ann', 1, 4, 6);
