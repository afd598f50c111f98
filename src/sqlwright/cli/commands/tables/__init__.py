"""`sqlwright lab tables`."""
