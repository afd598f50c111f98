"""`sqlwright golden`: examine a golden set, add questions to it."""
