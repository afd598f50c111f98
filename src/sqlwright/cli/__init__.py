"""The command line: one file per command, and the few things they share.

Internal: may change without notice.
"""
