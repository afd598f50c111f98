"""Labelling wrong answers of a run."""
