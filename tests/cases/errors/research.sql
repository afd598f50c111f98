-- Two tables that refer to one another and both to a third one; a table that refers to one twice.
CREATE TABLE institutes (inst_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE researchers (
    res_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    inst_id INTEGER NOT NULL REFERENCES institutes (inst_id)
);
CREATE TABLE projects (
    project_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    lead INTEGER NOT NULL REFERENCES researchers (res_id),
    inst_id INTEGER NOT NULL REFERENCES institutes (inst_id)
);
CREATE TABLE transfers (
    seller INTEGER NOT NULL REFERENCES institutes (inst_id),
    buyer INTEGER NOT NULL REFERENCES institutes (inst_id),
    price REAL NOT NULL
);
INSERT INTO institutes VALUES (1, 'Optics'), (2, 'Glass'), (3, 'Light');
INSERT INTO researchers VALUES (1, 'Ada', 1), (2, 'Ben', 2), (3, 'Cleo', 2), (4, 'Dan', 1);
INSERT INTO projects VALUES (1, 'Lens', 1, 2), (2, 'Prism', 4, 1), (3, 'Pane', 2, 2);
INSERT INTO transfers VALUES (1, 2, 10.0), (1, 3, 25.0), (2, 3, 5.0);
