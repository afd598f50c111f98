-- Rows of the shop schema (tests/form/walks.py), against which forms are compared with their SQL.
INSERT INTO customer VALUES (1, 'Ann', 7), (2, 'Bob', 7), (3, 'Cid', 8), (4, 'Bob', NULL), (9, 'anna', 3);
INSERT INTO person VALUES (1, NULL, 'Ann'), (2, 1, 'Eve'), (3, 2, 'Fay'), (5, 1, 'Bob'), (6, 9, 'Cid');
INSERT INTO orders VALUES (1, 1, 1, 5), (2, 1, 2, 10), (3, 2, 1, 2), (4, 3, NULL, NULL), (5, 2, 3, 3), (6, 1, 5, 7), (7, 8, 2, 12);
INSERT INTO product VALUES (1, 'oak', 'a'), (2, 'ash', 'b'), (3, 'oaken', 'c'), (5, 'elm', NULL);
INSERT INTO line VALUES (1, 1, 2.5), (1, 2, 1), (2, 1, 4), (3, 3, 0.5), (5, 2, 1), (9, 9, 9), (6, 1, 3);
