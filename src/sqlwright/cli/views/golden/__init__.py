"""A golden set: a run checked, a set examined."""
