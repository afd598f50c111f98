"""How the embedded models were made. Needs the `training` extra; inference imports none of it.

Internal: may change without notice.
"""
