"""Training the embedded critic."""
