"""The embedded parser: a question and a schema to ranked queries."""
