"""The embedded critic: which candidate is right, and how sure that is."""
