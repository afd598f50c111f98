"""Training of the embedded models. Needs the `training` extra; inference imports none of it.

Internal: may change without notice.
"""
