"""Gold queries graded and taken apart: hardness, components.

Internal: may change without notice.
"""
