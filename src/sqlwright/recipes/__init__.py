"""Recipes: YAML files, the registry of what they name, and their loading.

Internal: may change without notice.
"""
