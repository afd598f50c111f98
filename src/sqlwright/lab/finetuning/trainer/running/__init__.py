"""A training at work, whatever its objective: its folder, its checkpoints, and what is done after
each step.

Internal: may change without notice.
"""
