"""Rules about English words: one module for each kind of rule. No database, no model.

Internal: may change without notice.
"""
