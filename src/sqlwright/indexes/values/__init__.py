"""The value index: flat arrays of stored values, searched by likeness to a phrase."""
