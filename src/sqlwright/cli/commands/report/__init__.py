"""`sqlwright report` and `report diff`."""
