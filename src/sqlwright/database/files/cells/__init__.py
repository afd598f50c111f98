"""The cells of files as texts: what values they say, looked at in whole columns.

Internal: may change without notice.
"""
