"""Prompts out, replies in."""
