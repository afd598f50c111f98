"""`sqlwright tables`."""
