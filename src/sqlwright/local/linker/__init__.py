"""The embedded linker: a score for every table and column of a schema."""
