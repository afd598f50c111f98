"""The roles that can be trained: what each is asked, and what is right.

Internal: may change without notice.
"""
