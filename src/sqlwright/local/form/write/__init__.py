"""The form as SQL text."""
