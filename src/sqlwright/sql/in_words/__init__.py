"""Queries put in words."""
