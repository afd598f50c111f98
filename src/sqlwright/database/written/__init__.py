"""Databases that sqlwright writes itself: data sets merged into one, copies to test queries on. Never
a user's."""
