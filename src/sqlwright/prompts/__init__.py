"""Prompts out, replies in.

Public: `templates`, `replies`; the rest is internal and may change without notice.
"""
