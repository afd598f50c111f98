"""A model in training measured on held-out examples, by execution where its replies are queries.

Internal: may change without notice.
"""
