"""Output of commands: a view is called as its command."""
