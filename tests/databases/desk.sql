-- A help desk: values that are everyday words, names that aren't unique, empty entries, dates as SQLite
-- reads them and as it doesn't, units in names, and two tables that share no key.
CREATE TABLE agents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    manager_id INTEGER
);
CREATE TABLE tickets (
    id INTEGER PRIMARY KEY,
    agent_id INTEGER NOT NULL REFERENCES agents (id),
    subject TEXT NOT NULL,
    priority TEXT NOT NULL,
    status TEXT NOT NULL,
    opened TEXT NOT NULL,
    closed_on TEXT,
    seconds_spent INTEGER NOT NULL,
    fee REAL NOT NULL,
    charged TEXT NOT NULL
);
CREATE TABLE attachments (
    id INTEGER PRIMARY KEY,
    ticket_id INTEGER NOT NULL REFERENCES tickets (id),
    kilobytes INTEGER NOT NULL,
    type TEXT NOT NULL
);
CREATE TABLE ratings (
    ticket_code INTEGER NOT NULL REFERENCES tickets (id),
    stars INTEGER NOT NULL
);
INSERT INTO agents VALUES
    (1, 'Kim Lee', 'Kenya', NULL),
    (2, 'Kim Lee', 'France', 1),
    (3, 'Ola Berg', 'Norway', 1),
    (4, 'Pia Roth', 'France', 2);
INSERT INTO tickets VALUES
    (1, 1, 'Printer on fire', 'high', 'open', '2023-02-01', '05/02/2023', 5400, 20.0, '$20'),
    (2, 1, 'Password', 'low', 'open', '2023-07-09', '10/07/2023', 240, 5.5, '$5.50'),
    (3, 3, 'Slow network', 'high', 'closed', '2024-01-15', '16/01/2024', 7800, 44.0, '$44'),
    (4, 4, 'Broken chair', 'low', 'closed', '2024-03-20', NULL, 900, 12.25, '$12.25'),
    (5, 4, 'New laptop', 'urgent', 'open', '2024-04-02', '09/04/2024', 1800, 1500.0, '$1,500');
INSERT INTO attachments VALUES
    (1, 1, 800, 'photo'),
    (2, 3, 5200, 'log'),
    (3, 3, 90, 'log'),
    (4, 3, 12, 'name');
INSERT INTO ratings VALUES (901, 5), (902, 3);
