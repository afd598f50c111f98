"""Readings of one question: where two queries differ in one thing, and that thing in words."""
