-- Allotment gardens: plots let to tenants, and what each plot yielded in a year.
CREATE TABLE sites (
    site_id INTEGER PRIMARY KEY,
    site_name TEXT NOT NULL, -- e.g. 'Canal Side'
    parish TEXT NOT NULL -- e.g. 'Lower Wick'
);
CREATE TABLE plots (
    plot_no TEXT PRIMARY KEY, -- e.g. 'A-07'
    site_id INTEGER NOT NULL REFERENCES sites (site_id),
    area INTEGER NOT NULL, -- square metres
    water TEXT NOT NULL -- 'Y', 'N': has a tap of its own
);
CREATE TABLE tenancies (
    tenancy_id INTEGER PRIMARY KEY,
    plot_no TEXT NOT NULL REFERENCES plots (plot_no),
    tenant TEXT NOT NULL, -- the tenant's name
    from_year INTEGER NOT NULL,
    to_year INTEGER, -- NULL: still let
    rent REAL NOT NULL -- per year
);
CREATE TABLE harvests (
    plot_no TEXT NOT NULL REFERENCES plots (plot_no),
    year INTEGER NOT NULL,
    crop TEXT NOT NULL, -- e.g. 'Potatoes', 'Runner beans'
    kilograms REAL, -- NULL: not weighed
    PRIMARY KEY (plot_no, year, crop)
);
INSERT INTO sites VALUES
    (1, 'Canal Side', 'Lower Wick'),
    (2, 'Orchard Rise', 'Lower Wick'),
    (3, 'Rook Field', 'Thorne');
INSERT INTO plots VALUES
    ('A-01', 1, 120, 'Y'), ('A-02', 1, 120, 'N'), ('A-07', 1, 250, 'Y'),
    ('B-01', 2, 90, 'N'), ('B-02', 2, 180, 'Y'), ('C-01', 3, 300, 'N');
INSERT INTO tenancies VALUES
    (1, 'A-01', 'Bea Thistle', 2010, 2018, 48.0),
    (2, 'A-01', 'Yusuf Grant', 2019, NULL, 62.0),
    (3, 'A-02', 'Kit Varley', 2015, NULL, 50.0),
    (4, 'A-07', 'Bea Thistle', 2019, NULL, 110.0),
    (5, 'B-01', 'Orla Nash', 2012, 2020, 36.5),
    (6, 'B-02', 'Mo Delacroix', 2021, NULL, 80.0),
    (7, 'C-01', 'Orla Nash', 2021, NULL, 95.0);
INSERT INTO harvests VALUES
    ('A-01', 2020, 'Potatoes', 40.0), ('A-01', 2021, 'Potatoes', 55.0), ('A-01', 2022, 'Potatoes', 61.5),
    ('A-02', 2020, 'Potatoes', 30.0), ('A-02', 2022, 'Potatoes', 28.0), ('A-02', 2023, 'Potatoes', 35.0),
    ('A-07', 2021, 'Runner beans', 22.0), ('A-07', 2022, 'Runner beans', NULL),
    ('A-07', 2021, 'Potatoes', 70.0), ('A-07', 2022, 'Potatoes', 66.0), ('A-07', 2023, 'Potatoes', 64.0),
    ('B-02', 2021, 'Onions', 18.5), ('B-02', 2022, 'Potatoes', 20.0),
    ('C-01', 2022, 'Potatoes', 90.0), ('C-01', 2023, 'Onions', 33.0);
