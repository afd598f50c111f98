"""Phrases to look up: parts of keywords, years, and how near a stored value is to one."""
