"""The words of each engine."""
