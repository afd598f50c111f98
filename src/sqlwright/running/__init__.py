"""Running a recipe on a question: the pipeline, steps made of steps, the trace.

Internal: may change without notice.
"""
