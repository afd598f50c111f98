"""Generation: candidates, written by a model."""
