"""Checks of input where it enters, and the folder for everything that is kept."""
