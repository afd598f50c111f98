"""Checks of input where it enters, and the folder for everything that is kept.

Internal: may change without notice.
"""
