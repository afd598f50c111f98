-- Ferries between islands. Ports and boats go by codes; a sailing that was called off has no load.
CREATE TABLE ports (
    port_code TEXT PRIMARY KEY, -- e.g. 'SKV'
    port_name TEXT NOT NULL, -- e.g. 'Skarvoy'
    island TEXT -- NULL: on the mainland
);
CREATE TABLE boats (
    boat_id INTEGER PRIMARY KEY,
    boat_name TEXT NOT NULL, -- e.g. 'Grey Heron'
    length TEXT NOT NULL, -- metres, e.g. '48.5'
    seats INTEGER NOT NULL,
    built INTEGER -- year
);
CREATE TABLE sailings (
    sailing_id INTEGER PRIMARY KEY,
    boat_id INTEGER NOT NULL REFERENCES boats (boat_id),
    from_port TEXT NOT NULL REFERENCES ports (port_code),
    to_port TEXT NOT NULL REFERENCES ports (port_code),
    departs TEXT NOT NULL, -- YYYY-MM-DD HH:MM
    status TEXT NOT NULL, -- 'sailed', 'late', 'called off'
    passengers INTEGER -- NULL: called off
);
INSERT INTO ports VALUES
    ('SKV', 'Skarvoy', 'Skarvoy'),
    ('LND', 'Lindholm', 'Great Linde'),
    ('TOR', 'Torrin Pier', 'Great Linde'),
    ('MAR', 'Marrow Quay', NULL);
INSERT INTO boats VALUES
    (1, 'Grey Heron', '48.5', 180, 1998),
    (2, 'Tern', '9.2', 60, 2015),
    (3, 'Northern Light', '101.0', 240, NULL);
INSERT INTO sailings VALUES
    (1, 1, 'SKV', 'LND', '2025-06-02 07:30', 'sailed', 120),
    (2, 1, 'LND', 'SKV', '2025-06-02 18:00', 'late', 95),
    (3, 2, 'SKV', 'LND', '2025-06-14 12:15', 'called off', NULL),
    (4, 3, 'MAR', 'LND', '2025-06-15 09:00', 'sailed', 201),
    (5, 2, 'SKV', 'LND', '2025-06-30 23:10', 'sailed', 17),
    (6, 1, 'SKV', 'LND', '2025-07-01 07:30', 'sailed', 133),
    (7, 3, 'LND', 'MAR', '2025-07-04 16:45', 'late', 188),
    (8, 2, 'SKV', 'TOR', '2025-06-21 10:00', 'sailed', 41),
    (9, 3, 'MAR', 'TOR', '2025-07-09 09:00', 'sailed', 77),
    (10, 2, 'TOR', 'SKV', '2025-07-12 17:20', 'called off', NULL);
