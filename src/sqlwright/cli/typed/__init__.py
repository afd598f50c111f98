"""Input: options, arguments, lines at a prompt."""
