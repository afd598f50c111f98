"""Reports of runs, and what changed between two."""
