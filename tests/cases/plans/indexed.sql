-- Tables with indexes of several kinds: composite, descending, on an expression, partial, and a
-- table without row numbers.
CREATE TABLE parcels (
    parcel_id INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    town TEXT NOT NULL,
    weight REAL,
    sent_on TEXT NOT NULL
);
CREATE INDEX parcels_town_weight ON parcels (town, weight);
CREATE INDEX parcels_sent_on ON parcels (sent_on DESC);
CREATE INDEX parcels_sender ON parcels (sender COLLATE NOCASE);
CREATE TABLE tariffs (
    town TEXT NOT NULL,
    class INTEGER NOT NULL,
    price REAL NOT NULL,
    PRIMARY KEY (town, class)
) WITHOUT ROWID;
CREATE TABLE stamps (
    stamp_id INTEGER PRIMARY KEY,
    parcel_id INTEGER NOT NULL REFERENCES parcels (parcel_id),
    cents INTEGER NOT NULL,
    euros REAL AS (cents / 100.0) VIRTUAL,
    motif TEXT
);
CREATE INDEX stamps_parcel ON stamps (parcel_id);
CREATE VIEW heavy AS SELECT parcel_id, town FROM parcels WHERE weight > 10;
INSERT INTO parcels VALUES
    (1, 'Ada', 'Harwick', 2.5, '2025-01-03'), (2, 'Bo', 'Harwick', 12.0, '2025-01-04'),
    (3, 'Cy', 'Ostley', NULL, '2025-02-01'), (4, 'ada', 'Pellmouth', 0.4, '2025-02-11');
INSERT INTO tariffs VALUES ('Harwick', 1, 4.5), ('Harwick', 2, 9.0), ('Ostley', 1, 5.0);
INSERT INTO stamps (stamp_id, parcel_id, cents, motif) VALUES
    (1, 1, 85, 'Heron'), (2, 1, 160, NULL), (3, 2, 700, 'Owl');
