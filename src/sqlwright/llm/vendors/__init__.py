"""Who serves language models: one module for each protocol."""
