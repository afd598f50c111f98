"""Judges of candidates: what they are shown, and how their replies are read."""
