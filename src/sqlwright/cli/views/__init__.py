"""Answers as lines of a terminal, for the commands that show them."""
