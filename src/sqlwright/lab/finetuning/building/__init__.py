"""Sets of training examples: a folder with its record, from data sets and a recipe.

Internal: may change without notice.
"""
