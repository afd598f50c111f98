"""The stages of a question's way to an answer. Stages do not import one another.

Public: `asking`, `task`; the rest is internal and may change without notice.
"""
