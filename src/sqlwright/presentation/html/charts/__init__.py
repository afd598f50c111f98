"""Charts of a page, drawn as SVG that stretches to its room while its text keeps its size.

Nothing is told by colour alone, and each figure has a table of its numbers beneath.

Internal: may change without notice.
"""
