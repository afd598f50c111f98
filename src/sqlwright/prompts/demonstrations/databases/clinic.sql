-- A group of clinics that invites its patients to screenings. Outcomes were typed by hand.
CREATE TABLE clinics (
    clinic_id INTEGER PRIMARY KEY,
    clinic_name TEXT NOT NULL, -- e.g. 'Birch Lane'
    district TEXT NOT NULL -- e.g. 'Norfield'
);
CREATE TABLE patients (
    patient_no INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    born TEXT NOT NULL, -- YYYY-MM-DD
    sex TEXT NOT NULL, -- 'F', 'M', 'X'
    clinic_id INTEGER REFERENCES clinics (clinic_id) -- NULL: not registered at any
);
CREATE TABLE appointments (
    appointment_id INTEGER PRIMARY KEY,
    patient_no INTEGER NOT NULL REFERENCES patients (patient_no),
    starts_at TEXT NOT NULL, -- YYYY-MM-DD HH:MM
    state TEXT NOT NULL, -- 'K' kept, 'C' called off, 'N' patient didn't come
    fee REAL -- NULL: covered
);
CREATE TABLE invitations (
    invitation_id INTEGER PRIMARY KEY,
    patient_no INTEGER NOT NULL REFERENCES patients (patient_no),
    programme TEXT NOT NULL, -- e.g. 'Hearing', 'Eyesight'
    sent_on TEXT NOT NULL, -- YYYY-MM-DD
    outcome TEXT -- typed by hand, e.g. 'took part', 'Attended, late', 'declined'
);
INSERT INTO clinics VALUES
    (1, 'Birch Lane', 'Norfield'),
    (2, 'Mill House', 'Norfield'),
    (3, 'Saint Brannoc', 'Eastgate');
INSERT INTO patients VALUES
    (1, 'Dag Morrow', '1961-07-30', 'M', 1),
    (2, 'Elif Sorrel', '1984-02-29', 'F', 1),
    (3, 'Noor Bright', '1999-12-05', 'F', 2),
    (4, 'Cas Wheeler', '2001-03-18', 'X', 3),
    (5, 'Ulla Penn', '1950-10-10', 'F', 2),
    (6, 'Jon Abara', '1977-01-21', 'M', 3),
    (7, 'Pia Holm', '1992-05-06', 'F', NULL);
INSERT INTO appointments VALUES
    (1, 1, '2024-01-08 09:00', 'K', 40.0),
    (2, 2, '2024-01-08 09:20', 'N', NULL),
    (3, 3, '2024-02-14 11:40', 'K', NULL),
    (4, 4, '2024-02-15 16:00', 'C', NULL),
    (5, 5, '2024-03-01 10:10', 'K', 65.5),
    (6, 1, '2024-05-22 08:30', 'K', 40.0),
    (7, 6, '2024-06-03 14:00', 'N', 15.0),
    (8, 5, '2024-06-17 10:10', 'K', NULL);
INSERT INTO invitations VALUES
    (1, 1, 'Hearing', '2024-03-04', 'took part'),
    (2, 2, 'Hearing', '2024-03-04', 'declined'),
    (3, 3, 'Hearing', '2024-03-04', NULL),
    (4, 5, 'Hearing', '2024-03-04', 'Attended, late'),
    (5, 6, 'Hearing', '2024-03-05', 'attended'),
    (6, 4, 'Eyesight', '2024-04-02', 'took part'),
    (7, 5, 'Eyesight', '2024-04-02', 'moved away'),
    (8, 7, 'Hearing', '2024-03-05', 'no answer');
