"""Material for training on preferences: pairs of a right and a wrong reply, and rewards of replies
by execution.

Internal: may change without notice.
"""
