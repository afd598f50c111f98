"""Retrieval: what the question's words are in the database."""
