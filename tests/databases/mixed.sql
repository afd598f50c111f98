-- Columns of several types, empty texts, one value only; keys that nothing declares.
CREATE TABLE players (id INTEGER PRIMARY KEY, weight INTEGER, height, squad TEXT, sport TEXT, nick TEXT);
INSERT INTO players VALUES
    (1, 80, 1.80, 'A', 'chess', ''), (2, '', 1.75, 'B', 'chess', 'Ace'), (3, 75, 'T', 'A', 'chess', ''),
    (4, '', 1.91, 'C', 'chess', NULL), (5, 90, 1.6, 'B', NULL, 'Bolt');
CREATE TABLE goals (goal_id INTEGER PRIMARY KEY, player_id INTEGER, minute INTEGER);
INSERT INTO goals VALUES (1, 1, 12), (2, 2, 90), (3, 3, 45), (4, 5, 45), (5, 1, 3);
CREATE TABLE fines (fine_id INTEGER PRIMARY KEY, goal_id INTEGER, cents INTEGER);
CREATE VIEW scorers AS SELECT p.squad, count(*) AS goals FROM players AS p JOIN goals AS g ON g.player_id = p.id GROUP BY 1;
