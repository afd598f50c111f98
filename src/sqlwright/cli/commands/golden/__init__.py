"""`sqlwright lab golden`: examine a golden set, add questions to it."""
