-- Names and types that break careless quoting: keywords, blanks, quotes, Unicode, no type at all.
CREATE TABLE "order" ("select" INTEGER PRIMARY KEY, "group by" TEXT, "a""b" TEXT);
CREATE TABLE "straße nach köln" ("größe" REAL, "名前" TEXT, untyped, "with 'quote'" TEXT);
CREATE TABLE "1st" ("2nd" VARCHAR(10), data BLOB, flag BOOLEAN);
CREATE TABLE bare (x INTEGER);
INSERT INTO "order" VALUES (1, 'a', 'x'), (2, 'b', 'y');
INSERT INTO "straße nach köln" VALUES (1.5, '山田', 7, 'it''s'), (2.5, 'Ødegård', 'seven', '');
INSERT INTO "1st" VALUES ('one', x'00ff10', 1), ('two', NULL, 0);
