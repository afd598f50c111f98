"""Databases and questions made for trials with typed replies; nothing is trained on them."""
