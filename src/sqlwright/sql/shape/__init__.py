"""Parse trees of other dialects in the shape that SQLite's reading has."""
