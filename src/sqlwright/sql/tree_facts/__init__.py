"""A query's facts, read from its parse tree."""
