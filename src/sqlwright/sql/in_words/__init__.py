"""What a query says, in words."""
