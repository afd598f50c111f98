"""What is shown: a view is called as its command."""
