"""SQL text as the form."""
