"""The styles in which prompts show a schema: `ddl`, `compact` and `soft`."""
