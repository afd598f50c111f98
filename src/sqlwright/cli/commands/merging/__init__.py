"""Commands that make one data set of several databases."""
