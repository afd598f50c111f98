"""A small business to try things on: its database is made by seed, its questions have answers.

Nothing here is ever used in training.

Public.
"""
