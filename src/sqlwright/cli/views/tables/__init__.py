"""A paper's tables as a command line shows them."""
