"""Checks of input where it enters, text that is safe wherever it goes, and the folder for what
is kept.

Internal: may change without notice.
"""
