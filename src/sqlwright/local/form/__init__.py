"""The query language between questions and SQL: queries without their joins. No model in it.

Internal: may change without notice.
"""
