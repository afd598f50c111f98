"""Questions of a user's own: golden sets, and answers that were judged.

Internal: may change without notice.
"""
