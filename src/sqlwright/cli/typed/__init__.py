"""What was typed: options, which database, lines at a prompt."""
