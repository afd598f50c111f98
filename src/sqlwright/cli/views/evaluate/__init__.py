"""The view of `evaluate`: a measurement with its progress, and a run in about a screen."""
