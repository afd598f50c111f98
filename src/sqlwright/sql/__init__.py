"""SQL as text and tree: tokens, the parse-tree check, names, what a query uses.

Internal: may change without notice.
"""
