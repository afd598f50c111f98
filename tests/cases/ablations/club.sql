-- A sports club: more than forty columns, so that no step passes it over as small; cities and grounds
-- that are easily misspelt, and a note longer than twenty characters.
CREATE TABLE members (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, country TEXT, born TEXT, joined TEXT,
    level TEXT, fee REAL, active INTEGER
);
CREATE TABLE grounds (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, surface TEXT, seats INTEGER, opened TEXT,
    owner TEXT, rent REAL, lit INTEGER
);
CREATE TABLE courses (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, sport TEXT, ground_id INTEGER REFERENCES grounds (id),
    begins TEXT, weeks INTEGER, places INTEGER, price REAL, remarks TEXT
);
CREATE TABLE bookings (
    id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES members (id),
    course_id INTEGER REFERENCES courses (id), booked TEXT, status TEXT, paid REAL, discount REAL,
    channel TEXT, rating INTEGER
);
CREATE TABLE matches (
    id INTEGER PRIMARY KEY, ground_id INTEGER REFERENCES grounds (id), played TEXT, opponent TEXT,
    scored INTEGER, conceded INTEGER, spectators INTEGER, weather TEXT, referee TEXT
);
INSERT INTO members VALUES
    (1, 'Ada Brandt', 'München', 'Germany', '1990-01-05', '2020-02-01', 'gold', 120.5, 1),
    (2, 'Bo Carlsen', 'Copenhagen', 'Denmark', '1985-07-11', '2021-03-01', 'silver', 80.0, 1),
    (3, 'Chen Li', 'München', 'Germany', '2001-03-09', '2022-09-15', 'silver', 80.0, 0),
    (4, 'Dora Ek', 'Malmö', 'Sweden', '1978-12-24', '2019-01-01', 'bronze', 42.0, 1);
INSERT INTO grounds VALUES
    (1, 'Olympia Park', 'München', 'grass', 900, '1972-08-26', 'city', 300.0, 1),
    (2, 'Harbour Hall', 'Copenhagen', 'wood', 350, '1999-04-01', 'club', 120.0, 1),
    (3, 'South Field', 'Malmö', 'clay', 150, '2010-05-20', 'club', 90.0, 0);
INSERT INTO courses VALUES
    (1, 'Tennis for beginners', 'tennis', 3, '2024-04-02', 8, 12, 90.0, 'balls and rackets are lent'),
    (2, 'Handball', 'handball', 2, '2024-05-06', 12, 20, 60.0, 'no shoes with black soles, please'),
    (3, 'Running', 'athletics', 1, '2024-03-18', 6, 40, 30.0, 'meets at the northern entrance');
INSERT INTO bookings VALUES
    (1, 1, 1, '2024-02-01', 'open', 90.0, 0.0, 'web', 5), (2, 2, 2, '2024-02-03', 'paid', 60.0, 5.0, 'desk', 4),
    (3, 3, 3, '2024-02-07', 'cancelled', 0.0, 30.0, 'web', 3), (4, 4, 1, '2024-02-09', 'paid', 85.0, 5.0, 'phone', 2),
    (5, 1, 3, '2024-02-11', 'paid', 30.0, 10.0, 'web', 1), (6, 2, 1, '2024-02-15', 'open', 45.0, 15.0, 'desk', 5);
INSERT INTO matches VALUES
    (1, 1, '2024-03-02', 'Rovers', 3, 1, 640, 'rain', 'Holm'), (2, 2, '2024-03-09', 'United', 0, 2, 210, 'sun', 'Weiss'),
    (3, 3, '2024-03-16', 'Rovers', 2, 2, 90, 'fog', 'Holm'), (4, 1, '2024-03-23', 'Lions', 5, 4, 700, 'sun', 'Lund');
