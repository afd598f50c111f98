"""Databases and questions made for trials with typed replies; nothing is trained on them.

The gold queries were written with the questions by the same hand, and nobody who hadn't seen them
wrote the queries again to compare: a few of them may be one reading of several. Differences between
recipes over these questions say more than any recipe's share of right answers.
"""
