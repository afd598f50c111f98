"""Vendors of language models: one module for each protocol."""
