"""Databases that sqlwright writes itself, never a user's: data sets merged into one, copies to try
queries on."""
