-- A public library. Days are written day first; a copy still on loan has no day of return.
CREATE TABLE branches (
    branch_code TEXT PRIMARY KEY, -- e.g. 'CEN', 'HIL'
    branch_name TEXT NOT NULL, -- e.g. 'Hillside'
    quarter TEXT NOT NULL -- part of town, e.g. 'Weir End'
);
CREATE TABLE members (
    member_no INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    quarter TEXT, -- part of town the member lives in, e.g. 'Weir End'
    joined TEXT NOT NULL -- DD.MM.YYYY
);
CREATE TABLE titles (
    title_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    author TEXT, -- NULL: no single author
    genre TEXT NOT NULL, -- e.g. 'Crime', 'Travel'
    year INTEGER -- of publication
);
CREATE TABLE copies (
    barcode TEXT PRIMARY KEY, -- e.g. 'C-1001'
    title_id INTEGER NOT NULL REFERENCES titles (title_id),
    branch_code TEXT NOT NULL REFERENCES branches (branch_code)
);
CREATE TABLE loans (
    loan_id INTEGER PRIMARY KEY,
    barcode TEXT NOT NULL REFERENCES copies (barcode),
    member_no INTEGER NOT NULL REFERENCES members (member_no),
    lent_on TEXT NOT NULL, -- DD.MM.YYYY
    returned_on TEXT, -- DD.MM.YYYY; NULL: not yet returned
    renewals INTEGER NOT NULL DEFAULT 0
);
INSERT INTO branches VALUES
    ('CEN', 'Central', 'Old Town'),
    ('HIL', 'Hillside', 'Weir End'),
    ('QUA', 'Quayside', 'Docks');
INSERT INTO members VALUES
    (1, 'Petra Noll', 'Weir End', '14.03.2017'),
    (2, 'Idris Vane', 'Old Town', '02.11.2019'),
    (3, 'Lou Marchetti', 'Weir End', '30.06.2020'),
    (4, 'Hanne Quist', 'Weir End', '08.01.2022'),
    (5, 'Obi Strand', NULL, '19.09.2018'),
    (6, 'Wim Castell', 'Docks', '05.05.2015');
INSERT INTO titles VALUES
    (1, 'The Salt Ledger', 'R. Amberly', 'Crime', 2014),
    (2, 'Ninety Bridges', 'K. Dole', 'Travel', 2009),
    (3, 'A Lock of Winter', 'R. Amberly', 'Crime', 2018),
    (4, 'Fens by Rail', NULL, 'Travel', 1998),
    (5, 'Small Engines', 'U. Tamm', 'Craft', 2021);
INSERT INTO copies VALUES
    ('C-1001', 1, 'CEN'), ('C-1002', 1, 'HIL'), ('C-1003', 2, 'HIL'),
    ('C-1004', 3, 'HIL'), ('C-1005', 3, 'QUA'), ('C-1006', 4, 'CEN'), ('C-1007', 5, 'QUA');
INSERT INTO loans VALUES
    (1, 'C-1001', 2, '03.02.2024', '20.02.2024', 0),
    (2, 'C-1002', 1, '11.02.2024', NULL, 3),
    (3, 'C-1003', 3, '12.02.2024', '01.03.2024', 1),
    (4, 'C-1004', 4, '02.03.2024', NULL, 0),
    (5, 'C-1005', 6, '15.03.2024', '02.04.2024', 2),
    (6, 'C-1002', 5, '19.05.2023', '30.05.2023', 0),
    (7, 'C-1004', 1, '21.06.2023', '01.07.2023', 1),
    (8, 'C-1006', 4, '09.07.2024', NULL, 1),
    (9, 'C-1007', 2, '28.12.2023', '04.01.2024', 0);
