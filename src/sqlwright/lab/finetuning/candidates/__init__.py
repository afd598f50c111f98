"""Queries that generators wrote for a data set's questions, for roles that choose among them.

A candidate must come of a generator that wasn't trained on the question's database (cross-fitting):
a generator is hardly ever wrong about what it was trained on, and its errors there are others than
those that the role will meet. A file of candidates says what its generator was trained on, and
reading leaves out what isn't fit.

Internal: may change without notice.
"""
