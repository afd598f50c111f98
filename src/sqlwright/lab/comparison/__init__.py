"""One question by several recipes: what each did, which results are equal, where queries differ.

Internal: may change without notice. `sqlwright` exports the public part.
"""
